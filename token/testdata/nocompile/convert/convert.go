// want: cannot convert

package convert

import "github.com/graphkernel/graphkernel/token"

type evidence struct{}

type mine struct{ evidence *evidence }

var a = token.Admissible(mine{&evidence{}})
