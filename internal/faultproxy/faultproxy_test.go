package faultproxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A bench is a proxy, a listener behind it and connections through it.
type bench struct {
	*Proxy
	t      *testing.T
	server net.Listener
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	proxy, err := New(server.Addr().String())
	must(t, err)
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
		if err := proxy.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	})
	return &bench{proxy, t, server}
}

// refused makes sure that a new connection is reset, be it before Dial returns.
func (b *bench) refused() {
	b.t.Helper()
	client, err := net.Dial("tcp4", b.Address())
	switch {
	case err == nil:
		reset(b.t, client)
		must(b.t, client.Close())
	case !errors.Is(err, syscall.ECONNRESET):
		b.t.Fatalf("got %v, want a reset", err)
	}
}

// pair returns both ends of a new connection.
func (b *bench) pair() (client, server net.Conn) {
	b.t.Helper()
	client, err := net.Dial("tcp4", b.Address())
	must(b.t, err)
	b.t.Cleanup(func() { _ = client.Close() })
	server, err = b.server.Accept()
	must(b.t, err)
	b.t.Cleanup(func() { _ = server.Close() })
	return client, server
}

func send(t *testing.T, to net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(to, text)
	must(t, err)
}

func receive(t *testing.T, from net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	must(t, from.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("got %q and %v, want %q", got, err, want)
	}
}

// silent makes sure that nothing comes, not even an end.
func silent(t *testing.T, from net.Conn) {
	t.Helper()
	must(t, from.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if n, err := from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %d bytes and %v, want silence", n, err)
	}
}

// reset makes sure that the next thing that comes is a reset.
func reset(t *testing.T, from net.Conn) {
	t.Helper()
	must(t, from.SetReadDeadline(time.Now().Add(10*time.Second)))
	if n, err := from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %d bytes and %v, want a reset", n, err)
	}
}

