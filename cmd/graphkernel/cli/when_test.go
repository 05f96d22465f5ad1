package cli

import (
	"testing"
	"time"
)

// TestReadWhen reads dates as before, and how long ago something was.
func TestReadWhen(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"7d": "2026-11-17T12:00:00.000000Z", "2w": "2026-11-10T12:00:00.000000Z", "90m": "2026-11-24T10:30:00.000000Z", "0h": "2026-11-24T12:00:00.000000Z",
		"2026-01-02": "2026-01-02T00:00:00.000000Z", "2026-01-02T03:04:05Z": "2026-01-02T03:04:05.000000Z",
		"7": "", "d": "", "7y": "", "-7d": "", "last week": "", "": "", "1234567d": "",
	} {
		got, err := ReadWhen(text, now)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}
