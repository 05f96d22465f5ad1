// Package faultproxy is a proxy between a client and a server that breaks the network between them in tests: it delays,
// refuses, swallows and cuts. Its faults can be changed at any time.
//
//	proxy, err := faultproxy.New("127.0.0.1:5432")
//	defer proxy.Close()
//	// the client connects to proxy.Address()
//	proxy.Set(faultproxy.HalfOpen())
//	proxy.Set(faultproxy.Fault{ToClient: faultproxy.Path{Delay: time.Second}})
//	cut := proxy.CutAfter(faultproxy.ToServer, 17)
//
// A change applies to open connections, to future connections, and to bytes in transit: bytes that wait for a delay are
// delivered when the delay is removed.
//
// As on a network, a stream has no holes. A connection that lost a byte delivers nothing more in that direction, not even its
// end, whatever fault is set later; it stays open until Cut or Close.
package faultproxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// A Direction is the direction in which bytes travel.
type Direction int

// The two directions.
const (
	ToServer Direction = iota
	ToClient
)

// A Fault describes what is wrong with the network. The zero value means nothing is wrong.
type Fault struct {
	Refuse             bool // new connections are reset at once; existing connections go on
	ToServer, ToClient Path
}

// A Path describes what happens to the bytes of one direction. The zero value means nothing happens.
type Path struct {
	Swallow bool          // bytes vanish, and so does the news that a side has closed
	Delay   time.Duration // bytes arrive this much later; more bytes may follow meanwhile
	Chunk   int           // if not 0, at most this many bytes are delivered at a time
	Pause   time.Duration // the pause after each chunk
}

// Pass returns the zero Fault.
func Pass() Fault { return Fault{} }

// Refuse returns a fault that closes new connections at once.
func Refuse() Fault { return Fault{Refuse: true} }

// HalfOpen returns a fault that swallows all bytes. Neither side notices: connections stay open, and new ones are accepted.
func HalfOpen() Fault { return Fault{ToServer: Path{Swallow: true}, ToClient: Path{Swallow: true}} }

// Delay returns a fault that delays all bytes, in each direction.
func Delay(each time.Duration) Fault {
	return Fault{ToServer: Path{Delay: each}, ToClient: Path{Delay: each}}
}

// Slow returns a fault that delivers at most so many bytes at a time, in each direction, with pauses in between.
func Slow(bytes int, pause time.Duration) Fault {
	path := Path{Chunk: bytes, Pause: pause}
	return Fault{ToServer: path, ToClient: path}
}

// Counts say what a proxy has done. Bytes are counted when they are delivered.
type Counts struct {
	Accepted, Refused, Cut int // numbers of connections; cut connections were accepted before
	Open                   int // connections that are open
	ToServer, ToClient     int64
	Swallowed              int64 // bytes of both directions
}

// A Proxy forwards connections to one address. Its methods may be called by many goroutines.
type Proxy struct {
	target   string
	listener *net.TCPListener
	running  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	fault   Fault
	changed chan struct{} // closed when fault changes, and replaced
	open    map[*connection]bool
	cuts    [2]*countdown // by Direction
	counts  Counts
	closed  bool
}

// A countdown is a cut that happens after left more bytes.
type countdown struct {
	left int64
	done chan struct{}
}

// New starts a proxy that listens on a free port of 127.0.0.1 and forwards all connections to the target, a TCP address. The
// target may start later: a connection that cannot be forwarded is reset.
func New(target string) (*Proxy, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: listener, changed: make(chan struct{}), open: map[*connection]bool{}}
	p.running.Go(p.accept)
	return p, nil
}

// Address returns the address to which clients connect, as host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set replaces the proxy's fault.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Cut resets both sides of all open connections, and returns how many there were. New connections are treated as before.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	var all []*connection
	for c := range p.open {
		all = append(all, c)
	}
	p.mu.Unlock()
	n := 0
	for _, c := range all {
		if p.cut(c) {
			n++
		}
	}
	return n
}

// CutAfter lets exactly n more bytes through in a direction, counted over all connections, and cuts the connection that carries
// the last of them: the receiver is given all n bytes, and then both sides get a reset. With n = 0, the connection that carries
// the next byte is cut before it. The channel is closed after the cut. A later call for the same direction replaces this one,
// whose channel then stays open.
//
// On Linux the receiver is certain to have the bytes; other systems may drop bytes that the receiver had not read when the
// reset came.
func (p *Proxy) CutAfter(d Direction, n int64) <-chan struct{} {
	c := &countdown{left: n, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts[d] = c
	return c.done
}

// Counts returns the counts so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Open = len(p.open)
	return c
}

// Close ends the proxy and resets all its connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true // connections accepted from now on are refused
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // closed twice
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // the client has gone already
		}
		c := newConnection(client)
		p.mu.Lock()
		refused := p.fault.Refuse || p.closed
		if refused {
			p.counts.Refused++
		} else {
			p.counts.Accepted++
			p.open[c] = true
		}
		p.mu.Unlock()
		if refused {
			c.end(true)
			continue
		}
		p.running.Go(func() { p.serve(c) })
	}
}

// path returns what happens in a direction now, and a channel that is closed when the fault changes.
func (p *Proxy) path(d Direction) (Path, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == ToServer {
		return p.fault.ToServer, p.changed
	}
	return p.fault.ToClient, p.changed
}

// claim returns how many of n bytes may pass in a direction, and a countdown if the connection has to be cut after them.
func (p *Proxy) claim(d Direction, n int) (int, *countdown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cuts[d]
	if c == nil {
		return n, nil
	}
	n = int(min(int64(n), c.left))
	c.left -= int64(n)
	if c.left > 0 {
		return n, nil
	}
	p.cuts[d] = nil
	return n, c
}

func (p *Proxy) delivered(d Direction, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == ToServer {
		p.counts.ToServer += int64(n)
	} else {
		p.counts.ToClient += int64(n)
	}
}

func (p *Proxy) swallowed(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Swallowed += int64(n)
}

// cut resets a connection, and reports whether it was open.
func (p *Proxy) cut(c *connection) bool {
	if !c.end(true) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	p.counts.Cut++
	return true
}
