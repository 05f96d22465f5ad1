// want: cannot define new methods

package method

import "github.com/graphkernel/graphkernel/token"

func (a token.Admissible) Force() {}
