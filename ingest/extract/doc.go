// Package extract owns extract/2, the rules that derive facts, without a model, from the records that agents' programs write in
// fixed forms: which files an agent read and wrote, which commands it ran, which tests passed, which packages were added, which
// commits were made.
//
// [Of] takes a turn and a function that returns its parents, and returns the [Finding]s for which the turn is the evidence. It
// has no other inputs: no file, no clock, no order of arrival. The effect of a tool call is known only from its result, so the
// result is the evidence, and the call, which the agent made, is the subject:
//
//	call    0b5e…  [tool_use Edit]   {"file_path":"/src/redact.go", …}
//	result  77aa…  [tool_result]     The file /src/redact.go has been updated …
//
//	finding  Turn       77aa…
//	         Subject    turn:0b5e…
//	         Predicate  edited-file
//	         Object     file:/src/redact.go
//	         Confidence 1
//
// Subjects are turns, so facts meet in files, commits and conversations, and the edges between turns show the order of events.
// docs/extraction.md has the table of the rules and lists what they leave out.
package extract
