package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/ledger"
)

const (
	fileType = "graphkernel_identity_v1"
	maxFile  = 1 << 20
)

func fileError(err error) error {
	var unusable *secretfile.UnusableError
	if errors.As(err, &unusable) {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	return fmt.Errorf("identity: %w", err)
}

// Load reads an identity's file. It refuses a file that anyone but its owner can read or write. The error for an absent
// file is fs.ErrNotExist.
func Load(path string) (Identity, error) {
	data, err := secretfile.Load(path, maxFile)
	if err != nil {
		return Identity{}, fileError(err)
	}
	id, err := Parse(data)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", path, err)
	}
	return id, nil
}

// Change reads an identity's file, calls change with the identity, and saves the result with mode 0600, completely or
// not at all, while other callers wait. exists tells change whether the file exists; if not, id is the zero Identity.
func Change(path string, change func(id Identity, exists bool) (Identity, error)) (next Identity, err error) {
	var changing error // an error of the identity or of the change, not of the file
	err = secretfile.Change(path, maxFile, func(data []byte, exists bool) ([]byte, error) {
		var id Identity
		if exists {
			if id, changing = Parse(data); changing != nil {
				changing = fmt.Errorf("%s: %w", path, changing)
				return nil, changing
			}
		}
		if next, changing = change(id, exists); changing != nil {
			return nil, changing
		}
		return append(next.append(nil), '\n'), nil
	})
	if err != nil {
		if changing == nil {
			changing = fileError(err)
		}
		return Identity{}, changing
	}
	return next, nil
}

// append appends the identity in the form of its file, with the secrets.
func (id Identity) append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("attestation")
	w.BeginArray()
	for _, k := range id.attests {
		w.BeginObject()
		w.Key("created_at")
		w.String(k.created.String())
		if k.retired == nil {
			w.Key("private")
			w.Hex(k.private().Seed())
		} else {
			w.Key("public")
			w.Hex(k.public[:])
			w.Key("retired_at")
			w.String(k.retired.String())
		}
		w.EndObject()
	}
	w.EndArray()
	w.Key("log")
	w.Hex(id.log().Seed())
	w.Key("name")
	w.String(id.name)
	w.Key("sigstore")
	d, err := id.sigstore().Bytes()
	if err != nil {
		panic("identity: a P-256 key without bytes: " + err.Error())
	}
	w.Hex(d)
	w.Key("type")
	w.String(fileType)
	w.Key("witness")
	w.Hex(id.witness().Seed())
	w.EndObject()
	return w.Bytes
}

// Parse reads the content of an identity's file. Its errors contain no secret.
func Parse(data []byte) (Identity, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	c := canon.Open(doc)
	if t := c.Field("type"); t.String() != fileType {
		t.Failf("want %q", fileType)
	}
	id := Identity{
		name:    canon.Parsed(c.Field("name"), ledger.ParseKernelName),
		log:     canon.Parsed(c.Field("log"), parseEd25519),
		witness: canon.Parsed(c.Field("witness"), parseEd25519),
		sigstore: canon.Parsed(c.Field("sigstore"), func(s string) (func() *ecdsa.PrivateKey, error) {
			d, err := parseHex(s)
			if err != nil {
				return nil, err
			}
			key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
			if err != nil {
				return nil, fmt.Errorf("%w: not a P-256 key", dag.ErrForm)
			}
			return hold(key), nil
		}),
	}
	items := c.Field("attestation").Items()
	for i, item := range items {
		k := attestationKey{created: canon.Parsed(item.Field("created_at"), dag.ParseTime)}
		if i == len(items)-1 {
			k.private = canon.Parsed(item.Field("private"), parseEd25519)
			if k.private != nil {
				k.public = publicOf(k.private())
			}
		} else {
			public := canon.Parsed(item.Field("public"), parseHex)
			copy(k.public[:], public)
			retired := canon.Parsed(item.Field("retired_at"), dag.ParseTime)
			k.retired = &retired
		}
		item.Close()
		id.attests = append(id.attests, k)
	}
	if len(items) == 0 {
		c.Field("attestation").Failf("want at least one key")
	}
	c.Close()
	if err := c.Err(); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return id, nil
}

// parseHex reads 32 bytes of hex. Its error does not contain the text.
func parseHex(s string) ([]byte, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != ed25519.SeedSize || hex.EncodeToString(b) != s {
		return nil, fmt.Errorf("%w: want %d lowercase hex digits", dag.ErrForm, 2*ed25519.SeedSize)
	}
	return b, nil
}

func parseEd25519(s string) (func() ed25519.PrivateKey, error) {
	seed, err := parseHex(s)
	if err != nil {
		return nil, err
	}
	return hold(ed25519.NewKeyFromSeed(seed)), nil
}
