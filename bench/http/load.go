package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A shot is a finished request, ready to be written to a connection.
type shot []byte

func newShot(method, path, host, key string, body []byte) shot {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	if key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", key)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// A tally is what came of a load.
type tally struct {
	requests int
	failures int // other statuses than 200, and connections that broke
	first    string
	took     time.Duration
	delays   []time.Duration // sorted
}

func (t *tally) rate() float64 { return float64(t.requests-t.failures) / t.took.Seconds() }

func (t *tally) quantile(q float64) time.Duration {
	if len(t.delays) == 0 {
		return 0
	}
	return t.delays[min(len(t.delays)-1, int(q*float64(len(t.delays))))]
}

// load sends shots over a number of connections for a time. It writes bytes that are
// finished and reads no more of an answer than its length, so that most of the
// processor is the server's. next gives the shot of a client's nth request.
func load(addr string, clients int, during time.Duration, next func(client, n int) shot) *tally {
	var stop atomic.Bool
	results := make([]tally, clients)
	var wg sync.WaitGroup
	started := time.Now()
	for i := range clients {
		wg.Go(func() { results[i].run(addr, &stop, func(n int) shot { return next(i, n) }) })
	}
	timer := time.AfterFunc(during, func() { stop.Store(true) })
	wg.Wait()
	timer.Stop()
	sum := &tally{took: time.Since(started)}
	for i := range results {
		r := &results[i]
		sum.requests += r.requests
		sum.failures += r.failures
		if sum.first == "" {
			sum.first = r.first
		}
		sum.delays = append(sum.delays, r.delays...)
	}
	slices.Sort(sum.delays)
	return sum
}

func (t *tally) fail(what string) {
	t.failures++
	if t.first == "" {
		t.first = what
	}
}

func (t *tally) run(addr string, stop *atomic.Bool, next func(n int) shot) {
	var conn net.Conn
	var in *bufio.Reader
	defer func() {
		if conn != nil {
			_ = conn.Close() // the load is over
		}
	}()
	for n := 0; !stop.Load(); n++ {
		if conn == nil {
			var err error
			if conn, err = net.Dial("tcp", addr); err != nil {
				t.requests++
				t.fail(err.Error())
				return
			}
			in = bufio.NewReaderSize(conn, 64<<10)
		}
		s := next(n)
		started := time.Now()
		t.requests++
		status, err := exchange(conn, in, s)
		if err != nil {
			t.fail(err.Error())
			_ = conn.Close() // it is broken
			conn = nil
			continue
		}
		t.delays = append(t.delays, time.Since(started))
		if status != http.StatusOK {
			t.fail("status " + strconv.Itoa(status))
		}
	}
}

// exchange writes a request and reads its answer to the end.
func exchange(conn net.Conn, in *bufio.Reader, s shot) (status int, err error) {
	if _, err := conn.Write(s); err != nil {
		return 0, err
	}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("answer begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length := -1
	for {
		line, err = in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		const field = "Content-Length:"
		if len(line) > len(field) && bytes.EqualFold(line[:len(field)], []byte(field)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(field):]))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("answer without Content-Length")
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return status, err
}
