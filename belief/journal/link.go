package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// PromotedTo is the type of the link from a promoted revision to the revision that it became.
const PromotedTo = "promoted_to"

// ends returns the revisions that the link connects. It leaves out turns, slices and the end that a request does not name.
func (l *Link) ends() (list []belief.Address) {
	if l.From.Item != "" {
		list = append(list, l.From)
	}
	if to, err := belief.ParseAddress(l.To); err == nil {
		list = append(list, to)
	}
	return list
}

// newest returns the keys of the terms that connects needs.
func (l *Link) newest() (list []history.Key) {
	for _, a := range l.ends() {
		list = append(list, newestKey(a.Item))
	}
	return list
}

// connects refuses a link to or from a revision that does not exist. Revisions are numbered without gaps, so the number of an item's
// newest revision decides which exist.
func (l *Link) connects(k *history.State) error {
	for _, a := range l.ends() {
		t, ok := k.Newest[newestKey(a.Item)]
		if !ok {
			return fmt.Errorf("%w: %s", ErrNoItem, a)
		}
		p, err := readPlace(&t)
		if err != nil {
			return err
		}
		if a.Revision == 0 || a.Revision > p.number {
			return fmt.Errorf("%w: %s", ErrNoItem, a)
		}
	}
	return nil
}

// AddLink adds a link from a revision, and returns it. If the link exists already, AddLink records nothing and returns the recorded link.
func (b Changes) AddLink(ctx context.Context, tenant dag.Tenant, l Link) (*Link, error) {
	c := &linking{asked: l}
	if _, err := b.write(ctx, tenant, c); err != nil {
		return nil, err
	}
	return &c.recorded, nil
}

type linking struct {
	asked, recorded Link
}

func (c *linking) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Newest = c.asked.newest()
		n.Ranges = []history.Range{{Index: indexLinks, Prefix: linkKey(c.asked.From.String())}}
	case 1:
		for _, t := range termsOf(k, indexLinks) {
			n.Entries = append(n.Entries, t.Since)
		}
	}
	return n
}

func (c *linking) Plan(k *history.State) (*history.Plan, error) {
	if err := c.asked.connects(k); err != nil {
		return nil, err
	}
	c.recorded = c.asked
	for _, t := range termsOf(k, indexLinks) {
		e := k.Entries[t.Since]
		if l, err := ReadLink(&e); err == nil && l.Type == c.asked.Type && l.To == c.asked.To {
			c.recorded = *l
			c.recorded.Seq, c.recorded.Known = e.Whole(), true
			return &history.Plan{}, nil
		}
	}
	c.recorded.Seq = k.Head + 1
	p := &history.Plan{Entries: []history.Entry{c.recorded.entry()}}
	return p, newFolding(p).fold(k, nil, &c.recorded)
}

// CheckAttached refuses malformed links and tags of a request, and links, tags and a new space of a contraction.
func (r *Request) CheckAttached() error {
	if len(r.Links) > MaxLinks || len(r.Tags) > MaxTags {
		return fmt.Errorf("%w: the request has %d links and %d tags, at most %d links and %d tags", belief.ErrForm, len(r.Links), len(r.Tags), MaxLinks, MaxTags)
	}
	if r.Operator == Contract && (len(r.Links) > 0 || len(r.Tags) > 0 || r.NewSpace) {
		return fmt.Errorf("%w: a contraction makes no revision, so it must have no links, no tags and no new space", belief.ErrForm)
	}
	for i, l := range r.Links {
		if !belief.IsTag(l.Type) || l.To == "" {
			return fmt.Errorf("%w: links[%d]: the type is %.40q and the target %.200q, want [a-z][a-z0-9_-]{0,31} and a target", belief.ErrForm, i, l.Type, l.To)
		}
		if slices.ContainsFunc(r.Links[:i], func(o Link) bool { return o.Type == l.Type && o.To == l.To }) {
			return fmt.Errorf("%w: links[%d]: %s to %s is listed twice", belief.ErrForm, i, l.Type, l.To)
		}
	}
	for i, name := range r.Tags {
		if !belief.IsTag(name) {
			return fmt.Errorf("%w: tags[%d]: %.40q, want [a-z][a-z0-9_-]{0,31}", belief.ErrForm, i, name)
		}
		if slices.Contains(r.Tags[:i], name) {
			return fmt.Errorf("%w: tags[%d]: %s is listed twice", belief.ErrForm, i, name)
		}
	}
	return nil
}

// allLinks returns the links of a request: first the links to the revision that it makes, then the links from it. Each lacks the end
// that is this revision.
func (r *Request) allLinks() []Link { return slices.Concat(r.Incoming, r.Links) }

// attach records the links and tags of a request after the revision that it made, which is the current one of its item.
func (w *writing) attach() error {
	made := w.items[w.outcome.Item].current
	for _, l := range w.allLinks() {
		if l.By, l.At, l.Seq = w.By, w.At, w.head+1; l.To == "" {
			l.To = made.Address().String()
		} else {
			l.From = made.Address()
		}
		if err := w.add(&l, l.entry()); err != nil {
			return err
		}
	}
	for _, name := range w.Tags {
		if name == Current {
			continue // the revision is current by itself
		}
		t := &Tag{Item: made.Item, Name: name, Number: made.Number, Entry: made.Seq, By: w.By, Reason: w.Revision.Reason, Seq: w.head + 1, At: w.At}
		if err := w.add(t, t.entry(), made); err != nil {
			return err
		}
	}
	return nil
}
