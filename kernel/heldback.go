package kernel

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// heldBack returns the record of texts that are held back.
func (k *engine) heldBack() heldback.Base { return heldback.Base{History: k.store} }

// heldKey returns the key with which erased texts of a tenant are recognised; ok is false if there is none. With create, a missing secret is made.
func (k *engine) heldKey(tenant dag.Tenant, create bool) (key heldback.Key, ok bool, err error) {
	if k.config.ErasureSecret == nil {
		return heldback.Key{}, false, nil
	}
	secret, err := k.config.ErasureSecret(create)
	if err != nil || secret == nil {
		return heldback.Key{}, false, err
	}
	key, err = heldback.KeyOf(secret, tenant)
	return key, err == nil, err
}

// recognising returns the change that records, with the erasure of a turn, the marks by which its text is recognised when it arrives again. If a text cannot be
// recognised, unguarded is the reason.
func (k *engine) recognising(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, at dag.Time) (with []history.Change, unguarded string, err error) {
	key, ok, err := k.heldKey(tenant, true)
	switch {
	case err != nil: // an erasure does not wait for a key
		return nil, "there is no key to recognise them by: " + err.Error(), nil
	case !ok:
		return nil, "there is no key to recognise them by", nil
	}
	records, err := k.store.Store.Turns(ctx, tenant, store.IDs{turn})
	if err != nil || len(records) == 0 || records[0].Body == nil {
		return nil, "", err
	}
	r := &records[0]
	text, err := textOf(key, r.Body)
	if err != nil {
		return nil, "its text is damaged", nil
	}
	if text.None() {
		return nil, "", nil
	}
	parents := make([]dag.TurnID, len(r.Parents))
	for i := range parents {
		parents[i] = r.Parents[i].ID
	}
	stored, err := k.storedTexts(ctx, tenant, key, parents)
	if err != nil {
		return nil, "", err
	}
	before := make([]heldback.Text, len(parents))
	for i, p := range parents {
		before[i] = stored[p].text
	}
	return []history.Change{heldback.Recording(turn, at, key, text, key.Marks(text, r.Turn.Role, r.Turn.CreatedAt, before))}, "", nil
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

// storedTexts returns the texts of the given turns that are stored. The text of a turn that was erased or held back comes from the record of digests.
func (k *engine) storedTexts(ctx context.Context, tenant dag.Tenant, key heldback.Key, ids []dag.TurnID) (map[dag.TurnID]storedText, error) {
	found := make(map[dag.TurnID]storedText, len(ids))
	var gone []dag.TurnID
	const page = 1_000
	for len(ids) > 0 {
		some := ids[:min(page, len(ids))]
		ids = ids[len(some):]
		records, err := k.store.Store.Turns(ctx, tenant, store.IDs(some))
		if err != nil {
			return nil, err
		}
		for i := range records {
			r := &records[i]
			s := storedText{withheld: r.Withheld}
			if r.Body == nil {
				gone = append(gone, r.Turn.ID)
			} else if t, err := textOf(key, r.Body); err == nil { // a damaged text is compared with nothing
				s.text = t
			}
			found[r.Turn.ID] = s
		}
	}
	texts, err := k.heldBack().Texts(ctx, tenant, gone)
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
// text was erased after hold read the digests; see [engine.decided]. If no text was erased, hold costs one look-up.
func (k *engine) hold(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (done holding, err error) {
	if k.config.ErasureSecret == nil {
		return done, nil
	}
	newest, err := k.erasures().Newest(ctx, tenant)
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
	if any, err := k.heldBack().Any(ctx, tenant); err != nil || !any {
		return done, err
	}
	key, ok, err := k.heldKey(tenant, false)
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
	stored, err := k.storedTexts(ctx, tenant, key, ask)
	if err != nil {
		return done, err
	}
	list, err = k.release(ctx, tenant, list, stored)
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
	erased, err := k.heldBack().Recognise(ctx, tenant, all)
	if err != nil || len(erased) == 0 {
		return done, err
	}
	now, err := k.now()
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
				held = append(held, heldback.Held{Turn: a.Turn.ID, Erased: of, Rule: m.Rule, Text: arriving[a.Turn.ID].Digest, At: now, By: access.CallerIn(ctx), Place: placeOf(a)})
			}
			takeText(key, a)
			break
		}
	}
	if len(held) == 0 {
		return done, nil
	}
	return done, k.heldBack().Hold(ctx, tenant, held)
}

// decided calls hold for batches and then appendHeld, which appends them. It repeats both whenever a text was erased between the two calls, so that no
// erased text is admitted. Each repetition follows the commit of an erasure, and holds back at least the texts of the one before it.
func (k *engine) decided(ctx context.Context, tenant dag.Tenant, batches []store.Batch, appendHeld func() error) (done holding, err error) {
	for {
		held, err := k.hold(ctx, tenant, batches)
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
func (k *engine) release(ctx context.Context, tenant dag.Tenant, list []*store.Arrival, stored map[dag.TurnID]storedText) (fresh []*store.Arrival, err error) {
	var ask []dag.TurnID
	for _, a := range list {
		if of, ok := renamed(a); ok {
			ask = append(ask, of)
		} else if stored[a.Turn.ID].withheld {
			ask = append(ask, a.Turn.ID)
		}
	}
	released, err := k.heldBack().Released(ctx, tenant, ask)
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
func (k Turns) HeldBack(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]HeldBack, error) {
	list, err := k.heldBack().After(ctx, tenant, after, limit)
	if err != nil {
		return nil, err
	}
	turns := make([]dag.TurnID, len(list))
	for i := range list {
		turns[i] = list[i].Turn
	}
	released, err := k.heldBack().Released(ctx, tenant, turns)
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
func (k Turns) Release(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (int, error) {
	now, err := k.now()
	if err != nil {
		return 0, err
	}
	list := make([]heldback.Release, len(turns))
	for i, t := range turns {
		list[i] = heldback.Release{Turn: t, At: now, By: access.CallerIn(ctx)}
	}
	n, err := k.heldBack().Release(ctx, tenant, list)
	k.changes.tell(tenant)
	if err != nil {
		return 0, fmt.Errorf("tenant %s: %w", tenant, err)
	}
	return n, nil
}
