// Package guard owns the rules by which a tenant stops an agent's tool calls before they run, and the decision of those rules
// about a call. A decision is a pure function of a registered policy and the call, so it can be made again at any time.
//
// All rules deny; there is no other kind yet. A call that no rule denies passes, which only means that no rule objects: the
// agent still asks its own questions as before.
package guard
