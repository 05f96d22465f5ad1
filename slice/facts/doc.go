// Package facts owns the slice of facts: what may be told of some entities under a policy,
// on which ways it was found, and the fingerprints that bind all of it. It is the twin of
// package slice, with statements in the place of turns. It is pure: no I/O, no clock, and the
// same question, policy and knowledge give the same bytes.
//
// [Cut] makes a [Bundle] of the answer to a traversal; [Parse] reads one back strictly, and
// [Bundle.Check] recomputes from its body everything that its header claims. The six fields of
// its provenance are those of a slice, with the schema version gkf/2, so that a token is made,
// verified and written to the ledger in the same way. Signing is package token's.
//
// A bundle's bytes are canonical JSON, and nothing else is a bundle:
//
//	{"aliases":[{"alias":NAME,"canonical":NAME},…],"anchor":ID,"as_of":SEQ,"cut":"results",
//	"evidence":[{"leaf":HEX,"turn":ID},…],"facts":[ACT,…],"key_id":"k1",
//	"policy":{…},"provenance":{…},"question":{"start":[NAME,…],"valid_at":TIME},
//	"reached":[{"entity":NAME,"from":NAME,"hops":1,"min_confidence":0.9,
//	"path":[{"entity":NAME,"fact":HEX,"incoming":true},…]},…],
//	"tenant":"default","token":HEX}
//
// facts are the assertions that the paths rest on, in the canonical form of knowledge.Act with its salt,
// by ascending statement; evidence has the leaf hash of every turn that they name; aliases are
// those that counted for a name in the bundle. No sequence number but as_of is in it, so it
// does not show in which order things were learned. cut, valid_at and incoming are absent if
// they do not apply.
//
// What is bound, and by what (hashes as in RFC 6962, section 2.1):
//
//   - graph_snapshot_hash is the tree over the leaves of the facts, then one
//     {"leaf":…,"turn":…,"type":"evidence"} for each turn of the evidence, then one
//     {"aliases":[[alias,canonical],…],"type":"aliases"}, the question's
//     {"start":[…],"type":"question","valid_at":…}, and
//     {"cut":…,"reached":[[entity,from,min_confidence_ppm,[[fact,incoming,entity],…]],…],"type":"reached"},
//     in which incoming is always there, true or false, and cut is absent if that is all.
//     The leaf of a fact is that of its act, {"digest":HEX,"turn":ID,"type":"fact/2"}, in which digest is
//     the SHA-256 of its canonical form: so it tells nothing of the fact once the salt is erased.
//   - policy_params_hash is that of the parameters of fact_policy_v1.
//   - anchor_turn_id names the question and no turn: the UUIDv5 of
//     graphkernel:/question/ and the question's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"facts":[HEX,…],"policy_id":…,
//     "policy_params_hash":…,"schema_version":…}, the facts by their statements.
//
// The token covers these; as_of is outside, since it only tells replay where to look.
// Source: Graph Kernel paper, section IV; GKP/1, sections 5 to 7, of which this is the
// counterpart; docs/knowledge.md.
package facts
