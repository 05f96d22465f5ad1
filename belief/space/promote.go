package space

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
)

// candidates makes a candidate of each item. A revision supports an item if it states everything that the item states, or links to it as
// supports or proves; a link contradicts or a waiting conflict counts against it. An item is one of its own sources, because similar
// episodes are counted together; a step can count only others.
func (w *web) candidates(uses [][]*journal.Use, tags []map[string]bool, conflicts []*journal.Conflict, from [][]string, times map[dag.TurnID]dag.Time) (list []rules.Candidate) {
	bySlot := map[belief.Slot][]int{}
	lineages := make([][]string, len(w.revisions))
	for i, r := range w.revisions {
		lineages[i] = w.lineage(i)
		if len(r.Statements) > 0 {
			for _, s := range r.Statements {
				if at := bySlot[s.Slot()]; len(at) == 0 || at[len(at)-1] != i {
					bySlot[s.Slot()] = append(at, i)
				}
			}
		}
	}
	for i, r := range w.revisions {
		c := rules.Candidate{ID: string(r.Item), Kind: r.Item.Kind(), Confidence: r.Confidence, Uses: usesOf(uses[i]), From: from[i]}
		for tag := range tags[i] {
			c.Tags = append(c.Tags, tag)
		}
		add := func(at int, similarity dag.PPM, against bool) {
			from := w.revisions[at]
			c.Sources = append(c.Sources, rules.Source{ID: string(from.Item), Kind: from.Item.Kind(), By: from.By, At: w.happened(at, times), Similarity: similarity, Lineage: lineages[at], Against: against})
		}
		if len(r.Statements) > 0 {
			for _, at := range bySlot[r.Statements[0].Slot()] {
				if s := similar(r, w.revisions[at]); s > 0 {
					add(at, s, false)
				}
			}
		}
		for _, l := range w.in[i] {
			at, ok := w.at[l.From.String()]
			switch {
			case !ok:
			case l.Type == "contradicts":
				add(at, 0, true)
			case slices.Contains(supporting, l.Type):
				add(at, dag.One, false)
			}
		}
		for _, x := range conflicts {
			if slices.ContainsFunc(x.With, func(a belief.Address) bool { return a.Item == r.Item }) {
				c.Sources = append(c.Sources, rules.Source{ID: fmt.Sprint("conflict ", x.Seq), By: x.By, At: x.At, Against: true})
			}
		}
		for _, s := range r.Statements {
			switch s.Predicate {
			case "severity":
				if severity, err := rules.ParseSeverity(s.Object); err == nil && !s.Not {
					c.Severity = max(c.Severity, severity)
				}
			case "trigger":
				c.Trigger = c.Trigger || !s.Not
			case "step":
				c.Steps = c.Steps || !s.Not
			}
		}
		list = append(list, c)
	}
	return list
}

