package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Recognition recognises the text of erased turns when the text comes again.
type Recognition struct {
	Store  projection.Checked
	Secret func(create bool) ([]byte, error) // returns the secret from which the keys of tenants are derived; nil: no text is recognised
}

// base returns the record of texts that are held back.
func (r Recognition) base() heldback.Base { return heldback.Base{History: r.Store} }

// key returns the key with which erased texts of a tenant are recognised; ok is false if there is none. With create, a missing secret is made.
func (r Recognition) key(tenant dag.Tenant, create bool) (key heldback.Key, ok bool, err error) {
	if r.Secret == nil {
		return heldback.Key{}, false, nil
	}
	secret, err := r.Secret(create)
	if err != nil || secret == nil {
		return heldback.Key{}, false, err
	}
	key, err = heldback.KeyOf(secret, tenant)
	return key, err == nil, err
}

// Erasing returns the change that records, with the erasure of a turn, the marks by which its text is recognised when it arrives again. If a text cannot be
// recognised, unguarded is the reason.
func (r Recognition) Erasing(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, at dag.Time) (with []history.Change, unguarded string, err error) {
	key, ok, err := r.key(tenant, true)
	switch {
	case err != nil: // an erasure does not wait for a key
		return nil, "there is no key to recognise them by: " + err.Error(), nil
	case !ok:
		return nil, "there is no key to recognise them by", nil
	}
	records, err := r.Store.Store.Turns(ctx, tenant, store.IDs{turn})
	if err != nil || len(records) == 0 || records[0].Body == nil {
		return nil, "", err
	}
	of := &records[0]
	text, err := textOf(key, of.Body)
	if err != nil {
		return nil, "its text is damaged", nil
	}
	if text.None() {
		return nil, "", nil
	}
	parents := make([]dag.TurnID, len(of.Parents))
	for i := range parents {
		parents[i] = of.Parents[i].ID
	}
	stored, err := r.stored(ctx, tenant, key, parents)
	if err != nil {
		return nil, "", err
	}
	before := make([]heldback.Text, len(parents))
	for i, p := range parents {
		before[i] = stored[p].text
	}
	return []history.Change{heldback.Recording(turn, at, key, text, key.Marks(text, of.Turn.Role, of.Turn.CreatedAt, before))}, "", nil
}

func textOf(key heldback.Key, body []byte) (heldback.Text, error) {
	b, err := slice.ParseBody(body)
	if err != nil {
		return heldback.Text{}, err
	}
	return key.Of(b.Content), nil
}

// A storedText is the text of a stored turn, for comparisons.
type storedText struct {
	text     heldback.Text
	withheld bool
}

// stored returns the texts of the given turns that are stored. The text of a turn that was erased or held back comes from the record of digests.
func (r Recognition) stored(ctx context.Context, tenant dag.Tenant, key heldback.Key, ids []dag.TurnID) (map[dag.TurnID]storedText, error) {
	found := make(map[dag.TurnID]storedText, len(ids))
	var gone []dag.TurnID
	for some := range slices.Chunk(ids, page) {
		records, err := r.Store.Store.Turns(ctx, tenant, store.IDs(some))
		if err != nil {
			return nil, err
		}
		for i := range records {
			of := &records[i]
			s := storedText{withheld: of.Withheld}
			if of.Body == nil {
				gone = append(gone, of.Turn.ID)
			} else if t, err := textOf(key, of.Body); err == nil { // a damaged text is compared with nothing
				s.text = t
			}
			found[of.Turn.ID] = s
		}
	}
	texts, err := r.base().Texts(ctx, tenant, gone)
	for id, t := range texts {
		found[id] = storedText{text: t, withheld: found[id].withheld}
	}
	return found, err
}

// A holding has the turns of an admission whose text was held back, and those that were admitted with a text that was erased before.
type holding struct{ held, erasedBefore map[dag.TurnID]bool }

func (h *holding) add(o holding) {
	if h.held == nil {
		*h = holding{map[dag.TurnID]bool{}, map[dag.TurnID]bool{}}
	}
	for id := range o.held {
		h.held[id] = true
	}
	for id := range o.erasedBefore {
		h.erasedBefore[id] = true
	}
}

func (h *holding) receipt(r store.Receipt) api.Receipt {
	return api.Receipt{Admitted: r.Admitted, Existing: r.Existing, Edges: r.Edges, Head: r.Head, HeldBack: len(h.held), ErasedBefore: len(h.erasedBefore)}
}

