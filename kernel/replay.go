package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A ReplayOutcome sums up a replay. The names are stable.
type ReplayOutcome string

// The outcomes.
const (
	Identical ReplayOutcome = "identical" // the bytes are the same
	Erased    ReplayOutcome = "erased"    // the same except for the text of turns that was erased since, or facts learned from it
	Lost      ReplayOutcome = "lost"      // like erased, but no erasure is on record for some of these turns
	Different ReplayOutcome = "different"
)

// The checks of a replay.
const (
	CheckReplayed slice.CheckID = "replay"  // cutting again returns the same evidence
	CheckIssued   slice.CheckID = "issued"  // the store's record says that it was handed out
	CheckCounted  slice.CheckID = "counted" // the standing policies by which the words in it count
)

// A Replay is the result of cutting a slice again.
type Replay struct {
	Outcome    ReplayOutcome
	Reason     string            // in one sentence
	Provenance slice.Provenance  // of the slice that was replayed
	AsOf       dag.Seq           // the view it was cut from
	Erased     []dag.TurnID      // turns whose text was erased since
	Lost       []dag.TurnID      // turns whose text was there and is gone without an erasure
	Redacted   []dag.TurnID      // turns without text in the replayed bundle
	Difference *slice.Difference // the first one, unless identical
	Checks     []slice.Check     // replay, counted if the evidence says standings, token, issued
	Token      error             // why the token does not verify now, or nil
}

// Replays makes recorded bundles again, and compares them.
type Replays struct{ *engine }

// Replay cuts a bundle's slice again from the view that it names and compares
// the bytes. The bundle's own token is copied, so that a replay works long
// after the key is retired; whether the token verifies is a check of its own. A slice
// that cannot be cut here, because its anchor, its policy or its view is missing, is
// different. An error means that nothing could be compared: for example, the bytes are not
// a bundle, or the bundle is another tenant's.
func (k Replays) Replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (_ *Replay, err error) {
	ctx, observed := k.observe(ctx, "replay")
	defer func() { observed(err) }()
	if asked := k.remaker(kinds.Of(bundle)); asked != nil {
		return asked.replay(ctx, tenant, bundle)
	}
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, err
	}
	if b.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the bundle is of tenant %q, not %q: %w", b.Seal.Tenant, tenant, token.ErrTenant)
	}
	r := &Replay{Provenance: b.Provenance, AsOf: b.AsOf, Redacted: b.Redacted()}
	digest := dag.Digest(sha256.Sum256(bundle))
	of, err := k.records.vantage(ctx, tenant, b, digest)
	if err != nil {
		return nil, err
	}
	again, err := steady(k.engine, func(c *cache) (*recut, error) { return c.cutAgain(ctx, tenant, &b.Provenance, of, b.Seal) })
	if err != nil {
		if !r.noCut(err) {
			return nil, err
		}
	} else {
		record, err := k.records.bundles.ByDigest(ctx, tenant, b.Provenance.SliceID, digest)
		if err != nil {
			return nil, err
		}
		if err := r.compare(b, bundle, again, record != nil); err != nil {
			return nil, err
		}
	}
	r.countBy(bundle)
	r.checkToken(k.authority.Check(&b.Provenance, b.Seal))
	return r, k.checkIssued(ctx, tenant, r, digest)
}

// replayAsked is Replay for a bundle that contains the question it answers. The whole bundle follows from the question and the
// store's state as of the bundle's number. again makes the bundle's bytes again.
func (k Replays) replayAsked(ctx context.Context, tenant dag.Tenant, b slice.Body, bundle []byte, again func(*cache) ([]byte, error)) (*Replay, error) {
	h := b.Head()
	if h.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the bundle is of tenant %q, not %q: %w", h.Seal.Tenant, tenant, token.ErrTenant)
	}
	r := &Replay{Provenance: h.Provenance, AsOf: h.AsOf}
	made, err := steady(k.engine, again)
	switch {
	case err != nil && !r.noCut(err):
		return nil, err
	case err == nil:
		r.compareBytes(made, bundle)
	}
	digest := dag.Digest(sha256.Sum256(bundle))
	if err := k.accountBundle(ctx, tenant, r, digest); err != nil {
		return nil, err
	}
	r.countBy(bundle)
	r.checkToken(k.authority.Check(&h.Provenance, h.Seal))
	return r, k.checkIssued(ctx, tenant, r, digest)
}

