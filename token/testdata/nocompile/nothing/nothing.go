// want: cannot use nil

package nothing

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

var _ = act(nil)
