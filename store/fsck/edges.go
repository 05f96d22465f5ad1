package fsck

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
)

const (
	// edgesAtOnce is how many edges are asked for at once, for each act of a page.
	edgesAtOnce = 16

	// mostUnanswered is how many questions that cannot be answered are told one by one.
	mostUnanswered = 100
)

func nameOf(name string) string { return fmt.Sprintf("name %.80q", name) }

// edges asks for the edges of names, from both ends.
func (k *asking) edges() error {
	for names := range slices.Chunk(k.fresh, min(k.o.Page, store.MaxAsks/2)) {
		asks := make([]knowledge.Ask, 0, 2*len(names))
		for _, name := range names {
			asks = append(asks, knowledge.Ask{Name: name}, knowledge.Ask{Name: name, Incoming: true})
		}
		if err := k.ask(asks); err != nil {
			return err
		}
	}
	return nil
}

// ask asks until all edges are there, however many a name has: the fewer the questions, the
// more edges each may give.
func (k *asking) ask(asks []knowledge.Ask) error {
	for len(asks) > 0 {
		limit := max(1, edgesAtOnce*k.o.Page/len(asks))
		for i := range asks {
			asks[i].Limit = limit
		}
		lists, err := k.s.Edges(k.ctx, k.tenant, asks)
		if err != nil {
			return k.cannotAsk(asks, err)
		}
		if len(lists) != len(asks) {
			k.unanswered++
			k.find(nameOf(asks[0].Name)+" and others", "edge", "%d questions for edges have %d answers", len(asks), len(lists))
			return nil
		}
		more := asks[:0]
		for i, list := range lists {
			ask := asks[i]
			if k.answer(&ask, list) && len(list) >= limit {
				more = append(more, ask)
			}
		}
		asks = more
	}
	return nil
}

// cannotAsk asks in parts, so that what can be read is looked at and what cannot has a name.
func (k *asking) cannotAsk(asks []knowledge.Ask, err error) error {
	if passing := k.passing(err); passing != nil {
		return passing
	}
	if n := len(asks) / 2; n > 0 && k.unanswered < mostUnanswered {
		if err := k.ask(asks[:n]); err != nil {
			return err
		}
		return k.ask(asks[n:])
	}
	k.unanswered++
	where := nameOf(asks[0].Name)
	if len(asks) > 1 {
		where += " and others"
	}
	return k.unreadable(where, err)
}

// answer checks edges, and moves the question behind them. It reports false if they are in
// no order in which there is a behind.
func (k *asking) answer(ask *knowledge.Ask, list []knowledge.Edge) bool {
	for i := range list {
		e := &list[i]
		if e.Since == 0 || !ask.After.Before(e) { // of number 0 there is no behind, either
			k.find(nameOf(ask.Name), "order", "the edge of number %d with confidence %s stands behind that of number %d with %s", e.Since, e.Confidence, ask.After.Since, ask.After.Confidence)
			return false
		}
		ask.After = e.Mark()
		k.edge(ask, e)
	}
	return true
}

// edge compares an edge with the version that it must be one end of. None is there twice:
// the edges of a name have an order in which no two are equal, and each has its own name.
func (k *asking) edge(ask *knowledge.Ask, e *knowledge.Edge) {
	where := actName(e.Since)
	if e.Since > k.head {
		k.saw(e.Since, where)
		return
	}
	a, from, mark := k.actAt(e.Since), "subject", fromSubject
	if ask.Incoming {
		from, mark = "object", fromObject
	}
	switch {
	case a == nil || a.until == 0:
		k.find(where, "edge", "%.80q has an edge of it from the %s, and it began no version", ask.Name, from)
	case e.Incoming != ask.Incoming || !ask.Of(&e.Version) || k.versionSum(e.Version) != a.version:
		k.find(where, "edge", "from the %s it is %q %q %q with confidence %s of statement %s, and the version is another",
			from, e.Subject, e.Predicate, e.Object, e.Confidence, e.ID)
	case !k.ends(where, e.Version.Until, a.until):
		a.marks |= mark
		k.find(where, "edge", "from the %s it ends with %s, and the acts give %s", from, end(e.Version.Until), end(a.until))
	default:
		a.marks |= mark
	}
}

// missingEdges looks for versions of which an end was not seen.
func (c *checker) missingEdges() {
	for i := range uint32(c.acts.len()) {
		a := c.acts.at(i)
		if a.until == 0 {
			continue
		}
		for _, end := range [...]struct {
			mark marks
			name string
		}{{fromSubject, "subject"}, {fromObject, "object"}} {
			if a.marks&end.mark == 0 {
				c.find(actName(a.seq), "edge", "it is not there from the %s", end.name)
			}
		}
	}
}
