package slice

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// AppendBody appends a body's canonical form, {"attrs":…,"author":…,"content":…}, over which its digest is computed and
// which stores keep. It does not contain the salt. The body must have passed its Check.
func AppendBody(dst []byte, b *dag.Body) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("attrs")
	writeAttrs(w, b.Attrs)
	w.Key("author")
	w.String(b.Author)
	w.Key("content")
	w.String(b.Content)
	w.EndObject()
	return w.Bytes
}

func writeAttrs(w *canon.Writer, attrs map[string]string) {
	w.BeginObject()
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		w.Key(key)
		w.String(attrs[key])
	}
	w.EndObject()
}

// ParseBody reads a body in the form of AppendBody; any other spelling is an error. The salt is left zero.
func ParseBody(data []byte) (dag.Body, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return dag.Body{}, fmt.Errorf("slice: body: %w", err)
	}
	c := canon.Open(doc)
	b := dag.Body{Attrs: ReadAttrs(c.Field("attrs")), Author: c.Field("author").String(), Content: c.Field("content").String()}
	c.Close()
	if err := c.Err(); err != nil {
		return dag.Body{}, fmt.Errorf("slice: body: %w", err)
	}
	if err := b.Check(); err != nil {
		return dag.Body{}, fmt.Errorf("slice: body: %w", err)
	}
	if string(AppendBody(nil, &b)) != string(data) {
		return dag.Body{}, fmt.Errorf("slice: body: %w: not in canonical form", dag.ErrForm)
	}
	return b, nil
}

// ReadAttrs reads an object of strings. Body.Check checks their form.
func ReadAttrs(c *canon.Cursor) map[string]string {
	members := c.Members()
	attrs := make(map[string]string, len(members))
	for _, m := range members {
		attrs[m.Key()] = m.String()
	}
	return attrs
}

// DigestBody returns body_digest: HMAC-SHA256 over a body's canonical form, with the salt as the key.
//
// HMAC is implemented here (RFC 2104, section 2) because each body has its own key, for which crypto/hmac sets up two
// new hashes; that takes as long as hashing a body of average length. A test compares the two implementations.
func DigestBody(canonical []byte, salt dag.Salt) dag.Digest {
	buffer := digests.Get().(*[]byte)
	defer digests.Put(buffer)
	b := padded((*buffer)[:0], salt, 0x36)
	b = append(b, canonical...)
	inner := sha256.Sum256(b)
	b = padded(b[:0], salt, 0x5c)
	b = append(b, inner[:]...)
	if cap(b) <= 1<<16 { // a long text is rare, and its buffer not worth keeping
		*buffer = b
	}
	return sha256.Sum256(b)
}

var digests = sync.Pool{New: func() any { return new([]byte) }}

// padded appends the block of the key, each byte XORed with pad.
func padded(dst []byte, salt dag.Salt, pad byte) []byte {
	for _, k := range salt {
		dst = append(dst, k^pad)
	}
	for range sha256.BlockSize - len(salt) {
		dst = append(dst, pad)
	}
	return dst
}

// AppendTurnLeaf appends the leaf of a turn.
func AppendTurnLeaf(dst []byte, t *dag.Turn) []byte {
	var id [dag.IDText]byte
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("body_digest")
	w.Hex(t.BodyDigest[:])
	w.Key("conversation")
	w.Text(t.Conversation.AppendText(id[:0]))
	w.Key("created_at_us")
	w.Micros(uint64(t.CreatedAt))
	w.Key("id")
	w.Text(t.ID.AppendText(id[:0]))
	w.Key("phase")
	w.String(t.Phase.String())
	w.Key("role")
	w.String(t.Role.String())
	w.Key("salience_ppm")
	w.Uint(uint64(t.Salience))
	w.Key("type")
	w.String("turn")
	w.EndObject()
	return w.Bytes
}

// AppendEdgeLeaf appends the leaf of an edge.
func AppendEdgeLeaf(dst []byte, e dag.Edge) []byte {
	var id [dag.IDText]byte
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("child")
	w.Text(e.Child.AppendText(id[:0]))
	w.Key("kind")
	w.String(e.Kind.String())
	w.Key("parent")
	w.Text(e.Parent.AppendText(id[:0]))
	w.Key("type")
	w.String("edge")
	w.EndObject()
	return w.Bytes
}

// TurnLeaf returns the leaf hash of a turn (RFC 6962: SHA-256 of 0x00 and the leaf). It does not depend on any slice,
// so it is computed once, at admission.
func TurnLeaf(t *dag.Turn) dag.Digest {
	var buf [512]byte
	return dag.Digest(tlog.RecordHash(AppendTurnLeaf(buf[:0], t)))
}

// EdgeLeaf returns the leaf hash of an edge, computed once like TurnLeaf.
func EdgeLeaf(e dag.Edge) dag.Digest {
	var buf [256]byte
	return dag.Digest(tlog.RecordHash(AppendEdgeLeaf(buf[:0], e)))
}
