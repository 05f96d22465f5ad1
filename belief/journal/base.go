package journal

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Forever is the Until of a term or tag that has not ended.
const Forever = history.Forever

// A Base reads and changes the beliefs in a history.
type Base struct {
	Changes
	Items
	Elements
}

// Of returns the beliefs of a history. kept is a cache of revisions; nil is no cache.
func Of(h history.History, kept Kept) Base {
	r := records{h}
	return Base{Changes{h}, Items{r}, Elements{r, kept}}
}

// Changes records decisions about beliefs.
type Changes struct {
	history.History
}

// Items reads items with their revisions, tags, links and uses.
type Items struct {
	records
}

// Elements reads what spaces hold, and what waits for a decision.
type Elements struct {
	records
	kept Kept // nil: no cache
}

// records reads entries.
type records struct {
	history.History
}

// Kept is a cache of revisions. A revision never changes. Nothing points to an erased revision, so it is never asked for.
type Kept interface {
	Revision(tenant dag.Tenant, seq dag.Seq) *Revision // nil: the cache lacks it
	Keep(tenant dag.Tenant, r *Revision)
}

// write does a change and returns the number of its last entry, 0 if the change recorded nothing. An error of the change's plan concerns the request, so
// write returns it without the context that the store wraps around it.
func (b Changes) write(ctx context.Context, tenant dag.Tenant, c history.Change) (whole dag.Seq, _ error) {
	p := &planned{Change: c}
	err := b.Write(ctx, tenant, p)
	if err != nil && p.err != nil && errors.Is(err, p.err) {
		return 0, p.err
	}
	if err != nil {
		return 0, err
	}
	return p.plan.Head(0), nil
}

// A planned change keeps the result of the last call of Plan.
type planned struct {
	history.Change
	plan *history.Plan
	err  error
}

func (p *planned) Plan(k *history.State) (*history.Plan, error) {
	p.plan, p.err = p.Change.Plan(k)
	return p.plan, p.err
}

// Operate decides a request with the beliefs at the time of the commit, and records the decision.
func (b Changes) Operate(ctx context.Context, tenant dag.Tenant, r Request) (*Outcome, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	o := &operation{Request: r}
	whole, err := b.write(ctx, tenant, o)
	if err != nil {
		return nil, err
	}
	return o.outcome.in(whole), nil
}

// Check refuses a malformed request. It does not depend on the beliefs.
func (r *Request) Check() error {
	switch {
	case len(r.Statements) == 0 || len(r.Statements) > MaxStatements:
		return fmt.Errorf("%w: the request has %d statements, want 1 to %d", belief.ErrForm, len(r.Statements), MaxStatements)
	case r.Item != "" && r.Item.Space() != r.Space:
		return fmt.Errorf("%w: the item %s is not in the space %s", belief.ErrForm, r.Item, r.Space)
	case r.Operator == Contract && (len(r.Premises) > 0 || len(r.Turns) > 0 || r.Item != ""):
		return fmt.Errorf("%w: a contraction must have no premises, no turns and no item", belief.ErrForm)
	}
	for i, l := range r.Statements {
		if err := l.Check(); err != nil {
			return fmt.Errorf("statements[%d]: %w", i, err)
		}
		if slices.Contains(r.Statements[:i], l) {
			return fmt.Errorf("%w: statements[%d]: %q is listed twice", belief.ErrForm, i, l)
		}
	}
	for i, l := range r.Premises {
		if err := l.Check(); err != nil {
			return fmt.Errorf("premises[%d]: %w", i, err)
		}
	}
	if err := r.CheckAttached(); err != nil {
		return err
	}
	if err := r.Wording.Check(); err != nil {
		return err
	}
	return r.Span.Check()
}

// SetSpace makes a space, or puts it under another policy. It calls check with the elements believed in the space; an error of check
// refuses the change.
func (b Changes) SetSpace(ctx context.Context, tenant dag.Tenant, s SpacePolicy, check func([]Believed) error) (*SpacePolicy, error) {
	c := &spacing{asked: s, check: check}
	if _, err := b.write(ctx, tenant, c); err != nil {
		return nil, err
	}
	return &c.recorded, nil
}

type spacing struct {
	asked    SpacePolicy
	check    func([]Believed) error
	recorded SpacePolicy
}

