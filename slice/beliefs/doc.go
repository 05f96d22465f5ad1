// Package beliefs owns the evidence of a belief: it shows that a statement follows from the beliefs of a space as of a
// number, from which revisions, in which steps, and on which turns these rest. It is pure: no I/O, no clock, and the
// same question, policy and beliefs always produce the same bytes.
//
// [New] makes a [Bundle] from the elements from which a statement follows; [Parse] reads one back strictly, and
// [Bundle.Check] recomputes from the body everything that the header claims, and repeats each step of the derivation.
// The six fields of its provenance are those of a slice, with the schema version gkb/1, so that a token is made,
// verified and written to the ledger in the same way. Package token signs bundles; package kernel finds the beliefs.
//
// A bundle is canonical JSON; bytes in another spelling are not a bundle:
//
//	{"as_of":SEQ,"evidence":[{"leaf":HEX,"turn":ID},…],"key_id":"k1","policy":{…},"provenance":{…},
//	"question":{"not":true,"object":NAME,"predicate":NAME,"space":SPACE,"subject":NAME,"valid_at":TIME},
//	"revisions":[{"private":{…},"public":{…}},…],"steps":[[i,j],…],"tenant":"default","token":HEX}
//
// A step [i,j] uses statement j of revision i. The premises of the statement, if it has any, follow from the steps
// before it; the requested statement follows from the last step. A literal follows from a step with the same literal,
// and the negation of a literal from a step that excludes it under the policy of the space. evidence contains the leaf
// hash of every turn on which a statement of the steps rests. valid_at and not are absent if they do not apply.
//
// The hashes (as in RFC 6962, section 2.1), and the data that each binds:
//
//   - graph_snapshot_hash is the tree over the leaves of the revisions, by address: the public half of each, which contains the SHA-256 of the private half;
//     then one {"leaf":…,"turn":…,"type":"evidence"} for each turn, by id; then the question's {…,"type":"question"} and
//     {"steps":[…],"type":"steps"}.
//   - policy_params_hash is the hash of the parameters of kind_policy_v1.
//   - anchor_turn_id names the question and not a turn: the UUIDv5 of graphkernel:/belief/ and the question's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"beliefs":[ADDRESS,…],"policy_id":…,"policy_params_hash":…,"schema_version":…}.
//
// The bundle does not prove that no contradicting belief was left out, or that the revisions were current; until a
// replay, that is the kernel's word.
//
// Source: Graph Kernel paper, section IV, of whose slice this is the counterpart; docs/belief.md.
package beliefs
