package cli

import (
	"errors"
	"testing"
)

// TestSigned says once which program speaks.
func TestSigned(t *testing.T) {
	for text, want := range map[string]string{
		"graphkernel search takes WORDS":  "graphkernel search takes WORDS",
		"graphkernel: no store":           "graphkernel: no store",
		"client: refused":                 "graphkernel: refused",
		"graphkernels are many":           "graphkernel: graphkernels are many",
		"store: graphkernel.db is locked": "graphkernel: store: graphkernel.db is locked",
	} {
		if got := signed(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
