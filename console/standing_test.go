package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
)

// TestStandings shows in the incident whose words count: at each hit of a search, at each turn of a conversation from any turn on, and on the page of a turn. The
// visitor's order is seen to be a guest's.
func TestStandings(t *testing.T) {
	s, context := incident(t)
	slice := s.post("/api/slice", quoted(map[string]any{"anchor": "27de2cbd-0dc0-4a11-8ca1-000000000010"})).Header.Get("Slice-Id")
	b := s.signedIn(access.Auditor)
	const main = "1c1de000-0dc0-4a11-8ca1-0000000000a0"
	guest := `human:visitor</bdi> <span class="standing data">guest</span>`
	for path, want := range map[string][]string{
		"/search?q=coupon+table+instructions":                {guest},
		"/search?q=coupon+table+instructions&standing=guest": {guest, `<option value="guest" selected`},
		"/search?q=coupon&standing=boss":                     {"boss"},
		"/conversations/" + main:                             {guest, `<span class="standing">agent</span>`, `<span class="standing data">outside</span>`, `<span class="standing orders">system</span>`},
		"/conversations/" + main + "?after=10":               {guest},
		"/turns/27de2cbd-0dc0-4a11-8ca1-000000000010":        {guest},
		"/contexts/" + context:                               {guest, `<span class="standing orders">system</span>`},
		"/slices/" + slice:                                   {guest},
	} {
		r := b.get(path)
		for _, text := range want {
			if !strings.Contains(r.body, text) {
				t.Errorf("%s (%d) does not show %s", path, r.status, text)
			}
		}
		if of := regexp.MustCompile(`class="turn lane[^>]*>(.*?)</p>`).FindAllStringSubmatch(r.body, -1); strings.HasPrefix(path, "/conversations/") {
			for _, head := range of {
				if !strings.Contains(head[1], `class="standing`) {
					t.Errorf("%s: a turn without a standing: %s", path, head[1])
				}
			}
			if len(of) == 0 {
				t.Errorf("%s has no turn", path)
			}
		}
	}
	for _, bad := range []string{"x", "-1", "10-1"} {
		if r := b.get(fmt.Sprint("/conversations/", main, "?after=", bad)); r.status == http.StatusOK || r.status >= http.StatusInternalServerError {
			t.Errorf("after %s: status %d", bad, r.status)
		}
	}
}
