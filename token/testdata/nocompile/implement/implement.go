// want: cannot use

package implement

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

type mine struct{}

func (mine) OK() bool { return true }

var _ = act(mine{})