// hold removes the text of new arrivals that have the text of an erased turn, and records that they were held back. The text is not held back if
// a person says it again in another place. A turn that was held back and released becomes a turn of its own when it arrives again, see [ReleasedID].
//
// It changes the arrivals; a second call does not restore the texts that the first one removed. Arrivals that keep their text are refused at the commit if a
// text was erased after hold read the digests; see [Admissions.decided]. now returns the time of the record. If no text was erased, hold costs one look-up.
func (r Recognition) hold(ctx context.Context, tenant dag.Tenant, batches []store.Batch, now func() (dag.Time, error)) (done holding, err error) {
	if r.Secret == nil {
		return done, nil
	}
	newest, err := erasures.Base{History: r.Store}.Newest(ctx, tenant)
	if err != nil {
		return done, err
	}
	defer func() {
		unless := erasures.Later(newest)
		unless.Limit = 1
		for _, b := range batches {
			for i := range b {
				if b[i].Unless = nil; b[i].Body != nil {
					b[i].Unless = &unless
				}
			}
		}
	}()
	if newest == 0 {
		return done, nil
	}
	if any, err := r.base().Any(ctx, tenant); err != nil || !any {
		return done, err
	}
	key, ok, err := r.key(tenant, false)
	if err != nil || !ok {
		return done, err
	}
	arriving := map[dag.TurnID]heldback.Text{}
	var list []*store.Arrival // the arrivals with a text
	var ask []dag.TurnID
	for _, b := range batches {
		for i := range b {
			a := &b[i]
			ask = append(ask, a.Turn.ID)
			for _, p := range a.Parents {
				ask = append(ask, p.ID)
			}
			if a.Body == nil {
				continue
			}
			text, err := textOf(key, a.Body)
			if err != nil {
				return done, err
			}
			arriving[a.Turn.ID] = text
			list = append(list, a)
		}
	}
	stored, err := r.stored(ctx, tenant, key, ask)
	if err != nil {
		return done, err
	}
	list, err = r.release(ctx, tenant, list, stored)
	if err != nil {
		return done, err
	}
	marks := make([][]heldback.Mark, len(list))
	var all []heldback.Mark
	for i, a := range list {
		before := make([]heldback.Text, len(a.Parents))
		for j, p := range a.Parents {
			if t, here := arriving[p.ID]; here {
				before[j] = t
			} else {
				before[j] = stored[p.ID].text
			}
		}
		marks[i] = key.Marks(arriving[a.Turn.ID], a.Turn.Role, a.Turn.CreatedAt, before)
		all = append(all, marks[i]...)
	}
	erased, err := r.base().Recognise(ctx, tenant, all)
	if err != nil || len(erased) == 0 {
		return done, err
	}
	at, err := now()
	if err != nil {
		return done, err
	}
	done.add(holding{})
	var held []heldback.Held
	for i, a := range list {
		for _, m := range marks[i] {
			of, ok := erased[m.Digest]
			if !ok {
				continue
			}
			if m.Rule != heldback.ByPlace && a.Marks.Voice == dag.VoicePerson {
				done.erasedBefore[a.Turn.ID] = true
				break
			}
			if !done.held[a.Turn.ID] {
				done.held[a.Turn.ID] = true
				held = append(held, heldback.Held{Turn: a.Turn.ID, Erased: of, Rule: m.Rule, Text: arriving[a.Turn.ID].Digest, At: at, By: access.CallerIn(ctx), Place: placeOf(a)})
			}
			takeText(key, a)
			break
		}
	}
	if len(held) == 0 {
		return done, nil
	}
	return done, r.base().Hold(ctx, tenant, held)
}

// decided calls hold for batches and then appendHeld, which appends them. It repeats both whenever a text was erased between the two calls, so that no
// erased text is admitted. Each repetition follows the commit of an erasure, and holds back at least the texts of the one before it.
func (k Admissions) decided(ctx context.Context, tenant dag.Tenant, batches []store.Batch, appendHeld func() error) (done holding, err error) {
	for {
		held, err := k.erased.hold(ctx, tenant, batches, k.kernel.Now)
		if err != nil {
			return done, err
		}
		done.add(held)
		if err = appendHeld(); !errors.Is(err, store.ErrOvertaken) {
			return done, err
		}
	}
}

// takeText removes the text of an arrival. If the kernel drew its salt, the digest becomes that of the body under a salt derived from the key, so it is the same
// whenever the turn arrives, and reveals nothing about the text to anyone without the key. If the salt arrived with the turn, the digest stays.
func takeText(key heldback.Key, a *store.Arrival) {
	if a.SaltDrawn {
		a.Turn.BodyDigest = slice.DigestBody(a.Body, key.Salt(a.Turn.ID))
	}
	a.Body, a.Salt, a.SaltDrawn, a.External = nil, dag.Salt{}, false, ""
}

