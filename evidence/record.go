package evidence

import (
	"fmt"

	"github.com/graphkernel/graphkernel/slice"
)

// A record is the verdict of a judgement, as far as its checks have come.
type record struct {
	v      Verdict
	signed bool // at least one signature was checked and is good
}

func (r *record) check(id slice.CheckID, status slice.Status, format string, args ...any) {
	r.v.Checks = append(r.v.Checks, slice.Check{ID: id, Status: status, Detail: fmt.Sprintf(format, args...)})
}

func (r *record) pass(id slice.CheckID, format string, args ...any) {
	r.check(id, slice.StatusOK, format, args...)
}

func (r *record) skip(id slice.CheckID, format string, args ...any) {
	r.check(id, slice.StatusSkipped, format, args...)
}

// fail records a failed check. The first one decides the outcome.
func (r *record) fail(id slice.CheckID, o Outcome, format string, args ...any) {
	r.check(id, slice.StatusFail, format, args...)
	if r.v.Outcome != "" {
		return
	}
	r.v.Outcome, r.v.Reason = o, fmt.Sprintf(format, args...)
	if o != KeyUnknown && o != KeyRetired { // these outcomes say enough
		r.v.Reason = string(id) + ": " + r.v.Reason
	}
}

// verdict returns the verdict. If nothing failed, it is Verified, or WellFormed if no signature was checked.
func (r *record) verdict() Verdict {
	if r.v.Outcome == "" {
		r.v.Outcome = Verified
		if !r.signed {
			r.v.Outcome, r.v.Reason = WellFormed, "no signature was checked: give a trust file, or the key of the token"
		}
	}
	return r.v
}
