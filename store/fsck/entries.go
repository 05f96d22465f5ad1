package fsck

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// Entries and terms are checked regardless of their kind. Each page of entries is planned again, as of the
// number before it; the terms that the plans begin and end must be exactly the terms that the store has.
//
// Since there may be millions of terms, a sum is kept for each of some thousand buckets: the terms of
// the plans less the terms of the store. Only the terms of buckets whose sum is not 0 are then listed.

// An entryRecord keeps the facts about entries that later checks need.
type entryRecord struct {
	allEntries bool            // the entries were read to the end
	numbered   pile[dag.Seq]   // the numbers of Known entries
	terms      [buckets]uint64 // the sums of planned terms less stored terms
	suspects   []bool          // the buckets whose terms are listed; nil while terms are summed
	wanted     map[string]history.Term
}

// A stream is one of the streams of entries, as of the beginning of the check.
type stream struct {
	*checker
	of   history.Stream
	last dag.Seq // the last number that is checked
}

// streams returns both streams, in the order of history.Stream.
func streams(c *checker) []stream {
	return []stream{{c, history.Known, c.head}, {c, history.Record, c.size}}
}

const buckets = 1 << 12

// mostListed bounds the terms that are listed to show the differences.
const mostListed = 100_000

func entryName(seq dag.Seq) string { return nameIn(history.Known, seq) }

func nameIn(of history.Stream, seq dag.Seq) string {
	if of == history.Record {
		return leafName(uint64(seq) - 1)
	}
	return fmt.Sprintf("number %d", seq)
}

func (s stream) name(seq dag.Seq) string { return nameIn(s.of, seq) }

func (s stream) saw(seq dag.Seq, where string) {
	if s.of == history.Record {
		s.appended = max(s.appended, seq)
		return
	}
	s.checker.saw(seq, where)
}

// checkEntries checks the entries, and adds up the terms that follow from them.
func checkEntries(c *checker) error {
	c.allEntries = true
	for _, s := range streams(c) {
		var before history.Entry
		whole, err := s.eachPage("entries", func(page []history.Entry) error {
			before = s.checkParts(before, page)
			for i := range page {
				if s.of == history.Known {
					c.numbered.add(page[i].Seq)
				}
				s.evidence(&page[i])
			}
			if err := s.sameAt(page); err != nil {
				return err
			}
			if s.of == history.Known {
				if err := checkPrivate(c, page); err != nil {
					return err
				}
				if err := checkErasures(c, page); err != nil {
					return err
				}
			}
			return s.replan(page)
		})
		if err != nil {
			return err
		}
		s.endsWhole(before)
		c.allEntries = c.allEntries && whole
	}
	return nil
}

// checkParts checks that the parts of each change run from 1 to their count, with consecutive numbers. It takes and returns the last checked entry.
func (s stream) checkParts(before history.Entry, page []history.Entry) (last history.Entry) {
	const rule = "part"
	for i := range page {
		e := &page[i]
		switch goes := before.Part != before.Parts; {
		case goes && !e.Continues(&before):
			s.find(s.name(before.Seq), rule, "it is part %d of the %d parts of its change, but the next one, number %d, is part %d of %d", before.Part, before.Parts, e.Seq, e.Part, e.Parts)
		case !goes && e.Part > 1:
			s.find(s.name(e.Seq), rule, "it is part %d of the %d parts of its change, but the earlier parts are not before it", e.Part, e.Parts)
		}
		before = *e
	}
	return before
}

// endsWhole checks that the last entry up to the head is the last part of its change.
func (s stream) endsWhole(last history.Entry) {
	if last.Part != last.Parts {
		s.find(s.name(last.Seq), "part", "it is part %d of the %d parts of its change, but the last entry", last.Part, last.Parts)
	}
}

// eachPage calls fn with the entries up to s.last, in pages. It reports whether it reached the end.
func (s stream) eachPage(stage string, fn func([]history.Entry) error) (whole bool, _ error) {
	for after := dag.Seq(0); after < s.last; {
		page, err := s.s.Entries(s.ctx, s.tenant, history.Page{Stream: s.of, After: after, Limit: s.o.Page})
		if err != nil {
			return false, s.unreadable(s.name(after+1)+" and on", err)
		}
		last := len(page) < s.o.Page
		for i := range page {
			e := &page[i]
			if e.Seq <= after || s.of == history.Record && e.Seq != after+1 {
				s.find(s.name(e.Seq), "number", "it is listed after %d", after)
				return false, nil
			}
			if after = e.Seq; after > s.last {
				s.saw(after, s.name(after))
				page, last = page[:i], true
				break
			}
		}
		if page = slices.DeleteFunc(page, func(e history.Entry) bool { return e.Kind == "" }); len(page) > 0 {
			if err := fn(page); err != nil {
				return false, err
			}
		}
		if stage != "" {
			s.progress(stage, int(min(after, s.last)), int(s.last))
		}
		if last {
			break
		}
	}
	return true, nil
}

