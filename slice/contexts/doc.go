// Package contexts owns the context: the texts that an agent receives for a task within a budget of tokens, the
// candidates from which they were chosen, and the fingerprints that bind all of it. It is pure: no I/O, no clock, and
// the same request, policy and candidates always produce the same bytes.
//
// [New] makes a [Bundle] from candidates; [Parse] reads one back strictly, and [Bundle.Check] recomputes from the body
// everything that the header claims: the choice, and the prompt byte for byte. The six fields of its provenance are
// those of a slice, with the schema version gkc/1, so that a token is made, verified and written to the ledger in the
// same way. Package token signs bundles; package kernel finds the candidates.
//
// A bundle is canonical JSON; bytes in another spelling are not a bundle:
//
//	{"as_of":SEQ,"beliefs":[{"private":{…},"public":{…}},…],"candidates":[{"cost":TOKENS,"features":{NAME:PPM,…},"from":[SOURCE,…],"id":ID,
//	"kind":"turn","leaf":HEX,"seq":SEQ},…],"facts":[ACT,…],"key_id":"k1","overlaps":[[i,j,PPM],…],
//	"policy":{…},"prompt":{"cost":TOKENS,"counter":"bytes/4@1","hmac":HEX},"provenance":{…},
//	"request":{"anchor":ID,"budget":TOKENS,"format":FORMAT,"salt":HEX,"spaces":[SPACE,…],"task":TEXT},
//	"statistics":{"best":SCORE,"conversations":COUNTS,"dates":COUNTS,"named":NAME,"terms":[TEXT,…],"words":COUNTS},
//	"tenant":"default","token":HEX,"turns":[TURN,…]}
//
// turns, facts and beliefs are the chosen turns, facts and beliefs, with their text; candidates contains all
// candidates, without text. A belief is a revision of an item, in the two halves of its entry. anchor and spaces are
// absent if there are none, and so are features of 0. statistics are absent if the task is empty; they contain the
// data, in addition to the turns, on which the scores of the search depend: terms, the query's terms, ascending by
// their bytes, without authors' names; named, the author whom the query names, absent if there is not exactly one;
// best, the highest score; and for each part of the score COUNTS, which are
// {"length":SUM,"most":SCORE,"turns":N,"with":[N,…]}: the number of turns or conversations, their total length, the
// number of them that have each term, and the highest score. In conversations and words, with has one member per term,
// each at most turns; in dates, one per word of the query that is a date. Counts are at most 2^40, lengths and scores
// 2^52.
//
// The hashes (as in RFC 6962, section 2.1), and the data that each binds:
//
//   - graph_snapshot_hash is the tree over the leaves of the chosen turns, by id, and of the chosen facts, by
//     statement, as in slices; then the leaves of the chosen beliefs, by address: the public half of each, which contains the SHA-256 of the
//     private half, which contains a salt; then one {…,"type":"candidate"} for each candidate; then
//     {"overlaps":[…],"type":"overlaps"}; the request's {"anchor":…,"as_of":…,"budget":…,"format":…,"spaces":…,"task":HEX,
//     "type":"request"}, in which task is the HMAC-SHA256 of "task", a zero byte and the text, under the salt;
//     {"cost":…,"counter":…,"hmac":HEX,"type":"prompt"}, in which hmac is the HMAC of "prompt", a zero byte and
//     the rendered prompt; and {"hmac":HEX,"type":"statistics"}, in which hmac is the HMAC of "statistics", a zero
//     byte and the statistics as in the bundle, or nothing. So the leaves reveal nothing about the task, the prompt and the
//     statistics once the salt is erased.
//   - policy_params_hash is the hash of the parameters of context_policy_v1.
//   - anchor_turn_id names the request and not a turn: the UUIDv5 of graphkernel:/context/ and the request's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"beliefs":[ADDRESS,…],"facts":[HEX,…],"policy_id":…,"policy_params_hash":…,
//     "schema_version":…,"turns":[ID,…]}.
//
// Source: Graph Kernel paper, section IV, of whose slice this is the counterpart; docs/contexts.md.
package contexts
