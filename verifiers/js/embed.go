// Package verifier contains the verifier in JavaScript, for pages that verify evidence in the reader's browser.
package verifier

import _ "embed"

// Module is gkverify.mjs, an ES module without imports.
//
//go:embed gkverify.mjs
var Module []byte
