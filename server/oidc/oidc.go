// Package oidc takes JWTs of one OpenID Connect issuer where an API key could
// are, and says whose they are. It owns the form of a token, the checks on its
// claims, and the issuer's keys.
//
// A token is a compact JWS (RFC 7515) whose payload says at least
//
//	{"iss":"https://issuer.example","aud":"graphkernel","sub":"ci","exp":1780000300,
//	 "tenant":"acme","role":"agent"}
//
// and whose header names its key with kid and its algorithm with alg, which must be
// one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 and EdDSA. No
// other is computed: not none, and no HMAC, whose secret would be the issuer's public
// key. A key verifies with the algorithms of its own kind alone. What else the header
// says of keys (jwk, jku, x5c, x5u) is not looked at; crit and b64 are refused, and
// so is a typ of anything but an access or ID token (JWT, at+jwt).
//
// Both parts are read strictly: base64url without padding, JSON without a repeated
// name. The tenant and the role are strings at the top of the claims. exp is
// required, nbf and iat count when they are there, and clocks may differ by Skew.
// aud may be a list that holds ours.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lestrrat-go/jwx/v3/jws"

	"github.com/graphkernel/graphkernel/access"
)

// MaxToken bounds the bytes of a token.
const MaxToken = 16 << 10

// Skew is what the issuer's clock and ours may differ by.
const Skew = 60 * time.Second

// ErrUnavailable is wrapped when a token cannot be judged because the issuer's keys
// cannot be had. That is no fault of the caller.
var ErrUnavailable = fmt.Errorf("%w: the issuer's keys cannot be had", access.ErrUnavailable)

// A Config says whose tokens are taken.
type Config struct {
	Issuer   string // required: what iss is, byte for byte
	Audience string // required: what aud is, or holds
	JWKS     string // required: the key set, https://… or file:PATH; http:// on loopback alone

	TenantClaim string // "": tenant
	RoleClaim   string // "": role

	Refresh  time.Duration // how old the keys may get before they are fetched again; 0: 10 min
	MaxStale time.Duration // how old they may get when that fails; then no token is accepted; 0: 6 h

	Clock  func() time.Time // required
	Log    *slog.Logger     // required
	Client *http.Client     // nil: one with the proxy of the environment. Redirects and cookies are never used.
	Ticks  <-chan time.Time // when to see whether the keys are due; nil: every 10 s
}

func (c *Config) fill() error {
	if c.Issuer == "" || c.Audience == "" || c.JWKS == "" || c.Clock == nil || c.Log == nil {
		return errors.New("oidc: Config needs an Issuer, an Audience, a JWKS, a Clock and a Log")
	}
	if c.TenantClaim == "" {
		c.TenantClaim = "tenant"
	}
	if c.RoleClaim == "" {
		c.RoleClaim = "role"
	}
	if c.TenantClaim == c.RoleClaim {
		return fmt.Errorf("oidc: one claim, %q, cannot be both the tenant and the role", c.RoleClaim)
	}
	if c.Refresh == 0 {
		c.Refresh = 10 * time.Minute
	}
	if c.MaxStale == 0 {
		c.MaxStale = max(6*time.Hour, c.Refresh)
	}
	if c.Refresh < 0 || c.MaxStale < c.Refresh {
		return fmt.Errorf("oidc: the keys are to be fetched every %s and not used after %s", c.Refresh, c.MaxStale)
	}
	return nil
}

// An Issuer judges tokens. It is safe for use by many goroutines.
type Issuer struct {
	config Config
	source source
	set    atomic.Pointer[keySet] // the last good one; nil before the first
	wanted chan struct{}          // a fetch was begun for a caller
	ended  chan struct{}          // closed when nothing fetches any more

	mu      sync.Mutex
	tried   time.Time     // when the last fetch began
	failing bool          // it failed
	flight  chan struct{} // closed when the fetch at work is done; nil: none is
}

// New makes an issuer, whose keys it keeps fresh until ctx ends. It asks for them
// once and waits for at most 10 s. A file must be there and be a key set; an issuer
// that does not answer yet is logged and asked again.
func New(ctx context.Context, c Config) (*Issuer, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	from, local, err := open(c.JWKS, c.Client)
	if err != nil {
		return nil, err
	}
	i := &Issuer{config: c, source: from, wanted: make(chan struct{}, 1), ended: make(chan struct{})}
	i.begin(c.Clock())
	if err := i.fetch(ctx); err != nil && local {
		return nil, fmt.Errorf("oidc: %w", err)
	}
	go i.keepFresh(ctx)
	return i, nil
}

// Authenticate says whose a token is. An error that wraps access.ErrKey is the
// caller's fault; one that wraps ErrUnavailable is not. No error holds any part of
// the token.
//
// The claims are looked at before the signature: what is not meant for us costs no
// arithmetic, and makes nobody fetch keys. Nothing counts until the signature does.
func (i *Issuer) Authenticate(ctx context.Context, bearer string) (access.Identity, error) {
	t, err := parse(bearer)
	if err != nil {
		return access.Identity{}, err
	}
	who, err := i.config.judge(t.claims)
	if err != nil {
		return access.Identity{}, err
	}
	k, err := i.key(ctx, t.kid)
	if err != nil {
		return access.Identity{}, err
	}
	if !slices.Contains(k.algorithms, t.algorithm) {
		return access.Identity{}, refuse("its key is not one for its algorithm")
	}
	if _, err := jws.VerifyCompactFast(k.public, []byte(bearer), t.algorithm); err != nil {
		return access.Identity{}, refuse("the signature is not the issuer's") // jwx's reason may quote the header
	}
	return who, nil
}

// refuse returns the error of a token that is not accepted.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: the JWT is not accepted: %s", access.ErrKey, fmt.Sprintf(format, args...))
}

// An Authenticator says whose a bearer's text is, as server.Config wants it.
type Authenticator = func(ctx context.Context, bearer string) (access.Identity, error)

// Either takes API keys and JWTs alike: what begins with gk1. is a key, and all else
// a JWT.
func Either(keys Authenticator, issuer *Issuer) Authenticator {
	return func(ctx context.Context, bearer string) (access.Identity, error) {
		if strings.HasPrefix(bearer, "gk1.") {
			return keys(ctx, bearer)
		}
		return issuer.Authenticate(ctx, bearer)
	}
}
