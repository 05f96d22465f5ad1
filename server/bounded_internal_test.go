package server

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestBounded opens connections beyond the bound: they are closed at once, and one that is
// closed makes room for one.
func TestBounded(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 3
	b := &bounded{Listener: inner, places: make(chan struct{}, most)}
	t.Cleanup(func() { _ = b.Close() })
	accepted := make(chan net.Conn, 100)
	go func() {
		for {
			c, err := b.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	var open []net.Conn
	for range most {
		dial()
		open = append(open, <-accepted)
	}
	for range 5 {
		if _, err := dial().Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
			t.Errorf("a connection too many: %v, want it closed by the server", err)
		} else if !errors.Is(err, io.EOF) {
			t.Logf("closed with %v", err)
		}
	}
	for range 2 { // closing twice gives one place back
		_ = open[0].Close()
	}
	dial()
	<-accepted
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("there was room for one more")
	}
}
