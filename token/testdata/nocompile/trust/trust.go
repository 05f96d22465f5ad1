// want: cannot convert

package trust

import (
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/token"
)

// What a service says is not what a key says, though both hold the same.
var a = token.Admissible(client.Verified{})
