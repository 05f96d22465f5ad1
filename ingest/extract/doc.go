// Package extract owns extract/2, the rules that turn what agents' programs
// wrote down in a fixed form into facts, without a model: which files an agent
// read and wrote, which commands it ran, which tests passed, which packages were
// added, which commits were made.
//
// [Of] is given a turn and a way to its parents and returns the [Finding]s that
// the turn is the evidence of. Nothing else goes in: no file, no clock, no
// order of arrival. What a call of a tool did is known when its result is there,
// so the result is the evidence, and the call, which the agent made, the subject:
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
// Subjects are turns, so facts meet in files, commits and conversations, and the
// edges between turns say what came before what. docs/extraction.md is the
// table of the rules and says what they leave out.
package extract
