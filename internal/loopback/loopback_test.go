package loopback_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/internal/loopback"
)

// TestIs is a table of names and addresses of this machine, and of look-alikes.
func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "localhost:8080": true, "127.0.0.1": true, "127.0.0.1:80": true, "127.255.255.254": true, "::1": true, "[::1]": true, "[::1]:443": true, "::ffff:127.0.0.1": true,
		"": false, ":80": false, "127.evil.example": false, "127.evil.example:80": false, "127.0.0.1.evil.example": false, "127.1": false, "0127.0.0.1": false, "2130706433": false, "localhost.evil.example": false, "evil.localhost": false,
		"localhost.": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "126.0.0.1": false, "128.0.0.1": false, "::2": false, "[::1": false, "fe80::1%lo": false, "user@localhost": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
