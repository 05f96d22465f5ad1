package token

import (
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// A TokenVerdict is the result of judging a token without its bundle. It covers the six fields only: before acting on
// the turns, verify the bundle.
type TokenVerdict struct {
	Outcome Outcome
	KeyID   KeyID  // the key that signed, if verified; otherwise the key that was named
	Reason  string // one sentence; "" if verified
}

// VerifyToken judges a token over the six fields, for a tenant. Without a key id it tries every live key, beginning
// with the one that signs.
func (v *Verifier) VerifyToken(tenant dag.Tenant, p *slice.Provenance, key, token string) TokenVerdict {
	if key != "" {
		return verdictOf(KeyID(key), v.authority.Check(p, slice.Seal{Tenant: tenant, KeyID: key, Token: token}))
	}
	ring := v.authority.Keyring()
	signer, err := ring.Signer()
	if err != nil {
		return TokenVerdict{Outcome: KeyUnknown, Reason: err.Error()}
	}
	first := verdictOf(signer, v.authority.Check(p, slice.Seal{Tenant: tenant, KeyID: string(signer), Token: token}))
	if first.Outcome != Tampered {
		if first.Outcome != Verified {
			first.KeyID = "" // the caller named no key
		}
		return first
	}
	for _, k := range ring.Keys() {
		if k.State != Live {
			continue
		}
		if other := verdictOf(k.ID, v.authority.Check(p, slice.Seal{Tenant: tenant, KeyID: string(k.ID), Token: token})); other.Outcome == Verified {
			return other
		}
	}
	return TokenVerdict{Outcome: Tampered, Reason: "token: no live key makes this token from these six fields"}
}

func verdictOf(key KeyID, err error) TokenVerdict {
	v := TokenVerdict{Outcome: Verified, KeyID: key}
	if err == nil {
		return v
	}
	v.Reason = err.Error()
	switch {
	case errors.Is(err, ErrKeyUnknown):
		v.Outcome = KeyUnknown
	case errors.Is(err, ErrKeyRetired):
		v.Outcome = KeyRetired
	case errors.Is(err, ErrToken):
		v.Outcome = Tampered
	case errors.Is(err, slice.ErrVersion):
		v.Outcome = UnknownVersion
	default:
		v.Outcome = Malformed
	}
	return v
}
