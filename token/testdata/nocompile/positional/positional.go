// want: unexported field evidence

package positional

import "github.com/graphkernel/graphkernel/token"

var a = token.Admissible{nil}
