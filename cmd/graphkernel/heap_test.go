package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestCollectLate makes sure that the collector is as usual after its first run, or as a command has set it, and at once if the environment says how it
// is to be.
func TestCollectLate(t *testing.T) {
	const usual = 150
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	t.Setenv("GOGC", "150")
	if collectLate(); percent() != usual {
		t.Errorf("%d %% though the environment says %d %%", percent(), usual)
	}
	t.Setenv("GOGC", "")
	for _, set := range []int{0, 200} { // by a command; 0: by none
		debug.SetGCPercent(usual)
		collectLate()
		if percent() != late {
			t.Errorf("%d %% before the first run, want %d %%", percent(), late)
		}
		want := uint64(usual)
		if set > 0 {
			want = uint64(set)
			debug.SetGCPercent(set)
		}
		for n := 0; n < 100 && (percent() != want || n < 5); n++ {
			runtime.GC()
			runtime.Gosched()
		}
		if percent() != want {
			t.Errorf("%d %% after a hundred runs, want %d %%", percent(), want)
		}
	}
}
