package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	judge "github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// ErrStale is wrapped, with ledger.ErrInconsistent, when the service shows an older state of its ledger than it
// showed before. It did not rewrite the ledger, but it may be hiding newer entries from this client. If several
// processes with witnesses answer for one ledger, one process may be behind another by up to the setting log.every:
// ask again.
var ErrStale = errors.New("the service shows an older state of the ledger")

// ErrNoEvidence is wrapped when the service returns a bundle without evidence for it.
var ErrNoEvidence error = api.Faultf(api.CodeNotInLog, "", "there is no evidence")

// A Doubt is the error for evidence that does not convince. It wraps the fault: ledger.ErrSignature, ledger.ErrOrigin
// (signed by no listed log of the tenant), attest.ErrKeyUnknown (signed by no listed signer), token.ErrKeyRetired
// (signed outside the key's time), ledger.ErrNotIncluded, ledger.ErrInconsistent, ledger.ErrQuorum, ErrRedacted,
// ledger.ErrForm or ledger.ErrVersion.
type Doubt struct {
	Verdict judge.Verdict // every check
	err     error
}

func (d *Doubt) Error() string {
	return fmt.Sprintf("client: %s: %s", d.Verdict.Outcome, d.Verdict.Reason)
}

// Unwrap returns the sentinel.
func (d *Doubt) Unwrap() error { return d.err }

// Expect lists the facts that a Trusted believes without proof. It must come from another source than the service.
type Expect struct {
	// Trust lists the keys whose signatures count. It is required and must list a log. If it lists signers, evidence
	// needs an attestation.
	Trust *ledger.Trust

	// Tenant is the tenant whose evidence is accepted. Required.
	Tenant dag.Tenant

	// Policies are the policies that slices may be requested under, with their expected parameters. Nil is
	// policy.Default alone.
	Policies []policy.Registered

	// Load returns the last checkpoint that was saved, or nil if there is none, and Save saves one durably; they are
	// never called concurrently. They are needed to detect a rewritten ledger: without them, each process believes
	// the first checkpoint it is shown. Set both or neither; nil keeps the checkpoint in memory.
	Load func(ctx context.Context) ([]byte, error)
	Save func(ctx context.Context, note []byte) error

	// Log reads the tiles of the ledger from any server, which need not be trusted. Nil is the service itself, which
	// needs a key with the permission to read. Without such a key, set a public log, such as monitor.NewHTTP(client,
	// URL+"/log/of/TENANT", "").
	Log ledger.Reader

	// MaxAge is the maximum age of the witnesses' cosignatures. 0: any age. It requires that Trust demands a quorum,
	// and it uses Clock.
	MaxAge time.Duration
	Clock  func() time.Time // nil: time.Now

	// RequireFull rejects slices in which a text is missing.
	RequireFull bool
}

// A Trusted is a client that believes nothing without proof: not the service, not the
// connection, nor any key that comes with an answer. It is safe for use by many goroutines.
type Trusted struct {
	client *Client
	expect Expect
	hashes map[policy.ID]dag.Digest

	mu   sync.Mutex // held while a checkpoint is loaded, compared and saved
	kept []byte     // guarded by mu; used if Expect has no Load
}

// NewTrusted returns a Trusted that sends its requests through c.
func NewTrusted(c *Client, e Expect) (*Trusted, error) {
	switch {
	case e.Trust == nil || len(e.Trust.Logs) == 0:
		return nil, errors.New("client: Expect.Trust must list a log: without one nothing can be proved")
	case e.Tenant == "":
		return nil, errors.New("client: Expect.Tenant is empty")
	case (e.Load == nil) != (e.Save == nil):
		return nil, errors.New("client: Expect.Load and Expect.Save belong together; one of them is nil")
	case e.MaxAge < 0 || e.MaxAge > 0 && !e.Trust.Quorum():
		return nil, fmt.Errorf("client: Expect.MaxAge is %s, which limits the age of cosignatures, but Expect.Trust demands no cosignatures", e.MaxAge)
	}
	if e.Clock == nil {
		e.Clock = time.Now
	}
	if e.Log == nil {
		e.Log = c.Ledger().Source()
	}
	t := &Trusted{client: c, hashes: map[policy.ID]dag.Digest{}}
	if e.Policies == nil {
		e.Policies = []policy.Registered{policy.Default()}
	}
	for _, p := range e.Policies {
		t.hashes[p.ID()] = p.Hash()
	}
	t.expect = e
	if e.Load == nil {
		t.expect.Load = func(context.Context) ([]byte, error) { return t.kept, nil }
		t.expect.Save = func(_ context.Context, note []byte) error { t.kept = note; return nil }
	}
	return t, nil
}