// accountBundle checks whether erasures explain why a bundle on record differs from its replay.
func (k Replays) accountBundle(ctx context.Context, tenant dag.Tenant, r *Replay, digest dag.Digest) error {
	if r.Outcome != Different {
		return nil
	}
	i, err := k.records.bundles.ByDigest(ctx, tenant, r.Provenance.SliceID, digest)
	if err != nil || i == nil {
		return err
	}
	return k.accountErased(ctx, tenant, r, i)
}

// accountErased checks whether erasures explain why the bundle of a record differs from its replay.
func (k Replays) accountErased(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	if asked := k.remaker(kindOf(i)); asked != nil {
		return asked.account(ctx, tenant, r, i)
	}
	return nil
}

// ReplayIssued replays the newest recorded bundle of a slice id. The record does not
// contain the text, so only the bundle's digest shows that text was erased since.
func (k Replays) ReplayIssued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (_ *Replay, err error) {
	ctx, observed := k.observe(ctx, "replay_issued")
	defer func() { observed(err) }()
	records, err := k.records.bundles.ByID(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("slice %s of tenant %s: %w: it was never issued here", id, tenant, store.ErrNotFound)
	}
	i := records[len(records)-1]
	seal := slice.Seal{Tenant: tenant, KeyID: i.KeyID, Token: i.Token}
	r := &Replay{Provenance: i.Provenance, AsOf: i.AsOf}
	if gone, err := k.records.taskErased(ctx, tenant, &i); err != nil {
		return nil, err
	} else if gone != nil {
		r.agree(Erased, taskGone(gone)+", so the bytes cannot be compared")
		r.checkToken(k.authority.Check(&i.Provenance, seal))
		return r, k.checkIssued(ctx, tenant, r, i.Bundle)
	}
	again, err := steady(k.engine, func(c *cache) (*recut, error) { return c.cutRecorded(ctx, tenant, &i) })
	switch {
	case err != nil && !r.noCut(err):
		return nil, err
	case err != nil:
	case !i.OfTurns():
		r.compareAsked(&i, again.bundle)
	default:
		var since []dag.TurnID
		if len(again.gone) > 0 {
			if since, err = k.records.erasedSince(ctx, tenant, &i); err != nil {
				return nil, err
			}
		}
		r.compareRecord(&i, again, since)
	}
	if r.Outcome == Different {
		if err := k.accountErased(ctx, tenant, r, &i); err != nil {
			return nil, err
		}
	}
	if again != nil {
		r.countBy(again.bundle)
	}
	r.checkToken(k.authority.Check(&i.Provenance, seal))
	return r, k.checkIssued(ctx, tenant, r, i.Bundle)
}

// A remaker is a facet whose bundles answer a question; the record of a bundle contains the question.
type remaker interface {
	// replay is Slices.Replay for the bundles of the facet.
	replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error)
	// remake makes the bundle of a record again.
	remake(ctx context.Context, c *cache, tenant dag.Tenant, i *issued.Record, seal slice.Seal) ([]byte, error)
	// account records in r the erasures that explain why a bundle on record differs from its replay.
	account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error
	// instead returns the bytes to hand out when a bundle could not be made again, or an error with the reason. err is the error of
	// making it again, or nil if the new bytes differ.
	instead(ctx context.Context, tenant dag.Tenant, i *issued.Record, err error) ([]byte, error)
}

// remaker returns the facet whose bundles are of a kind. It returns nil for slices of turns, which follow from their provenance.
func (k Replays) remaker(of *slice.Kind) remaker {
	return map[*slice.Kind]remaker{facts.Bundles: k.facts(), contexts.Bundles: k.contexts(), beliefs.Bundles: k.beliefs()}[of]
}

// damagedQuestion returns the error for a record whose question cannot be read.
func damagedQuestion(i *issued.Record, err error) error {
	return fmt.Errorf("%w: the question of record %d, %s: %w", store.ErrDamaged, i.Number, kindOf(i).Noun, err)
}

// A recut is a bundle that was made again, with the states of the texts that it lacks.
type recut struct {
	bundle []byte
	gone   map[dag.TurnID]projection.TextState
}

// cutRecorded makes the bundle of a record again.
func (c *cache) cutRecorded(ctx context.Context, tenant dag.Tenant, i *issued.Record) (*recut, error) {
	seal := slice.Seal{Tenant: tenant, KeyID: i.KeyID, Token: i.Token}
	asked := Replays{c.k}.remaker(kindOf(i))
	if asked == nil {
		return c.cutAgain(ctx, tenant, &i.Provenance, i.Vantage(), seal)
	}
	again, err := asked.remake(ctx, c, tenant, i, seal)
	return &recut{bundle: again}, err
}

