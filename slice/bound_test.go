package slice_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/slice"
)

// TestTooManyValues hands over bytes that hold far more values than a bundle of
// their size can, each of which would cost a hundred times its text in memory.
func TestTooManyValues(t *testing.T) {
	_, err := slice.ParseBundle([]byte("[" + strings.Repeat("0,", 10_000) + "0]"))
	if !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("got %v, want %v for too many values", err, slice.ErrMalformed)
	}
}