// Slice asks for a slice and proves it. The result has the requested anchor, tenant, policy and view; a listed signer
// attested exactly these bytes; the bytes are in a ledger of the tenant that a listed log signed and a quorum
// cosigned; and that ledger continues the saved checkpoint, which it replaces. If any of this fails, the error is, in
// addition to those of Slices.Cut: a *Doubt, a *monitor.Split with both notes of a rewritten ledger, ErrStale,
// ErrNoEvidence, or policy.ErrConflict for a policy with unexpected parameters.
func (t *Trusted) Slice(ctx context.Context, r Request) (Proven, error) {
	want := cmp.Or(r.Policy, policy.DefaultID)
	hash, known := t.hashes[want]
	if !known {
		return Proven{}, fmt.Errorf("client: %w: %s is not among the expected policies", policy.ErrUnknown, want)
	}
	before, err := t.load(ctx) // the answer must not be older than the checkpoint known before the request
	if err != nil {
		return Proven{}, err
	}
	b, err := t.client.Slices().Cut(ctx, r)
	if err != nil {
		return Proven{}, err
	}
	if got := b.Claim.Provenance.PolicyParamsHash; got != hash {
		return Proven{}, fmt.Errorf("client: %w: %s has the hash %s, want %s", policy.ErrConflict, want, got, hash)
	}
	e, err := t.client.Ledger().Attest(ctx, b.Bytes)
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound || errors.Is(err, api.CodeNoIdentity) {
		return Proven{}, fmt.Errorf("%w of the bundle that the service has just handed out: %w", ErrNoEvidence, err)
	}
	if err != nil {
		return Proven{}, err
	}
	proven, err := t.judge(ctx, b.Bytes, e, before)
	if err != nil {
		return Proven{}, err
	}
	if sum := proven.Evidence().SHA256; sum != b.SHA256 { // a holder may leave texts out of a bundle, but the issuer may not
		return Proven{}, fmt.Errorf("client: %w: the issued bundle has SHA-256 %s, and these bytes are only a part of it", ErrRedacted, sum)
	}
	return proven, nil
}

// Verify judges a bundle from any source, with its evidence. It asks the service for tiles of the ledger only. Texts
// may have been removed from the bundle since it was issued, unless Expect.RequireFull is set.
func (t *Trusted) Verify(ctx context.Context, bundle []byte, e Evidence) (Proven, error) {
	bundle = bytes.Clone(bundle)
	b, err := consistent(slice.ParseBundle, bundle)
	if err != nil {
		return Proven{}, fmt.Errorf("client: %w", err)
	}
	p := &b.Provenance
	if hash, known := t.hashes[p.PolicyID]; !known || hash != p.PolicyParamsHash {
		return Proven{}, fmt.Errorf("client: %w: %s with the hash %s is not among the expected policies", policy.ErrConflict, p.PolicyID, p.PolicyParamsHash)
	}
	e.Attestation, e.Proof = bytes.Clone(e.Attestation), bytes.Clone(e.Proof)
	return t.judge(ctx, bundle, e, nil)
}

// load returns the saved checkpoint.
func (t *Trusted) load(ctx context.Context) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	note, err := t.expect.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("client: loading the saved checkpoint: %w", err)
	}
	return note, nil
}

