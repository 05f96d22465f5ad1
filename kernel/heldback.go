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

// heldKey returns the key under which erased texts of a tenant are recognised; ok is false where there is none. With create the secret is made if there is none.
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

// recognising returns what records, with the erasure of a turn, by which marks its text is recognised when it comes again. Where nothing can be recorded,
// unguarded says why.
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

// A storedText is what is compared of a stored turn.
type storedText struct {
	text     heldback.Text
	withheld bool
}

// storedTexts returns those of some turns that are stored. The text of a turn that was erased or held back is known by its digest.
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

// A holding is what became of turns on their way in.
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

// hold takes the text of those arrivals that are new and have the text of a turn that was erased, and records that they were held back. A person who says
// the words again, in another place, is not held back. A turn that was held back, released, and comes again becomes a turn of its own, see [ReleasedID].
//
// It changes the arrivals, and a second call leaves what the first one held. Arrivals that keep their text are refused at the commit if a text was erased
// after hold read the digests; see [engine.decided]. Where no text was erased it costs one look-up.
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
	var list []*store.Arrival // with a text
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

// decided lets hold decide about batches and then calls appendHeld, which appends them: both again each time that a text was erased between the two, so that no
// erased text is admitted. Each repetition follows the commit of somebody's erasure; a repetition holds at least as much as the one before it.
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

// takeText takes the text of an arrival. Its digest is that of the body under a salt that follows from the key, so it is the same whenever the turn comes, and says
// nothing of the text to anyone without the key.
func takeText(key heldback.Key, a *store.Arrival) {
	if a.SaltDrawn {
		a.Turn.BodyDigest = slice.DigestBody(a.Body, key.Salt(a.Turn.ID))
	}
	a.Body, a.Salt, a.SaltDrawn, a.External = nil, dag.Salt{}, false, ""
}

// placeOf says where an arrival came from, as far as it fits and can be recorded.
func placeOf(a *store.Arrival) string {
	if len(a.Place) > heldback.MaxPlace || !utf8.ValidString(a.Place) {
		return ""
	}
	return a.Place
}

// ReleasedID is the id under which a turn that was held back is admitted with its text, once it is released and comes again. The turn itself was admitted
// without its text, and what was admitted does not change; the other is a reply to it.
func ReleasedID(turn dag.TurnID) dag.TurnID { return dag.ExternalTurnID("released", turn.String()) }

// release returns the arrivals that are new, and gives those that were held back and are released their new id and place.
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

// renamed returns the turn that an arrival with a ReleasedID was before.
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

// HeldBack lists up to limit turns that were held back, numbered above after, ascending.
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

// Release frees turns that were held back, all of them or none, and returns how many were not free before. When such a turn comes again, it is admitted with its text
// under [ReleasedID]; the text is nowhere else to be had. A turn that was not held back is store.ErrNotFound.
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
