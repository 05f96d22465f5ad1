package ingest

import "testing"

// TestReaders holds that each format has a reader.
func TestReaders(t *testing.T) {
	if len(readers) != len(Formats)-1 {
		t.Errorf("%d formats have readers, want all %d but %s", len(readers), len(Formats), ClaudeCode)
	}
	for _, f := range Formats {
		if readers[f] == nil && f != ClaudeCode {
			t.Errorf("%s has no reader", f)
		}
	}
}