// cutAgain makes the bundle that follows from a claimed provenance and a vantage.
func (c *cache) cutAgain(ctx context.Context, tenant dag.Tenant, claim *slice.Provenance, of issued.Vantage, seal slice.Seal) (*recut, error) {
	p, err := c.policy(ctx, tenant, claim.PolicyID)
	if err != nil {
		return nil, err
	}
	if of.AsOf == 0 {
		return nil, fmt.Errorf("%w: as_of is 0", slice.ErrAnchor)
	}
	cut, s, texts, _, err := c.cut(ctx, tenant, claim.Anchor, p, of)
	if err != nil {
		return nil, err
	}
	again := &recut{bundle: cut.Bundle(s.AsOf, seal, texts), gone: map[dag.TurnID]projection.TextState{}}
	for i := range texts {
		if texts[i].State != projection.TextShown {
			again.gone[s.Turns[i].ID] = texts[i].State
		}
	}
	return again, nil
}

// known checks that evidence that is made again is as of a number. To the functions that make it, 0 would be the present.
func known(asOf dag.Seq) error {
	if asOf == 0 {
		return fmt.Errorf("%w: as_of is 0, before anything was known", projection.ErrBeyondHead)
	}
	return nil
}

// noCut reports whether an error means that the slice cannot be cut from this view.
// If so, it records a difference.
func (r *Replay) noCut(err error) bool {
	known := false
	for _, is := range [...]error{slice.ErrAnchor, store.ErrNotFound, projection.ErrBeyondHead, slice.ErrCost, policy.ErrUnknown, policy.ErrMismatch, contexts.ErrRequest, journal.ErrSpace, store.ErrDamaged} {
		known = known || errors.Is(err, is)
	}
	if !known || errors.Is(err, store.ErrUnreadable) { // unreadable data says nothing about the bundle that was handed out
		return false
	}
	r.differ(nil, err.Error())
	return true
}

func (r *Replay) differ(d *slice.Difference, reason string) {
	r.Outcome, r.Difference, r.Reason = Different, d, reason
	c := slice.Check{ID: CheckReplayed, Status: slice.StatusFail, Detail: reason}
	if d != nil {
		c.Expected, c.Found = d.Expected, d.Found
	}
	r.Checks = append(r.Checks, c)
}

func (r *Replay) agree(o ReplayOutcome, reason string) {
	r.Outcome, r.Reason = o, reason
	r.Checks = append(r.Checks, slice.Check{ID: CheckReplayed, Status: slice.StatusOK, Detail: reason})
}

func (r *Replay) compareBytes(again, bundle []byte) {
	if d := slice.Differ(again, bundle); d != nil {
		r.differ(d, fmt.Sprintf("byte %d, at %s", d.Offset, d.Path))
		return
	}
	r.agree(Identical, fmt.Sprintf("%d bytes", len(bundle)))
}

// compareAsked compares a record, which contains no text, with the bundle that answers its question again.
func (r *Replay) compareAsked(i *issued.Record, again []byte) {
	fresh, err := kinds.Parse(again)
	if err != nil {
		r.differ(nil, err.Error())
		return
	}
	h := fresh.Head()
	switch {
	case dag.Digest(sha256.Sum256(again)) == i.Bundle:
		r.agree(Identical, fmt.Sprintf("%d bytes with the recorded SHA-256", len(again)))
	case h.Provenance != i.Provenance:
		r.differ(nil, fmt.Sprintf("answering again gives slice %s with snapshot %s", h.Provenance.SliceID, h.Provenance.GraphSnapshotHash))
	default:
		r.differ(nil, "the same six fields, but other bytes than those recorded")
	}
}

