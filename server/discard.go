package server

import (
	"io"
	"net/http"
	"time"
)

// mostDiscarded is the maximum number of bytes read from a refused body.
const mostDiscarded = 256 << 20

// discardedAtStop is how long a client may continue to send when the service stops.
const discardedAtStop = time.Second

// discardRest reads the rest of a refused body that a client is still sending, after the answer was sent. Many
// clients write the whole body before they read. If the connection were closed in the meantime, the system would
// reset it, and the answer would be lost.
//
// Only bodies of known callers are read. Reading ends with the request timeout, soon after the service begins to
// stop, and at once when the client closes the connection. A client that waits for 100 Continue sends nothing, and
// HTTP/2 does not need this: there a stream ends by itself.
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
	_, _ = io.CopyN(io.Discard, r.Body, mostDiscarded) // the result does not matter: the request is over
}
