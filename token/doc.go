// Package token owns admissibility: the keyring that signs and checks, the [Authority] that seals a slice, the
// [Verifier] that verifies a bundle, and [Admissible], the type for verified evidence.
//
// A token is the first half of an HMAC-SHA256, in hex, over the six provenance
// fields:
//
//	SLICE_ID|ANCHOR|POLICY_ID|POLICY_PARAMS_HASH|GRAPH_SNAPSHOT_HASH|gkp/1|admissibility_token_v2_hmac
//
// under a key that HKDF-SHA256 derives from a secret for one tenant and one key id, so that a token of one tenant
// verifies for no other tenant, and a token of one key for no other key. One key of a ring signs, all live keys verify,
// a retired key does not verify. A token that is missing, malformed, unknown or unequal is not admissible (INV-004),
// and the verdict says why.
//
// A token convinces only holders of the secret. It says that this kernel cut the slice; it does not say that the turns
// in the slice are true.
//
// Source: Graph Kernel paper, section IV; GKP/1, sections 6 to 8; RFC 2104 and
// RFC 5869.
package token
