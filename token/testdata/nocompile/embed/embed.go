// want: cannot use

package embed

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

type mine struct{ token.Admissible }

func (mine) OK() bool { return true }

var _ = act(mine{})
