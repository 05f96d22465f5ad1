// Package capture owns what lies between an agent's session and its import: the events that agents report to hooks, and the
// spool in which a hook leaves word until a kernel takes it in.
//
// Turns come from an agent's transcript alone, by the importer that reads it as a whole. So a session that was captured while
// it was written and one that is imported later are the same turns. A hook only says that a transcript has more, which takes one small file, and never waits for a kernel.
//
// The package imports the standard library and internal/secretfile alone, so the program that runs inside agents is small and
// starts at once.
package capture
