package ledger

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// MaxCheckpoint is the maximum size of a checkpoint with all its signatures, in bytes.
const MaxCheckpoint = 64 << 10

// A Checkpoint is a log's statement about itself: its number of leaves, and the root over them.
type Checkpoint struct {
	Origin string
	Root
}

// Text returns the text that is signed: three lines.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatUint(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Hash[:]) + "\n"
}

// Sign returns the checkpoint as a signed note. It is deterministic.
func (c Checkpoint) Sign(by note.Signer) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if by.Name() != c.Origin {
		return nil, fmt.Errorf("%w: the key of %s cannot sign a checkpoint of origin %.200q", ErrOrigin, by.Name(), c.Origin)
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, by)
	if err != nil {
		return nil, fmt.Errorf("ledger: signing a checkpoint: %w", err)
	}
	return signed, nil
}

// parseText reads the text of a checkpoint. Lines after the third are ignored.
func parseText(text string) (c Checkpoint, err error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 {
		return c, fmt.Errorf("%w: a checkpoint must have three lines, this one has %d", ErrForm, len(lines)-1)
	}
	c.Origin = lines[0]
	if !IsName(c.Origin) {
		return c, fmt.Errorf("%w: origin %.200q of a checkpoint", ErrForm, c.Origin)
	}
	if c.Size, err = parseSize(lines[1]); err != nil {
		return c, err
	}
	if c.Hash, err = parseHash(lines[2]); err != nil {
		return c, err
	}
	return c, c.check()
}

// parseSize reads a size or an index in plain digits, at most MaxSize.
func parseSize(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s || n > MaxSize {
		return 0, fmt.Errorf("%w: %.40q is not a size of a log, want 0 to %d in plain digits", ErrForm, s, uint64(MaxSize))
	}
	return n, nil
}

func parseHash(s string) (Hash, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != tlog.HashSize || base64.StdEncoding.EncodeToString(b) != s {
		return Hash{}, fmt.Errorf("%w: %.60q is not a hash, want 32 bytes of base64", ErrForm, s)
	}
	return Hash(b), nil
}

// ReadCheckpoint returns the checkpoint in a note without verifying any signature. Trust.Open verifies them.
func ReadCheckpoint(signed []byte) (Checkpoint, error) {
	text, err := CheckpointText(signed)
	if err != nil {
		return Checkpoint{}, err
	}
	return parseText(text)
}

// maxLines is the maximum number of signature lines on a note.
const maxLines = 100

// A line is a parsed signature line.
type line struct {
	name string
	hash uint32
	sig  []byte // without the key's hash in front of it
}

// split parses a note. A note has exactly one empty line, between the text and the signatures, and each signature has
// exactly one spelling: otherwise one program could verify a line in one reading and another could use it in a
// different one.
func split(signed []byte) (text string, lines []line, err error) {
	if len(signed) > MaxCheckpoint {
		return "", nil, fmt.Errorf("%w: a checkpoint of %d bytes, at most %d", ErrForm, len(signed), MaxCheckpoint)
	}
	_, err = note.Open(signed, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return "", nil, fmt.Errorf("%w: not a signed note: %w", ErrForm, err)
	}
	at := bytes.Index(signed, []byte("\n\n"))
	text = string(signed[:at+1])
	if text != unverified.Note.Text {
		return "", nil, fmt.Errorf("%w: the text of the checkpoint contains an empty line", ErrForm)
	}
	for l := range bytes.Lines(signed[at+2:]) {
		name, sig, ok := splitLine(l)
		if !ok || len(lines) == maxLines {
			return "", nil, fmt.Errorf("%w: %.120q is not a signature line, or there are more than %d signature lines", ErrForm, l, maxLines)
		}
		lines = append(lines, line{name, binary.BigEndian.Uint32(sig), sig[4:]})
	}
	return text, lines, nil
}

// CheckpointText returns the signed text of a note, and checks the form of the note.
func CheckpointText(signed []byte) (string, error) {
	text, _, err := split(signed)
	return text, err
}

// signedBy finds a key's signature lines on a note. Every one must verify. It returns the signature of the first line.
func signedBy(k Key, text string, lines []line) (sig []byte, ok bool, err error) {
	v := verifier{k}
	hash := k.Hash()
	for _, l := range lines {
		if l.name != k.Name || l.hash != hash {
			continue
		}
		if !v.Verify([]byte(text), l.sig) {
			return nil, false, ErrSignature
		}
		if !ok {
			sig, ok = l.sig, true
		}
	}
	return sig, ok, nil
}

// A verifier checks signature lines of one key.
type verifier struct{ key Key }

func (v verifier) Name() string    { return v.key.Name }
func (v verifier) KeyHash() uint32 { return v.key.Hash() }
func (v verifier) Verify(text, sig []byte) bool {
	public := ed25519.PublicKey(v.key.Public[:])
	if v.key.Alg == AlgEd25519 {
		return ed25519.Verify(public, text, sig)
	}
	at, ok := cosignedAt(sig)
	return ok && ed25519.Verify(public, cosigned(at, text), sig[8:])
}

