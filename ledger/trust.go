package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// A Trust lists the keys whose signatures count: logs, witnesses with a quorum, and the signers of attestations. It is
// read from a file that the verifier received through another channel than the evidence (C2SP tlog-policy with signer
// lines):
//
//	signer default.kernel.example+4c1f…+AT…
//	log default.kernel.example+91b2…+AX…
//	witness alpha alpha.example+77aa…+BD… https://alpha.example
//	group both all alpha beta
//	quorum both
type Trust struct {
	Signers   []TrustedSigner
	Logs      []TrustedLog
	Witnesses []TrustedWitness
	quorum    group // no members: no cosignature is required
}

// A TrustedSigner is a key that signs attestations.
type TrustedSigner struct {
	Key
	Until *dag.Time // the key's signature does not count for slices issued later; nil: no end
}

// A TrustedLog is a key that signs checkpoints. Its name is their origin.
type TrustedLog struct {
	Key
	URL string // or ""
}

// A TrustedWitness is a witness whose cosignatures count.
type TrustedWitness struct {
	Name string // its name in the trust file
	Key  Key
	URL  string // or ""
}

// A group is met if at least k of its members are met. A member is a witness or a group.
type group struct {
	k       int
	members []member
}

type member struct {
	witness int // index into Trust.Witnesses, if group is nil
	group   *group
}

func (g *group) met(cosigned []bool) bool {
	n := 0
	for _, m := range g.members {
		if m.group != nil && m.group.met(cosigned) || m.group == nil && cosigned[m.witness] {
			n++
		}
	}
	return n >= g.k
}

// Limits of a trust file.
const (
	maxTrust      = 1 << 20
	maxTrustLines = 1024
)

// ErrTrust is wrapped when a trust file is malformed.
var ErrTrust = errors.New("unusable trust file")

// ParseTrust reads a trust file.
func ParseTrust(data []byte) (*Trust, error) {
	if len(data) > maxTrust {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTrust, len(data), maxTrust)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrTrust)
	}
	r := trustReader{trust: &Trust{}, named: map[string]member{}}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) > maxTrustLines {
		return nil, fmt.Errorf("%w: %d lines, at most %d", ErrTrust, len(lines), maxTrustLines)
	}
	for i, line := range lines {
		if err := r.line(line); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrTrust, i+1, err)
		}
	}
	if r.trust.Quorum() && len(r.trust.Logs) == 0 {
		return nil, fmt.Errorf("%w: it has a quorum but no log; add the line of a log", ErrTrust)
	}
	if !r.quorum {
		return nil, fmt.Errorf("%w: it has no quorum line; without witnesses, write: quorum none", ErrTrust)
	}
	return r.trust, nil
}

type trustReader struct {
	trust  *Trust
	named  map[string]member
	within []string // names that are already members of a group
	quorum bool
}

func (r *trustReader) line(line string) error {
	if strings.HasSuffix(line, "\r") {
		return errors.New("it ends with a carriage return: the file has Windows line ends (CRLF); save it with line feeds alone")
	}
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("byte %#02x is not allowed", c)
		}
	}
	items := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
	if len(items) == 0 || strings.HasPrefix(items[0], "#") {
		return nil
	}
	kind, items := items[0], items[1:]
	least, most := 1, 2
	read := r.log
	switch kind {
	case "log":
	case "signer":
		read = r.signer
	case "witness":
		least, most, read = 2, 3, r.witness
	case "group":
		least, most, read = 3, maxTrustLines, r.group
	case "quorum":
		most, read = 1, r.quorumLine
	default:
		return fmt.Errorf("%.60q is not a kind of line; want signer, log, witness, group or quorum", kind)
	}
	if len(items) < least || len(items) > most {
		return fmt.Errorf("%d items after %q, want %d to %d", len(items), kind, least, most)
	}
	return read(items)
}

// key reads a vkey of the given algorithm, and refuses it if same reports it as equal to a known key. Keys of logs and
// witnesses are equal if their public keys are, as C2SP requires; an attestation key may serve several tenants, so its
// name counts too.
func key[T any](text string, alg Algorithm, known []T, same func(T, Key) bool) (Key, error) {
	k, err := ParseKey(text)
	if err != nil {
		return Key{}, err
	}
	if k.Alg != alg {
		return Key{}, fmt.Errorf("%w: the key of %s is of type %#02x, want %#02x here", ErrForm, k.Name, byte(k.Alg), byte(alg))
	}
	if slices.ContainsFunc(known, func(t T) bool { return same(t, k) }) {
		return Key{}, fmt.Errorf("%w: the key of %s is listed twice", ErrForm, k.Name)
	}
	return k, nil
}

func optional(items []string, i int) string {
	if i < len(items) {
		return items[i]
	}
	return ""
}

func (r *trustReader) log(items []string) error {
	k, err := key(items[0], AlgEd25519, r.trust.Logs, func(l TrustedLog, k Key) bool { return l.Public == k.Public })
	r.trust.Logs = append(r.trust.Logs, TrustedLog{k, optional(items, 1)})
	return err
}

func (r *trustReader) signer(items []string) error {
	k, err := key(items[0], AlgEd25519, r.trust.Signers, func(s TrustedSigner, k Key) bool { return s.Key == k })
	if err != nil {
		return err
	}
	s := TrustedSigner{Key: k}
	if len(items) > 1 {
		until, err := dag.ParseTime(items[1])
		if err != nil {
			return err
		}
		s.Until = &until
	}
	r.trust.Signers = append(r.trust.Signers, s)
	return nil
}

