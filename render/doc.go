// Package render owns how evidence is shown to people and prompts: a slice as
// Markdown or as chat messages, the reason of a turn in words, and text from a
// conversation without the characters that could act on anyone who looks at it.
//
// Rendered text carries no proof. The bundle is the evidence.
package render
