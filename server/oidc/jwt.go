package oidc

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// algorithms are the accepted signature algorithms.
var algorithms = map[string]jwa.SignatureAlgorithm{
	"RS256": jwa.RS256(), "RS384": jwa.RS384(), "RS512": jwa.RS512(),
	"PS256": jwa.PS256(), "PS384": jwa.PS384(), "PS512": jwa.PS512(),
	"ES256": jwa.ES256(), "ES384": jwa.ES384(), "ES512": jwa.ES512(),
	"EdDSA": jwa.EdDSA(),
}

// A token is a parsed JWT. Nothing in it has been verified.
type token struct {
	algorithm jwa.SignatureAlgorithm
	kid       string
	claims    *canon.Value
}

// parse parses a token and checks its header.
func parse(text string) (token, error) {
	if len(text) > MaxToken {
		return token{}, refuse("it has %d bytes, more than %d", len(text), MaxToken)
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return token{}, refuse("it is not HEADER.CLAIMS.SIGNATURE")
	}
	header, err := object(parts[0], "header is")
	if err != nil {
		return token{}, err
	}
	claims, err := object(parts[1], "claims are")
	if err != nil {
		return token{}, err
	}
	if signature, ok := decode(parts[2]); !ok || len(signature) == 0 {
		return token{}, refuse("its signature is not base64url")
	}
	alg, _ := textOf(header.Get("alg"))
	algorithm, ok := algorithms[alg]
	if !ok {
		return token{}, refuse("alg is not one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 and EdDSA")
	}
	for _, name := range []string{"crit", "b64"} {
		if header.Get(name) != nil {
			return token{}, refuse("its header has the member %s, which is not supported", name)
		}
	}
	if typ := header.Get("typ"); typ != nil && !slices.Contains([]string{"jwt", "at+jwt"}, strings.TrimPrefix(strings.ToLower(typ.Text), "application/")) {
		return token{}, refuse("typ is neither JWT nor at+jwt")
	}
	kid, ok := textOf(header.Get("kid"))
	if !ok || kid == "" {
		return token{}, refuse("it names no key with kid")
	}
	return token{algorithm, kid, claims}, nil
}

// object parses a part that must be a JSON object.
func object(part, what string) (*canon.Value, error) {
	raw, ok := decode(part)
	if !ok {
		return nil, refuse("its %s not base64url", what)
	}
	v, err := canon.Parse(raw)
	if err != nil || v.Kind != canon.Object {
		return nil, refuse("its %s not one JSON object without repeated names", what)
	}
	return v, nil
}

// decode decodes base64url in its only valid spelling.
func decode(part string) ([]byte, bool) {
	if strings.ContainsAny(part, "\r\n") { // Strict would ignore these
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	return raw, err == nil
}

func textOf(v *canon.Value) (string, bool) {
	if v == nil || v.Kind != canon.String {
		return "", false
	}
	return v.Text, true
}

// judge returns the identity that the claims name, if they are meant for this service and valid now.
func (c *Config) judge(claims *canon.Value) (access.Identity, error) {
	if iss, _ := textOf(claims.Get("iss")); iss != c.Issuer {
		return access.Identity{}, refuse("iss is not the issuer")
	}
	if !names(claims.Get("aud"), c.Audience) {
		return access.Identity{}, refuse("aud is not this service")
	}
	if err := current(claims, c.Clock()); err != nil {
		return access.Identity{}, err
	}
	sub, _ := textOf(claims.Get("sub"))
	if !access.IsSubject(sub) {
		return access.Identity{}, refuse("sub is not 1 to %d bytes of printable text", access.MaxSubject)
	}
	tenant, _ := textOf(claims.Get(c.TenantClaim))
	if !dag.IsLabel(tenant) {
		return access.Identity{}, refuse("claim %q is not a tenant", c.TenantClaim)
	}
	name, _ := textOf(claims.Get(c.RoleClaim))
	role, err := access.ParseRole(name)
	if err != nil {
		return access.Identity{}, refuse("claim %q is not one of agent, verifier, auditor and admin", c.RoleClaim)
	}
	// A substring keeps the whole string in memory, and these are stored in maps and logs.
	return access.Identity{Tenant: dag.Tenant(strings.Clone(tenant)), Role: role, Subject: access.JWT + sub}, nil
}

// names reports whether a claim is the wanted text, or a list of texts that contains it.
func names(v *canon.Value, want string) bool {
	if v == nil {
		return false
	}
	if v.Kind != canon.Array {
		s, ok := textOf(v)
		return ok && s == want
	}
	found := false
	for i := range v.Items {
		s, ok := textOf(&v.Items[i])
		if !ok {
			return false
		}
		found = found || s == want
	}
	return found
}

// current checks the times of a token.
func current(claims *canon.Value, now time.Time) error {
	expires, ok := date(claims.Get("exp"))
	if !ok {
		return refuse("exp is not a time in seconds")
	}
	if !now.Before(expires.Add(Skew)) {
		return refuse("it has expired")
	}
	for _, name := range []string{"nbf", "iat"} {
		v := claims.Get(name)
		if v == nil {
			continue
		}
		from, ok := date(v)
		if !ok {
			return refuse("%s is not a time in seconds", name)
		}
		if now.Before(from.Add(-Skew)) {
			return refuse("%s lies in the future", name)
		}
	}
	return nil
}

// date reads a NumericDate up to the year 9999. A time in milliseconds is larger than that and is refused.
func date(v *canon.Value) (time.Time, bool) {
	if v == nil || v.Kind != canon.Number {
		return time.Time{}, false
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || n < 0 || n > 253402300799 {
		return time.Time{}, false
	}
	whole, part := math.Modf(n)
	return time.Unix(int64(whole), int64(part*1e9)), true
}
