// want: evidence

package inside

import "github.com/graphkernel/graphkernel/token"

var e token.evidence
