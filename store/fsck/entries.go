package fsck

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// Entries and terms are checked without regard to their kind. Each page of
// entries is planned anew, as of the number before it; what the plans begin and end must be the
// terms that the store has, all of them and no others.
//
// Of millions of terms two sums are kept for each of some thousand buckets: of those that the
// plans give, and of those that the store has. Terms of buckets that differ are then listed.

// An entryRecord is what a checker remembers of entries.
type entryRecord struct {
	allEntries bool            // the list came to its end
	numbered   pile[dag.Seq]   // the numbers of entries
	terms      [buckets]uint64 // what the entries give, less what the store has
	suspects   []bool          // of buckets whose terms are listed; nil while they are summed
	wanted     map[string]history.Term
}

const buckets = 1 << 12

// mostListed bounds the terms that are listed to say what differs.
const mostListed = 100_000

func entryName(seq dag.Seq) string { return fmt.Sprintf("number %d", seq) }

// entryList checks the entries, and sums up the terms that follow from them.
func (c *checker) entryList() error {
	whole, err := c.eachPage("entries", func(page []history.Entry) error {
		for i := range page {
			c.counts.Entries++
			c.numbered.add(page[i].Seq)
			c.evidence(&page[i])
		}
		if err := c.sameAt(page); err != nil {
			return err
		}
		return c.replan(page)
	})
	c.allEntries = whole
	return err
}

// eachPage calls fn with the entries up to the head, in pages. It reports whether it reached the end.
func (c *checker) eachPage(stage string, fn func([]history.Entry) error) (whole bool, _ error) {
	for after := dag.Seq(0); after < c.head; {
		page, err := c.s.Entries(c.ctx, c.tenant, history.Page{After: after, Limit: c.o.Page})
		if err != nil {
			return false, c.unreadable(fmt.Sprintf("number %d and on", after+1), err)
		}
		last := len(page) < c.o.Page
		for i := range page {
			e := &page[i]
			if e.Seq <= after {
				c.find(entryName(e.Seq), "number", "it is listed behind %d", after)
				return false, nil
			}
			if after = e.Seq; after > c.head {
				c.saw(after, entryName(after))
				page, last = page[:i], true
				break
			}
		}
		if len(page) > 0 {
			if err := fn(page); err != nil {
				return false, err
			}
		}
		if stage != "" {
			c.progress(stage, int(min(after, c.head)), int(c.head))
		}
		if last {
			break
		}
	}
	return true, nil
}

// evidence makes sure that the turns that an entry rests on were there before it.
func (c *checker) evidence(e *history.Entry) {
	codec, err := kinds.All().Of(e.Kind)
	if err != nil || !c.whole {
		return // planning says so
	}
	for _, id := range codec.Turns(e) {
		if i, known := c.lookup(id); !known {
			c.find(entryName(e.Seq), "evidence", "its turn %s is not there", id)
		} else if t := c.turn(i); t.seq > e.Seq {
			c.find(entryName(e.Seq), "evidence", "its turn %s has the number %d, which is greater", id, t.seq)
		}
	}
}

// sameAt makes sure that entries are the same when they are asked for by their numbers.
func (c *checker) sameAt(page []history.Entry) error {
	numbers := make([]dag.Seq, len(page))
	for i := range page {
		numbers[i] = page[i].Seq
	}
	again, err := c.s.Entries(c.ctx, c.tenant, history.Page{At: numbers})
	if err != nil {
		return c.unreadable(entryName(numbers[0])+" and others", err)
	}
	for i := range page {
		e := &page[i]
		switch {
		case len(again) == 0 || again[0].Seq > e.Seq:
			c.find(entryName(e.Seq), "found by number", "it is listed, and not found")
			continue
		case again[0].Seq < e.Seq:
			c.find(entryName(again[0].Seq), "found by number", "it is found, and not listed")
		case again[0].Kind != e.Kind || again[0].At != e.At || !bytes.Equal(again[0].Public, e.Public):
			c.find(entryName(e.Seq), "found by number", "it differs from what the list has")
		}
		again = again[1:]
	}
	return nil
}