func (c *spacing) Needs(k *history.State) (n history.Needs) {
	space := c.asked.Space.Key()
	switch k.Round {
	case 0:
		n.Newest = []history.Key{{Index: indexSpaces, Key: string(c.asked.Space)}}
		n.Ranges = []history.Range{{Index: indexElements, Prefix: space[:], AsOf: history.Forever - 1}}
	case 1:
		n.Entries = entriesOf(termsOf(k, indexElements))
		if t, ok := k.Newest[history.Key{Index: indexSpaces, Key: string(c.asked.Space)}]; ok {
			n.Entries = append(n.Entries, t.Since)
		}
	}
	return n
}

// entriesOf returns the numbers of the revisions of elements, each once.
func entriesOf(terms []history.Term) (list []dag.Seq) {
	for _, t := range terms {
		if len(t.Value) == 8 {
			list = append(list, dag.Seq(binary.BigEndian.Uint64(t.Value)))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (c *spacing) Plan(k *history.State) (*history.Plan, error) {
	c.recorded = c.asked
	t, ok := k.Newest[history.Key{Index: indexSpaces, Key: string(c.asked.Space)}]
	if ok && string(t.Value) == c.asked.Policy {
		e := k.Entries[t.Since]
		c.recorded.Seq = max(t.Since, e.Whole()) // if an operation made the space, the last entry of its change
		return &history.Plan{}, nil
	}
	held, err := believed(termsOf(k, indexElements), map[dag.Seq]*Revision{}, k.Entries)
	if err != nil {
		return nil, err
	}
	if err := c.check(held); err != nil {
		return nil, err
	}
	c.recorded.Seq = k.Head + 1
	p := &history.Plan{Entries: []history.Entry{c.recorded.entry()}}
	return p, newFolding(p).fold(k, nil, &c.recorded)
}

// believed returns the elements that terms name, each once, in the order of their revisions. It adds the revisions that it reads from
// entries to revisions.
func believed(terms []history.Term, revisions map[dag.Seq]*Revision, entries map[dag.Seq]history.Entry) ([]Believed, error) {
	seen := make(map[Part]bool, len(terms))
	list := make([]Believed, 0, len(terms))
	for i := range terms {
		t := &terms[i]
		if len(t.Value) != 8 || len(t.Key) < 2 {
			return nil, fmt.Errorf("%w: the element that number %d began", history.ErrDamaged, t.Since)
		}
		seq := dag.Seq(binary.BigEndian.Uint64(t.Value))
		r, ok := revisions[seq]
		if !ok {
			e, there := entries[seq]
			if !there {
				return nil, fmt.Errorf("%w: number %d, a believed revision, is missing", history.ErrDamaged, seq)
			}
			var err error
			if r, err = readOnce(revisions, &e); err != nil {
				return nil, err
			}
		}
		p := Part{r, int(binary.BigEndian.Uint16(t.Key[len(t.Key)-2:]))}
		if r.Erased || seen[p] {
			continue // it was erased after the terms were read
		}
		if p.At >= len(r.Statements) {
			return nil, fmt.Errorf("%w: an element of number %d", history.ErrDamaged, seq)
		}
		seen[p] = true
		list = append(list, Believed{p, t.Since})
	}
	slices.SortFunc(list, func(a, b Believed) int {
		if a.Revision.Seq != b.Revision.Seq {
			return cmp.Compare(a.Revision.Seq, b.Revision.Seq)
		}
		return a.At - b.At
	})
	return list, nil
}

// entriesAt reads entries by their numbers.
func (b records) entriesAt(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) (map[dag.Seq]history.Entry, error) {
	all := make(map[dag.Seq]history.Entry, len(seqs))
	for some := range slices.Chunk(seqs, 10_000) {
		list, err := b.Entries(ctx, tenant, history.Page{At: some})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			all[e.Seq] = e
		}
	}
	return all, nil
}

// Space returns the policy of a space as of a number. The error is ErrSpace if the space did not exist.
func (b Elements) Space(ctx context.Context, tenant dag.Tenant, s belief.Space, asOf dag.Seq) (string, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexSpaces, Prefix: []byte(s), AsOf: asOf}})
	if err != nil {
		return "", err
	}
	policy := ""
	for i := range lists[0] {
		if t := &lists[0][i]; string(t.Key) == string(s) {
			policy = string(t.Value) // the last one counts
		}
	}
	if policy == "" {
		return "", fmt.Errorf("%w: %s", ErrSpace, s)
	}
	return policy, nil
}

