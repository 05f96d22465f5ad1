// want: unexported field evidence

package literal

import "github.com/graphkernel/graphkernel/token"

var a = token.Admissible{evidence: nil}
