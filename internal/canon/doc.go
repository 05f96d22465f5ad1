// Package canon owns canonical JSON (RFC 8785, JCS) as GKP/1 uses it, in both
// directions. It is the only package that writes it.
//
// A [Writer] appends objects with ASCII keys in ascending order, arrays,
// strings, booleans, integers below 2^53 and plain decimals. It never formats a
// floating-point number, so there is none to get wrong. Writing keys out of
// order is a bug of the caller and panics.
//
// [Parse] reads JSON of any spelling strictly: a repeated key, invalid UTF-8, a
// lone surrogate, a leading zero, trailing text are errors, where encoding/json
// would take the last key and repair the rest. Numbers stay text. [Cursor]
// walks what was parsed and names the place of whatever does not fit.
//
// Anyone who needs to know that bytes are canonical parses them, writes the value
// again and compares.
package canon