// compare compares a bundle with the bundle that was cut again. Turns that have no text in one
// of the two are compared without text. issued says that the given bytes are on record.
func (r *Replay) compare(b *slice.Bundle, bundle []byte, cut *recut, issued bool) error {
	again := cut.bundle
	for _, c := range b.Check() { // the bundle contains the salt with which text that is erased here is checked
		if c.Status == slice.StatusFail {
			r.differ(slice.Differ(again, bundle), fmt.Sprintf("%s: %s", c.ID, c.Detail))
			return nil
		}
	}
	if d := slice.Differ(again, bundle); d == nil {
		r.agree(Identical, fmt.Sprintf("%d bytes", len(bundle)))
		return nil
	}
	fresh, err := slice.ParseBundle(again)
	if err != nil {
		return fmt.Errorf("kernel: what was cut again: %w", err)
	}
	if d := slice.Differ(redact(b, fresh.Redacted()), redact(fresh, b.Redacted())); d != nil {
		first := slice.Differ(again, bundle)
		r.differ(first, fmt.Sprintf("byte %d, at %s", first.Offset, first.Path))
		return nil
	}
	switch gone := withoutTextOnlyIn(fresh, b); {
	case len(gone) == 0:
		r.agree(Identical, "the same except for text that the given bundle withholds")
	case !r.account(gone, cut, issued):
		r.agree(Identical, "the same except for text that the given bundle shows, and that never came here")
	case len(r.Lost) == 0:
		r.agree(Erased, fmt.Sprintf("the same except for the text erased since; turns without it: %d", len(r.Erased)))
	default:
		r.lose(fmt.Sprintf("the same except for text that is gone; no erasure is on record of %d of %d turns", len(r.Lost), len(gone)))
	}
	return nil
}

// account adds each turn that was shown and whose text is gone to r.Erased or r.Lost, and
// reports whether there is any turn in either. A text that never came according to the store is
// lost if a bundle with the text was issued here.
func (r *Replay) account(gone []dag.TurnID, cut *recut, issued bool) bool {
	for _, id := range gone {
		switch state := cut.gone[id]; {
		case state == projection.TextErased:
			r.Erased = append(r.Erased, id)
		case state == projection.TextLost || issued:
			r.Lost = append(r.Lost, id)
		}
	}
	return len(r.Erased)+len(r.Lost) > 0
}

// lose records that text was lost: the evidence agrees as far as it can be compared, but the store
// lacks text that it should have.
func (r *Replay) lose(reason string) {
	r.Outcome, r.Reason = Lost, reason
	r.Checks = append(r.Checks, slice.Check{ID: CheckReplayed, Status: slice.StatusFail, Detail: reason})
}

