// Package belief owns the statements that agents hold to be true, their reasons and how they change. It is pure.
//
// A [Literal] says that a subject is in a relation to an object, or that it is not. A [Base] is a finite set of
// elements: literals that somebody stated, and rules, by which a literal follows from others. The closure of a base contains all
// literals that follow from it under its rules and under the [Constraints] of its space: a predicate may allow only one object for each
// subject, or only one of several objects. A base is consistent if its closure contains no conflict.
//
// Four operators change a base. They walk through it once, from the most entrenched element to the least (Nebel 1992, linear base
// revision), so one order explains each change, and no change removes more than it must:
//
//	Contract  gives up literals: keep an element unless it and the kept elements entail one of them
//	Revise    adds literals: keep an element unless it conflicts with them and the kept elements
//	Expand    adds literals, and is refused if the result is inconsistent
//	Propose   revises if every element that would give way is less entrenched, otherwise changes nothing
//
// The order is [Rank]: a class that depends on the writer, an integer criterion, the number of the event, and an id, so
// there are no ties. A rank does not change with time.
//
// Operators see only elements that rules and constraints connect with the question, see [Base.Neighbours]; they would keep the others anyway.
// docs/belief.md lists the postulates that hold, with proofs, and the postulates that cannot hold.
package belief
