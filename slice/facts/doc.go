// Package facts owns the slice of facts: the facts about some entities that a policy admits, the paths on which they
// were found, and the fingerprints that bind all of it. It is the counterpart of package slice, with statements in the
// place of turns. It is pure: no I/O, no clock, and the same question, policy and knowledge always produce the same
// bytes.
//
// [Cut] makes a [Bundle] from the answer to a traversal; [Parse] reads one back strictly, and [Bundle.Check] recomputes
// from the body everything that the header claims. The six fields of its provenance are those of a slice, with the
// schema version gkf/2, so that a token is made, verified and written to the ledger in the same way. Package token
// signs bundles.
//
// A bundle is canonical JSON; bytes in another spelling are not a bundle:
//
//	{"aliases":[{"alias":NAME,"canonical":NAME},…],"anchor":ID,"as_of":SEQ,"cut":"results",
//	"evidence":[{"leaf":HEX,"turn":ID},…],"facts":[ACT,…],"key_id":"k1",
//	"policy":{…},"provenance":{…},"question":{"start":[NAME,…],"valid_at":TIME},
//	"reached":[{"entity":NAME,"from":NAME,"hops":1,"min_confidence":0.9,
//	"path":[{"entity":NAME,"fact":HEX,"incoming":true},…]},…],
//	"tenant":"default","token":HEX}
//
// facts contains the assertions on which the paths rest, in the canonical form of knowledge.Act with its salt, by
// ascending statement; evidence contains the leaf hash of every turn that they name; aliases contains the aliases that
// were used for names in the bundle. as_of is the only sequence number, so a bundle does not reveal the order in which
// facts were learned. cut, valid_at and incoming are absent if they do not apply.
//
// The hashes (as in RFC 6962, section 2.1), and the data that each binds:
//
//   - graph_snapshot_hash is the tree over the leaves of the facts, then one
//     {"leaf":…,"turn":…,"type":"evidence"} for each turn of the evidence, then one
//     {"aliases":[[alias,canonical],…],"type":"aliases"}, the question's
//     {"start":[…],"type":"question","valid_at":…}, and
//     {"cut":…,"reached":[[entity,from,min_confidence_ppm,[[fact,incoming,entity],…]],…],"type":"reached"},
//     in which incoming is always present, true or false, and cut is absent if the result is complete.
//     The leaf of a fact is the leaf of its act, {"digest":HEX,"turn":ID,"type":"fact/2"}, in which digest is
//     the SHA-256 of its canonical form: the leaf reveals nothing about the fact once the salt is erased.
//   - policy_params_hash is the hash of the parameters of fact_policy_v1.
//   - anchor_turn_id names the question and not a turn: the UUIDv5 of
//     graphkernel:/question/ and the question's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"facts":[HEX,…],"policy_id":…,
//     "policy_params_hash":…,"schema_version":…}, with the statements of the facts.
//
// The token covers these hashes but not as_of, which only tells a replay which view to use.
// Source: Graph Kernel paper, section IV; GKP/1, sections 5 to 7, of which this is the counterpart; docs/knowledge.md.
package facts
