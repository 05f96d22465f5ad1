package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A sample is what the service said of itself.
type sample struct {
	at                         time.Duration
	resident, heap, goroutines float64
}

// soakClients work at once: most verify, some cut slices, some admit turns.
const soakClients = 32

// soak keeps the service under load and watches what it holds, a line a minute. Memory is
// flat if the last third grows by no more than 5 %.
func (s *service) soak(during time.Duration) error {
	claim, err := s.claim()
	if err != nil {
		return err
	}
	verify := newShot("POST", "/api/verify_token", s.addr, s.key, claim)
	slices := make([]shot, len(s.anchors))
	for i, anchor := range s.anchors {
		body, err := json.Marshal(map[string]string{"anchor": anchor, "policy": widePolicy})
		if err != nil {
			return err
		}
		slices[i] = newShot("POST", "/api/slice", s.addr, s.key, body)
	}
	next := func(client, n int) shot {
		switch {
		case client == 0: // as an agent does: the newest turn, again and again, and now and then a new one
			body := append(append([]byte(`{"turns":[`), line(filledConversations, n/100)...), "]}"...)
			return newShot("POST", "/api/turns", s.addr, s.key, body)
		case client%4 == 0:
			return slices[(client*7919+n)%len(slices)]
		}
		return verify
	}
	var samples []sample
	var shown time.Duration
	done := make(chan *tally)
	go func() { done <- load(s.addr, soakClients, during, next) }()
	started := time.Now()
	tick := time.NewTicker(max(during/36, time.Second))
	defer tick.Stop()
	for {
		select {
		case t := <-done:
			return report(t, samples)
		case <-tick.C:
			m, err := s.measure(time.Since(started))
			if err != nil {
				return err
			}
			samples = append(samples, m)
			if m.at >= shown {
				fmt.Printf("%8s  resident %8.1f MiB  heap %8.1f MiB\n", m.at.Round(time.Second), m.resident/(1<<20), m.heap/(1<<20))
				shown += time.Minute
			}
		}
	}
}

func (s *service) measure(at time.Duration) (sample, error) {
	text, err := s.ask("GET", "/metrics", "", nil)
	m := sample{at: at}
	for _, l := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(l, " ")
		into, ok := map[string]*float64{"process_resident_memory_bytes": &m.resident, "go_memstats_heap_inuse_bytes": &m.heap, "go_goroutines": &m.goroutines}[name]
		if ok {
			*into, _ = strconv.ParseFloat(value, 64) // Prometheus wrote it
		}
	}
	return m, err
}

// report prints what was seen, and judges it.
func report(t *tally, samples []sample) error {
	if len(samples) < 6 {
		return fmt.Errorf("only %d samples were taken; soak longer", len(samples))
	}
	fmt.Printf("\nsoak: %d clients for %s: %d requests, %.0f/s, %d failed, p50 %s, p99 %s\n",
		soakClients, t.took.Round(time.Second), t.requests, t.rate(), t.failures, t.quantile(.5), t.quantile(.99))
	if t.failures > 0 {
		return fmt.Errorf("%d requests failed, the first: %s", t.failures, t.first)
	}
	third := len(samples) / 3
	fmt.Printf("%10s %14s %14s %12s\n", "", "resident MiB", "heap MiB", "goroutines")
	var means [3]sample
	for i := range means {
		part := samples[i*third : (i+1)*third]
		for _, m := range part {
			means[i].resident += m.resident / float64(len(part))
			means[i].heap += m.heap / float64(len(part))
			means[i].goroutines += m.goroutines / float64(len(part))
		}
		fmt.Printf("%10s %14.1f %14.1f %12.1f\n", []string{"first", "second", "last"}[i]+" third", means[i].resident/(1<<20), means[i].heap/(1<<20), means[i].goroutines)
	}
	last := samples[2*third:]
	half := len(last) / 2
	from, to := residentMean(last[:half]), residentMean(last[half:])
	if to > 1.05*from || means[2].goroutines > 1.10*means[1].goroutines+4 {
		return fmt.Errorf("within the last third resident memory went from %.1f to %.1f MiB: memory or goroutines are not flat", from/(1<<20), to/(1<<20))
	}
	fmt.Println("flat")
	return nil
}

// residentMean is the mean of the resident memory.
func residentMean(samples []sample) (mean float64) {
	for _, m := range samples {
		mean += m.resident / float64(len(samples))
	}
	return mean
}
