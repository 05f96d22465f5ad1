package slice

import "errors"

// ErrVersion is wrapped when evidence states a version that this package does not know.
var ErrVersion = errors.New("unknown version")

// ErrTooLarge is wrapped when a bundle would be larger than verifiers read.
var ErrTooLarge = errors.New("slice is too large")