// placeOf returns the place from which an arrival came, or "" if it is too long to record or not UTF-8.
func placeOf(a *store.Arrival) string {
	if len(a.Place) > heldback.MaxPlace || !utf8.ValidString(a.Place) {
		return ""
	}
	return a.Place
}

// ReleasedID returns the id under which a turn that was held back is admitted with its text, when it arrives again after its release. The original turn was
// admitted without its text and does not change; the new turn is a reply to it.
func ReleasedID(turn dag.TurnID) dag.TurnID { return dag.ExternalTurnID("released", turn.String()) }

// release returns the new arrivals. An arrival that was held back and released is not among them: it gets its ReleasedID and becomes a reply to the original turn.
func (r Recognition) release(ctx context.Context, tenant dag.Tenant, list []*store.Arrival, stored map[dag.TurnID]storedText) (fresh []*store.Arrival, err error) {
	var ask []dag.TurnID
	for _, a := range list {
		if of, ok := renamed(a); ok {
			ask = append(ask, of)
		} else if stored[a.Turn.ID].withheld {
			ask = append(ask, a.Turn.ID)
		}
	}
	released, err := r.base().Released(ctx, tenant, ask)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		of, again := renamed(a)
		switch _, there := stored[a.Turn.ID]; {
		case again && released[of]: // it has its new id already
		case released[a.Turn.ID]:
			a.Parents = []dag.Parent{{ID: a.Turn.ID, Kind: dag.Reply}}
			a.Turn.ID = ReleasedID(a.Turn.ID)
		case !there:
			fresh = append(fresh, a)
		}
	}
	return fresh, nil
}

// renamed returns the original turn of an arrival with a ReleasedID; ok is false for other arrivals.
func renamed(a *store.Arrival) (of dag.TurnID, ok bool) {
	if len(a.Parents) != 1 {
		return of, false
	}
	of = a.Parents[0].ID
	return of, a.Turn.ID == ReleasedID(of)
}

// A HeldBack is a turn that was held back.
type HeldBack struct {
	heldback.Held
	Released bool
}

// HeldBack returns up to limit turns that were held back with numbers above after, by ascending number.
func (k Admissions) HeldBack(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]HeldBack, error) {
	list, err := k.erased.base().After(ctx, tenant, after, limit)
	if err != nil {
		return nil, err
	}
	turns := make([]dag.TurnID, len(list))
	for i := range list {
		turns[i] = list[i].Turn
	}
	released, err := k.erased.base().Released(ctx, tenant, turns)
	if err != nil {
		return nil, err
	}
	out := make([]HeldBack, len(list))
	for i := range list {
		out[i] = HeldBack{list[i], released[list[i].Turn]}
	}
	return out, nil
}

// Release releases turns that were held back, all of them or none, and returns how many were not released before. When such a turn arrives again, it is admitted
// with its text under [ReleasedID]; the store does not have the text. The error for a turn that was not held back wraps store.ErrNotFound.
func (k Admissions) Release(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (int, error) {
	now, err := k.kernel.Now()
	if err != nil {
		return 0, err
	}
	list := make([]heldback.Release, len(turns))
	for i, t := range turns {
		list[i] = heldback.Release{Turn: t, At: now, By: access.CallerIn(ctx)}
	}
	n, err := k.erased.base().Release(ctx, tenant, list)
	k.kernel.Changed(tenant)
	if err != nil {
		return 0, fmt.Errorf("tenant %s: %w", tenant, err)
	}
	return n, nil
}

// listHeldBack lists a page of the turns that were held back, the oldest first.
func (k Admissions) listHeldBack(ctx context.Context, tenant dag.Tenant, in api.HeldBackQuery) (w api.HeldBackTurns, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	list, err := k.HeldBack(ctx, tenant, dag.Seq(after), limit+1)
	if err != nil {
		return w, err
	}
	list, w.Next = api.Page(list, limit, func(h *HeldBack) uint64 { return uint64(h.Seq) })
	w.HeldBack = make([]api.HeldBack, len(list))
	for i := range list {
		h := &list[i]
		w.HeldBack[i] = api.HeldBack{
			Seq: h.Seq, Turn: h.Turn, Erased: h.Erased, Rule: string(h.Rule), At: h.At, By: h.By, Place: h.Place, Released: h.Released,
		}
	}
	return w, nil
}

func (k Admissions) releaseTurns(ctx context.Context, tenant dag.Tenant, in api.TurnIDs) (api.Released, error) {
	n, err := k.Release(ctx, tenant, in.IDs)
	return api.Released{Released: n}, err
}
