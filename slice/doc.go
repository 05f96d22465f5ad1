// Package slice owns the cut: which turns of a view may influence an anchor turn under a policy, why each was admitted,
// in which order they are read, and the fingerprints that bind all of it. It is pure. It does no I/O, reads no clock,
// and the same anchor, policy and view produce the same bytes on every processor (INV-001).
//
// [Cut] selects and fingerprints, in memory, from stored leaf hashes and without any text. [AppendBundle] joins a slice
// with its turns' text into the bundle that is handed out; [ParseBundle] reads one back strictly, and [Bundle.Check]
// recomputes from the body everything that the header claims. Package token makes and checks tokens.
//
// Anyone who has a bundle may show a part of it. [Bundle.Withhold] removes texts; the result is a bundle.
// [Bundle.Disclose] removes whole turns: the [Disclosure] shows the other turns, each with the hashes that lead from it
// to graph_snapshot_hash.
//
// A bundle is canonical JSON; bytes in another spelling are not a bundle:
//
//	{"anchor":ID,"as_of":SEQ,"edges":[{"child":ID,"kind":"reply","parent":ID},…],
//	"key_id":"k1","order":[ID,…],"policy":{…},"provenance":{…},"tenant":"default",
//	"token":HEX,"turns":[{"admission":{…},"attrs":{…},"author":"human:user",…},…]}
//
// The token covers everything except, under gkp/1, as_of, which only tells a replay which view to use.
// Source: Graph Kernel paper, algorithm 1, equation 1, section IV; GKP/1, sections 1 and 3 to 7; RFC 6962, section 2.1
// for the Merkle tree; docs/evidence.md, section 7 for disclosures.
package slice
