package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// A Request asks for a slice.
type Request struct {
	Anchor dag.TurnID
	Policy policy.ID // "" is policy.DefaultID
	AsOf   dag.Seq   // 0: the anchor's own, or the newest setting's of the standing policy, under a policy of direction past, and the present otherwise
}

func (r *Request) wire(format string) api.SliceRequest {
	return api.SliceRequest{Anchor: r.Anchor.String(), Policy: r.Policy, AsOf: r.AsOf, Format: format}
}

// A Bundle is a slice as the service returned it. It matches the request and is consistent in itself, but its
// signature has not been verified.
type Bundle struct {
	Bytes  []byte        // to be passed on and verified exactly as they are
	SHA256 dag.Digest    // of Bytes
	Claim  *slice.Bundle // the parsed Bytes
}

// Cut asks for a slice, cut and signed. The same request on the same view returns the same bytes.
func (c Slices) Cut(ctx context.Context, r Request) (Bundle, error) {
	q := &request{method: http.MethodPost, path: "/api/slice", body: encode(r.wire(""))}
	return handed(ctx, c.conn, q, r.bundle)
}

// handed asks for a bundle, and passes it to read together with the announced digest and id.
func handed[T any](ctx context.Context, c *conn, q *request, read func(data []byte, digest, id string) (T, error)) (T, error) {
	var none T
	q.want = typeJSON
	a, err := c.do(ctx, q)
	if err != nil {
		return none, err
	}
	b, err := read(a.body, strings.Trim(a.header.Get("ETag"), `"`), a.header.Get("Slice-Id"))
	if err != nil {
		return none, fmt.Errorf("client: %s: %w: %w", q, ErrAnswer, err)
	}
	return b, nil
}

// bundle makes every check of an answer that needs no key.
func (r *Request) bundle(data []byte, digest, id string) (Bundle, error) {
	b := Bundle{Bytes: data, SHA256: sha256.Sum256(data)}
	if digest != b.SHA256.String() {
		return Bundle{}, fmt.Errorf("the bundle was announced with SHA-256 %.80q, but its SHA-256 is %s", digest, b.SHA256)
	}
	var err error
	if b.Claim, err = consistent(slice.ParseBundle, data); err != nil {
		return Bundle{}, err
	}
	p := &b.Claim.Provenance
	want := cmp.Or(r.Policy, policy.DefaultID)
	switch {
	case id != string(p.SliceID):
		return Bundle{}, fmt.Errorf("the bundle was announced as slice %.80q, but is slice %s", id, p.SliceID)
	case p.Anchor != r.Anchor:
		return Bundle{}, fmt.Errorf("the anchor of the bundle is %s, but %s was requested", p.Anchor, r.Anchor)
	case p.PolicyID != want:
		return Bundle{}, fmt.Errorf("the policy of the bundle is %s, but %s was requested", p.PolicyID, want)
	case r.AsOf != 0 && b.Claim.AsOf != r.AsOf:
		return Bundle{}, fmt.Errorf("the bundle is as of %d, but %d was requested", b.Claim.AsOf, r.AsOf)
	}
	return b, nil
}

// agree returns an error for the first check that fails.
func agree(checks []slice.Check) error {
	for _, check := range checks {
		if check.Status == slice.StatusFail {
			return fmt.Errorf("check %s fails: %s", check.ID, check.Detail)
		}
	}
	return nil
}

// A BatchResult is a bundle, or the reason why there is none: a *Problem, or ErrAnswer.
type BatchResult struct {
	Bundle
	Err error
}

