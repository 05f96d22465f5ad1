// Package guard owns what may stop an agent's tool call before it runs: the rules that a tenant registers, and the decision that
// follows from them. A decision is a pure function of a registered policy and the call, so it can be made again at any time.
//
// Today there is one kind of rule, which denies. A call that no rule denies passes, which says only that nothing here
// objects: whoever runs the call asks its own questions as before.
package guard