func (r *trustReader) define(name string, m member) error {
	if _, taken := r.named[name]; taken || name == "none" {
		return fmt.Errorf("%w: the name %.60q is taken", ErrForm, name)
	}
	r.named[name] = m
	return nil
}

func (r *trustReader) witness(items []string) error {
	k, err := key(items[1], AlgCosignature, r.trust.Witnesses, func(w TrustedWitness, k Key) bool { return w.Key.Public == k.Public })
	if err != nil {
		return err
	}
	r.trust.Witnesses = append(r.trust.Witnesses, TrustedWitness{items[0], k, optional(items, 2)})
	return r.define(items[0], member{witness: len(r.trust.Witnesses) - 1})
}

func (r *trustReader) group(items []string) error {
	g := &group{}
	for _, name := range items[2:] {
		m, ok := r.named[name]
		if !ok {
			return fmt.Errorf("%w: %.60q is not defined in an earlier line", ErrForm, name)
		}
		if slices.Contains(r.within, name) {
			return fmt.Errorf("%w: %.60q is a member of two groups or listed twice, so it would count twice", ErrForm, name)
		}
		r.within = append(r.within, name)
		g.members = append(g.members, m)
	}
	switch items[1] {
	case "any":
		g.k = 1
	case "all":
		g.k = len(g.members)
	default:
		k, err := strconv.Atoi(items[1])
		if err != nil || strconv.Itoa(k) != items[1] || k < 1 || k > len(g.members) {
			return fmt.Errorf("%w: the threshold %.60q of a group of %d members; want any, all, or a number from 1 to the number of members", ErrForm, items[1], len(g.members))
		}
		g.k = k
	}
	return r.define(items[0], member{group: g})
}

func (r *trustReader) quorumLine(items []string) error {
	if r.quorum {
		return fmt.Errorf("%w: there is a second quorum line", ErrForm)
	}
	r.quorum = true
	if items[0] == "none" {
		return nil
	}
	m, ok := r.named[items[0]]
	if !ok {
		return fmt.Errorf("%w: %.60q is not defined in an earlier line", ErrForm, items[0])
	}
	r.trust.quorum = group{1, []member{m}}
	return nil
}

// Quorum reports whether the trust file requires cosignatures.
func (t *Trust) Quorum() bool { return t.quorum.k > 0 }

// A Cosignature is a verified cosignature of a listed witness.
type Cosignature struct {
	Witness string // its name in the trust file
	At      time.Time
}

// An Opened is a checkpoint that a listed log has signed. Its method Quorum checks whether enough witnesses cosigned
// it.
type Opened struct {
	Checkpoint
	Log      Key
	Cosigned []Cosignature // the earliest first

	trust     *Trust
	witnesses []int  // indexes into trust.Witnesses, in the order of Cosigned
	forged    string // a listed witness whose signature line does not verify, or ""
}

// Open verifies the signatures of a checkpoint. The error is ErrOrigin if no listed log of its origin signed it, and
// ErrSignature if a listed log's line does not verify. It verifies one signature for each line of a listed key.
func (t *Trust) Open(signed []byte) (*Opened, error) {
	c, err := ReadCheckpoint(signed)
	if err != nil {
		return nil, err
	}
	text, lines, err := split(signed)
	if err != nil {
		return nil, err
	}
	o := &Opened{Checkpoint: c, trust: t}
	for _, l := range t.Logs {
		if l.Name != c.Origin {
			continue
		}
		switch _, ok, err := signedBy(l.Key, text, lines); {
		case err != nil:
			return nil, fmt.Errorf("%w: the signature of the log %s", ErrSignature, l.Name)
		case ok:
			o.Log = l.Key
		}
	}
	if o.Log == (Key{}) {
		return nil, fmt.Errorf("%w: %s", ErrOrigin, c.Origin)
	}
	for i, w := range t.Witnesses {
		sig, ok, err := signedBy(w.Key, text, lines)
		switch {
		case err != nil:
			o.forged = w.Name
		case ok:
			seconds, _ := cosignedAt(sig) // the signature verified, so it has a time
			at := time.Unix(int64(seconds), 0).UTC()
			place, _ := slices.BinarySearchFunc(o.Cosigned, at, func(c Cosignature, at time.Time) int { return c.At.Compare(at) })
			o.Cosigned = slices.Insert(o.Cosigned, place, Cosignature{w.Name, at})
			o.witnesses = slices.Insert(o.witnesses, place, i)
		}
	}
	return o, nil
}

// Quorum returns the earliest time by which a quorum of listed witnesses had cosigned; the zero time if no quorum is
// required. Cosignatures from before since do not count. The error is ErrQuorum if there are too few cosignatures, or
// if the line of a listed witness does not verify.
func (o *Opened) Quorum(since time.Time) (at time.Time, err error) {
	if o.forged != "" {
		return at, fmt.Errorf("%w: the cosignature of %s does not verify", ErrQuorum, o.forged)
	}
	if !o.trust.Quorum() {
		return at, nil
	}
	counts := 0
	cosigned := make([]bool, len(o.trust.Witnesses))
	for i, c := range o.Cosigned {
		if c.At.Before(since) {
			continue
		}
		counts++
		cosigned[o.witnesses[i]] = true
		if o.trust.quorum.met(cosigned) {
			return c.At, nil
		}
	}
	if old := len(o.Cosigned) - counts; old > 0 {
		return at, fmt.Errorf("%w: %d witnesses of the trust file did in time, and %d did before %s", ErrQuorum, counts, old, since.Format(time.RFC3339))
	}
	return at, fmt.Errorf("%w: %d witnesses of the trust file did", ErrQuorum, counts)
}
