package knowledge

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// ReadTime parses a time at which something holds, as people write it: any RFC 3339 time, or a date, which means its first moment in UTC.
func ReadTime(s string) (dag.Time, error) {
	whole := s
	if len(s) == len("2006-01-02") {
		whole += "T00:00:00Z"
	}
	t, err := dag.ReadTime(whole)
	if err != nil {
		return 0, fmt.Errorf("%w; want a date such as 2026-03-14 or a time such as 2026-03-14T03:00:00Z, from 1970 on", err)
	}
	return t, nil
}
