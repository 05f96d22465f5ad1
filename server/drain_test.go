package server

import (
	"net"
	"runtime"
	"testing"
)

// TestDrainQueued drains listeners on which clients hold connections that nobody has
// accepted yet: all are handed out.
func TestDrainQueued(t *testing.T) {
	for round := range 150 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		d := newDrained(l.(*net.TCPListener)) //nolint:forcetypeassert // a TCP address was asked for
		const queued = 20
		var clients []net.Conn
		for range queued {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
		}
		handed := make(chan int)
		go func() {
			for n := 0; ; n++ {
				c, err := d.Accept()
				if err != nil {
					handed <- n
					return
				}
				_ = c.Close()
			}
		}()
		runtime.Gosched()
		d.drain()
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if n := <-handed; n != queued {
			t.Fatalf("round %d: %d of %d connections were handed out", round, n, queued)
		}
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			_ = c.Close()
			t.Fatal("it still listens")
		}
		for _, c := range clients {
			_ = c.Close()
		}
	}
}
