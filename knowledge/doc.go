// Package knowledge owns the graph of facts: what agents learned, who said so, when it held, since when it is known, and
// which turn is the evidence. It is pure: a store keeps acts and edges, and this package computes what follows from them.
//
// A [Statement] says that a subject is in a relation to an object, for a time:
//
//	release-branch  owned-by  team-blue     [2026-01-01, forever)
//
// Its names are in the form of normalize.Name, however they were written. A [Fact] is somebody's assertion of a statement,
// with a confidence, a source, and the turn or the slice that it was learned from. Nothing is ever overwritten. There are
// four kinds of acts, and each act takes a sequence number of the tenant, as an admitted turn does:
//
//	assert    asserts a fact. The first assertion of a statement makes it believed, later
//	          ones add evidence; the statement has the highest of their confidences
//	retract   ends the belief in a statement
//	alias     makes a name stand for another one from now on
//	unalias   ends that
//
// An assertion can supersede statements: they are no longer believed. The act names these statements, which are always earlier ones,
// so chains have no cycles. A statement that is asserted again after its end is believed anew; assertions before its end do not count.
//
// So there are two clocks. The statement's own time says when it held; the sequence numbers say when it was believed here. A [Version]
// is a range of sequence numbers, [Since, Until), in which a statement had one confidence. A query with an as-of number S sees the
// versions with Since <= S < Until, under the aliases as of S: names are stored as they were asserted, and resolved when they are read.
//
// A [Graph] returns edges by name; [Traverse] and [Paths] walk it. The order of their results depends
// only on confidences and on the statements' digests, never on the order in which anything was stored.
package knowledge
