// Package standing owns the answer to one question: whose words count. Every turn, belief and request has a standing, from the words
// that bind (system, owner, member) to the words that inform (guest) and the data that only is there (outside).
//
// A standing is computed by a registered policy of type standing_policy_v1 from facts that a store keeps of a turn
// ([dag.Origin]): the credential and what was granted to it, the channel, the structure of the record, the place in the
// conversation. The text is never read. What a caller says of itself, its role and author, counts only where the channel or
// the credential may speak for that author. So a [Decider] is pure, an erasure changes no standing, and everybody who has
// the facts and the policy finds the same.
//
// The rules of a policy come first:
//
//	{"type":"standing_policy_v1","rules":[
//	    {"author":"human:reviewer","channel":"lines","standing":"member"},
//	    {"key":"0123456789abcdef","standing":"guest"}]}
//
// The first rule that matches a turn decides, and a turn that no rule matches has the standing that follows from the facts.
// No rule raises a turn above its ceiling: a tool's result stays outside, and an agent's words stay the agent's.
package standing