// evidence checks that the turns that an entry rests on were admitted before it.
func (s stream) evidence(e *history.Entry) {
	codec, err := kinds.All().Of(e.Kind)
	if err != nil || !s.whole {
		return // planning reports an unknown kind; an incomplete list of turns shows nothing
	}
	for _, id := range codec.Turns(e) {
		if i, known := s.lookup(id); !known {
			s.find(s.name(e.Seq), "evidence", "its turn %s is not there", id)
		} else if t := s.turn(i); t.seq > e.Seq {
			s.find(s.name(e.Seq), "evidence", "its turn %s has the greater number %d", id, t.seq)
		}
	}
}

// checkPrivate checks that the private half of an entry is gone if and only if all turns of one of the sets that it rests on were erased after it.
func checkPrivate(c *checker, page []history.Entry) error {
	of := map[int][][]dag.TurnID{}
	var turns []dag.TurnID
	for i := range page {
		if !kinds.All().Erasable(page[i].Kind) {
			continue
		}
		codec, err := kinds.All().Of(page[i].Kind)
		if err != nil {
			return err
		}
		for _, set := range history.Rests(codec, &page[i]) {
			of[i], turns = append(of[i], set), append(turns, set...)
		}
	}
	if len(turns) == 0 {
		return nil
	}
	erased, err := erasures.Base{History: c.s}.Among(c.ctx, c.tenant, turns)
	if err != nil {
		return c.unreadable("erasures", err)
	}
	for i, sets := range of {
		e := &page[i]
		last := dag.Seq(0) // the first number at which all turns of some set were erased
		for _, set := range sets {
			of := dag.Seq(0)
			for _, turn := range set {
				since := erased[turn]
				if since == 0 {
					of = 0
					break
				}
				of = max(of, since)
			}
			if of != 0 && (last == 0 || of < last) {
				last = of
			}
		}
		switch {
		case e.Private == nil && last == 0:
			c.find(entryName(e.Seq), "private", "its private half is gone, but there is no record that all turns of one of its parts were erased")
		case e.Private != nil && last > e.Seq && last <= c.head:
			c.find(entryName(e.Seq), "private", "event %d erased the last turn of one of its parts, but its private half is still stored", last)
		}
	}
	return nil
}

// sameAt checks that the entries are the same when they are read by their numbers.
func (s stream) sameAt(page []history.Entry) error {
	numbers := make([]dag.Seq, len(page))
	for i := range page {
		numbers[i] = page[i].Seq
	}
	again, err := s.s.Entries(s.ctx, s.tenant, history.Page{Stream: s.of, At: numbers})
	if err != nil {
		return s.unreadable(s.name(numbers[0])+" and others", err)
	}
	for i := range page {
		e := &page[i]
		switch {
		case len(again) == 0 || again[0].Seq > e.Seq:
			s.find(s.name(e.Seq), "found by number", "it is listed but not found by its number")
			continue
		case again[0].Seq < e.Seq:
			s.find(s.name(again[0].Seq), "found by number", "it is found by its number but not listed")
		case again[0].Private == nil && e.Private != nil: // erased meanwhile; otherwise checkPrivate reports it
			e.Private = nil
			fallthrough
		case again[0].Same(e):
		default:
			s.find(s.name(e.Seq), "found by number", "it differs from the entry in the list")
		}
		again = again[1:]
	}
	return nil
}

