// Package belief owns what agents hold to be true, with reasons, and how that changes. It is pure.
//
// A [Literal] says that a subject is in a relation to an object, or that it is not. A [Base] is a finite set of
// elements: literals that somebody stated, and rules, by which a literal follows from others. What follows from a base is its
// closure under the rules and under the [Constraints] of its space: a predicate may allow one object for each subject, or none of
// several objects beside another. A base is consistent if its closure holds no conflict.
//
// Four operators change a base. They go through it once, from the most entrenched element to the least (Nebel 1992, linear base
// revision), so that each change is explained by one order and takes no more than it has to:
//
//	Contract  gives up literals: keep an element unless what is kept, and it, entail one of them
//	Revise    takes literals in: keep an element unless it conflicts with them and what is kept
//	Expand    adds literals, and is refused where that is inconsistent
//	Propose   revises if all that would give way is less entrenched, and else changes nothing
//
// The order is [Rank]: a class that follows from who wrote, a criterion in integers, the number of the event, and an id, so
// there are no ties. Nothing in it changes with the clock.
//
// Operators see only elements that rules and constraints connect with the question, see [Neighbours]: the others are kept anyway.
// docs/belief.md has the postulates that hold, with proofs, and those that cannot.
package belief
