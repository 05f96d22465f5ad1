package server

import (
	"net"
	"sync"
)

// A bounded is a listener with a maximum number of open connections. It accepts further connections and closes them
// at once: in the system's queue they would wait for a server that never comes, and kept open they would use up the
// process's file descriptors.
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
			_ = c.Close() // the result does not matter: the connection is refused
		}
	}
}

// A boundedConn frees its place when it is closed.
type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