// replan plans entries again, and adds up the terms that they begin and end. If
// they cannot be planned together, they are planned one by one to locate the fault.
func (s stream) replan(page []history.Entry) error {
	p, err := s.planned(page)
	if err == nil {
		expect(s.checker, p)
		return nil
	}
	if passing := s.passing(err); passing != nil {
		return passing
	}
	if len(page) > 1 {
		for i := range page {
			if err := s.replan(page[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if again, reread := s.erasedSince(page[0].Seq, page[0].Private); reread != nil {
		return reread
	} else if again != nil {
		return s.replan(again)
	}
	s.find(s.name(page[0].Seq), "entry", "%v", err)
	return nil
}

// erasedSince reads an entry again, and returns it if its private half was erased after the first read.
func (s stream) erasedSince(seq dag.Seq, private []byte) ([]history.Entry, error) {
	if private == nil {
		return nil, nil
	}
	again, err := s.s.Entries(s.ctx, s.tenant, history.Page{Stream: s.of, At: []dag.Seq{seq}})
	if err != nil {
		return nil, s.unreadable(s.name(seq), err)
	}
	if len(again) == 1 && again[0].Private == nil {
		return again, nil
	}
	return nil, nil
}

func (s stream) planned(page []history.Entry) (*history.Plan, error) {
	for i := range page {
		if err := page[i].Check(); err != nil {
			return nil, err
		}
	}
	change, err := kinds.All().Adopt(s.of, page)
	if err != nil {
		return nil, err
	}
	before := asOfReader{s.checker, page[0].Seq - 1}
	known, err := history.Know(change, s.tenant, before.asOf, before.answer)
	if err != nil {
		return nil, err
	}
	return history.Exactly(change, s.of, page).Plan(known)
}

// An asOfReader answers the needs of a change, as of a number of the change's stream.
type asOfReader struct {
	*checker
	asOf dag.Seq
}

func (r asOfReader) answer(n *history.Needs, k *history.State) error {
	k.Size = r.asOf
	if err := r.newest(n.Newest, k.AddNewest); err != nil {
		return err
	}
	if err := r.turns(n.Turns, k); err != nil {
		return err
	}
	if len(n.Ranges) > 0 {
		lists, err := r.ranges(n.Ranges)
		if err != nil {
			return err
		}
		k.Ranges = append(k.Ranges, lists...)
	}
	for _, of := range []struct {
		stream history.Stream
		seqs   []dag.Seq
	}{{history.Known, n.Entries}, {history.Record, n.Records}} {
		if len(of.seqs) == 0 {
			continue
		}
		list, err := r.s.Entries(r.ctx, r.tenant, history.Page{Stream: of.stream, At: of.seqs})
		if err != nil {
			return err
		}
		k.AddEntries(of.stream, list)
	}
	return nil
}

// turns reads turns for a change, up to the head: planning compares their numbers.
func (r asOfReader) turns(ids []dag.TurnID, k *history.State) error {
	if len(ids) == 0 {
		return nil
	}
	records, err := r.s.Turns(r.ctx, r.tenant, store.IDs(ids))
	for i := range records {
		t := &records[i]
		k.Turns[t.Turn.ID] = history.Admitted{Seq: t.Seq, Body: t.Body != nil, Withheld: t.Withheld}
	}
	return err
}

// newest reads all terms of each key, since the newest term may have begun after asOf.
func (r asOfReader) newest(keys []history.Key, fn func(history.Term)) error {
	for some := range slices.Chunk(keys, history.MaxRanges) {
		ranges := make([]history.Range, len(some))
		for i := range some {
			ranges[i] = history.Range{Index: some[i].Index, Prefix: []byte(some[i].Key)}
		}
		lists, err := r.ranges(ranges)
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

func (r asOfReader) ranges(ranges []history.Range) ([][]history.Term, error) {
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

// bucket returns the bucket of a term.
func bucket(c *checker, index history.Index, key []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteByte(byte(index))
	h.Write(key)
	return h.Sum64() % buckets
}

// termSum returns the hash of a term without its end; endSum returns that of its end.
func termSum(c *checker, index history.Index, key []byte, since dag.Seq, value []byte) uint64 {
	return maphash.Comparable(c.seed, struct {
		index      history.Index
		key, value string
		since      dag.Seq
	}{index, string(key), string(value), since})
}

func endSum(c *checker, index history.Index, key []byte, since, until dag.Seq) uint64 {
	return maphash.Comparable(c.seed, struct {
		index        history.Index
		key          string
		since, until dag.Seq
	}{index, string(key), since, until})
}

// expect adds the terms that a plan begins and ends to the sums.
func expect(c *checker, p *history.Plan) {
	for i := range p.Begin {
		t := &p.Begin[i]
		at := bucket(c, t.Index, t.Key)
		if c.suspects != nil {
			if c.suspects[at] && len(c.wanted) < mostListed {
				c.wanted[termKey(t)] = *t
			}
			continue
		}
		c.counts.Terms++
		c.terms[at] += termSum(c, t.Index, t.Key, t.Since, t.Value)
		if t.Until != history.Forever {
			c.terms[at] += endSum(c, t.Index, t.Key, t.Since, t.Until)
		}
	}
	for i := range p.End {
		e := &p.End[i]
		if at := bucket(c, e.Index, e.Key); c.suspects == nil {
			c.terms[at] += endSum(c, e.Index, e.Key, e.Since, e.Until)
		} else if key := termKey(&history.Term{Index: e.Index, Key: e.Key, Since: e.Since}); c.suspects[at] {
			if t, ok := c.wanted[key]; ok {
				t.Until = e.Until
				c.wanted[key] = t
			}
		}
	}
}

func termKey(t *history.Term) string { return fmt.Sprintf("%d %x %d", t.Index, t.Key, t.Since) }

// checkTerms subtracts the stored terms from the sums, and reports what differs.
func checkTerms(c *checker) error {
	err := eachTerm(c, "terms", func(t *history.Term) {
		at := bucket(c, t.Index, t.Key)
		c.terms[at] -= termSum(c, t.Index, t.Key, t.Since, t.Value)
		if t.Until != history.Forever {
			c.terms[at] -= endSum(c, t.Index, t.Key, t.Since, t.Until)
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
	return explain(c)
}

// explain plans all entries once more, and compares the terms in the buckets that differ one by one.
func explain(c *checker) error {
	for _, s := range streams(c) {
		if _, err := s.eachPage("", s.replan); err != nil {
			return err
		}
	}
	const rule = "term"
	err := eachTerm(c, "", func(t *history.Term) {
		if !c.suspects[bucket(c, t.Index, t.Key)] {
			return
		}
		key := termKey(t)
		want, ok := c.wanted[key]
		delete(c.wanted, key)
		switch where := nameIn(t.Index.Stream(), t.Since); {
		case !ok:
			c.find(where, rule, "index %d has the term %.80q, which does not follow from this entry", t.Index, t.Key)
		case !bytes.Equal(want.Value, t.Value):
			c.find(where, rule, "index %d has the term %.80q with a different value than follows from this entry", t.Index, t.Key)
		case want.Until != t.Until:
			c.find(where, "until", "the term %.80q of index %d counts until %s, but by the entries until %s", t.Key, t.Index, end(t.Until), end(want.Until))
		}
	})
	if err != nil {
		return err
	}
	for _, t := range c.wanted {
		gone, err := streams(c)[t.Index.Stream()].erasedSince(t.Since, t.Key)
		if err != nil {
			return err
		}
		if gone != nil && kinds.All().Erasable(gone[0].Kind) {
			continue // its terms were removed with it
		}
		c.find(nameIn(t.Index.Stream(), t.Since), rule, "index %d lacks %.80q, which follows from it", t.Index, t.Key)
	}
	return nil
}

// eachTerm calls fn with all terms that began up to the head, as of the head.
func eachTerm(c *checker, stage string, fn func(*history.Term)) error {
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
		if err := eachOfIndex(c, history.Index(i), fn); err != nil {
			return err
		}
		if stage != "" {
			c.progress(stage, i+1, len(all))
		}
	}
	return nil
}

func eachOfIndex(c *checker, index history.Index, fn func(*history.Term)) error {
	r := history.Range{Index: index, Limit: max(c.o.Page, 2)}
	in := streams(c)[index.Stream()]
	var last *history.Term
	for {
		lists, err := c.s.Terms(c.ctx, c.tenant, []history.Range{r})
		if err != nil || len(lists) != 1 {
			return c.unreadable(fmt.Sprintf("index %d", index), err)
		}
		for i := range lists[0] {
			t := &lists[0][i]
			if t.Index != index || last != nil && last.Compare(t) >= 0 {
				c.find(in.name(t.Since), "order", "its term %.80q is out of order in index %d", t.Key, index)
				return nil
			}
			if last = t; t.Since > in.last {
				in.saw(t.Since, in.name(t.Since))
				continue
			}
			if t.Until > in.last {
				if t.Until != history.Forever {
					in.saw(t.Until, in.name(t.Since))
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
