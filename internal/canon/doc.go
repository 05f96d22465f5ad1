// Package canon owns canonical JSON (RFC 8785, JCS) as GKP/1 uses it, for reading and writing. No other package writes
// canonical JSON.
//
// A [Writer] appends objects with ASCII keys in ascending order, arrays, strings, booleans, integers below 2^53 and plain
// decimals. It never formats a floating-point number, so it cannot format one wrongly. Writing keys out of order is a bug of
// the caller and panics.
//
// [Parse] reads JSON of any spelling strictly: a repeated key, invalid UTF-8, a lone surrogate, a leading zero and trailing
// text are errors, where encoding/json would use the last key and repair the rest. Numbers stay text. [Cursor] walks a parsed
// document and names the place of any wrong value.
//
// To check that bytes are canonical, parse them, write the value again and compare.
package canon