// maxTime is the last second of the year 9999.
const maxTime = 253402300799

func cosignedAt(sig []byte) (seconds uint64, ok bool) {
	if len(sig) != 8+ed25519.SignatureSize {
		return 0, false
	}
	seconds = binary.BigEndian.Uint64(sig)
	return seconds, seconds <= maxTime
}

// cosigned returns the message that a cosignature/v1 signs.
func cosigned(seconds uint64, text []byte) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, text)
}

// A logSigner signs checkpoints of one origin.
type logSigner struct {
	key     Key
	private ed25519.PrivateKey
}

// NewLogSigner returns the signer of the log with the origin name.
func NewLogSigner(name string, private ed25519.PrivateKey) (note.Signer, Key, error) {
	k := Key{Name: name, Alg: AlgEd25519, Public: [32]byte(private.Public().(ed25519.PublicKey))}
	return logSigner{k, private}, k, k.Check()
}

func (s logSigner) Name() string                     { return s.key.Name }
func (s logSigner) KeyHash() uint32                  { return s.key.Hash() }
func (s logSigner) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.private, text), nil }

// A Cosigner signs for a witness.
type Cosigner struct {
	key     Key
	private ed25519.PrivateKey
}

// NewCosigner returns the cosigner of the witness with a name.
func NewCosigner(name string, private ed25519.PrivateKey) (*Cosigner, error) {
	c := &Cosigner{Key{Name: name, Alg: AlgCosignature, Public: [32]byte(private.Public().(ed25519.PublicKey))}, private}
	return c, c.key.Check()
}

// Key returns the witness's public key.
func (c *Cosigner) Key() Key { return c.key }

// Cosign returns the signature line for a checkpoint's text, with the time at which the witness saw it. The caller must
// have checked that the log is consistent with the checkpoint cosigned before.
func (c *Cosigner) Cosign(checkpoint Checkpoint, text string, at time.Time) ([]byte, error) {
	if at.Unix() < 0 || at.Unix() > maxTime {
		return nil, fmt.Errorf("%w: a cosignature cannot be made at %s", ErrForm, at)
	}
	read, err := parseText(text)
	if err != nil {
		return nil, err
	}
	if read != checkpoint {
		return nil, fmt.Errorf("%w: the text to cosign belongs to a different checkpoint", ErrForm)
	}
	seconds := uint64(at.Unix())
	line := binary.BigEndian.AppendUint32(nil, c.key.Hash())
	line = binary.BigEndian.AppendUint64(line, seconds)
	line = append(line, ed25519.Sign(c.private, cosigned(seconds, []byte(text)))...)
	return fmt.Appendf(nil, "— %s %s\n", c.key.Name, base64.StdEncoding.EncodeToString(line)), nil
}

// AddSignatures adds signature lines, as a witness returns them, to a note, and returns the keys whose lines were
// added. It adds only lines that one of the keys signed and that verify. A line of a key that already has one on the
// note is skipped.
func AddSignatures(signed, lines []byte, keys []Key) (_ []byte, added []Key, err error) {
	text, err := CheckpointText(signed)
	if err != nil {
		return nil, nil, err
	}
	if len(lines) > MaxCheckpoint {
		return nil, nil, fmt.Errorf("%w: %d bytes of signatures, at most %d", ErrForm, len(lines), MaxCheckpoint)
	}
	for line := range bytes.Lines(lines) {
		name, sig, ok := splitLine(line)
		if !ok {
			return nil, nil, fmt.Errorf("%w: %.120q is not a signature line", ErrForm, line)
		}
		for _, k := range keys {
			if name != k.Name || binary.BigEndian.Uint32(sig) != k.Hash() || !(verifier{k}).Verify([]byte(text), sig[4:]) {
				continue
			}
			if prefix := signatureOf(k); bytes.Contains(signed, prefix) {
				continue
			}
			signed = append(bytes.Clone(signed), line...)
			added = append(added, k)
		}
	}
	return signed, added, nil
}

// splitLine parses a signature line. The signature has at least 5 bytes; its first four are the key's hash.
func splitLine(line []byte) (name string, sig []byte, ok bool) {
	text, ok := strings.CutPrefix(string(line), "— ")
	if !ok || !strings.HasSuffix(text, "\n") {
		return "", nil, false
	}
	name, encoded, ok := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	sig, err := base64.StdEncoding.DecodeString(encoded)
	return name, sig, ok && err == nil && len(sig) >= 5 && base64.StdEncoding.EncodeToString(sig) == encoded
}

// signatureOf returns the beginning of a key's signature line, up to the base64 digit that contains the last bits of
// the hash.
func signatureOf(k Key) []byte {
	hash := binary.BigEndian.AppendUint32(nil, k.Hash())
	return fmt.Appendf(nil, "— %s %s", k.Name, base64.StdEncoding.EncodeToString(hash)[:5])
}
