package slice

import "errors"

// ErrVersion is wrapped when evidence states a version that this package does not know.
var ErrVersion = errors.New("unknown version")
