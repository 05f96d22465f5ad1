package overview

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestConstraintChecks names each space that has too many constraints, and each that has proposals of kinds that bind.
func TestConstraintChecks(t *testing.T) {
	d := &diagnosis{}
	d.constraints([]api.Space{
		{Space: "acme/old"}, {Space: "acme/fine", Constraints: &api.ConstraintLoad{Count: 64}},
		{Space: "acme/full", Constraints: &api.ConstraintLoad{Count: 300, Bytes: 9000, Longest: 40, Over: true, Proposed: 2}},
	})
	if len(d.checks) != 2 {
		t.Fatalf("%+v", d.checks)
	}
	for i, want := range []struct{ status, found, mend string }{{wrong, "acme/full has 300 constraints of 9000 bytes", "belief rules acme/full"}, {note, "2 items of the kinds", "belief revise"}} {
		if c := d.checks[i]; c.Status != want.status || !strings.Contains(c.Found, want.found) || !strings.Contains(c.Mend, want.mend) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
}
