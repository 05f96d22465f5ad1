// want: cannot use

package bundle

import (
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func act(a token.Admissible) bool { return a.OK() }

func try(b *slice.Bundle) bool { return act(b) }
