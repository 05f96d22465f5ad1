package server_test

import (
	"strings"
	"testing"
)

// TestEraseUnknown makes sure that the answer names the turn and no back end.
func TestEraseUnknown(t *testing.T) {
	s := start(t)
	p := s.refused(404, "not_found", question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(77)}, body: `{"reason":"asked for"}`})
	if p.Detail != "turn "+turnID(77)+": not found" || strings.Contains(p.Detail, "erase") {
		t.Errorf("the answer is %+v", p)
	}
}
