// Package dag owns the nouns of the conversation graph: identifiers, roles,
// phases, fractions, times, turns, edges, and the read-only views that slices
// are cut from.
//
// A conversation is a directed acyclic graph that only grows. A [Turn] is one utterance; an [Edge] says that one turn
// continues from another. Neither ever changes after admission, and every parent is admitted before its child, so the
// graph cannot contain a cycle. Admission gives each turn the tenant's next sequence number [Seq]; a [View] shows
// exactly the turns admitted up to one of these numbers, however far the graph has grown since.
//
// The package makes no decisions, computes no digests and does no I/O. It imports the standard library and a UUID type.
// Forms and limits are those of GKP/1, sections 1 and 2 (docs/protocol.md): if a Parse function accepts a text, the
// String method of the result returns the same text, so there is no second spelling. (Two functions read what people
// and programs write: ReadTime accepts any RFC 3339 time, ReadPPM any JSON number that is exactly a fraction. ParsePPM
// accepts zeros at the end of a decimal.)
package dag
