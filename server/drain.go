package server

import (
	"net"
	"sync"
	"time"
)

// A drained is a listener that can be told to stop accepting connections. Before it stops, it returns the connections
// that are already established for their clients: the system queues them, and closing the queue would cut them off
// with their requests unread.
type drained struct {
	*net.TCPListener
	mu     sync.Mutex    // orders drain's deadline before those of Accept
	begun  chan struct{} // closed by drain
	until  time.Time     // valid once begun
	empty  chan struct{} // closed when no request is queued and the listener is closed
	closed chan struct{} // closed by Close
	begin  sync.Once
	end    sync.Once
}

func newDrained(l *net.TCPListener) *drained {
	return &drained{TCPListener: l, begun: make(chan struct{}), empty: make(chan struct{}), closed: make(chan struct{})}
}

// Times of a drain. The queue counts as empty when no connection arrives during lastLook, looks times in a row; under
// a steady load of new connections that never happens, and drainWithin ends the drain. (A queued connection can be
// missed if the process gets no processor time during lastLook.)
const (
	lastLook    = 2 * time.Millisecond
	looks       = 3
	drainWithin = 250 * time.Millisecond
)

func (d *drained) Accept() (net.Conn, error) {
	if !d.draining() {
		c, err := d.TCPListener.Accept()
		if err == nil || !d.draining() {
			return c, err
		}
		// It was interrupted.
	}
	for range looks {
		now := time.Now()
		if now.After(d.until) {
			break
		}
		if err := d.SetDeadline(now.Add(lastLook)); err != nil {
			break
		}
		if c, err := d.TCPListener.Accept(); err == nil {
			return c, nil
		}
	}
	err := d.TCPListener.Close()
	close(d.empty)
	<-d.closed // net/http would take an earlier error for a failure
	if err == nil {
		err = net.ErrClosed
	}
	return nil, err
}

func (d *drained) draining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.begun:
		return true
	default:
		return false
	}
}

// drain stops accepting connections and returns when the queue is empty. Accept must be running.
func (d *drained) drain() {
	d.begin.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.until = time.Now().Add(drainWithin)
		_ = d.SetDeadline(time.Unix(1, 0)) // wakes Accept; a closed listener needs no waking
		close(d.begun)
	})
	select {
	case <-d.empty:
	case <-d.closed:
	}
}

func (d *drained) Close() error {
	d.end.Do(func() { close(d.closed) })
	select {
	case <-d.empty:
		return nil // drain has closed it
	default:
		return d.TCPListener.Close()
	}
}
