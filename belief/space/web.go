package space

import (
	"context"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
)

// evidential lists the types of links from a belief to its evidence, and supporting the types of links from evidence to a belief.
var (
	evidential = []string{"depends_on", "derived_from"}
	supporting = []string{"supports", "proves"}
)

// A web contains the believed revisions of a space with their links.
type web struct {
	asOf      dag.Seq
	now       dag.Time
	kinds     kinds.Policy
	revisions []*journal.Revision // believed, by item
	at        map[string]int      // index in revisions, by address
	of        map[belief.Item]int
	out, in   [][]*journal.Link
	origins   []*journal.Revision // the revision from which decay made the believed one; nil: decay did not make it
}

func (k reader) web(ctx context.Context, tenant dag.Tenant, space belief.Space) (*web, error) {
	asOf, err := k.kernel.AsOf(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	w := &web{asOf: asOf, at: map[string]int{}, of: map[belief.Item]int{}}
	if w.kinds, _, err = k.kindsOf(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	if w.now, err = k.kernel.Now(); err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	seen := map[dag.Seq]bool{}
	for i := range held {
		if r := held[i].Revision; !seen[r.Seq] {
			seen[r.Seq] = true
			w.revisions = append(w.revisions, r)
		}
	}
	slices.SortFunc(w.revisions, func(a, b *journal.Revision) int { return strings.Compare(string(a.Item), string(b.Item)) })
	var addresses []string
	for i, r := range w.revisions {
		address := r.Address().String()
		addresses = append(addresses, address)
		w.at[address], w.of[r.Item] = i, i
	}
	if w.out, err = k.journal().Links(ctx, tenant, addresses, false, asOf); err != nil {
		return nil, err
	}
	if w.in, err = k.journal().Links(ctx, tenant, addresses, true, asOf); err != nil {
		return nil, err
	}
	return w, k.origins(ctx, tenant, w)
}

// origins finds the revisions that decay made. Such a revision states the same as the one before it, so origins adds to its links those
// of all revisions before it, back to the one that decay did not make.
func (k reader) origins(ctx context.Context, tenant dag.Tenant, w *web) error {
	w.origins = make([]*journal.Revision, len(w.revisions))
	var addresses []string
	var of []int
	for i, r := range w.revisions {
		number := decayedFrom(r, w.out[i])
		if number == 0 {
			continue
		}
		record, err := k.journal().Item(ctx, tenant, r.Item, w.asOf)
		if err != nil {
			return err
		}
		for before := record.Numbered(r.Supersedes); before != nil && before.Number >= number; before = record.Numbered(before.Supersedes) {
			w.at[before.Address().String()] = i
			addresses, of = append(addresses, before.Address().String()), append(of, i)
			if before.Number == number && !before.Erased {
				w.origins[i] = before
			}
		}
	}
	out, err := k.journal().Links(ctx, tenant, addresses, false, w.asOf)
	if err != nil {
		return err
	}
	in, err := k.journal().Links(ctx, tenant, addresses, true, w.asOf)
	if err != nil {
		return err
	}
	for n, i := range of {
		w.out[i], w.in[i] = append(w.out[i], out[n]...), append(w.in[i], in[n]...)
	}
	return nil
}

// decayedFrom returns the number of the revision from which decay made a revision; 0 if decay did not make it.
func decayedFrom(r *journal.Revision, out []*journal.Link) int {
	for _, l := range out {
		if to, err := belief.ParseAddress(l.To); err == nil && l.Type == rules.DecayedFrom && to.Item == r.Item && to.Revision < r.Number {
			return to.Revision
		}
	}
	return 0
}

// lineage returns the items from which an item was derived, promoted or abstracted, over any number of steps.
func (w *web) lineage(i int) (list []string) {
	seen := map[belief.Item]bool{}
	next := []int{i}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		visit := func(item belief.Item) {
			if seen[item] {
				return
			}
			seen[item] = true
			list = append(list, string(item))
			if at, ok := w.of[item]; ok {
				next = append(next, at)
			}
		}
		for _, l := range w.out[n] {
			if to, err := belief.ParseAddress(l.To); err == nil && slices.Contains(evidential, l.Type) || err == nil && l.Type == "created_from" {
				visit(to.Item)
			}
		}
		for _, l := range w.in[n] {
			if l.Type == journal.PromotedTo || l.Type == rules.AbstractedTo {
				visit(l.From.Item)
			}
		}
	}
	return list
}

// similar returns the number of statements of a as a share of the longer revision's, in millionths, if b has all of them; otherwise 0.
func similar(a, b *journal.Revision) dag.PPM {
	both := 0
	for i := range a.Statements {
		if slices.ContainsFunc(b.Statements, func(s journal.Stated) bool { return s.Literal == a.Statements[i].Literal }) {
			both++
		}
	}
	if len(a.Statements) == 0 || both < len(a.Statements) {
		return 0
	}
	return dag.PPM(uint64(both) * uint64(dag.One) / uint64(max(len(a.Statements), len(b.Statements))))
}