// eventually waits until the counts are as wanted.
func (b *bench) eventually(want Counts) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if got := b.Counts(); got == want {
			return
		} else if time.Now().After(end) {
			b.t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestPass(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	send(t, client, "question")
	receive(t, server, "question")
	send(t, server, "answer")
	receive(t, client, "answer")

	// One side closes its half, and the other half goes on.
	must(t, client.(*net.TCPConn).CloseWrite())
	must(t, server.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	send(t, server, "more")
	receive(t, client, "more")
	must(t, server.Close())
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	b.eventually(Counts{Accepted: 1, ToServer: 8, ToClient: 10})
}

// TestMuch sends more than all buffers hold, both ways at once.
func TestMuch(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	var all sync.WaitGroup
	for _, side := range []net.Conn{client, server} {
		all.Go(func() {
			if _, err := side.Write(text); err != nil {
				t.Error(err)
			}
			_ = side.(*net.TCPConn).CloseWrite()
		})
		all.Go(func() {
			got, err := io.ReadAll(side)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("got %d bytes and %v, want %d", len(got), err, len(text))
			}
		})
	}
	all.Wait()
	b.eventually(Counts{Accepted: 1, ToServer: int64(len(text)), ToClient: int64(len(text))})
}

// TestResetPasses resets one side; the other must hear of it.
func TestResetPasses(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	must(t, client.(*net.TCPConn).SetLinger(0))
	must(t, client.Close())
	reset(t, server)
	client, server = b.pair()
	must(t, server.(*net.TCPConn).SetLinger(0))
	must(t, server.Close())
	reset(t, client)
}

func TestDelay(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	const each = 60 * time.Millisecond
	b.Set(Delay(each))
	for range 3 {
		began := time.Now()
		send(t, client, "question")
		receive(t, server, "question")
		send(t, server, "answer")
		receive(t, client, "answer")
		if took := time.Since(began); took < 2*each {
			t.Errorf("there and back took %v, want %v at least", took, 2*each)
		}
	}
	// Many at once are late by the same time, not one after the other.
	began := time.Now()
	for i := range 20 {
		send(t, client, fmt.Sprintf("%03d", i))
		time.Sleep(time.Millisecond)
	}
	for i := range 20 {
		receive(t, server, fmt.Sprintf("%03d", i))
	}
	if took := time.Since(began); took > 10*each {
		t.Errorf("twenty took %v", took)
	}

	// One direction only, and bytes under way go on when the delay is taken away.
	b.Set(Fault{ToClient: Path{Delay: time.Hour}})
	send(t, client, "question")
	receive(t, server, "question")
	send(t, server, "answer")
	silent(t, client)
	b.Set(Pass())
	receive(t, client, "answer")
}

func TestSlow(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	const pause = 10 * time.Millisecond
	b.Set(Slow(3, pause))
	began := time.Now()
	send(t, client, "0123456789")
	for _, want := range []string{"012", "345", "678", "9"} {
		got := make([]byte, 10)
		n, err := server.Read(got)
		must(t, err)
		if string(got[:n]) != want {
			t.Errorf("got %q at once, want %q", got[:n], want)
		}
	}
	if took := time.Since(began); took < 3*pause {
		t.Errorf("took %v, want %v at least", took, 3*pause)
	}
	b.Set(Slow(1, time.Hour))
	send(t, server, "abc")
	receive(t, client, "a")
	silent(t, client)
	b.Set(Pass())
	receive(t, client, "bc")
}

func TestRefuse(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	b.Set(Refuse())
	b.refused()
	send(t, client, "still here")
	receive(t, server, "still here")
	b.Set(Pass())
	client, server = b.pair()
	send(t, client, "here too")
	receive(t, server, "here too")
	b.eventually(Counts{Accepted: 2, Refused: 1, Open: 2, ToServer: 18})
}

func TestNoServer(t *testing.T) {
	b := newBench(t)
	must(t, b.server.Close())
	b.refused()
	b.eventually(Counts{Accepted: 1, Cut: 1})
	if _, err := New("nowhere"); err == nil {
		t.Error("took an address without a port")
	}
}

func TestCut(t *testing.T) {
	b := newBench(t)
	if n := b.Cut(); n != 0 {
		t.Errorf("cut %d connections, there were none", n)
	}
	var sides []net.Conn
	for range 3 {
		client, server := b.pair()
		send(t, client, "x")
		receive(t, server, "x")
		sides = append(sides, client, server)
	}
	if n := b.Cut(); n != 3 {
		t.Errorf("cut %d connections of 3", n)
	}
	for _, side := range sides {
		reset(t, side)
	}
	client, server := b.pair()
	send(t, client, "y")
	receive(t, server, "y")
	b.eventually(Counts{Accepted: 4, Cut: 3, Open: 1, ToServer: 4})
}

func TestHalfOpen(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	send(t, client, "before")
	receive(t, server, "before")
	b.Set(HalfOpen())
	send(t, client, "question")
	silent(t, server)
	send(t, server, "answer")
	silent(t, client)
	b.eventually(Counts{Accepted: 1, Open: 1, ToServer: 6, Swallowed: 14})

	// A new connection comes about and is as dead.
	late, lateServer := b.pair()
	send(t, late, "hello")
	silent(t, lateServer)

	// A side that closes is not heard of, nor one that is reset.
	must(t, client.Close())
	silent(t, server)
	must(t, lateServer.(*net.TCPConn).SetLinger(0))
	must(t, lateServer.Close())
	silent(t, late)

	// A stream with a hole stays dead; new ones are well.
	b.Set(Pass())
	silent(t, server)
	silent(t, late)
	well, wellServer := b.pair()
	send(t, well, "after")
	receive(t, wellServer, "after")

	if n := b.Cut(); n != 3 {
		t.Errorf("cut %d connections of 3", n)
	}
	reset(t, server)
	reset(t, late)
}

// TestSwallowAnswer loses the answer only: the server has done the work, and the
// client does not know.
func TestSwallowAnswer(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	b.Set(Fault{ToClient: Path{Swallow: true}})
	send(t, client, "COMMIT")
	receive(t, server, "COMMIT")
	send(t, server, "done")
	silent(t, client)
	must(t, client.Close())
	must(t, server.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}

// TestCutAfter cuts at every byte of a message, in both directions. The receiver does
// not read before the connection is cut, and must have all that came before.
func TestCutAfter(t *testing.T) {
	b := newBench(t)
	const message = "COMMIT;"
	cuts := 0
	for _, d := range []Direction{ToServer, ToClient} {
		for n := range len(message) + 1 {
			from, to := b.pair()
			if d == ToClient {
				from, to = to, from
			}
			send(t, from, "before")
			receive(t, to, "before")
			done := b.CutAfter(d, int64(n))
			select {
			case <-done:
				t.Fatalf("cut after %d bytes before any came", n)
			default:
			}
			send(t, from, message)
			<-done
			cuts++
			receive(t, to, message[:n])
			reset(t, to)
			reset(t, from)
		}
	}
	b.eventually(Counts{Accepted: cuts, Cut: cuts, ToServer: 6*8 + 28, ToClient: 6*8 + 28})
}

// TestCutAfterMuch cuts while the receiver's buffers are full.
func TestCutAfterMuch(t *testing.T) {
	b := newBench(t)
	client, server := b.pair()
	const n = 9_999_999
	done := b.CutAfter(ToServer, n)
	var sending sync.WaitGroup
	sending.Go(func() {
		if _, err := client.Write(make([]byte, 2*n)); err == nil {
			t.Error("all was sent")
		}
	})
	var got bytes.Buffer
	_, err := io.Copy(&got, server)
	if got.Len() != n || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %d bytes and %v, want %d and a reset", got.Len(), err, n)
	}
	<-done
	sending.Wait()
}

// TestCutAfterCountsAll counts over several connections; only the last is cut, and a
// later call takes the place of an earlier one.
func TestCutAfterCountsAll(t *testing.T) {
	b := newBench(t)
	first, firstServer := b.pair()
	second, secondServer := b.pair()
	replaced := b.CutAfter(ToServer, 1)
	done := b.CutAfter(ToServer, 5)
	send(t, first, "abc")
	receive(t, firstServer, "abc")
	send(t, second, "def")
	receive(t, secondServer, "de")
	reset(t, secondServer)
	reset(t, second)
	<-done
	send(t, first, "ghi")
	receive(t, firstServer, "ghi")
	select {
	case <-replaced:
		t.Error("the call that was replaced says that it cut")
	default:
	}
}

// TestTogether changes faults while many connections talk: what arrives is always a
// beginning of what was sent.
func TestTogether(t *testing.T) {
	b := newBench(t)
	text := strings.Repeat("0123456789", 2000)
	var all sync.WaitGroup
	all.Go(func() { // the server
		for {
			conn, err := b.server.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	whole, broken := 0, 0
	var mu sync.Mutex
	everything := func() bool { // has happened at least once
		mu.Lock()
		defer mu.Unlock()
		got := b.Counts()
		return whole > 0 && broken > 0 && got.Accepted > 0 && got.Refused > 0 && got.Cut > 0
	}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for n := 0; n < 20 || n < 2000 && !everything(); n++ {
				conn, err := net.Dial("tcp4", b.Address())
				if err != nil {
					continue
				}
				_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
				all.Go(func() { _, _ = io.WriteString(conn, text) })
				got := make([]byte, len(text))
				n, err := io.ReadFull(conn, got)
				_ = conn.Close()
				if !strings.HasPrefix(text, string(got[:n])) {
					t.Error("what came back is not what was sent")
				}
				mu.Lock()
				if err == nil {
					whole++
				} else {
					broken++
				}
				mu.Unlock()
			}
		})
	}
	stop := make(chan struct{})
	all.Go(func() {
		faults := []Fault{Pass(), Delay(time.Millisecond), Slow(5000, time.Millisecond), HalfOpen(), Refuse(), Pass()}
		for round := 0; ; round++ {
			b.Set(faults[round%len(faults)])
			if round%7 == 0 {
				b.Cut()
			}
			b.CutAfter(Direction(round%2), int64(round*1000))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	clients.Wait()
	close(stop)
	must(t, b.server.Close())
	must(t, b.Close())
	all.Wait()
	if whole == 0 || broken == 0 {
		t.Errorf("%d exchanges were whole and %d broken, want some of each", whole, broken)
	}
	if got := b.Counts(); got.Open != 0 || slices.Contains([]int{got.Accepted, got.Refused, got.Cut}, 0) {
		t.Errorf("got %+v", got)
	}
}
