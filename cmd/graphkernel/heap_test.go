package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestCollectLate makes sure that the collector is as usual after its first run, and at once if the environment says how it is to be.
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
	collectLate()
	if percent() != 1000 {
		t.Errorf("%d %% before the first run, want 1000 %%", percent())
	}
	for range 100 {
		if runtime.GC(); percent() == usual {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d %% after a hundred runs, want %d %%", percent(), usual)
}
