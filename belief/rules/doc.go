// Package rules owns the rules by which beliefs change over time: promotion, loss of confidence when evidence falls, advice on
// conflicts, abstraction, the success rate of procedures, the items that may leave with a persona, and archiving.
//
// Each rule is a pure function of its arguments, including the time, with integer arithmetic. Its result does not depend on the
// order of its input. A rule changes nothing: it says what to do, and the operators of beliefs do it. No rule deletes.
package rules
