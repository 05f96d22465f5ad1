// Package contexts owns the context: what an agent is given for a task under a budget of tokens, what it was
// chosen from, and the fingerprints that bind all of it. It is pure: no I/O, no clock, and the same
// request, policy and candidates give the same bytes.
//
// [New] makes a [Bundle] of candidates; [Parse] reads one back strictly, and [Bundle.Check] recomputes from its
// body everything that its header claims: the choice, and the prompt byte for byte. The six fields of
// its provenance are those of a slice, with the schema version gkc/1, so that a token is made,
// verified and written to the ledger in the same way. Signing is package token's; what the candidates are is
// package kernel's to find.
//
// A bundle's bytes are canonical JSON, and nothing else is a bundle:
//
//	{"as_of":SEQ,"beliefs":[{"private":{…},"public":{…}},…],"candidates":[{"cost":TOKENS,"features":{NAME:PPM,…},"from":[SOURCE,…],"id":ID,
//	"kind":"turn","leaf":HEX,"seq":SEQ},…],"facts":[ACT,…],"key_id":"k1","overlaps":[[i,j,PPM],…],
//	"policy":{…},"prompt":{"cost":TOKENS,"counter":"bytes/4@1","hmac":HEX},"provenance":{…},
//	"request":{"anchor":ID,"budget":TOKENS,"format":FORMAT,"salt":HEX,"spaces":[SPACE,…],"task":TEXT},
//	"statistics":{"best":SCORE,"conversations":COUNTS,"dates":COUNTS,"named":NAME,"terms":[TEXT,…],"words":COUNTS},
//	"tenant":"default","token":HEX,"turns":[TURN,…]}
//
// turns, facts and beliefs are the chosen ones, with their text; candidates are all there were, without it. A belief is a revision of an item,
// in the two halves of its entry. anchor and spaces are absent if there were none, and so are features of 0. statistics are absent if the task is empty; they have what the
// scores of the search rest on beside the turns themselves: the query's terms, ascending by their bytes, without authors' names; named, the
// author whom it names, absent if there is not exactly one; the highest score; and for each part of the score COUNTS, which are
// {"length":SUM,"most":SCORE,"turns":N,"with":[N,…]}: so many turns or conversations count, of such a length together, as many have each
// term, and this is the greatest score. with has as many members as terms in conversations and words, each at most turns; in dates, as many as
// the query has words that are dates. Counts are at most 2^40, lengths and scores 2^52.
//
// What is bound, and by what (hashes as in RFC 6962, section 2.1):
//
//   - graph_snapshot_hash is the tree over the leaves of the chosen turns, by id, and of the chosen facts, by
//     statement, as they are in slices; then those of the chosen beliefs, by address: the public half of each, which has the SHA-256 of the private
//     one, which has a salt; then one {…,"type":"candidate"} for each candidate; then
//     {"overlaps":[…],"type":"overlaps"}; the request's {"anchor":…,"as_of":…,"budget":…,"format":…,"spaces":…,"task":HEX,
//     "type":"request"}, in which task is the HMAC-SHA256 of "task", a zero byte and the text, under the salt;
//     {"cost":…,"counter":…,"hmac":HEX,"type":"prompt"}, in which hmac is that of "prompt", a zero byte and
//     the rendered prompt; and {"hmac":HEX,"type":"statistics"}, in which hmac is that of "statistics", a zero
//     byte and the statistics as they are in the bundle, or nothing. So the leaves tell nothing of the task, of the prompt and of the
//     statistics once the salt is erased.
//   - policy_params_hash is that of the parameters of context_policy_v1.
//   - anchor_turn_id names the request and no turn: the UUIDv5 of graphkernel:/context/ and the request's leaf.
//   - slice_id is xxHash64 of {"anchor":…,"beliefs":[ADDRESS,…],"facts":[HEX,…],"policy_id":…,"policy_params_hash":…,
//     "schema_version":…,"turns":[ID,…]}.
//
// Source: Graph Kernel paper, section IV, of whose slice this is the counterpart; docs/contexts.md.
package contexts
