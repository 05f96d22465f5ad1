package audit

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// TestKeptAtOnce lets programs replace what all of them compared with. One does, and the
// others are told that they have to compare again.
func TestKeptAtOnce(t *testing.T) {
	t.Parallel()
	k := keptIn(t.TempDir(), "default.kernel.example")
	if before, err := k.load(); err != nil || before != nil {
		t.Fatalf("at first %q is kept, %v", before, err)
	}
	var before []byte
	for round := range 5 {
		const programs = 8
		errs := make([]error, programs)
		notes := make([][]byte, programs)
		var wg sync.WaitGroup
		for i := range programs {
			notes[i] = fmt.Appendf(nil, "note %d of round %d", i, round)
			wg.Go(func() { errs[i] = k.replace(before, notes[i]) })
		}
		wg.Wait()
		now, err := k.load()
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for i, err := range errs {
			switch {
			case err == nil:
				kept++
				if !bytes.Equal(now, notes[i]) {
					t.Errorf("round %d: %q was kept, and %q is there", round, notes[i], now)
				}
			case !errors.Is(err, errKeptMoved):
				t.Errorf("round %d: %v", round, err)
			}
		}
		if kept != 1 {
			t.Errorf("round %d: %d programs kept their note", round, kept)
		}
		before = now
	}
}
