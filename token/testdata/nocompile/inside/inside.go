// want: name evidence not exported

package inside

import "github.com/graphkernel/graphkernel/token"

var e token.evidence