// redact encodes a bundle without the text of some turns.
func redact(b *slice.Bundle, ids []dag.TurnID) []byte {
	gone := make(map[dag.TurnID]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	c := *b
	c.Turns = append([]slice.BundleTurn(nil), b.Turns...)
	for i := range c.Turns {
		if gone[c.Turns[i].ID] {
			c.Turns[i].Body = nil
		}
	}
	return c.Append(nil)
}

// withoutTextOnlyIn lists the turns that have no text in a and have text in b.
func withoutTextOnlyIn(a, b *slice.Bundle) []dag.TurnID {
	shown := map[dag.TurnID]bool{}
	for i := range b.Turns {
		shown[b.Turns[i].ID] = b.Turns[i].Body != nil
	}
	var ids []dag.TurnID
	for _, id := range a.Redacted() {
		if shown[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// compareRecord compares a record, which contains no text, with the bundle that was cut
// again. since are the turns that were erased after the record was made.
func (r *Replay) compareRecord(i *issued.Record, cut *recut, since []dag.TurnID) {
	again := cut.bundle
	fresh, err := slice.ParseBundle(again)
	if err != nil {
		r.differ(nil, err.Error())
		return
	}
	r.Redacted = fresh.Redacted()
	switch {
	case dag.Digest(sha256.Sum256(again)) == i.Bundle:
		r.agree(Identical, fmt.Sprintf("%d bytes with the recorded SHA-256", len(again)))
	case fresh.Provenance != i.Provenance:
		r.differ(nil, fmt.Sprintf("cutting again gives slice %s with snapshot %s", fresh.Provenance.SliceID, fresh.Provenance.GraphSnapshotHash))
	case len(r.Redacted) > 0 && r.accountRecord(cut, since):
		reason := fmt.Sprintf("the same six fields; %d without text, so the bytes cannot be compared", len(r.Redacted))
		if len(r.Lost) > 0 {
			r.lose(fmt.Sprintf("%s; no erasure is on record of %d of them", reason, len(r.Lost)))
			return
		}
		r.agree(Erased, reason)
	default:
		r.differ(nil, "the same six fields, but other bytes than those recorded")
	}
}

// judgeAnew removes the result of the comparison, so that another can be recorded.
func (r *Replay) judgeAnew() {
	r.Difference = nil
	r.Checks = slices.DeleteFunc(r.Checks, func(c slice.Check) bool { return c.ID == CheckReplayed })
}

// accountRecord adds each turn whose text was erased or lost since the record was made to r.Erased or r.Lost, and reports whether there are any.
// It is called when the recorded bytes differ from the new bytes. If no erased or lost text explains the difference, the texts that never came
// according to the store are lost. Texts that were erased before the record was made explain nothing.
func (r *Replay) accountRecord(cut *recut, since []dag.TurnID) bool {
	var never []dag.TurnID
	for _, id := range r.Redacted {
		switch cut.gone[id] {
		case projection.TextErased:
			if slices.Contains(since, id) {
				r.Erased = append(r.Erased, id)
			}
		case projection.TextLost:
			r.Lost = append(r.Lost, id)
		default:
			never = append(never, id)
		}
	}
	if len(r.Erased)+len(r.Lost) == 0 {
		r.Lost = never
	}
	return len(r.Erased)+len(r.Lost) > 0
}

// countBy adds a check that names the standing policies by which the words in a bundle count. It adds none if the bundle says none, or if the replay differs, since
// then its member may be forged.
func (r *Replay) countBy(bundle []byte) {
	if r.Outcome == Different {
		return
	}
	v, err := canon.ParseSparse(bundle, len(bundle))
	if err != nil || v.Get("standings") == nil {
		return
	}
	var by []string
	for _, s := range slice.ReadSettings(canon.Open(v).Field("standings")) {
		if by = append(by, "by "+string(s.Policy)); s.After > 0 {
			by[len(by)-1] += fmt.Sprintf(", set at number %d", s.After)
		}
	}
	if len(by) == 0 {
		by = []string{"no turn has a standing"}
	}
	r.Checks = append(r.Checks, slice.Check{ID: CheckCounted, Status: slice.StatusOK, Detail: strings.Join(by, "; ")})
}

func (r *Replay) checkToken(err error) {
	c := slice.Check{ID: slice.CheckToken, Status: slice.StatusOK, Detail: "the key is live"}
	if err != nil {
		r.Token = err
		c.Status, c.Detail = slice.StatusFail, err.Error()
		if errors.Is(err, token.ErrKeyRetired) || errors.Is(err, token.ErrKeyUnknown) {
			c.Status = slice.StatusSkipped // a replay does not depend on the key
		}
	}
	r.Checks = append(r.Checks, c)
}

// checkIssued looks the bundle up in the records of its slice. If the slice was issued, but never
// as of the bundle's number, a field was changed that the token does not cover, and the check fails.
func (k Replays) checkIssued(ctx context.Context, tenant dag.Tenant, r *Replay, digest dag.Digest) error {
	records, err := k.records.bundles.ByID(ctx, tenant, r.Provenance.SliceID)
	if err != nil {
		return err
	}
	c := slice.Check{ID: CheckIssued, Status: slice.StatusSkipped, Detail: "this store has no record of the slice"}
	var asOf []dag.Seq
	for _, i := range records {
		if i.Bundle == digest {
			c.Status, c.Detail = slice.StatusOK, fmt.Sprintf("record %d, %s", i.Number, i.At)
		}
		if i.Provenance == r.Provenance {
			asOf = append(asOf, i.AsOf)
		}
	}
	switch {
	case c.Status == slice.StatusOK || len(asOf) == 0:
	case slices.Contains(asOf, r.AsOf):
		c.Detail = fmt.Sprintf("issued as of %d with other bytes: text was withheld since, another key signed, or the bytes were changed", r.AsOf)
		if r.Provenance.SchemaVersion == slice.FactsVersion || r.Provenance.SchemaVersion == slice.BeliefVersion {
			c.Detail = fmt.Sprintf("issued as of %d with other bytes: they were changed, or another key signed", r.AsOf)
		}
	default:
		c.Status, c.Detail = slice.StatusFail, fmt.Sprintf("the slice was issued as of %d, never as of %d", asOf[len(asOf)-1], r.AsOf)
		if r.Outcome != Different {
			r.Outcome, r.Reason = Different, c.Detail
		}
	}
	r.Checks = append(r.Checks, c)
	return nil
}

// Answer returns the replay in the form of the service's answers.
func (r *Replay) Answer() api.Replay {
	w := api.Replay{
		Outcome: string(r.Outcome), Reason: r.Reason, SliceID: r.Provenance.SliceID, AsOf: r.AsOf,
		Erased: listed(r.Erased), Lost: listed(r.Lost), Redacted: listed(r.Redacted), Checks: listed(r.Checks),
	}
	p := &r.Provenance
	w.Provenance = api.Provenance{
		SliceID: p.SliceID, AnchorTurnID: p.Anchor.String(), PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion,
	}
	if d := r.Difference; d != nil {
		w.Difference = &api.Difference{Offset: d.Offset, Path: d.Path, Expected: d.Expected, Found: d.Found}
	}
	return w
}
