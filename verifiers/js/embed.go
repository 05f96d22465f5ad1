// Package verifier holds the verifier in JavaScript, for pages that verify evidence where it is read.
package verifier

import _ "embed"

// Module is gkverify.mjs, an ES module without imports.
//
//go:embed gkverify.mjs
var Module []byte
