// Package rules owns what is to happen to beliefs over time: which are promoted, which lose confidence when their evidence falls, how a
// conflict ends, what becomes of an abstraction, what a procedure's uses say, what may leave with a persona, and what is archived.
//
// Each rule is a pure function of what it is handed, with time handed in and arithmetic in integers. Its result does not depend on the
// order of its input. A rule changes nothing: it says what to do, and the operators of beliefs do it. No rule deletes.
package rules
