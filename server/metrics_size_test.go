package server_test

import (
	"strings"
	"testing"
)

// TestMetricsGrow: an operation has series from its first request on, so an answer of metrics is short while few operations are asked.
func TestMetricsGrow(t *testing.T) {
	s := start(t)
	before := string(s.get("/metrics").body)
	if strings.Contains(before, `operation="listPolicies"`) || len(before) > 40<<10 {
		t.Errorf("before any request there are %d bytes:\n%s", len(before), before)
	}
	s.get("/api/policies")
	after := string(s.get("/metrics").body)
	for _, want := range []string{`graphkernel_http_requests_total{operation="listPolicies",status=`, `graphkernel_http_request_duration_seconds_count{operation="listPolicies"} 1`, `graphkernel_http_requests_in_flight{operation="listPolicies"} 0`} {
		if !strings.Contains(after, want) {
			t.Errorf("no %s in\n%s", want, after)
		}
	}
}
