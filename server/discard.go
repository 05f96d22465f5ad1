package server

import (
	"io"
	"net/http"
	"time"
)

// mostDiscarded bounds what is read of a body that was refused.
const mostDiscarded = 256 << 20

// discardedAtStop is how long a client may go on sending when the service stops.
const discardedAtStop = time.Second

// discardRest reads what a client is still sending of a body that was refused, after the answer
// was sent. Many clients write all of a body before they read. If the connection were closed
// meanwhile, the system would reset it, and the answer would be lost with it.
//
// It is done for known callers alone. It ends with the request timeout, soon after the service
// begins to stop, and at once when the client closes the connection. A client that waits to be told to continue sends nothing, and HTTP/2
// needs none of this: there a stream ends by itself.
func (s *Server) discardRest(c *call, r *http.Request) {
	if c.who.Tenant == "" || r.ProtoMajor != 1 || r.Header.Get("Expect") != "" || r.Body == nil || s.isStopping() {
		return
	}
	control := http.NewResponseController(c.echo.Response().Writer)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(s.config.Limits.Timeout)) != nil {
		return // not a connection
	}
	read := make(chan struct{})
	defer close(read)
	go func() {
		select {
		case <-s.stopping:
			_ = control.SetReadDeadline(time.Now().Add(discardedAtStop))
		case <-read:
		}
	}()
	_, _ = io.CopyN(io.Discard, r.Body, mostDiscarded) // whatever comes of it, the request is over
}
