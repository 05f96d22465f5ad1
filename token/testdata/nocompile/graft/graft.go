// want: unexported field evidence

package graft

import (
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

var a = token.Admissible{evidence: slice.SealTurns(&slice.Bundle{}, nil)}
