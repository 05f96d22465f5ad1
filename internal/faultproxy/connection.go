package faultproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	pieceSize = 32 << 10
	// underway bounds how many pieces are held back in one direction; beyond it, the sender has to wait.
	underway = 64
)

// A connection joins the client's connection to the proxy and the proxy's connection to the server.
type connection struct {
	client *net.TCPConn
	gone   context.Context // ends with the connection
	leave  context.CancelFunc

	mu     sync.Mutex   // guards server, and the end of the connection
	server *net.TCPConn // nil until the server is reached
}

func newConnection(client *net.TCPConn) *connection {
	c := &connection{client: client}
	c.gone, c.leave = context.WithCancel(context.Background())
	return c
}

// attach adds the server's side, unless the connection has ended meanwhile.
func (c *connection) attach(server *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.Err() != nil {
		return false
	}
	c.server = server
	return true
}

// end closes both sides, and reports whether they were open.
func (c *connection) end(reset bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.Err() != nil {
		return false
	}
	c.leave()
	closeSide(c.client, reset)
	if c.server != nil {
		closeSide(c.server, reset)
	}
	return true
}

// closeSide closes one side. It ignores errors, since nobody could act on them.
func closeSide(side *net.TCPConn, reset bool) {
	if reset {
		_ = side.SetLinger(0)
	}
	_ = side.Close()
}

// sides returns the sender and the receiver of a direction.
func (c *connection) sides(d Direction) (from, to *net.TCPConn) {
	if d == ToServer {
		return c.client, c.server
	}
	return c.server, c.client
}

// A piece is the result of one read: bytes, or the error that ended reading.
type piece struct {
	bytes   []byte
	arrived time.Time
	err     error
}

// serve forwards a connection's bytes until both sides have closed it or it is cut.
func (p *Proxy) serve(c *connection) {
	server, err := new(net.Dialer).DialContext(c.gone, "tcp", p.target)
	if err != nil {
		p.cut(c)
		return
	}
	if side := server.(*net.TCPConn); !c.attach(side) {
		closeSide(side, true)
		return
	}
	var inOrder [2]bool
	var both sync.WaitGroup
	for _, d := range []Direction{ToServer, ToClient} {
		both.Go(func() { inOrder[d] = p.pass(c, d) })
	}
	both.Wait()
	if !inOrder[ToServer] || !inOrder[ToClient] {
		<-c.gone.Done() // one side does not know that the other side has closed
	}
	if c.end(false) {
		p.mu.Lock()
		delete(p.open, c)
		p.mu.Unlock()
	}
}

// pass forwards the bytes of one direction. It reports whether the receiver was told of the end.
func (p *Proxy) pass(c *connection, d Direction) bool {
	from, to := c.sides(d)
	pieces := make(chan piece, underway)
	var reading sync.WaitGroup
	reading.Go(func() { read(c, from, pieces) })
	defer reading.Wait()
	lost := false
	for {
		var next piece
		select {
		case next = <-pieces:
		case <-c.gone.Done():
			return false
		}
		if !p.hold(c, d, func(path Path) time.Time { return next.arrived.Add(path.Delay) }) {
			return false
		}
		if next.err == nil {
			lost = p.deliver(c, d, next.bytes, lost)
			continue
		}
		if path, _ := p.path(d); lost || path.Swallow {
			return false
		}
		if !errors.Is(next.err, io.EOF) {
			p.cut(c) // one side was reset, so the other is reset too
			return false
		}
		return to.CloseWrite() == nil
	}
}

// read reads pieces until the end or an error.
func read(c *connection, from *net.TCPConn, pieces chan<- piece) {
	for {
		bytes := make([]byte, pieceSize)
		n, err := from.Read(bytes)
		now := time.Now()
		for _, next := range []piece{{bytes: bytes[:n], arrived: now}, {arrived: now, err: err}} {
			if len(next.bytes) == 0 && next.err == nil {
				continue
			}
			select {
			case pieces <- next:
			case <-c.gone.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// deliver writes bytes to the receiver, under the fault of the moment. It reports whether bytes of this direction are lost;
// lost bytes stay lost.
func (p *Proxy) deliver(c *connection, d Direction, bytes []byte, lost bool) bool {
	_, to := c.sides(d)
	for len(bytes) > 0 {
		path, _ := p.path(d)
		if lost || path.Swallow {
			p.swallowed(len(bytes))
			return true
		}
		n := len(bytes)
		if path.Chunk > 0 {
			n = min(n, path.Chunk)
		}
		n, last := p.claim(d, n)
		n, err := to.Write(bytes[:n])
		p.delivered(d, n)
		if last != nil {
			arrive(c, to)
			p.cut(c)
			close(last.done)
			return true
		}
		if err != nil {
			if back, _ := p.path(other(d)); !back.Swallow {
				p.cut(c) // the receiver has gone, and the sender must learn of it
			}
			return true
		}
		bytes = bytes[n:]
		if path.Chunk > 0 {
			wrote := time.Now()
			if !p.hold(c, d, func(path Path) time.Time { return wrote.Add(path.Pause) }) {
				return true
			}
		}
	}
	return false
}

func other(d Direction) Direction { return ToServer + ToClient - d }

// hold waits until a time that depends on the current fault. It reports whether the connection is still open.
func (p *Proxy) hold(c *connection, d Direction, due func(Path) time.Time) bool {
	for {
		path, changed := p.path(d)
		left := time.Until(due(path))
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
		case <-c.gone.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// arrive waits until the receiver's system has all written bytes, since a reset drops unsent bytes.
func arrive(c *connection, to *net.TCPConn) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for unsent(to) > 0 {
		select {
		case <-tick.C:
		case <-c.gone.Done():
			return
		}
	}
}
