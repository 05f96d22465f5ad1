package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/slice"
)

// Evidence is the material, other than the bundle itself, that is to convince a third party of a bundle. Nothing in
// it has been verified. See Trusted.
type Evidence struct {
	Attestation []byte // a DSSE envelope
	Proof       []byte // a tlog-proof file
	Index       uint64 // of the leaf in the ledger, as the service says
	Origin      string // of the ledger, as the service says
	SHA256      dag.Digest
	SliceID     slice.SliceID // as the service says
	KeyID       string        // of the key that signed the attestation, as the service says
	IssuedAt    string        // as the service says; the attestation has the signed time
}

// Attest asks for evidence for third parties of a bundle that this service issued: of exactly these bytes.
func (c Ledger) Attest(ctx context.Context, bundle []byte) (Evidence, error) {
	sum := dag.Digest(sha256.Sum256(bundle))
	w, err := call(ctx, c.conn, api.AttestBundle, api.TheBundle{Bundle: bytes.Clone(bundle)})
	return evidenceOf(&w, &sum, err)
}

// AttestRecorded is like Attest, for callers who do not have the bundle. It takes the bundle with the digest, or the
// newest of the slice id if the digest is nil. If text of it was erased, the error is api.CodeErased.
func (c Ledger) AttestRecorded(ctx context.Context, id slice.SliceID, digest *dag.Digest) (Evidence, error) {
	w, err := call(ctx, c.conn, api.GetEvidence, evidenceIn(id, digest))
	return evidenceOf(&w, digest, err)
}

// evidenceIn names the bundle with a digest, or the newest of a slice id if the digest is nil.
func evidenceIn(id slice.SliceID, digest *dag.Digest) api.EvidenceOf {
	of := api.EvidenceOf{SliceByID: api.SliceByID{SliceID: id}}
	if digest != nil {
		of.Bundle = digest.String()
	}
	return of
}

// evidenceOf checks that evidence is complete and belongs to the requested bundle.
func evidenceOf(w *api.Evidence, digest *dag.Digest, err error) (Evidence, error) {
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{Attestation: w.Attestation, Proof: []byte(w.Proof), Index: w.Index, Origin: w.Origin, SliceID: w.SliceID, KeyID: w.KeyID, IssuedAt: w.IssuedAt.String()}
	if e.SHA256 = w.BundleSHA256; digest != nil && e.SHA256 != *digest {
		err = fmt.Errorf("the evidence is of bundle %s, but %s was requested", e.SHA256, digest)
	}
	if err == nil && (len(w.Attestation) == 0 || string(w.Attestation) == "null" || w.Proof == "") {
		err = fmt.Errorf("%w: the attestation or the proof is missing", ErrNoEvidence)
	}
	if err != nil {
		return Evidence{}, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	return e, nil
}

// Checkpoint reads the newest checkpoint of the ledger of the key's tenant, a signed note
// that ledger.Trust.Open opens.
func (c Ledger) Checkpoint(ctx context.Context) ([]byte, error) {
	a, err := c.do(ctx, &request{method: http.MethodGet, path: "/log/checkpoint", want: typeText})
	if err != nil {
		return nil, err
	}
	if _, err := ledger.ReadCheckpoint(a.body); err != nil {
		return nil, fmt.Errorf("client: GET /log/checkpoint: %w: %w", ErrAnswer, err)
	}
	return a.body, nil
}

// Prove reads a proof (C2SP tlog-proof) that the leaf at an index is in the ledger.
func (c Ledger) Prove(ctx context.Context, index uint64) (*ledger.Proof, error) {
	text, err := c.text(ctx, api.GetProof.Spec, api.LeafAt{Index: index})
	if err != nil {
		return nil, err
	}
	proof, err := ledger.ParseProof(text)
	if err != nil {
		return nil, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	return proof, nil
}

// Consistency reads the hashes that prove that the ledger of size from is a prefix of the ledger of size to.
func (c Ledger) Consistency(ctx context.Context, from, to uint64) ([]ledger.Hash, error) {
	text, err := c.text(ctx, api.GetConsistency.Spec, api.Sizes{From: from, To: to})
	if err != nil {
		return nil, err
	}
	hashes, err := ledger.ParseHashes(text)
	if err != nil {
		return nil, fmt.Errorf("client: %w: %w", ErrAnswer, err)
	}
	return hashes, nil
}

// Leaves reads the leaves with indexes from (inclusive) to (exclusive) of the ledger at a size. They are not
// verified: the hashes of the tree, or a proof for each leaf, show whether they are in the ledger.
func (c Ledger) Leaves(ctx context.Context, size, from, to uint64) (leaves [][]byte, err error) {
	for tile := from / ledger.TileWidth; tile*ledger.TileWidth < min(to, size); tile++ {
		first := tile * ledger.TileWidth
		width, name := min(ledger.TileWidth, size-first), monitor.TileIndex(tile)
		if width < ledger.TileWidth {
			name = fmt.Sprintf("%s.p/%d", name, width)
		}
		a, err := c.do(ctx, &request{method: api.GetEntries.Method, path: "/log/entries/" + name, want: typeBinary})
		if err != nil {
			return nil, err
		}
		data := a.body
		for i := range width {
			if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
				return nil, fmt.Errorf("client: %w: entries %s end in leaf %d of %d", ErrAnswer, name, i, width)
			}
			n := 2 + int(binary.BigEndian.Uint16(data))
			if at := first + i; at >= from && at < to {
				leaves = append(leaves, bytes.Clone(data[2:n]))
			}
			data = data[n:]
		}
		if len(data) > 0 {
			return nil, fmt.Errorf("client: %w: %d bytes after the %d leaves of entries %s", ErrAnswer, len(data), width, name)
		}
	}
	return leaves, nil
}

// text calls an operation whose answer is plain text.
func (c Ledger) text(ctx context.Context, spec api.Spec, in any) ([]byte, error) {
	q, err := asking(&spec, in)
	if err != nil {
		return nil, err
	}
	q.want = typeText
	a, err := c.do(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.body, nil
}

// Convert asks for an issued bundle in another format: prov, openlineage or sigstore. The files are to be written
// unchanged.
func (c Ledger) Convert(ctx context.Context, bundle []byte, to string) (api.Converted, error) {
	return call(ctx, c.conn, api.ConvertBundle, api.Converting{To: to, Bundle: bytes.Clone(bundle)})
}

// Source returns the ledger of the key's tenant, for package monitor to follow. The key must have the permission to
// read.
func (c Ledger) Source() monitor.Source {
	keyed := *c.http
	keyed.Transport = withKey{c.conn}
	return monitor.NewHTTP(&keyed, c.base+"/log", "") // a key passed here would be visible to printers
}

// withKey adds the key to requests.
type withKey struct{ client *conn }

func (w withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	w.client.options.Headers(r.Context(), r.Header)
	r.Header.Set("User-Agent", "graphkernel-client")
	r.Header.Set("Authorization", "Bearer "+w.client.key())
	return w.client.options.Transport.RoundTrip(r)
}
