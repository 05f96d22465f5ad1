// want: unexported field held

package secret

import "github.com/graphkernel/graphkernel/token"

func try(s token.Secret) []byte { return s.held() }