// replan plans entries anew, and adds up what that begins and ends. If they cannot be planned
// together they are one by one, so that the fault has a place.
func (c *checker) replan(page []history.Entry) error {
	p, err := c.planned(page)
	if err == nil {
		c.expect(p)
		return nil
	}
	if passing := c.passing(err); passing != nil {
		return passing
	}
	if len(page) > 1 {
		for i := range page {
			if err := c.replan(page[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	c.find(entryName(page[0].Seq), "entry", "%v", err)
	return nil
}

func (c *checker) planned(page []history.Entry) (*history.Plan, error) {
	for i := range page {
		if err := page[i].Check(); err != nil {
			return nil, err
		}
	}
	change, err := kinds.All().Adopt(page)
	if err != nil {
		return nil, err
	}
	before := page[0].Seq - 1
	known, err := history.Know(change, before, asOfReader{c, before})
	if err != nil {
		return nil, err
	}
	p, err := change.Plan(known)
	if err != nil {
		return nil, err
	}
	same := func(a, b history.Entry) bool {
		return a.Seq == b.Seq && a.Kind == b.Kind && bytes.Equal(a.Public, b.Public)
	}
	if !slices.EqualFunc(p.Entries, page, same) {
		return nil, errors.New("planned anew it comes to other entries")
	}
	return p, nil
}

// An asOfReader reads what was known as of a number.
type asOfReader struct {
	*checker
	asOf dag.Seq
}

// Newest reads all terms of each key, since the newest one may have begun later.
func (r asOfReader) Newest(keys []history.Key, fn func(history.Term)) error {
	for some := range slices.Chunk(keys, history.MaxRanges) {
		ranges := make([]history.Range, len(some))
		for i := range some {
			ranges[i] = history.Range{Index: some[i].Index, Prefix: []byte(some[i].Key)}
		}
		lists, err := r.Ranges(ranges)
		if err != nil {
			return err
		}
		for i, list := range lists {
			list = slices.DeleteFunc(list, func(t history.Term) bool { return string(t.Key) != some[i].Key })
			if len(list) > 0 {
				fn(list[len(list)-1])
			}
		}
	}
	return nil
}

func (r asOfReader) Ranges(ranges []history.Range) ([][]history.Term, error) {
	lists, err := r.s.Terms(r.ctx, r.tenant, ranges)
	if err == nil && len(lists) != len(ranges) {
		err = fmt.Errorf("%d ranges of terms have %d answers", len(ranges), len(lists))
	}
	if err != nil {
		return nil, err
	}
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(t history.Term) bool { return t.Since > r.asOf })
		for k := range lists[i] {
			if t := &lists[i][k]; t.Until > r.asOf {
				t.Until = history.Forever
			}
		}
	}
	return lists, nil
}

func (r asOfReader) Entries(seqs []dag.Seq) ([]history.Entry, error) {
	return r.s.Entries(r.ctx, r.tenant, history.Page{At: seqs})
}

// bucket is where a term is summed up.
func (c *checker) bucket(index history.Index, key []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteByte(byte(index))
	h.Write(key)
	return h.Sum64() % buckets
}

// termSum is of all of a term but its end, endSum of its end.
func (c *checker) termSum(index history.Index, key []byte, since dag.Seq, value []byte) uint64 {
	return maphash.Comparable(c.seed, struct {
		index      history.Index
		key, value string
		since      dag.Seq
	}{index, string(key), string(value), since})
}

func (c *checker) endSum(index history.Index, key []byte, since, until dag.Seq) uint64 {
	return maphash.Comparable(c.seed, struct {
		index        history.Index
		key          string
		since, until dag.Seq
	}{index, string(key), since, until})
}

// expect adds the terms that a plan begins and ends to the sums.
func (c *checker) expect(p *history.Plan) {
	for i := range p.Begin {
		t := &p.Begin[i]
		at := c.bucket(t.Index, t.Key)
		if c.suspects != nil {
			if c.suspects[at] && len(c.wanted) < mostListed {
				c.wanted[termKey(t)] = *t
			}
			continue
		}
		c.counts.Terms++
		c.terms[at] += c.termSum(t.Index, t.Key, t.Since, t.Value)
		if t.Until != history.Forever {
			c.terms[at] += c.endSum(t.Index, t.Key, t.Since, t.Until)
		}
	}
	for i := range p.End {
		e := &p.End[i]
		if at := c.bucket(e.Index, e.Key); c.suspects == nil {
			c.terms[at] += c.endSum(e.Index, e.Key, e.Since, e.Until)
		} else if key := termKey(&history.Term{Index: e.Index, Key: e.Key, Since: e.Since}); c.suspects[at] {
			if t, ok := c.wanted[key]; ok {
				t.Until = e.Until
				c.wanted[key] = t
			}
		}
	}
}

func termKey(t *history.Term) string { return fmt.Sprintf("%d %x %d", t.Index, t.Key, t.Since) }

// termList takes from the sums what the store has, and says what is left.
func (c *checker) termList() error {
	err := c.eachTerm("terms", func(t *history.Term) {
		at := c.bucket(t.Index, t.Key)
		c.terms[at] -= c.termSum(t.Index, t.Key, t.Since, t.Value)
		if t.Until != history.Forever {
			c.terms[at] -= c.endSum(t.Index, t.Key, t.Since, t.Until)
		}
	})
	if err != nil {
		return err
	}
	wrong := false
	suspects := make([]bool, buckets)
	for i, sum := range c.terms {
		suspects[i] = sum != 0
		wrong = wrong || sum != 0
	}
	if !wrong {
		return nil
	}
	c.suspects, c.wanted = suspects, map[string]history.Term{}
	defer func() { c.suspects, c.wanted = nil, nil }()
	return c.explain()
}

// explain plans all entries once more, and lists what they give in the buckets that differ
// beside what is there.
func (c *checker) explain() error {
	if _, err := c.eachPage("", c.replan); err != nil {
		return err
	}
	const rule = "term"
	err := c.eachTerm("", func(t *history.Term) {
		if !c.suspects[c.bucket(t.Index, t.Key)] {
			return
		}
		key := termKey(t)
		want, ok := c.wanted[key]
		delete(c.wanted, key)
		switch where := entryName(t.Since); {
		case !ok:
			c.find(where, rule, "index %d has %.80q of it, which does not follow from it", t.Index, t.Key)
		case !bytes.Equal(want.Value, t.Value):
			c.find(where, rule, "index %d has %.80q of it with another value than follows from it", t.Index, t.Key)
		case want.Until != t.Until:
			c.find(where, "until", "%.80q of index %d counts until %s, and the entries give %s", t.Key, t.Index, end(t.Until), end(want.Until))
		}
	})
	if err != nil {
		return err
	}
	for _, t := range c.wanted {
		c.find(entryName(t.Since), rule, "index %d lacks %.80q, which follows from it", t.Index, t.Key)
	}
	return nil
}

// eachTerm calls fn with all terms that began up to the head, as they were at the head.
func (c *checker) eachTerm(stage string, fn func(*history.Term)) error {
	all := make([]history.Range, 256)
	for i := range all {
		all[i] = history.Range{Index: history.Index(i), Limit: 1}
	}
	first, err := c.s.Terms(c.ctx, c.tenant, all)
	if err != nil {
		return c.unreadable("terms", err)
	}
	for i := range first {
		if len(first[i]) == 0 {
			continue
		}
		if err := c.eachOfIndex(history.Index(i), fn); err != nil {
			return err
		}
		if stage != "" {
			c.progress(stage, i+1, len(all))
		}
	}
	return nil
}

func (c *checker) eachOfIndex(index history.Index, fn func(*history.Term)) error {
	r := history.Range{Index: index, Limit: max(c.o.Page, 2)}
	var last *history.Term
	for {
		lists, err := c.s.Terms(c.ctx, c.tenant, []history.Range{r})
		if err != nil || len(lists) != 1 {
			return c.unreadable(fmt.Sprintf("index %d", index), err)
		}
		for i := range lists[0] {
			t := &lists[0][i]
			if t.Index != index || last != nil && last.Compare(t) >= 0 {
				c.find(entryName(t.Since), "order", "%.80q of it stands in index %d out of order", t.Key, index)
				return nil
			}
			if last = t; t.Since > c.head {
				c.saw(t.Since, entryName(t.Since))
				continue
			}
			if t.Until > c.head {
				if t.Until != history.Forever {
					c.saw(t.Until, entryName(t.Since))
				}
				seen := *t
				seen.Until = history.Forever
				t = &seen
			}
			fn(t)
		}
		if len(lists[0]) < r.Limit {
			return nil
		}
		r.After = &history.Place{Key: last.Key, Since: last.Since}
	}
}

func end(until dag.Seq) string {
	if until == history.Forever {
		return "for ever"
	}
	return fmt.Sprint(until)
}