// judge makes every check that needs more than the bundle.
func (t *Trusted) judge(ctx context.Context, bundle []byte, e Evidence, before []byte) (Proven, error) {
	if len(t.expect.Trust.Signers) > 0 && len(e.Attestation) == 0 {
		return Proven{}, fmt.Errorf("client: %w: the attestation is missing", ErrNoEvidence)
	}
	j := judge.Judge{Trust: t.expect.Trust, RequireFull: t.expect.RequireFull}
	if t.expect.MaxAge > 0 {
		j.Since = t.expect.Clock().Add(-t.expect.MaxAge)
	}
	files := judge.Files{Bundle: bundle, Proof: e.Proof, Attestation: e.Attestation} // its form is checked even if Trust lists no signers
	if len(e.Attestation) == 0 {
		files.Attestation = nil
	}
	v := j.Judge(files)
	if v.Outcome != judge.Verified {
		return Proven{}, &Doubt{v, sentinelOf(&v)}
	}
	if v.Claim.Tenant != t.expect.Tenant {
		return Proven{}, fmt.Errorf("client: %w: the evidence is of tenant %s, not %s", ledger.ErrOrigin, v.Claim.Tenant, t.expect.Tenant)
	}
	proof, err := ledger.ParseProof(e.Proof)
	if err != nil {
		return Proven{}, fmt.Errorf("client: %w", err)
	}
	if err := t.follow(ctx, proof.Checkpoint, before); err != nil {
		return Proven{}, err
	}
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return Proven{}, fmt.Errorf("client: %w", err)
	}
	leaf, err := ledger.ParseLeaf(proof.Leaf, issued.Forms()...)
	if err != nil {
		return Proven{}, fmt.Errorf("client: %w", err)
	}
	// These are the proved values, not those the service claims. The digest is that of the whole bundle, even if
	// texts were removed from this one since.
	e.Index, e.Origin, e.SHA256 = v.Inclusion.Index, v.Inclusion.Origin, leaf.(*issued.SliceLeaf).Bundle //nolint:forcetypeassert // no other leaf matches a bundle
	return Proven{slice.SealTurns(b, bundle), &proved{e, *v.Inclusion}}, nil
}

// follow checks that a checkpoint continues the saved one, and saves the newer of the two. before is the checkpoint
// that was saved before the request. Another call may have saved a newer one since; note may then be older than
// that one.
func (t *Trusted) follow(ctx context.Context, note, before []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, err := t.expect.Load(ctx)
	if err != nil {
		return fmt.Errorf("client: loading the saved checkpoint: %w", err)
	}
	if kept == nil {
		kept = before
	}
	now, err := ledger.ReadCheckpoint(note) // it was opened before
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if kept != nil {
		last, err := ledger.ReadCheckpoint(kept)
		if err != nil {
			return fmt.Errorf("client: the saved checkpoint: %w", err)
		}
		if now.Size < last.Size {
			return t.behind(ctx, note, kept, before)
		}
	}
	if _, err := monitor.Compare(ctx, t.expect.Log, t.expect.Trust, kept, note); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if err := t.expect.Save(ctx, note); err != nil {
		return fmt.Errorf("client: saving a checkpoint: %w", err)
	}
	return nil
}

// behind checks a checkpoint that is smaller than the saved one. It must be a prefix of the saved one, and it is
// stale unless the saved one was saved after the request began.
func (t *Trusted) behind(ctx context.Context, note, kept, before []byte) error {
	now, err := ledger.ReadCheckpoint(note)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	var then ledger.Checkpoint
	if before != nil {
		if then, err = ledger.ReadCheckpoint(before); err != nil {
			return fmt.Errorf("client: the saved checkpoint: %w", err)
		}
	}
	_, err = monitor.Compare(ctx, t.expect.Log, t.expect.Trust, note, kept)
	var split *monitor.Split
	switch {
	case errors.As(err, &split) || err != nil && now.Size >= then.Size:
		return fmt.Errorf("client: %w", err)
	case err != nil: // it cannot be shown to be the same ledger
		return fmt.Errorf("client: %w: %w: the ledger had %d leaves and now has %d: %w", ErrStale, ledger.ErrInconsistent, then.Size, now.Size, err)
	case now.Size < then.Size:
		return fmt.Errorf("client: %w: %w: the ledger had %d leaves and now has %d", ErrStale, ledger.ErrInconsistent, then.Size, now.Size)
	}
	return nil
}

// sentinelOf maps verdicts to errors; no other code does.
func sentinelOf(v *judge.Verdict) error {
	switch v.Outcome {
	case judge.Tampered:
		return ledger.ErrSignature
	case judge.KeyRetired:
		return token.ErrKeyRetired
	case judge.NotInLog:
		return ledger.ErrNotIncluded
	case judge.LogInconsistent:
		return ledger.ErrInconsistent
	case judge.QuorumNotMet:
		return ledger.ErrQuorum
	case judge.UnknownVersion:
		return ledger.ErrVersion
	case judge.Redacted:
		return ErrRedacted
	case judge.KeyUnknown:
		for _, c := range v.Checks {
			if c.Status == slice.StatusFail && c.ID == judge.CheckAttestation {
				return attest.ErrKeyUnknown
			}
			if c.Status == slice.StatusFail {
				return ledger.ErrOrigin
			}
		}
	}
	return ledger.ErrForm
}

// ErrRedacted is wrapped when text is missing, and Expect.RequireFull is set.
var ErrRedacted error = api.Faultf(api.CodeRedacted, "", "text is missing")
