package fsck

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sort"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A record of acts is what a checker remembers of a tenant's knowledge.
type actRecord struct {
	allActs bool // the list came to its end
	acts    pile[act]

	// What is believed as the list is read, and under which number each assertion stands
	// that was made: all that decides what the next act does.
	believed map[half]knowledge.Belief // by statement
	asserted map[half]dag.Seq          // by leaf
	aliases  *normalize.Table
}

// An act is what is kept of one.
type act struct {
	seq     dag.Seq
	until   dag.Seq // of a version: before which number it counts, as the acts have it; 0: it began none
	sum     uint64  // of number, time and text
	version uint64  // of what its edges must say
	marks   marks
}

// marks say what is known of an act.
type marks uint8

const (
	ofAlias     marks = 1 << iota
	fromSubject       // its edge was seen from the subject
	fromObject        // and from the object
	found             // by its statement, or among the aliases
)

func actName(seq dag.Seq) string { return fmt.Sprintf("act %d", seq) }

// actAt finds what is kept of the act of a number, nil if there is none.
func (c *checker) actAt(seq dag.Seq) *act {
	i := sort.Search(c.acts.len(), func(i int) bool { return c.acts.at(uint32(i)).seq >= seq })
	if i == c.acts.len() {
		return nil
	}
	if a := c.acts.at(uint32(i)); a.seq == seq {
		return a
	}
	return nil
}

// actList reads all acts up to the head, checks each by itself, and does anew what it did.
func (c *checker) actList() error {
	c.believed, c.asserted = map[half]knowledge.Belief{}, map[half]dag.Seq{}
	defer func() { c.believed, c.asserted, c.aliases = nil, nil, nil }()
	whole, err := c.eachAct("acts", func(r *knowledge.Recorded) error { c.act(r); return nil }, nil)
	c.allActs = whole
	return err
}

// eachAct gives the acts up to the head by number, and what is to be done behind each page.
// It reports whether it came to the end.
func (c *checker) eachAct(stage string, each func(*knowledge.Recorded) error, page func() error) (whole bool, _ error) {
	for after := dag.Seq(0); after < c.head; {
		list, err := c.s.Acts(c.ctx, c.tenant, after, c.o.Page)
		if err != nil {
			return false, c.unreadable(fmt.Sprintf("act %d and on", after+1), err)
		}
		for i := range list {
			r := &list[i]
			if r.Seq <= after {
				c.find(actName(r.Seq), "number", "it is listed behind %d", after)
				return false, nil
			}
			if after = r.Seq; after > c.head {
				c.saw(after, actName(after))
				break
			}
			if err := each(r); err != nil {
				return false, err
			}
		}
		if page != nil {
			if err := page(); err != nil {
				return false, err
			}
		}
		c.progress(stage, int(min(after, c.head)), int(c.head))
		if len(list) < c.o.Page {
			break
		}
	}
	return true, nil
}

// act checks an act by itself and against those before it.
func (c *checker) act(r *knowledge.Recorded) {
	where := actName(r.Seq)
	c.counts.Acts++
	a := c.acts.at(c.acts.add(act{seq: r.Seq, sum: c.actSum(r)}))
	if _, ok := r.Act.About(); !ok {
		a.marks = ofAlias
	}
	c.evidence(where, r)
	prepared := c.prepared(where, r)
	if prepared == nil {
		return
	}
	// One by one, and not a page at once: so one that cannot be has a name, and the others
	// are done all the same.
	planned, err := prepared.Plan(c.recall(prepared, r.Seq), 0)
	if err != nil {
		var which *knowledge.ActError
		if errors.As(err, &which) {
			err = which.Err
		}
		c.find(where, "act", "%v", err)
		return
	}
	if opened := planned.Opened[0]; opened != r.Opened {
		c.find(where, "opened", "stored is %d, and the acts give %d", r.Opened, opened)
	}
	c.learn(a, planned, prepared)
}

// prepared checks the form of an act, its leaf and its time. It gives nil for one that has
// no form.
func (c *checker) prepared(where string, r *knowledge.Recorded) *knowledge.Prepared {
	p, err := knowledge.PrepareHistory([]knowledge.Recorded{*r})
	if err == nil {
		return p
	}
	if err := r.Act.Check(); err != nil {
		c.find(where, "form", "%v", err)
		return nil
	}
	mended := *r
	if mended.Leaf = r.Act.Leaf(); mended.Leaf != r.Leaf {
		c.find(where, "leaf", "stored is %s, and its fields give %s", r.Leaf, mended.Leaf)
	}
	if !r.At.Valid() {
		c.find(where, "form", "it was recorded at %d, which is no time", r.At)
		mended.At = 0
	}
	if p, err = knowledge.PrepareHistory([]knowledge.Recorded{mended}); err != nil {
		c.find(where, "form", "%v", err)
		return nil
	}
	return p
}

// recall gives what planning an act must know.
func (c *checker) recall(p *knowledge.Prepared, seq dag.Seq) knowledge.Known {
	k := knowledge.Known{Head: seq - 1, Believed: map[knowledge.ID]knowledge.Belief{}, Recorded: map[dag.Digest]dag.Seq{}, Aliases: c.aliases}
	for _, id := range p.Touched() {
		if b, ok := c.believed[half(id[:16])]; ok {
			k.Believed[id] = b
		}
	}
	for _, leaf := range p.Asserted {
		if seq, ok := c.asserted[half(leaf[:16])]; ok {
			k.Recorded[leaf] = seq
		}
	}
	return k
}

// learn does what was planned for one act.
func (c *checker) learn(a *act, p *knowledge.Planned, prepared *knowledge.Prepared) {
	for _, e := range p.Ended {
		c.actAt(e.Since).until = e.Until
		delete(c.believed, half(e.Statement[:16]))
	}
	for _, leaf := range prepared.Asserted {
		c.asserted[half(leaf[:16])] = a.seq
	}
	c.aliases = p.Aliases
	r := &p.Recorded[0]
	v, began := r.Version()
	if !began {
		return
	}
	c.counts.Versions++
	c.believed[half(v.ID[:16])] = knowledge.Belief{Since: a.seq, Opened: p.Opened[0], Confidence: v.Confidence}
	a.until, a.version = dag.MaxSeq, c.versionSum(v)
}

// evidence makes sure that the turn that a fact was learned from was there before it.
func (c *checker) evidence(where string, r *knowledge.Recorded) {
	id := r.Act.Fact.Turn
	if r.Act.Kind != knowledge.Assert || id == (dag.TurnID{}) || !c.whole {
		return
	}
	if i, known := c.lookup(id); !known {
		c.find(where, "evidence", "its turn %s is not there", id)
	} else if t := c.turn(i); t.seq > r.Seq {
		c.find(where, "evidence", "its turn %s has the number %d, which is greater", id, t.seq)
	}
}

// actSum is of all of an act that never changes.
func (c *checker) actSum(r *knowledge.Recorded) uint64 {
	return maphash.Comparable(c.seed, struct {
		seq, opened dag.Seq
		at          dag.Time
		leaf        dag.Digest
	}{r.Seq, r.Opened, r.At, r.Act.Leaf()})
}

// versionSum is of all of a version that never changes.
func (c *checker) versionSum(v knowledge.Version) uint64 {
	v.Until = 0
	return maphash.Comparable(c.seed, v)
}
