// Package knowledge owns the graph of facts beside the turns: what agents learned, who said
// so, when it held, since when it is known, and which turn is the evidence. It is pure: a
// back end keeps acts and edges, and asks here what follows from them.
//
// A [Statement] says that a subject is in a relation to an object, for a time:
//
//	release-branch  owned-by  team-blue     [2026-01-01, forever)
//
// Its names are in the form of normalize.Name, whatever was written. A [Fact] is somebody's
// assertion of a statement: with a confidence, a source, and the turn or the slice that it
// was learned from. Nothing is ever overwritten. There are four acts, and each takes a
// sequence number of the tenant, as an admitted turn does:
//
//	assert    a fact. The first of a statement makes it believed, later ones add evidence;
//	          the confidence of the statement is the highest of them
//	retract   a statement is no longer believed
//	alias     a name stands for another from now on
//	unalias   and no longer
//
// An assertion can supersede statements: they are no longer believed, and its act names them,
// always earlier ones, so that chains have no cycles. A statement that is asserted once more
// after its end is believed anew, and what was asserted before its end does not count.
//
// So there are two clocks. The statement's own time says when something held; the sequence
// numbers say when it was believed here. A [Version] is a stretch of the second, [Since,
// Until), in which a statement had one confidence. What a question with an as-of number S
// sees is the versions with Since <= S < Until, under the aliases of that moment: names are
// kept as they were asserted, and resolved when they are read.
//
// A [Graph] gives edges by name; [Traverse] and [Paths] walk it. The order of all that they
// give rests on confidences and on the statements' digests alone, never on the order in which
// anything was stored.
package knowledge