// CutBatch asks for up to 100 slices. The results are in the order of the requests; a failed request does not affect
// the others.
func (c Slices) CutBatch(ctx context.Context, requests []Request) ([]BatchResult, error) {
	body := api.SliceRequests{Requests: make([]api.SliceRequest, len(requests))}
	for i := range requests {
		body.Requests[i] = requests[i].wire("")
	}
	w, err := call(ctx, c.conn, api.CutSlices, body)
	if err != nil {
		return nil, err
	}
	if len(w.Results) != len(requests) {
		return nil, fmt.Errorf("client: %w: %d results for %d requests", ErrAnswer, len(w.Results), len(requests))
	}
	results := make([]BatchResult, len(requests))
	for i := range w.Results {
		got := &w.Results[i]
		if got.Problem != nil {
			results[i].Err = &Problem{Problem: *got.Problem}
			continue
		}
		if results[i].Bundle, err = requests[i].bundle(got.Bundle, got.BundleSHA256.String(), string(got.SliceID)); err != nil {
			results[i].Err = fmt.Errorf("client: requests[%d]: %w: %w", i, ErrAnswer, err)
		}
	}
	return results, nil
}

// Render asks for a slice in a form for people or prompts: api.FormatMarkdown or api.FormatMessages. A rendering is
// not evidence and cannot be verified.
func (c Slices) Render(ctx context.Context, r Request, format string) ([]byte, error) {
	want := map[string]string{api.FormatMarkdown: typeMarkdown, api.FormatMessages: typeJSON}[format]
	if want == "" {
		return nil, fmt.Errorf("client: %.80q is no format of a rendering", format)
	}
	a, err := c.do(ctx, &request{method: http.MethodPost, path: "/api/slice", body: encode(r.wire(format)), want: want})
	if err != nil {
		return nil, err
	}
	return a.body, nil
}

// All returns the record of every issued bundle, in the order of issue. The iteration ends with the first error.
func (c Slices) All(ctx context.Context) iter.Seq2[api.Issued, error] {
	return all(func(p api.Paging) ([]api.Issued, string, error) {
		w, err := call(ctx, c.conn, api.ListSlices, api.SliceQuery{Paging: p})
		return w.Slices, w.Next, err
	})
}

// Bundle returns an issued bundle of any kind (turns, facts, a context or a belief), byte for byte: the bundle with
// the digest, or the newest of the slice id if the digest is nil. If text of it was erased, the error is
// api.CodeErased. The bundle is not verified.
func (c Slices) Bundle(ctx context.Context, id slice.SliceID, digest *dag.Digest) ([]byte, error) {
	q, err := asking(&api.GetBundle.Spec, evidenceIn(id, digest))
	if err != nil {
		return nil, err
	}
	return handed(ctx, c.conn, q, func(data []byte, announced, of string) ([]byte, error) {
		sum := dag.Digest(sha256.Sum256(data))
		switch {
		case announced != sum.String() || digest != nil && sum != *digest:
			return nil, fmt.Errorf("the bundle was announced with SHA-256 %.80q, but its SHA-256 is %s", announced, sum)
		case of != string(id):
			return nil, fmt.Errorf("the bundle is of slice %.80q, but %s was requested", of, id)
		}
		return data, nil
	})
}

// ReplayIssued asks for a slice to be cut again and compared with the newest bundle on record.
func (c Slices) ReplayIssued(ctx context.Context, id slice.SliceID) (api.Replay, error) {
	return call(ctx, c.conn, api.ReplaySlice, api.Replaying{SliceByID: api.SliceByID{SliceID: id}})
}

// sliceOf returns the slice id that a bundle of any kind claims.
func sliceOf(bundle []byte) (slice.SliceID, error) {
	b, err := kinds.Parse(bundle)
	if err != nil {
		return "", err
	}
	h := b.Head()
	return h.Provenance.SliceID, nil
}

// Replay asks for the slice of a bundle, of any kind, to be cut again and compared with the bundle byte for byte.
func (c Slices) Replay(ctx context.Context, bundle []byte) (api.Replay, error) {
	id, err := sliceOf(bundle)
	if err != nil {
		return api.Replay{}, fmt.Errorf("client: %w", err)
	}
	return call(ctx, c.conn, api.ReplaySlice, api.Replaying{SliceByID: api.SliceByID{SliceID: id}, Bundle: bundle})
}
