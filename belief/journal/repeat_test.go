package journal_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// TestRepeatedProposals proposes the same twice: the second time nothing is recorded, whether the first one was taken or waits. Whatever differs is no repetition.
func TestRepeatedProposals(t *testing.T) {
	t.Parallel()
	l := literal(0, 1, false)
	propose := func(d *desk, set ...func(*journal.Request)) *journal.Outcome {
		r := d.request(journal.Propose, l)
		r.Rank, r.By, r.Waiting, r.Revision.Title = journal.Rank{Class: belief.Inferred}, "agent", journal.MaxWaiting, "Title"
		for _, fn := range set {
			fn(&r)
		}
		return d.do(r)
	}
	differs := map[string]func(*journal.Request){
		"another statement":  func(r *journal.Request) { r.Statements = []belief.Literal{literal(2, 2, false)} },
		"one more statement": func(r *journal.Request) { r.Statements = append(r.Statements, literal(2, 2, false)) },
		"another item":       func(r *journal.Request) { r.Item = "kref://acme/support/other.fact" },
		"a premise":          func(r *journal.Request) { r.Premises = []belief.Literal{literal(3, 0, false)} },
		"other words":        func(r *journal.Request) { r.Wording = journal.Wording{l: {Subject: "S"}} },
		"a title":            func(r *journal.Request) { r.Revision.Title = "Another" },
		"a text":             func(r *journal.Request) { r.Revision.Summary = "Text" },
		"a confidence":       func(r *journal.Request) { r.Revision.Confidence = 500_000 },
		"another caller":     func(r *journal.Request) { r.By = "another" },
		"a longer time":      func(r *journal.Request) { r.Span = belief.Span{Until: dag.MaxTime - 1} },
		"a tag":              func(r *journal.Request) { r.Tags = []string{"mine"} },
	}
	contained := map[string]bool{"a longer time": true} // of what is believed already, a shorter one says nothing new
	notWaiting := map[string]bool{"a title": true, "a text": true}

	for _, waits := range []bool{false, true} {
		begin := func() *desk {
			d := newDesk(t)
			if waits {
				d.do(d.request(journal.Revise, literal(0, 0, false))) // p0 has one object
			}
			return d
		}
		d := begin()
		first := propose(d)
		if (first.Result == journal.Refused) != waits || first.Again {
			t.Fatalf("%+v", first)
		}
		head := d.head()
		for range 3 {
			again := propose(d)
			want := journal.Unchanged
			if waits {
				want = journal.Refused
			}
			if again.Result != want || !again.Again || again.Seq != first.Seq || again.Item != first.Item || again.Revision != first.Revision || d.head() != head {
				t.Fatalf("waits %t: %+v after %+v, the head is %d and was %d", waits, again, first, d.head(), head)
			}
		}
		for name, set := range differs {
			if waits && notWaiting[name] || !waits && contained[name] {
				continue // a proposal that waits keeps neither
			}
			d := begin()
			propose(d)
			head := d.head()
			if o := propose(d, set); o.Again || d.head() == head {
				t.Errorf("waits %t, %s: %+v", waits, name, o)
			}
		}
	}

	d := newDesk(t)
	propose(d)
	d.do(d.request(journal.Contract, l))
	if o := propose(d); o.Again || o.Result != journal.Changed {
		t.Errorf("what was given up is proposed again: %+v", o)
	}
	for range 2 { // a person says that it still holds
		head := d.head()
		if d.do(d.request(journal.Revise, literal(4, 0, false))); d.head() == head {
			t.Error("a revision by what is believed already changed nothing")
		}
	}
}
