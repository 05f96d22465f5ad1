package space

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// History returns what a memory said, the oldest first.
func (k Memories) History(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (out api.MemoryStates, _ error) {
	m, err := k.found(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	out = api.MemoryStates{ID: m.ID, Kind: m.Kind, States: []api.MemoryState{}}
	if m.conflict != nil {
		out.States = append(out.States, api.MemoryState{Text: m.Text, By: m.By, At: m.Since, Proposed: true, Reason: m.conflict.Reason})
		return out, nil
	}
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: m.revision.Item})
	if err != nil {
		return out, err
	}
	for _, r := range kref.Record.Revisions {
		out.States = append(out.States, api.MemoryState{
			Revision: r.Number, Text: textOf(r), By: r.By, At: r.At, Proposed: !r.Vouched(), Reason: r.Reason, Erased: r.Erased, Holds: kref.Revision == r && !kref.Record.Deprecated && !r.Erased,
		})
	}
	out.Ended, err = k.ended(ctx, tenant, m.revision, kref)
	return out, err
}

// Explain returns the reasons of a memory: the turns that it rests on and the texts that it replaced. Of a memory that has ended it also returns the end.
func (k Memories) Explain(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (out api.MemoryReasons, _ error) {
	m, err := k.found(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	out = api.MemoryReasons{Memory: m.Memory, Turns: []api.MemoryTurn{}, Replaced: []api.MemoryState{}}
	if out.Turns, err = k.turns(ctx, tenant, &m.Memory); err != nil || m.conflict != nil {
		if m.conflict != nil {
			out.Reason = m.conflict.Reason
		}
		return out, err
	}
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: m.revision.Item})
	if err != nil {
		return out, err
	}
	states, err := k.History(ctx, tenant, api.MemoryName{ID: string(m.revision.Item)})
	if err != nil {
		return out, err
	}
	for _, s := range slices.Backward(states.States) {
		if s.Revision < m.revision.Number && (s.Text != m.Text || s.Erased) {
			out.Replaced = append(out.Replaced, s)
		}
	}
	out.Reason, out.Ended = m.revision.Reason, states.Ended
	out.Holds = out.Ended == nil && kref.Revision != nil && !kref.Revision.Erased
	waits, err := k.waiting(ctx, tenant, m.Project, history.Forever-1)
	for _, w := range waits {
		if slices.ContainsFunc(w.conflict.With, func(a belief.Address) bool { return a.Item == m.revision.Item }) {
			out.Against = append(out.Against, w.Memory)
		}
	}
	return out, err
}

// mostQuoted is how much of a turn is quoted, in bytes.
const mostQuoted = 400

// ended says how a memory ended; nil: it holds.
func (k Memories) ended(ctx context.Context, tenant dag.Tenant, r *journal.Revision, kref *Kref) (*api.MemoryEnd, error) {
	switch {
	case r.Erased:
		return &api.MemoryEnd{How: "erased"}, nil
	case kref.Revision != nil && !kref.Record.Deprecated:
		return nil, nil
	}
	for i := range r.Statements {
		l := r.Statements[i].Literal
		why, err := View(k).Why(ctx, tenant, api.WhyQuery{Space: r.Item.Space(), Subject: l.Subject, Predicate: l.Predicate, Object: l.Object, Not: l.Not})
		if err != nil {
			return nil, err
		}
		if n := len(why.Ended); n > 0 {
			e := &why.Ended[n-1]
			end := &api.MemoryEnd{At: e.At, By: e.By, Reason: e.Reason, How: "forgotten"}
			if e.Instead != nil {
				end.How, end.Instead = "contradicted", e.Instead.Text()
			}
			if id, ok := strings.CutPrefix(e.Reason, replacedBy); ok {
				end.How, end.Reason = "replaced", ""
				if by, err := k.named(ctx, tenant, id); err == nil {
					end.Instead = by.Text
				}
			}
			return end, nil
		}
	}
	return &api.MemoryEnd{At: r.At, How: "forgotten"}, nil
}

// turns returns the turns that a memory rests on.
func (k Memories) turns(ctx context.Context, tenant dag.Tenant, m *api.Memory) ([]api.MemoryTurn, error) {
	list := []api.MemoryTurn{}
	if len(m.Turns) == 0 {
		return list, nil
	}
	records, err := k.kernel.Turns(ctx, tenant, m.Turns)
	if err != nil {
		return nil, err
	}
	for i := range records {
		r := &records[i]
		one := api.MemoryTurn{Turn: r.Turn.ID, At: r.Turn.CreatedAt}
		if r.Body != nil {
			body, err := slice.ParseBody(r.Body)
			if err != nil {
				return nil, err
			}
			one.Author, one.Text, one.Whole = body.Author, beginning(body.Content), wholeSentence(m.Text, body.Content)
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b api.MemoryTurn) int { return cmp.Compare(a.At, b.At) })
	return list, nil
}

// beginning returns a text up to mostQuoted bytes; a longer one ends in an ellipsis.
func beginning(text string) string {
	if len(text) <= mostQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:mostQuoted], "") + "…"
}

// wholeSentence reports whether a text is one or several whole sentences of another: it begins and ends where a sentence does.
func wholeSentence(text, of string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	for at := 0; ; at++ {
		i := strings.Index(of[at:], text)
		if i < 0 {
			return false
		}
		at += i
		before, after := strings.TrimRight(of[:at], " \t"), of[at+len(text):]
		begins := before == "" || strings.ContainsAny(before[len(before)-1:], "\n.!?:")
		if ends := after == "" || strings.ContainsAny(text[len(text)-1:], ".!?") || strings.ContainsAny(after[:1], "\n.!?"); begins && ends {
			return true
		}
	}
}
