// Package control is what the others try, done rightly. It compiles.
package control

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

func try(v *token.Verifier, data []byte) bool {
	a, _ := v.Verify(data)
	var none token.Admissible
	return act(a) && !act(none) && !act(token.Admissible{})
}

var _ = try
