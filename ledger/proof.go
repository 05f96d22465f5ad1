package ledger

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	proofHeader = "c2sp.org/tlog-proof@v1"

	// maxPath is the maximum length of a path: one hash for each level of the largest tree that C2SP allows.
	maxPath = 63

	// MaxProof is the maximum size of a proof's file, in bytes.
	MaxProof = MaxCheckpoint + 2*MaxLeaf + 8<<10
)

// A Proof proves offline, in one file, that a leaf is in a checkpoint and at which index (C2SP tlog-proof).
type Proof struct {
	Leaf       []byte // the file's extra line: trusted because its hash leads to the root
	Index      uint64
	Path       []Hash
	Checkpoint []byte // a signed note
}

// Append appends the proof's file.
func (p *Proof) Append(dst []byte) []byte {
	dst = append(dst, proofHeader+"\n"...)
	if p.Leaf != nil {
		dst = fmt.Appendf(dst, "extra %s\n", base64.StdEncoding.EncodeToString(p.Leaf))
	}
	dst = fmt.Appendf(dst, "index %d\n", p.Index)
	dst = appendHashes(dst, p.Path)
	dst = append(dst, '\n')
	return append(dst, p.Checkpoint...)
}

func appendHashes(dst []byte, hashes []Hash) []byte {
	for _, h := range hashes {
		dst = append(base64.StdEncoding.AppendEncode(dst, h[:]), '\n')
	}
	return dst
}

// ParseProof reads a proof's file. It checks only the form.
func ParseProof(data []byte) (*Proof, error) {
	if len(data) > MaxProof {
		return nil, fmt.Errorf("%w: a proof of %d bytes, at most %d", ErrForm, len(data), MaxProof)
	}
	if err := checkLines(data); err != nil {
		return nil, err
	}
	head, checkpoint, ok := bytes.Cut(data, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if lines[0] != proofHeader { // another version may have another form
		if strings.HasPrefix(lines[0], "c2sp.org/tlog-proof@") {
			return nil, fmt.Errorf("%w: proof %.60q, this program knows %q", ErrVersion, lines[0], proofHeader)
		}
		return nil, fmt.Errorf("%w: a proof must begin with %q, this one begins with %.60q", ErrForm, proofHeader, lines[0])
	}
	if !ok {
		return nil, fmt.Errorf("%w: a proof must have an empty line before its checkpoint", ErrForm)
	}
	p := &Proof{Checkpoint: checkpoint}
	lines = lines[1:]
	if extra, ok := strings.CutPrefix(first(lines), "extra "); ok {
		leaf, err := base64.StdEncoding.Strict().DecodeString(extra)
		if err != nil || strings.Contains(extra, "\r") || len(leaf) > MaxLeaf {
			return nil, fmt.Errorf("%w: the extra line is not base64 of at most %d bytes", ErrForm, MaxLeaf)
		}
		p.Leaf, lines = leaf, lines[1:]
	}
	index, ok := strings.CutPrefix(first(lines), "index ")
	if !ok {
		return nil, fmt.Errorf("%w: want a line with the index, got %.60q", ErrForm, first(lines))
	}
	var err error
	if p.Index, err = parseSize(index); err != nil {
		return nil, err
	}
	if p.Path, err = parseHashes(lines[1:]); err != nil {
		return nil, err
	}
	_, err = ReadCheckpoint(checkpoint)
	return p, err
}

// checkLines returns an error for data with bytes that are not UTF-8, or with ASCII control characters other than line
// feeds. Signed notes have the same rule.
func checkLines(data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: the proof is not UTF-8", ErrForm)
	}
	if at := bytes.IndexFunc(data, func(r rune) bool { return r < ' ' && r != '\n' }); at >= 0 {
		return fmt.Errorf("%w: byte %d of the proof is the control character %#02x", ErrForm, at, data[at])
	}
	return nil
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

func parseHashes(lines []string) ([]Hash, error) {
	if len(lines) > maxPath {
		return nil, fmt.Errorf("%w: %d hashes, at most %d", ErrForm, len(lines), maxPath)
	}
	hashes := make([]Hash, len(lines))
	for i, line := range lines {
		var err error
		if hashes[i], err = parseHash(line); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// FormatHashes returns a proof of consistency in the form of its file: one hash in base64 per line.
func FormatHashes(hashes []Hash) []byte { return appendHashes(nil, hashes) }

// ParseHashes reads a file that FormatHashes has written.
func ParseHashes(data []byte) ([]Hash, error) {
	if len(data) == 0 {
		return nil, nil
	}
	text, ok := strings.CutSuffix(string(data), "\n")
	if !ok {
		return nil, fmt.Errorf("%w: the last line has no end", ErrForm)
	}
	return parseHashes(strings.Split(text, "\n"))
}

// An AddCheckpoint is a log's request to a witness to cosign a checkpoint (C2SP tlog-witness).
type AddCheckpoint struct {
	Old        uint64 // the size that, as far as the log knows, the witness cosigned last
	Proof      []Hash // of consistency, from Old to the checkpoint
	Checkpoint []byte // a signed note
}

// Append appends the request's body.
func (a *AddCheckpoint) Append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "old %d\n", a.Old)
	dst = appendHashes(dst, a.Proof)
	dst = append(dst, '\n')
	return append(dst, a.Checkpoint...)
}

// ParseAddCheckpoint reads a request's body.
func ParseAddCheckpoint(data []byte) (*AddCheckpoint, error) {
	head, checkpoint, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok {
		return nil, fmt.Errorf("%w: want an empty line before the checkpoint", ErrForm)
	}
	lines := strings.Split(string(head), "\n")
	size, ok := strings.CutPrefix(lines[0], "old ")
	if !ok {
		return nil, fmt.Errorf("%w: want a line with the old size, got %.60q", ErrForm, lines[0])
	}
	a := &AddCheckpoint{Checkpoint: checkpoint}
	var err error
	if a.Old, err = parseSize(size); err != nil {
		return nil, err
	}
	a.Proof, err = parseHashes(lines[1:])
	return a, err
}