// Promote promotes beliefs by the steps of a policy; the default is promotion@2. It proposes a new item of the step's kind, with the reason
// and with links promoted_to from the sources, or sets the step's tag. It does not promote a belief to the same kind again. A dry run
// records nothing.
func (k Upkeep) Promote(ctx context.Context, tenant dag.Tenant, in api.PromotionRequest) (out api.Promotions, _ error) {
	if !in.DryRun {
		if err := k.mayBelieve(ctx, tenant, "promote"); err != nil {
			return out, err
		}
	}
	space, id := in.Space, cmp.Or(in.Policy, rules.ID)
	registered, err := k.kernel.Policy(ctx, tenant, id)
	if err != nil {
		return out, err
	}
	p, err := rules.Of(registered)
	if err != nil {
		return out, err
	}
	conflicts, err := k.conflicts(ctx, tenant, space)
	if err != nil {
		return out, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return out, err
	}
	items, made := make([]belief.Item, len(w.revisions)), make([][]string, len(w.revisions))
	tags := make([]map[string]bool, len(w.revisions))
	for i, r := range w.revisions {
		items[i], tags[i] = r.Item, map[string]bool{}
		record, err := k.journal().Item(ctx, tenant, r.Item, w.asOf)
		if err != nil {
			return out, err
		}
		for _, t := range record.Tags {
			if t.Until == journal.Forever {
				tags[i][t.Name] = true
			}
		}
		for _, r := range record.Revisions {
			made[i] = append(made[i], r.Address().String())
		}
	}
	from, err := k.promotedFrom(ctx, tenant, w, made)
	if err != nil {
		return out, err
	}
	times, err := k.turnTimes(ctx, tenant, w)
	if err != nil {
		return out, err
	}
	uses, err := k.journal().Used(ctx, tenant, items, w.asOf)
	if err != nil {
		return out, err
	}
	promotions := rules.Promote(p, w.candidates(uses, tags, conflicts, from, times), w.now)
	for _, promotion := range promotions { // check all kinds before anything is recorded
		if to := promotion.Step.To; to != "" {
			if err := w.kinds.Allow(to); err != nil {
				return out, fmt.Errorf("a step of %s leads there: %w", id, err)
			}
		}
	}
	out.Promotions = []api.Promotion{}
	for _, one := range promotions {
		r, to := w.revisions[w.of[belief.Item(one.ID)]], one.Step.To
		done := api.Promotion{From: r.Address().String(), To: r.Item, Tag: one.Step.Tag, Support: one.Support, Threshold: one.Step.Threshold, Sources: one.Sources, Reason: one.Reason, Outcome: journal.Changed}
		if done.Tag != "" {
			if !in.DryRun {
				acted, err := k.catalog().Act(ctx, tenant, journal.Act{Item: r.Item, Tag: done.Tag, Number: r.Number, Reason: done.Reason})
				if err != nil {
					return out, err
				}
				done.Outcome, done.Seq = acted.Result, acted.Seq
			}
			out.Promotions = append(out.Promotions, done)
			continue
		}
		if done.To, err = promotedItem(r.Item, to); err != nil {
			return out, err
		}
		if w.promoted(w.of[r.Item], to) || slices.ContainsFunc(out.Promotions, func(other api.Promotion) bool {
			return other.Tag == "" && other.To.Kind() == to && slices.Contains(other.Sources, string(r.Item))
		}) {
			continue
		}
		if _, err := k.journal().Item(ctx, tenant, done.To, w.asOf); err == nil {
			continue // somebody has given it up since
		} else if !errors.Is(err, journal.ErrNoItem) {
			return out, err
		}
		o, err := k.promote(ctx, tenant, w, r, &done, in.DryRun)
		if err != nil {
			return out, err
		}
		done.Outcome, done.Seq = o.Result, o.Seq
		out.Promotions = append(out.Promotions, done)
	}
	return out, nil
}

// promotedFrom returns for each item of a web the items from which it was promoted, over any number of steps. made lists the addresses
// of all revisions of each item.
func (k Upkeep) promotedFrom(ctx context.Context, tenant dag.Tenant, w *web, made [][]string) ([][]string, error) {
	direct := map[belief.Item][]belief.Item{}
	for i, addresses := range made {
		lists, err := k.journal().Links(ctx, tenant, addresses, true, w.asOf)
		if err != nil {
			return nil, err
		}
		for _, l := range slices.Concat(lists...) {
			if l.Type == journal.PromotedTo {
				direct[w.revisions[i].Item] = append(direct[w.revisions[i].Item], l.From.Item)
			}
		}
	}
	all := make([][]string, len(made))
	for i, r := range w.revisions {
		seen := map[belief.Item]bool{r.Item: true}
		for next := []belief.Item{r.Item}; len(next) > 0; next = next[1:] {
			for _, item := range direct[next[0]] {
				if !seen[item] {
					seen[item] = true
					all[i], next = append(all[i], string(item)), append(next, item)
				}
			}
		}
	}
	return all, nil
}

