package postgres_test

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/store/postgres"
)

// TestExecModes refuses the exec modes in which lists of ids cannot be sent, before it
// connects to anything.
func TestExecModes(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		s, err := postgres.Open(t.Context(), "postgres://127.0.0.1:1/x?default_query_exec_mode="+mode, postgres.Options{Patience: -1})
		if err == nil || s != nil || !strings.Contains(err.Error(), "cache_describe") {
			t.Errorf("%s gave %v", mode, err)
		}
	}
}
