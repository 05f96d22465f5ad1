// Package capture owns what lies between an agent's session and its import: the events that agents send to hooks, and the spool
// in which hooks leave marks until a kernel imports the sessions.
//
// Turns come from an agent's transcript alone, through the importer, which reads a transcript as a whole. So a session that is
// captured while it is written has the same turns as a session that is imported later. A hook only records that a transcript
// has more: it writes one small file and never waits for a kernel.
//
// The package imports only the standard library and small internal packages, so the program that runs inside agents is small
// and starts at once.
package capture
