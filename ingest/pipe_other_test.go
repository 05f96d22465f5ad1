//go:build !unix

package ingest

import "testing"

func makePipe(t *testing.T) string {
	t.Skip("SKIPPED: no named pipes")
	return ""
}
