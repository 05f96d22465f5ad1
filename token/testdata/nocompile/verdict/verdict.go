// want: cannot use

package verdict

import "github.com/graphkernel/graphkernel/token"

func act(a token.Admissible) bool { return a.OK() }

var _ = act(token.Verdict{Outcome: token.Verified})
