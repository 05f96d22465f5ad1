// Package beliefs owns the evidence of a belief: that a statement follows from what was believed in a space as of a number, by which revisions, in which
// steps, and on which turns these rest. It is pure: no I/O, no clock, and the same question, policy and beliefs give the same bytes.
//
// [New] makes a [Bundle] of the elements from which a statement follows; [Parse] reads one back strictly, and [Bundle.Check] recomputes from its body
// everything that its header claims, and makes each step of the derivation again. The six fields of its provenance are those of a slice, with the
// schema version gkb/1, so that a token is made, verified and written to the ledger in the same way. Signing is package token's; what is believed
// is package kernel's to find.
//
// A bundle's bytes are canonical JSON, and nothing else is a bundle:
//
//	{"as_of":SEQ,"evidence":[{"leaf":HEX,"turn":ID},…],"key_id":"k1","policy":{…},"provenance":{…},
//	"question":{"not":true,"object":NAME,"predicate":NAME,"space":SPACE,"subject":NAME,"valid_at":TIME},
//	"revisions":[{"private":{…},"public":{…}},…],"steps":[[i,j],…],"tenant":"default","token":HEX}
//
// A step [i,j] takes statement j of revision i. It is stated, or its premises follow from the steps before it; the statement that was asked for follows from the last.
// A literal follows from a step that has it, and the negation of a literal from one that excludes it under the policy, which is that of the space. evidence has the leaf hash of every
// turn that a statement of the steps rests on. valid_at and not are absent if they do not apply.
//
// What is bound, and by what (hashes as in RFC 6962, section 2.1):
//
//   - graph_snapshot_hash is the tree over the leaves of the revisions, by address: the public half of each, which has the SHA-256 of the private one;
//     then one {"leaf":…,"turn":…,"type":"evidence"} for each turn, by id; then the question's {…,"type":"question"} and
//     {"steps":[…],"type":"steps"}.
//   - policy_params_hash is that of the parameters of kind_policy_v1.
//   - anchor_turn_id names the question and no turn: the UUIDv5 of graphkernel:/belief/ and the question's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"beliefs":[ADDRESS,…],"policy_id":…,"policy_params_hash":…,"schema_version":…}.
//
// That nothing believed was left out that contradicts it, and that the revisions were current, is the kernel's word until replay.
//
// Source: Graph Kernel paper, section IV, of whose slice this is the counterpart; docs/belief.md.
package beliefs
