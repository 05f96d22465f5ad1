// Package slice owns the cut: which turns of a view may influence an anchor
// turn under a policy, why each was let in, in which order they are read, and
// the fingerprints that bind all of it. It is pure. It does no I/O, reads no
// clock, and the same anchor, policy and view give the same bytes on every
// processor (INV-001).
//
// [Cut] selects and fingerprints, in memory, from stored leaf hashes and without
// any text. [AppendBundle] joins a slice with its turns' text into the bundle
// that is handed out; [ParseBundle] reads one back strictly, and [Bundle.Check]
// recomputes from its body everything that its header claims. Signing and
// checking tokens is package token's.
//
// Anyone who holds a bundle may show a part of it. [Bundle.Withhold] takes texts out, and
// what is left is a bundle. [Bundle.Disclose] takes whole turns out: the [Disclosure] shows
// the others, each with the hashes that lead from it to graph_snapshot_hash.
//
// A bundle's bytes are canonical JSON and nothing else is a bundle:
//
//	{"anchor":ID,"as_of":SEQ,"edges":[{"child":ID,"kind":"reply","parent":ID},…],
//	"key_id":"k1","order":[ID,…],"policy":{…},"provenance":{…},"tenant":"default",
//	"token":HEX,"turns":[{"admission":{…},"attrs":{…},"author":"human:user",…},…]}
//
// Inside the token: all but as_of, which only tells replay where to look.
// Source: Graph Kernel paper, algorithm 1, equation 1, section IV; GKP/1,
// sections 1 and 3 to 7; RFC 6962, section 2.1 for the Merkle tree; docs/evidence.md,
// section 7 for disclosures.
package slice
