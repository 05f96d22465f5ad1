package fsck

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// fewActs is how many acts of a statement are asked for at first.
const fewActs = 16

// knowledge reads the acts once more, now that it is known what follows from them, and asks
// for all that they lead to: the edges of each name, the acts of each statement, those about
// aliases, and what is believed.
func (c *checker) knowledge() error {
	k := asking{checker: c, names: map[uint64]struct{}{}}
	whole, err := c.eachAct("knowledge", k.act, k.page)
	if err != nil {
		return err
	}
	if whole && k.unanswered == 0 {
		c.missingEdges()
	}
	if err := c.aliasActs(); err != nil {
		return err
	}
	return c.versions()
}

// asking is what a page of acts gives to ask for.
type asking struct {
	*checker
	names      map[uint64]struct{} // hashes of those that were asked for
	fresh      []string            // of this page
	statements []knowledge.ID      // that its acts are about, each once
	about      []dag.Seq           // acts that no statement led to so far
	unanswered int                 // questions for edges
}

func (k *asking) act(r *knowledge.Recorded) error {
	a := k.same(r, "act")
	if a == nil {
		return nil
	}
	f := &r.Act.Fact
	for _, name := range [...]string{f.Subject, f.Object, f.Predicate, r.Act.Alias, r.Act.Canonical} {
		if name == "" {
			continue
		}
		hash := maphash.String(k.seed, name)
		if _, known := k.names[hash]; !known {
			k.names[hash] = struct{}{}
			k.fresh = append(k.fresh, name)
		}
	}
	if id, ok := r.Act.About(); ok && a.marks&found == 0 {
		k.statements, k.about = append(k.statements, id), append(k.about, r.Seq)
	}
	return nil
}

// page asks what a page gave to ask for.
func (k *asking) page() error {
	if err := k.actsOf(); err != nil {
		return err
	}
	if err := k.edges(); err != nil {
		return err
	}
	k.fresh, k.statements, k.about = k.fresh[:0], k.statements[:0], k.about[:0]
	return nil
}

// same compares an act as some question gives it with the list of all. It gives what is kept
// of it, nil if it is another or there is none.
func (c *checker) same(r *knowledge.Recorded, rule string) *act {
	where := actName(r.Seq)
	a := c.actAt(r.Seq)
	if a == nil {
		c.find(where, rule, "it is there, and the list of all acts did not have it")
		return nil
	}
	if c.actSum(r) != a.sum {
		c.find(where, rule, "it differs from what the list of all acts gave")
		return nil
	}
	if leaf := r.Act.Leaf(); leaf != r.Leaf {
		c.find(where, "leaf", "stored is %s, and its fields give %s", r.Leaf, leaf)
	}
	if !c.ends(where, r.Until, a.until) {
		c.find(where, "until", "stored is %s, and the acts give %s", end(r.Until), end(a.until))
	}
	return a
}

// ends reports whether a stored end of a version is the one that the acts up to the head
// give. One above the head may have come meanwhile.
func (c *checker) ends(where string, stored, want dag.Seq) bool {
	if stored > c.head {
		if stored != dag.MaxSeq {
			c.saw(stored, where)
		}
		stored = dag.MaxSeq
	}
	return stored == want
}

func end(until dag.Seq) string {
	switch until {
	case 0:
		return "no version"
	case dag.MaxSeq:
		return "no end"
	}
	return fmt.Sprint(until)
}

// actsOf asks for the acts of statements. One that several acts of a page are about is asked
// for once, and not for those that an act before led to.
func (k *asking) actsOf() error {
	limit := min(fewActs, k.o.Page)
	ids := knowledge.SortIDs(k.statements)
	lists, errs := make([][]knowledge.Recorded, len(ids)), make([]error, len(ids))
	atOnce(len(ids), func(i int) { lists[i], errs[i] = k.s.ActsOf(k.ctx, k.tenant, ids[i], 0, limit) })
	whole := true
	for i, id := range ids {
		if errs[i] == nil {
			errs[i] = k.actsOfOne(id, lists[i], limit)
		}
		if errs[i] != nil {
			whole = false
			if err := k.unreadable("statement "+id.String(), errs[i]); err != nil {
				return err
			}
		}
		lists[i] = nil
	}
	for _, seq := range k.about {
		if whole && k.actAt(seq).marks&found == 0 {
			k.find(actName(seq), "found by statement", "its statement does not lead to it")
		}
	}
	return nil
}