// Spaces returns all spaces as of a number, with their policies.
func (b Elements) Spaces(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (map[belief.Space]string, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexSpaces, AsOf: asOf}})
	if err != nil {
		return nil, err
	}
	all := map[belief.Space]string{}
	for i := range lists[0] {
		all[belief.Space(lists[0][i].Key)] = string(lists[0][i].Value)
	}
	return all, nil
}

// Believed returns the elements of a space as of a number.
func (b Elements) Believed(ctx context.Context, tenant dag.Tenant, s belief.Space, asOf dag.Seq) ([]Believed, error) {
	space := s.Key()
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexElements, Prefix: space[:], AsOf: asOf}})
	if err != nil {
		return nil, err
	}
	return b.held(ctx, tenant, lists[0])
}

// mostNear bounds the slots that Near asks for one by one. For more slots, reading the whole space costs less.
const mostNear = 1024

// Near returns the elements of a space as of a number that rules connect with some statements, over any number of steps. It may return
// others, too.
func (b Elements) Near(ctx context.Context, tenant dag.Tenant, s belief.Space, of []Stated, asOf dag.Seq) ([]Believed, error) {
	asked := map[belief.Slot]bool{}
	var ranges []history.Range
	ask := func(of *Stated) {
		for _, slot := range of.slots() {
			if !asked[slot] {
				asked[slot] = true
				ranges = append(ranges, history.Range{Index: indexElements, Prefix: slotPrefix(s, slot), AsOf: asOf})
			}
		}
	}
	for i := range of {
		ask(&of[i])
	}
	var terms []history.Term
	for len(ranges) > 0 {
		if len(asked) > mostNear {
			return b.Believed(ctx, tenant, s, asOf)
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return nil, err
		}
		fresh := slices.Concat(lists...)
		held, err := b.held(ctx, tenant, fresh)
		if err != nil {
			return nil, err
		}
		ranges = nil
		for i := range held {
			ask(held[i].Stated())
		}
		if len(ranges) == 0 && len(terms) == 0 {
			return held, nil
		}
		terms = append(terms, fresh...)
	}
	return b.held(ctx, tenant, terms)
}

// held returns the elements that terms name. It reads their revisions from the cache, or else from the history.
func (b Elements) held(ctx context.Context, tenant dag.Tenant, terms []history.Term) ([]Believed, error) {
	revisions := map[dag.Seq]*Revision{}
	var missing []dag.Seq
	for _, seq := range entriesOf(terms) {
		if b.kept != nil {
			if r := b.kept.Revision(tenant, seq); r != nil {
				revisions[seq] = r
				continue
			}
		}
		missing = append(missing, seq)
	}
	entries, err := b.entriesAt(ctx, tenant, missing)
	if err != nil {
		return nil, err
	}
	list, err := believed(terms, revisions, entries)
	if err == nil && b.kept != nil {
		for _, seq := range missing {
			if r := revisions[seq]; r != nil && !r.Erased {
				r.prepare()
				b.kept.Keep(tenant, r)
			}
		}
	}
	return list, err
}

// Names returns up to limit items that a space contained as of a number, ascending, with names above after.
func (b Elements) Names(ctx context.Context, tenant dag.Tenant, s belief.Space, after string, limit int, asOf dag.Seq) ([]belief.Item, error) {
	space := s.Key()
	r := history.Range{Index: indexItems, Prefix: space[:], AsOf: asOf, Limit: limit}
	if after != "" {
		r.After = &history.Place{Key: append(space[:], after...), Since: history.Forever}
	}
	lists, err := b.Terms(ctx, tenant, []history.Range{r})
	if err != nil {
		return nil, err
	}
	var list []belief.Item
	for i := range lists[0] {
		item, err := belief.NewItem(s, strings.Clone(string(lists[0][i].Key[len(space):])))
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// Conflicts returns the refused proposals of a space that waited for a decision as of a number, ascending.
func (b Elements) Conflicts(ctx context.Context, tenant dag.Tenant, s belief.Space, asOf dag.Seq) (list []*Conflict, _ error) {
	space := s.Key()
	err := b.collect(ctx, tenant, []history.Range{{Index: indexConflicts, Prefix: space[:], AsOf: asOf}}, func(_ int, e *history.Entry) error {
		c, err := ReadConflict(e)
		list = append(list, c)
		return err
	})
	return list, err
}
