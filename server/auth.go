package server

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// authenticate identifies the holder of a request's key. The failures of each address are limited; a valid key always
// passes, because its holder may share the address with a caller whose keys fail.
func (s *Server) authenticate(c *call, r *http.Request, now time.Time) (access.Identity, error) {
	bearer, err := bearerOf(r)
	if err != nil {
		return access.Identity{}, err
	}
	who, err := s.config.Authenticate(c.ctx, bearer)
	if err == nil {
		return who, nil
	}
	if !errors.Is(err, access.ErrKey) {
		return access.Identity{}, err
	}
	s.metrics.unauthenticated.Inc()
	if presented, err := access.Parse(bearer); err == nil { // the claimed id, to be found in the log
		c.claimed = string(presented.Tenant) + "/" + presented.ID
	}
	if wait, ok := s.failures.take(c.echo.RealIP(), now); !ok {
		return access.Identity{}, &problem{code: api.CodeRate, retryAfter: wait, detail: "too many failed authentications from this address"}
	}
	return access.Identity{}, &problem{code: api.CodeUnauthenticated, detail: "unknown or revoked API key", cause: err}
}

// bearerOf returns the text after Bearer in the request's only Authorization header.
func bearerOf(r *http.Request) (string, error) {
	given := r.Header["Authorization"]
	if len(given) != 1 {
		detail := "Authorization is missing; want Authorization: Bearer KEY"
		if len(given) > 1 {
			detail = "Authorization is given twice"
		}
		return "", &problem{code: api.CodeUnauthenticated, place: "Authorization", detail: detail}
	}
	scheme, text, ok := strings.Cut(given[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || text == "" {
		return "", &problem{code: api.CodeUnauthenticated, place: "Authorization", detail: "want Authorization: Bearer KEY"}
	}
	return strings.TrimLeft(text, " "), nil
}

// drawID returns a random id for a request. It is not a secret.
func drawID() string {
	var b [8]byte
	n := rand.Uint64()
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}
