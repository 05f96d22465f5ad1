// Command http measures the service under load, beside what it is compared with, in
// one run:
//
//	make bench-http
//	go -C bench run ./http -soak 3m
//
// The service is the real program, started as a process of its own with its keys, its
// SQLite store, its limits, its log (to a file), its metrics and its traces. The bare
// handler is another process: echo, one JSON decoded, one HMAC, one JSON encoded. The
// load comes from this process, on the same machine, so all figures hold the
// generator's own share. Candidates take turns, round after round; the ratios are what
// to trust.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// bareVariable makes this program the bare handler.
const bareVariable = "GRAPHKERNEL_BENCH_BARE"

func main() {
	if addr := os.Getenv(bareVariable); addr != "" {
		fmt.Fprintln(os.Stderr, "bench:", serveBare(addr))
		os.Exit(1)
	}
	rounds := flag.Int("rounds", 5, "rounds of each measurement")
	each := flag.Duration("each", 3*time.Second, "how long a candidate's turn is")
	soak := flag.Duration("soak", 0, "instead, keep the service under full load for so long and watch its memory")
	sample := flag.String("trace-sample", "0.01", "the share of requests traced")
	flag.Parse()
	if err := run(context.Background(), *rounds, *each, *soak, *sample); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, each, soak time.Duration, sample string) (err error) {
	folder, err := os.MkdirTemp("", "graphkernel-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Printf("%s %s/%s, %d CPUs, the load generator included\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	s, err := startService(ctx, folder, sample)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	fmt.Printf("%d turns admitted over HTTP in %s, %.0f turns/s\n", s.turns, s.admission.Round(time.Millisecond), float64(s.turns)/s.admission.Seconds())
	if soak > 0 {
		return s.soak(soak)
	}
	if err := compareVerify(ctx, s, rounds, each); err != nil {
		return err
	}
	return compareSlice(ctx, s, rounds, each)
}

// median of the values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const verifyClients, sliceClients = 64, 16

func compareVerify(ctx context.Context, s *service, rounds int, each time.Duration) error {
	bare, err := startBare(ctx)
	if err != nil {
		return err
	}
	defer bare.stop()
	claim, err := s.claim()
	if err != nil {
		return err
	}
	verify := newShot("POST", "/api/verify_token", s.addr, s.key, claim)
	plain := newShot("POST", "/", bare.addr, "", claim)
	var bareRates, rates, ratios []float64
	var last *tally
	for range rounds {
		b := load(bare.addr, verifyClients, each, func(int, int) shot { return plain })
		v := load(s.addr, verifyClients, each, func(int, int) shot { return verify })
		for _, t := range []*tally{b, v} {
			if t.failures > 0 {
				return fmt.Errorf("%d of %d requests failed, the first: %s", t.failures, t.requests, t.first)
			}
		}
		bareRates, rates, ratios = append(bareRates, b.rate()), append(rates, v.rate()), append(ratios, v.rate()/b.rate())
		last = v
	}
	fmt.Printf("\nverify_token, %d clients, medians of %d rounds\n", verifyClients, rounds)
	fmt.Printf("  bare echo handler (decode, one HMAC, encode)   %8.0f/s\n", median(bareRates))
	fmt.Printf("  verify_token (key, limits, log, metrics, traces) %6.0f/s   p50 %s   p99 %s\n", median(rates), last.quantile(.5), last.quantile(.99))
	fmt.Printf("  ratio %.2f (want at least 0.70)\n", median(ratios))
	return nil
}

func compareSlice(ctx context.Context, s *service, rounds int, each time.Duration) error {
	library, err := openLibrary(ctx, s)
	if err != nil {
		return err
	}
	defer library.close()
	shots := make([]shot, len(s.anchors))
	for i, anchor := range s.anchors {
		body, err := json.Marshal(map[string]string{"anchor": anchor, "policy": widePolicy})
		if err != nil {
			return err
		}
		shots[i] = newShot("POST", "/api/slice", s.addr, s.key, body)
	}
	next := func(client, n int) shot { return shots[(client*7919+n)%len(shots)] }
	if t := load(s.addr, sliceClients, each, next); t.failures > 0 { // warms up
		return fmt.Errorf("%d of %d slices failed, the first: %s", t.failures, t.requests, t.first)
	}
	var inProcess, rates, ratios, p50, p99 []float64
	for range rounds {
		l, err := library.rate(ctx, each)
		if err != nil {
			return err
		}
		t := load(s.addr, sliceClients, each, next)
		if t.failures > 0 {
			return fmt.Errorf("%d of %d slices failed, the first: %s", t.failures, t.requests, t.first)
		}
		inProcess, rates, ratios = append(inProcess, l), append(rates, t.rate()), append(ratios, t.rate()/l)
		p50, p99 = append(p50, float64(t.quantile(.5))/1e6), append(p99, float64(t.quantile(.99))/1e6)
	}
	fmt.Printf("\nslice of %d turns, warm, %d anchors, %d clients, medians of %d rounds\n", library.selected, len(s.anchors), sliceClients, rounds)
	fmt.Printf("  kernel.Slice in process, %d goroutines           %6.0f/s\n", runtime.GOMAXPROCS(0), median(inProcess))
	fmt.Printf("  POST /api/slice                                 %6.0f/s   p50 %.1f ms   p99 %.1f ms (want at least 800/s, p99 under 20 ms)\n", median(rates), median(p50), median(p99))
	fmt.Printf("  ratio %.2f (want at least 0.50)\n", median(ratios))
	return nil
}
