// want: unexported field evidence

package assign

import "github.com/graphkernel/graphkernel/token"

func try(a token.Admissible) { a.evidence = nil }
