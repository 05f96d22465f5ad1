package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/note"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
)

// An Identity is a kernel's name with its keys. The zero Identity has no name and signs nothing. Printers do not show
// the secrets: the keys are kept in functions, because package fmt calls no methods on unexported fields.
type Identity struct {
	name     string
	log      func() ed25519.PrivateKey
	witness  func() ed25519.PrivateKey
	sigstore func() *ecdsa.PrivateKey
	attests  []attestationKey // in the order of their creation; the last one signs
}

type attestationKey struct {
	public  [ed25519.PublicKeySize]byte
	created dag.Time
	retired *dag.Time                 // nil: it signs
	private func() ed25519.PrivateKey // nil: the key is retired and its private half dropped
}

// An AttestationKey is a key that signs attestations, or a retired one.
type AttestationKey struct {
	Key       ledger.Key // its name contains the tenant
	CreatedAt dag.Time
	RetiredAt *dag.Time // nil: it signs
}

// New draws the keys of a kernel. A nil random means the system's randomness.
func New(random io.Reader, name string, now dag.Time) (Identity, error) {
	name, err := ledger.ParseKernelName(name)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{name: name}
	if id.log, err = drawEd25519(random); err != nil {
		return Identity{}, err
	}
	if id.witness, err = drawEd25519(random); err != nil {
		return Identity{}, err
	}
	if id.sigstore, err = drawP256(random); err != nil {
		return Identity{}, err
	}
	return id.Rotate(random, now)
}

// Rotate adds an attestation key that signs from now on. The previous key is retired: its private half is dropped, and
// its signatures still verify.
func (id Identity) Rotate(random io.Reader, now dag.Time) (Identity, error) {
	if id.name == "" {
		return Identity{}, ErrNone
	}
	private, err := drawEd25519(random)
	if err != nil {
		return Identity{}, err
	}
	keys := make([]attestationKey, 0, len(id.attests)+1)
	for _, k := range id.attests {
		if k.retired == nil {
			k.retired, k.private = &now, nil
		}
		keys = append(keys, k)
	}
	id.attests = append(keys, attestationKey{public: publicOf(private()), created: now, private: private})
	return id, nil
}

func drawEd25519(random io.Reader) (func() ed25519.PrivateKey, error) {
	seed, err := draw(random)
	if err != nil {
		return nil, err
	}
	return hold(ed25519.NewKeyFromSeed(seed)), nil
}

// drawP256 draws 32 bytes as the scalar, and draws again if they are not a valid one, which happens once in 2^32 draws.
func drawP256(random io.Reader) (func() *ecdsa.PrivateKey, error) {
	for {
		d, err := draw(random)
		if err != nil {
			return nil, err
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d); err == nil {
			return hold(key), nil
		}
	}
}

func draw(random io.Reader) ([]byte, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return nil, fmt.Errorf("identity: drawing a key: %w", err)
	}
	return b, nil
}

// hold hides a value from printers.
func hold[T any](v T) func() T { return func() T { return v } }

func publicOf(private ed25519.PrivateKey) [ed25519.PublicKeySize]byte {
	return [ed25519.PublicKeySize]byte(private.Public().(ed25519.PublicKey))
}

// Succeeds reports whether next can replace id: it must have the same name and the same keys, except the attestation
// keys, which rotate.
func (id Identity) Succeeds(next Identity) bool {
	return id.name != "" && id.name == next.name && id.log().Equal(next.log()) && id.witness().Equal(next.witness()) && id.sigstore().Equal(next.sigstore())
}

// Name returns the kernel's name, "" for the zero Identity.
func (id Identity) Name() string { return id.name }

// Origin returns the name under which the kernel signs for a tenant.
func (id Identity) Origin(tenant dag.Tenant) ledger.Origin { return ledger.NewOrigin(tenant, id.name) }

// Log returns the signer of a tenant's checkpoints, and its public key. Each tenant has its own key, derived from the
// identity's, because C2SP forbids two logs to share one.
func (id Identity) Log(tenant dag.Tenant) (note.Signer, ledger.Key, error) {
	if id.name == "" {
		return nil, ledger.Key{}, ErrNone
	}
	seed, err := hkdf.Key(sha256.New, id.log().Seed(), nil, "graphkernel:identity:v1:log:"+string(tenant), ed25519.SeedSize)
	if err != nil {
		return nil, ledger.Key{}, fmt.Errorf("identity: deriving a log's key: %w", err)
	}
	return ledger.NewLogSigner(string(id.Origin(tenant)), ed25519.NewKeyFromSeed(seed))
}

// Witness returns the cosigner for the checkpoints of other logs.
func (id Identity) Witness() (*ledger.Cosigner, error) {
	if id.name == "" {
		return nil, ErrNone
	}
	return ledger.NewCosigner(id.name+"/witness", id.witness())
}

// Sigstore returns the key of the Sigstore export.
func (id Identity) Sigstore() (*ecdsa.PrivateKey, error) {
	if id.name == "" {
		return nil, ErrNone
	}
	return id.sigstore(), nil
}

// Attestations returns the attestation keys with names for a tenant, the oldest first. The last one signs.
func (id Identity) Attestations(tenant dag.Tenant) []AttestationKey {
	list := make([]AttestationKey, len(id.attests))
	for i, k := range id.attests {
		list[i] = AttestationKey{
			Key:       ledger.Key{Name: string(id.Origin(tenant)), Alg: ledger.AlgEd25519, Public: k.public},
			CreatedAt: k.created, RetiredAt: k.retired,
		}
	}
	return list
}

// An Attestor signs attestations for a tenant.
type Attestor struct {
	key     ledger.Key
	private func() ed25519.PrivateKey
}

// Attestor returns the signer of a tenant's attestations.
func (id Identity) Attestor(tenant dag.Tenant) (Attestor, error) {
	if id.name == "" {
		return Attestor{}, ErrNone
	}
	newest := id.attests[len(id.attests)-1]
	return Attestor{ledger.Key{Name: string(id.Origin(tenant)), Alg: ledger.AlgEd25519, Public: newest.public}, newest.private}, nil
}

// Key returns the public key.
func (a Attestor) Key() ledger.Key { return a.key }

// KeyID returns the id of the key in envelopes.
func (a Attestor) KeyID() string { return a.key.HexID() }

// Sign signs a message with Ed25519. The same message always has the same signature (RFC 8032).
func (a Attestor) Sign(message []byte) ([]byte, error) {
	if a.private == nil {
		return nil, ErrNone
	}
	return ed25519.Sign(a.private(), message), nil
}

// Trust returns a trust file for a tenant: the keys as they are now, without witnesses. Users of the file add the
// witnesses that they trust.
func (id Identity) Trust(tenant dag.Tenant, url string) ([]byte, error) {
	_, log, err := id.Log(tenant)
	if err != nil {
		return nil, err
	}
	b := fmt.Appendf(nil, "# Whose signatures count for what %s signs. Get this file from the kernel's operator,\n"+
		"# not with the evidence.\n", id.Origin(tenant))
	for _, k := range id.Attestations(tenant) {
		until := ""
		if k.RetiredAt != nil {
			until = " " + k.RetiredAt.String()
		}
		b = fmt.Appendf(b, "signer %s%s\n", k.Key, until)
	}
	if url != "" {
		url = " " + url
	}
	return fmt.Appendf(b, "log %s%s\nquorum none\n", log, url), nil
}