// turnTimes returns the times of the turns that the revisions of a web rest on.
func (k Upkeep) turnTimes(ctx context.Context, tenant dag.Tenant, w *web) (map[dag.TurnID]dag.Time, error) {
	times := map[dag.TurnID]dag.Time{}
	var turns []dag.TurnID
	for _, r := range w.revisions {
		turns = append(turns, r.RestsOn()...)
	}
	slices.SortFunc(turns, dag.TurnID.Compare)
	turns = slices.Compact(turns)
	const most = 1000
	for some := range slices.Chunk(turns, most) {
		records, err := k.kernel.Turns(ctx, tenant, some)
		if err != nil {
			return nil, err
		}
		for i := range records {
			times[records[i].Turn.ID] = records[i].Turn.CreatedAt
		}
	}
	return times, nil
}

// happened returns the time of the earliest turn that a revision rests on. For a revision without turns it is the time when it was recorded, before decay.
func (w *web) happened(i int, times map[dag.TurnID]dag.Time) dag.Time {
	r := w.revisions[i]
	if w.origins[i] != nil {
		r = w.origins[i]
	}
	first := dag.MaxTime
	for _, turn := range w.revisions[i].RestsOn() {
		if at, ok := times[turn]; ok {
			first = min(first, at)
		}
	}
	if first == dag.MaxTime {
		return r.At
	}
	return first
}

// promotedItem returns the name of the item that an item is promoted to. It is derived from the item's name and not from its statements,
// which may have to be erased.
func promotedItem(from belief.Item, kind string) (belief.Item, error) {
	digest := sha256.Sum256([]byte("promoted " + string(from)))
	return belief.NewItem(from.Space(), hex.EncodeToString(digest[:10])+"."+kind)
}

// promoted reports whether a revision was promoted to a kind, or whether an item of that kind states everything that the revision states.
func (w *web) promoted(i int, kind string) bool {
	for _, l := range w.out[i] {
		if to, err := belief.ParseAddress(l.To); err == nil && l.Type == journal.PromotedTo && to.Item.Kind() == kind {
			return true
		}
	}
	return slices.ContainsFunc(w.revisions, func(r *journal.Revision) bool {
		return r.Item.Kind() == kind && similar(w.revisions[i], r) > 0
	})
}

// incoming returns links of a type from revisions to the revision that a request makes.
func incoming(from []belief.Address, kind string) (list []journal.Link) {
	for _, a := range from {
		list = append(list, journal.Link{From: a, Type: kind})
	}
	return list
}

func (k Upkeep) promote(ctx context.Context, tenant dag.Tenant, w *web, r *journal.Revision, done *api.Promotion, dry bool) (*journal.Outcome, error) {
	in, span := &api.BeliefRequest{
		Space: r.Item.Space(), Item: done.To, Kind: done.To.Kind(), Text: r.Text, Title: r.Title, Summary: r.Summary, Keywords: r.Keywords, Topics: r.Topics, Confidence: &r.Confidence, Reason: done.Reason, DryRun: dry,
	}, belief.Always
	if r.Withheld {
		in.Text, in.Title, in.Summary = "", "", ""
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		if s.Premises != nil {
			continue // rules are not promoted
		}
		in.Statements = append(in.Statements, s.Literal)
		span = belief.Span{From: max(span.From, s.Span.From), Until: min(span.Until, s.Span.Until)}
		for _, turn := range s.Turns {
			if !slices.Contains(in.Turns, turn) {
				in.Turns = append(in.Turns, turn)
			}
		}
	}
	slices.SortFunc(in.Turns, dag.TurnID.Compare)
	if len(in.Statements) == 0 {
		return &journal.Outcome{Result: journal.Unchanged}, nil
	}
	var from []belief.Address
	for _, source := range append(done.Sources, string(r.Item)) {
		if at, ok := w.of[belief.Item(source)]; ok {
			a := belief.Address{Item: w.revisions[at].Item, Revision: w.revisions[at].Number}
			if !slices.Contains(from, a) {
				from = append(from, a)
			}
		}
	}
	in.ValidFrom, in.ValidUntil = span.Bounds()
	made, err := k.statements().request(ctx, tenant, journal.Propose, in, r.Wording)
	if err != nil {
		return nil, err
	}
	made.Incoming = incoming(from, journal.PromotedTo)
	return k.statements().decide(ctx, tenant, made, &journal.Rank{Class: belief.Inferred, Criterion: uint64(r.Confidence)}) // a rule promotes, not a person
}
