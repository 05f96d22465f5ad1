package console

import (
	"fmt"
	"strconv"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// readTime parses a date, or a time of RFC 3339.
func readTime(s string) (dag.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04", time.DateTime} {
		if t, err := time.Parse(layout, s); err == nil {
			return dag.Time(t.UnixMicro()), nil
		}
	}
	return 0, fmt.Errorf("%.40q is no date such as 2026-01-31, and no time such as 2026-01-31T15:04:05Z", s)
}

// number parses a sequence number; an empty text is 0.
func number(s string) (dag.Seq, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no sequence number", s)
	}
	return dag.Seq(n), nil
}
