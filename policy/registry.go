package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/graphkernel/graphkernel/dag"
)

// An ID names a policy: NAME@VERSION, [a-z0-9][a-z0-9._-]{0,62}@[1-9][0-9]{0,5}.
type ID string

// The slice policies that every tenant has from the start.
const (
	DefaultV1ID ID = "default@1" // DefaultV1
	DefaultV2ID ID = "default@2" // DefaultV2
	DefaultV3ID ID = "default@3" // DefaultV3
)

// DefaultID is the policy of a slice request that names none. Its parameters are those that Default returns.
const DefaultID = DefaultV3ID

// Default returns the policy DefaultID with the parameters that every tenant has from the start.
func Default() Registered {
	p := DefaultV3()
	return Registered{id: DefaultID, params: p, hash: p.Hash()}
}

// ParseID checks the form of a policy's id.
func ParseID(s string) (ID, error) {
	name, version, _ := strings.Cut(s, "@")
	if !isName(name) || !isVersion(version) {
		return "", fmt.Errorf("%w: policy id %.80q, want NAME@VERSION, [a-z0-9][a-z0-9._-]{0,62}@[1-9][0-9]{0,5}", dag.ErrForm, s)
	}
	return ID(s), nil
}

func isName(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

func isVersion(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && len(s) <= 6 && n > 0 && strconv.Itoa(n) == s
}

// A Registered policy is parameters bound to an id. It is immutable.
type Registered struct {
	id     ID
	params Parameters
	hash   dag.Digest
}

// Bind binds parameters to an id. It checks both, but not whether a registry has the id.
func Bind(id ID, params Parameters) (Registered, error) {
	if _, err := ParseID(string(id)); err != nil {
		return Registered{}, err
	}
	if params == nil {
		return Registered{}, fmt.Errorf("policy %s: %w: it has no parameters", id, ErrType)
	}
	if err := params.Check(); err != nil {
		return Registered{}, fmt.Errorf("policy %s: %w", id, err)
	}
	return Registered{id: id, params: params, hash: params.Hash()}, nil
}

// Restore rebuilds a policy from what a store has kept: its canonical parameters, whose hash must equal the stored
// hash.
func (f Forms) Restore(id ID, hash, canonical []byte) (Registered, error) {
	params, err := f.parseCanonical(canonical)
	if err != nil {
		return Registered{}, fmt.Errorf("policy %s: %w", id, err)
	}
	p, err := Bind(id, params)
	if err != nil {
		return Registered{}, fmt.Errorf("policy %s: %w", id, err)
	}
	if string(hash) != string(p.hash[:]) {
		return Registered{}, fmt.Errorf("policy %s: stored with hash %x, its parameters have %s; the store is damaged", id, hash, p.hash)
	}
	return p, nil
}

// ID returns the policy's id; "" for the zero value.
func (r Registered) ID() ID { return r.id }

// Params returns the parameters; nil for the zero value. They never change.
func (r Registered) Params() Parameters { return r.params }

// Slice returns the parameters of a policy for slices of turns. The error for a policy of another type is ErrMismatch.
func (r Registered) Slice() (SlicePolicy, error) { return ParametersOf[SlicePolicy](r, SliceTypes) }

// SliceTypes names the types of policies for slices of turns, for messages.
const SliceTypes = Type + ", " + TypeV2 + " or " + TypeV3

// ParametersOf returns the parameters of a registered policy as the type P. The error is ErrMismatch if they are of
// another type, and ErrUnknown if there are none.
func ParametersOf[P Parameters](r Registered, want string) (P, error) {
	p, ok := r.params.(P)
	if !ok && r.params != nil {
		return p, fmt.Errorf("%w: policy %s is of type %s, but this call needs a policy of type %s", ErrMismatch, r.id, r.params.Type(), want)
	}
	if !ok {
		return p, fmt.Errorf("%w: no policy is named", ErrUnknown)
	}
	return p, nil
}

// Hash returns policy_params_hash.
func (r Registered) Hash() dag.Digest { return r.hash }

// ErrConflict is wrapped when the id is already bound to other parameters.
var ErrConflict = errors.New("policy id is bound to other parameters")

// ErrUnknown is wrapped when no policy with the id is registered.
var ErrUnknown = errors.New("unknown policy")

// A Registry is an immutable set of registered policies, one per id. The zero Registry is empty. A registry never loses
// a policy.
type Registry struct {
	sorted []Registered // ascending by id
}

// With returns a registry that also has p. If the id is already bound to the same parameters, the registry is returned
// unchanged; other parameters are refused with ErrConflict.
func (r Registry) With(p Registered) (Registry, error) {
	at, found := r.find(p.id)
	if !found {
		return Registry{slices.Insert(slices.Clone(r.sorted), at, p)}, nil
	}
	if old := r.sorted[at]; old.hash != p.hash {
		return r, fmt.Errorf("%w: %s has hash %s, not %s; register under the next version", ErrConflict, p.id, old.hash, p.hash)
	}
	return r, nil
}

// Get returns the policy with an id, or ErrUnknown.
func (r Registry) Get(id ID) (Registered, error) {
	at, found := r.find(id)
	if !found {
		return Registered{}, fmt.Errorf("%w: %.80q", ErrUnknown, string(id))
	}
	return r.sorted[at], nil
}

// All returns the policies, ascending by id.
func (r Registry) All() []Registered { return slices.Clone(r.sorted) }

// Fingerprint returns registry_fingerprint: xxHash64 of the lines "ID HASH\n", by ascending id, as 16 hex digits. It
// names a registry; it is not a cryptographic commitment.
func (r Registry) Fingerprint() string {
	var d xxhash.Digest
	d.Reset()
	for _, p := range r.sorted {
		_, _ = d.WriteString(string(p.id) + " " + p.hash.String() + "\n") // never fails
	}
	return fmt.Sprintf("%016x", d.Sum64())
}

func (r Registry) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(r.sorted, id, func(p Registered, id ID) int { return strings.Compare(string(p.id), string(id)) })
}
