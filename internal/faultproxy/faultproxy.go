// Package faultproxy is between a client and a server in tests and breaks the
// network between them: it delays, refuses, swallows and cuts, and what it does can
// be changed at any time.
//
//	proxy, err := faultproxy.New("127.0.0.1:5432")
//	defer proxy.Close()
//	// the client connects to proxy.Address()
//	proxy.Set(faultproxy.HalfOpen())
//	proxy.Set(faultproxy.Fault{ToClient: faultproxy.Path{Delay: time.Second}})
//	cut := proxy.CutAfter(faultproxy.ToServer, 17)
//
// A change holds for open connections, for those to come, and for bytes that
// are under way: what waits for a delay goes on when the delay is taken away.
//
// As on a network, a stream has no holes. A connection that lost a byte
// delivers nothing in that direction any more, not even its end, whatever is set
// later; it stays open until Cut or Close.
package faultproxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// A Direction is that in which bytes go.
type Direction int

// The two directions.
const (
	ToServer Direction = iota
	ToClient
)

// A Fault is what is wrong with the network. The zero value is nothing.
type Fault struct {
	Refuse             bool // new connections are closed at once, with a reset; present ones go on
	ToServer, ToClient Path
}

// A Path is what happens to the bytes in one direction. The zero value is nothing.
type Path struct {
	Swallow bool          // they vanish, and so does the news that a side has closed
	Delay   time.Duration // they arrive so much later; as many go on following them
	Chunk   int           // when not 0: at most so many bytes go at a time,
	Pause   time.Duration // and then none for so long
}

// Pass is no fault.
func Pass() Fault { return Fault{} }

// Refuse closes new connections at once.
func Refuse() Fault { return Fault{Refuse: true} }

// HalfOpen swallows all bytes. Neither side hears of it: connections stay open, and
// new ones are accepted.
func HalfOpen() Fault { return Fault{ToServer: Path{Swallow: true}, ToClient: Path{Swallow: true}} }

// Delay holds all bytes back for a time, in each direction.
func Delay(each time.Duration) Fault {
	return Fault{ToServer: Path{Delay: each}, ToClient: Path{Delay: each}}
}

// Slow lets so many bytes go at a time, in each direction, with pauses in between.
func Slow(bytes int, pause time.Duration) Fault {
	path := Path{Chunk: bytes, Pause: pause}
	return Fault{ToServer: path, ToClient: path}
}

// Counts say what a proxy has done. Bytes are counted when they are delivered.
type Counts struct {
	Accepted, Refused, Cut int // connections; the cut ones were accepted
	Open                   int // connections that are open
	ToServer, ToClient     int64
	Swallowed              int64 // bytes of both directions
}

// A Proxy passes connections on to one address. Its methods may be called by many
// goroutines.
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

// A countdown is a cut to come.
type countdown struct {
	left int64
	done chan struct{}
}

// New starts a proxy that listens on a free port of 127.0.0.1 and passes all
// connections on to the target, a TCP address. It need not be there yet: a
// connection that cannot be passed on is reset.
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

// Set changes what is wrong with the network.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Cut closes all open connections, with a reset to both sides, and says how
// many. New ones are treated as before.
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

// CutAfter lets exactly n more bytes through in a direction, counted over all
// connections, and cuts the connection that brought the last of them: the receiver
// has been given them all, and then both sides get a reset. With n = 0, whichever
// connection brings a byte next is cut before it. The channel is closed when that has
// happened. A later call for the same direction takes the place of this one, whose
// channel then stays open.
//
// That the receiver has been given the bytes is sure on Linux; other systems may
// drop what the receiver had not read when the reset came.
func (p *Proxy) CutAfter(d Direction, n int64) <-chan struct{} {
	c := &countdown{left: n, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts[d] = c
	return c.done
}

// Counts returns the counts until now.
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
	p.closed = true // what is accepted from now on is refused
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

// path returns what happens in a direction now, and a channel that is closed when that changes.
func (p *Proxy) path(d Direction) (Path, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d == ToServer {
		return p.fault.ToServer, p.changed
	}
	return p.fault.ToClient, p.changed
}

// claim says how many of n bytes may go in a direction, and returns the countdown if
// the connection is to be cut after them.
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

// cut resets a connection, and says whether it stood.
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
