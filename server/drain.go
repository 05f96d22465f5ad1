package server

import (
	"net"
	"sync"
	"time"
)

// A drained listener can be told to take no more connections. First it hands out
// those that its clients hold established already: the system queues them, and
// closing the queue would cut them off with their requests unread.
type drained struct {
	*net.TCPListener
	begun  chan struct{} // closed by drain
	empty  chan struct{} // closed when nobody is queued and the listener is closed
	closed chan struct{} // closed by Close
	begin  sync.Once
	end    sync.Once
}

func newDrained(l *net.TCPListener) *drained {
	return &drained{TCPListener: l, begun: make(chan struct{}), empty: make(chan struct{}), closed: make(chan struct{})}
}

// lastLook is how long the queue must stay empty.
const lastLook = time.Millisecond

func (d *drained) Accept() (net.Conn, error) {
	select {
	case <-d.begun:
	default:
		c, err := d.TCPListener.Accept()
		select {
		case <-d.begun: // it was interrupted
			if err == nil {
				return c, nil
			}
		default:
			return c, err
		}
	}
	if err := d.SetDeadline(time.Now().Add(lastLook)); err == nil {
		if c, err := d.TCPListener.Accept(); err == nil {
			return c, nil
		}
	}
	err := d.TCPListener.Close()
	close(d.empty)
	<-d.closed // net/http takes an error before that for a failure
	if err == nil {
		err = net.ErrClosed
	}
	return nil, err
}

// drain takes no more connections and returns when the queue has been handed out.
// Accept must be at work.
func (d *drained) drain() {
	d.begin.Do(func() {
		close(d.begun)
		_ = d.SetDeadline(time.Unix(1, 0)) // wakes Accept; a listener that is closed needs no waking
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
