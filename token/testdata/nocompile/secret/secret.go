// want: bytes

package secret

import "github.com/graphkernel/graphkernel/token"

func try(s token.Secret) []byte { return s.bytes }
