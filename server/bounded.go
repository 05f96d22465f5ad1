package server

import (
	"net"
	"sync"
)

// A bounded listener has as many connections open as it has places. Those beyond are
// accepted and closed at once: left in the system's queue they would wait for a server
// that does not come, and kept open they would use up the process's descriptors.
type bounded struct {
	net.Listener
	places chan struct{}
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.places <- struct{}{}:
			return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
		default:
			_ = c.Close() // whatever comes of it, it is refused
		}
	}
}

// A boundedConn gives its place back when it is closed.
type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
