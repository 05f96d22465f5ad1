// want: cannot convert

package trust

import (
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/token"
)

// A slice that only a service verified cannot stand in for one that a key verified, though both types hold the same fields.
var a = token.Admissible(client.Verified{})
