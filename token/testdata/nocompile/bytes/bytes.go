// want: cannot use

package bytes

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

func try(data []byte) bool { return act(data) }
