package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
)

// Limits on the keys of an issuer. A larger RSA key would make each verification expensive.
const (
	maxKeys     = 256
	leastRSA    = 2048
	greatestRSA = 8192
)

// A key is a key that signs tokens.
type key struct {
	public     any                      // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
	algorithms []jwa.SignatureAlgorithm // those it may be used with
}

// A keySet is the key set that an issuer published.
type keySet struct {
	keys map[string]key // by kid
	at   time.Time      // when it was requested
}

// fresh reports whether a set may still be used. A clock that was set back does not make a set older.
func (s *keySet) fresh(now time.Time, most time.Duration) bool {
	return s != nil && now.Sub(s.at) <= most
}

// readKeys parses a key set (RFC 7517). It skips keys that cannot sign tokens here, as the standard says: those of
// another kind or use, without a kid, or too short. A repeated kid is an error, because it is unclear which key is
// meant, and so is a set without any usable key.
func readKeys(text []byte, at time.Time) (*keySet, error) {
	published, err := jwk.Parse(text, jwk.WithStrictKeySetParsing(false), jwk.WithMaxKeys(maxKeys))
	if err != nil {
		return nil, fmt.Errorf("not a key set: %w", err)
	}
	set := &keySet{keys: map[string]key{}, at: at}
	for n := range published.Len() {
		p, _ := published.Key(n)
		kid, k, ok := readKey(p)
		if !ok {
			continue
		}
		if _, twice := set.keys[kid]; twice {
			return nil, fmt.Errorf("the key set has two keys with kid %.80q", kid)
		}
		set.keys[kid] = k
	}
	if len(set.keys) == 0 {
		return nil, errors.New("the key set has no key that signs tokens")
	}
	return set, nil
}

func readKey(p jwk.Key) (kid string, k key, ok bool) {
	if kid, ok = p.KeyID(); !ok || kid == "" {
		return "", key{}, false
	}
	if use, given := p.KeyUsage(); given && use != "sig" {
		return "", key{}, false
	}
	if ops, given := p.KeyOps(); given && !slices.Contains(ops, jwk.KeyOpVerify) {
		return "", key{}, false
	}
	if err := jwk.Export(p, &k.public); err != nil {
		return "", key{}, false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits >= leastRSA && bits <= greatestRSA {
			k.algorithms = []jwa.SignatureAlgorithm{jwa.RS256(), jwa.RS384(), jwa.RS512(), jwa.PS256(), jwa.PS384(), jwa.PS512()}
		}
	case *ecdsa.PublicKey:
		switch public.Curve {
		case elliptic.P256():
			k.algorithms = []jwa.SignatureAlgorithm{jwa.ES256()}
		case elliptic.P384():
			k.algorithms = []jwa.SignatureAlgorithm{jwa.ES384()}
		case elliptic.P521():
			k.algorithms = []jwa.SignatureAlgorithm{jwa.ES512()}
		}
	case ed25519.PublicKey:
		k.algorithms = []jwa.SignatureAlgorithm{jwa.EdDSA()}
	}
	if alg, given := p.Algorithm(); given { // the issuer allows only this one
		k.algorithms = slices.DeleteFunc(k.algorithms, func(a jwa.SignatureAlgorithm) bool { return a.String() != alg.String() })
	}
	return kid, k, len(k.algorithms) > 0
}
