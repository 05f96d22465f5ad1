// Package token owns admissibility: the keyring that signs and checks, the
// [Authority] that seals a slice, the [Verifier] that looks at a bundle, and
// [Admissible], the only type whose values carry evidence that was verified.
//
// A token is the first half of an HMAC-SHA256, in hex, over the six provenance
// fields:
//
//	SLICE_ID|ANCHOR|POLICY_ID|POLICY_PARAMS_HASH|GRAPH_SNAPSHOT_HASH|gkp/1|admissibility_token_v2_hmac
//
// under a key that HKDF-SHA256 derives from a secret for one tenant and one key
// id, so that a token of one tenant verifies for no other, and a token of one
// key for no other key. One key of a ring signs, all live ones verify, a retired
// one verifies nothing. Whatever is missing, malformed, unknown or unequal is
// not admissible (INV-004), and the reason is said.
//
// A token convinces only who shares the secret. It says that this kernel cut
// the slice; it does not say that what was said in it is true.
//
// Source: Graph Kernel paper, section IV; GKP/1, sections 6 to 8; RFC 2104 and
// RFC 5869.
package token