// actsOfOne looks at the first acts of a statement, and at those behind.
func (k *asking) actsOfOne(id knowledge.ID, list []knowledge.Recorded, limit int) error {
	const rule = "found by statement"
	for after := dag.Seq(0); ; {
		for i := range list {
			r := &list[i]
			if r.Seq <= after {
				k.find(actName(r.Seq), rule, "it is listed behind %d", after)
				return nil
			}
			if after = r.Seq; after > k.head {
				k.saw(after, actName(after))
				return nil
			}
			if own, ok := r.Act.About(); !ok || own != id {
				k.find(actName(r.Seq), rule, "statement %s leads to it, which it is not about", id)
			} else if a := k.same(r, rule); a != nil {
				a.marks |= found
			}
		}
		if len(list) < limit {
			return nil
		}
		var err error
		limit = k.o.Page
		if list, err = k.s.ActsOf(k.ctx, k.tenant, id, after, limit); err != nil {
			return err
		}
	}
}

// aliasActs compares the list of the acts about aliases with that of all.
func (c *checker) aliasActs() error {
	const rule = "found among aliases"
	list, err := c.s.Aliases(c.ctx, c.tenant, 0)
	if err != nil {
		return c.unreadable("aliases", err)
	}
	last := dag.Seq(0)
	for i := range list {
		r := &list[i]
		if r.Seq <= last {
			c.find(actName(r.Seq), rule, "it is listed behind %d", last)
			return nil
		}
		if last = r.Seq; last > c.head {
			c.saw(last, actName(last))
			break
		}
		if a := c.same(r, rule); a != nil && a.marks&ofAlias == 0 {
			c.find(actName(r.Seq), rule, "it is about none")
		} else if a != nil {
			a.marks |= found
		}
	}
	for i := range uint32(c.acts.len()) {
		if a := c.acts.at(i); a.marks&(ofAlias|found) == ofAlias {
			c.find(actName(a.seq), rule, "it is about one, and is not listed")
		}
	}
	return nil
}

// versions asks what is believed, as of the head and of the act in the middle: how much it
// is, and for a page of it from the beginning, from the middle and at the end. All of it
// would take too long: a store counts it anew for each page, and has it from the acts and
// the edges, which were all looked at.
func (c *checker) versions() error {
	moments := []dag.Seq{c.head}
	if n := c.acts.len(); n > 0 {
		moments = append(moments, c.acts.at(uint32(n/2)).seq)
	}
	for _, asOf := range moments {
		total := 0
		for range c.believedAsOf(asOf, 0) {
			total++
		}
		skips := []int{0, total / 2, max(total-c.o.Page/2, 0)}
		slices.Sort(skips)
		for _, skip := range slices.Compact(skips) {
			if err := c.versionPage(asOf, skip, total); err != nil {
				return err
			}
		}
	}
	return nil
}

// believedAsOf gives the versions that count as of a number and began behind another.
func (c *checker) believedAsOf(asOf, after dag.Seq) iter.Seq[*act] {
	return func(yield func(*act) bool) {
		for i := range uint32(c.acts.len()) {
			if a := c.acts.at(i); a.seq > after && a.seq <= asOf && asOf < a.until && !yield(a) {
				return
			}
		}
	}
}

// versionPage compares a page of a listing, behind the first ones.
func (c *checker) versionPage(asOf dag.Seq, skip, total int) error {
	const rule = "found among versions"
	after := dag.Seq(0)
	for a := range c.believedAsOf(asOf, 0) {
		if skip == 0 {
			break
		}
		skip, after = skip-1, a.seq
	}
	where := fmt.Sprintf("versions as of %d", asOf)
	list, counted, err := c.s.Versions(c.ctx, c.tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: asOf}, After: after, Limit: c.o.Page})
	if err != nil {
		return c.unreadable(where, err)
	}
	if counted != total {
		c.find(where, "number", "%d are counted, and the acts give %d", counted, total)
	}
	whole := len(list) < c.o.Page // no more would come
	for a := range c.believedAsOf(asOf, after) {
		switch {
		case len(list) == 0 && !whole:
			return nil
		case len(list) == 0 || list[0].Seq > a.seq:
			c.find(actName(a.seq), rule, "as of %d it is not listed behind %d", asOf, after)
			return nil
		case list[0].Seq < a.seq:
			c.find(actName(list[0].Seq), rule, "it is listed as of %d behind %d, when it did not count", asOf, after)
			return nil
		}
		c.same(&list[0], rule)
		after, list = a.seq, list[1:]
	}
	for i := range list {
		c.find(actName(list[i].Seq), rule, "it is listed as of %d behind %d, when it did not count", asOf, after)
	}
	return nil
}
