package facts

import "github.com/graphkernel/graphkernel/slice"

// Fingerprint is the header that agrees with a bundle's body.
func Fingerprint(b *Bundle) slice.Provenance { return b.fingerprint() }
