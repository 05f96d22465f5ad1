// Package dag owns the nouns of the conversation graph: identifiers, roles,
// phases, fractions, times, turns, edges, and the read-only views that slices
// are cut from.
//
// A conversation is a directed acyclic graph that only grows. A [Turn] is what
// was said once; an [Edge] says that one turn continues from another. Neither
// ever changes after admission, and every parent is admitted before its child,
// so the graph cannot hold a cycle. Admission gives each turn the tenant's next
// sequence number [Seq]; a [View] shows exactly what had been admitted up to one
// of them, however far the graph has grown since.
//
// The package decides nothing, computes no digest and does no I/O. It imports the
// standard library and a UUID type. Forms and limits are those of GKP/1,
// sections 1 and 2 (docs/protocol.md): whatever a Parse function here accepts, its
// String method writes back unchanged, and there is no second spelling. (Two read
// what people and programs write: ReadTime takes any RFC 3339 time, ReadPPM any JSON number
// that is exactly a fraction. ParsePPM takes zeros at a decimal's end.)
package dag
