package fsck_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestZZNamed(t *testing.T) {
	ctx := t.Context()
	s, err := sqlite.Create(ctx, filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 50000; n += 1000 {
		var b store.Batch
		for i := n; i < n+1000; i++ {
			b = append(b, storetest.Named(storetest.Arrival(i+1, i/100, fmt.Sprint("turn ", i)), fmt.Sprint("name ", i)))
		}
		if _, err := s.Append(ctx, "a", []store.Batch{b}); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	stages := map[string]time.Duration{}
	var last string
	at := begin
	r, err := fsck.Store(ctx, s, fsck.Options{Progress: func(p fsck.Progress) {
		if p.Stage != last {
			stages[last] += time.Since(at)
			last, at = p.Stage, time.Now()
		}
	}})
	t.Log(time.Since(begin), r.OK(), err, stages, r.Counts)
}
