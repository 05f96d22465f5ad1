package cli

import (
	"regexp"
	"strconv"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

var ago = regexp.MustCompile(`^([0-9]{1,6})([mhdw])$`)

// ReadWhen reads a date, a time, or an age such as 90m, 12h, 7d or 2w; a day has 24 hours.
func ReadWhen(text string, now time.Time) (dag.Time, error) {
	m := ago.FindStringSubmatch(text)
	if m == nil {
		return knowledge.ReadTime(text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, err
	}
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	return dag.TimeOf(now.Add(-time.Duration(n) * unit))
}
