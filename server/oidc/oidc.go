// Package oidc accepts JWTs of one OpenID Connect issuer in place of API keys, and returns their identities. It owns
// the form of a token, the checks of its claims, and the issuer's keys.
//
// A token is a compact JWS (RFC 7515) whose payload contains at least
//
//	{"iss":"https://issuer.example","aud":"graphkernel","sub":"ci","exp":1780000300,
//	 "tenant":"acme","role":"agent"}
//
// and whose header names its key with kid and its algorithm with alg, which must be one of RS256, RS384, RS512, PS256,
// PS384, PS512, ES256, ES384, ES512 and EdDSA. No other algorithm is accepted: not none, and no HMAC, whose secret
// would be the issuer's public key. A key verifies only with the algorithms of its own kind. Other key parameters in
// the header (jwk, jku, x5c, x5u) are ignored; crit and b64 are refused, and so is any typ other than that of an access
// or ID token (JWT, at+jwt).
//
// Both parts are read strictly: base64url without padding, JSON without a repeated name. The tenant and the role are
// strings at the top level of the claims. exp is required, nbf and iat are checked if present, and clocks may differ by
// Skew. aud may be a list that contains our audience.
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

// MaxToken is the maximum size of a token in bytes.
const MaxToken = 16 << 10

// Skew is the maximum difference between the issuer's clock and ours.
const Skew = 60 * time.Second

// ErrUnavailable is wrapped when a token cannot be verified because the issuer's keys are not available. That is not
// the caller's fault.
var ErrUnavailable = fmt.Errorf("%w: the issuer's keys are not available", access.ErrUnavailable)

// A Config says which tokens are accepted.
type Config struct {
	Issuer   string // required: the value of iss, byte for byte
	Audience string // required: the value of aud, or one of its values
	JWKS     string // required: the key set, https://… or file:PATH; http:// only on loopback

	TenantClaim string // "": tenant
	RoleClaim   string // "": role

	Refresh  time.Duration // age of the keys at which they are fetched again; 0: 10 min
	MaxStale time.Duration // age up to which keys are used if fetching fails; then no token is accepted; 0: 6 h

	Clock  func() time.Time // required
	Log    *slog.Logger     // required
	Client *http.Client     // nil: a client with the proxy of the environment. Redirects and cookies are never used.
	Ticks  <-chan time.Time // when to check whether the keys are due; nil: every 10 s
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
		return fmt.Errorf("oidc: Refresh is %s and MaxStale %s, want a Refresh above 0 and a MaxStale of at least that", c.Refresh, c.MaxStale)
	}
	return nil
}

// An Issuer verifies tokens. It is safe for use by many goroutines.
type Issuer struct {
	config Config
	source source
	set    atomic.Pointer[keySet] // the last valid set; nil before the first
	wanted chan struct{}          // a fetch was begun for a caller
	ended  chan struct{}          // closed when no more fetches will run

	mu      sync.Mutex
	tried   time.Time     // when the last fetch began
	failing bool          // the last fetch failed
	flight  chan struct{} // closed when the running fetch is done; nil: none is running
}

// New returns an issuer, and keeps its keys fresh until ctx ends. It fetches them once and waits for at most 10 s. If
// the keys are in a file, an invalid or missing file is an error; if an issuer does not answer yet, that is logged and
// the issuer is asked again.
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

// Authenticate returns the identity of a token. An error that wraps access.ErrKey is the caller's fault; one that wraps
// ErrUnavailable is not. No error contains any part of the token.
//
// The claims are checked before the signature, so a token that is not meant for this service costs no computation and
// causes no fetch. No claim counts until the signature is verified.
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
		return access.Identity{}, refuse("its key does not fit its algorithm")
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

// An Authenticator returns the identity of a bearer token, as server.Config needs it.
type Authenticator = func(ctx context.Context, bearer string) (access.Identity, error)

// Either accepts both API keys and JWTs: a text that begins with gk1. is a key, and any other text is a JWT.
func Either(keys Authenticator, issuer *Issuer) Authenticator {
	return func(ctx context.Context, bearer string) (access.Identity, error) {
		if strings.HasPrefix(bearer, "gk1.") {
			return keys(ctx, bearer)
		}
		return issuer.Authenticate(ctx, bearer)
	}
}
