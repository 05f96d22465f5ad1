package journal_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// written makes a literal of names as somebody writes them, with what is kept of that.
func written(t testing.TB, subject, predicate, object string, into journal.Wording) belief.Literal {
	t.Helper()
	var l belief.Literal
	var w knowledge.Written
	for _, n := range []struct {
		text     string
		name, as *string
	}{{subject, &l.Subject, &w.Subject}, {predicate, &l.Predicate, &w.Predicate}, {object, &l.Object, &w.Object}} {
		name, err := normalize.Name(n.text)
		if err != nil {
			t.Fatal(err)
		}
		*n.name, *n.as = name, knowledge.Spelling(n.text, name)
	}
	if w != (knowledge.Written{}) {
		into[l] = w
	}
	return l
}

// said is a literal as a wording has it.
func said(l belief.Literal, w journal.Wording) string {
	as := w[l]
	return strings.Join([]string{knowledge.Spelled(l.Subject, as.Subject), knowledge.Spelled(l.Predicate, as.Predicate), knowledge.Spelled(l.Object, as.Object)}, "|")
}

// randomText draws a name with what names of real rules have: quotes, paths, other scripts, several lines, and what acts on a terminal.
func randomText(r *rand.Rand) string {
	parts := []string{`run "make test"`, "/etc/hosts", "Grüße", "São Paulo", "🎉 done", "never!", "a\nb", "--force", "<b>", "\x1b[31m", "C:\\Temp", "x", "text:many\nlines\n\tof it"}
	text := parts[r.IntN(len(parts))]
	for range r.IntN(3) {
		text += []string{" ", "; ", "\n"}[r.IntN(3)] + parts[r.IntN(len(parts)-1)]
	}
	return text
}

func evidence(r *journal.Revision) string {
	w := canon.NewWriter(nil)
	r.WriteEvidence(w)
	return string(w.Bytes)
}

// TestWording states random names as they are written, beside a desk at which the same is stated by name. What is written comes back byte for
// byte, with whatever an item states meanwhile; and evidence, leaves and ranks are those of the desk that knows names alone.
func TestWording(t *testing.T) {
	t.Parallel()
	rounds, checked := 300, 0
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		d, plain := newDesk(t), newDesk(t)
		want := map[belief.Item]map[belief.Literal]string{}
		for range 6 {
			words := journal.Wording{}
			l := written(t, randomText(r), randomText(r), randomText(r), words)
			item := belief.Item(fmt.Sprintf("kref://acme/support/i%d.fact", r.IntN(3)))
			ask := d.request(journal.Revise, l)
			ask.Item = item
			if r.IntN(4) == 0 {
				p := written(t, randomText(r), randomText(r), randomText(r), words)
				ask.Premises = []belief.Literal{p}
			}
			bare := ask
			ask.Wording = words
			d.do(ask)
			plain.do(bare)
			if want[item] == nil {
				want[item] = map[belief.Literal]string{}
			}
			want[item][l] = said(l, words)
		}
		head := d.head()
		for item, literals := range want {
			h, bare := d.item(item), plain.item(item)
			for i, r := range h.Revisions {
				if a, b := evidence(r), evidence(bare.Revisions[i]); a != b {
					t.Fatalf("seed %d: the wording of %s changes evidence:\n%s\n%s", seed, item, a, b)
				}
				if r.Leaf() != bare.Revisions[i].Leaf() {
					t.Fatalf("seed %d: the wording changes a leaf", seed)
				}
			}
			now := h.Tagged(journal.Current)
			for i := range now.Statements {
				l := now.Statements[i].Literal
				if got := said(l, now.Wording); got != literals[l] {
					t.Errorf("seed %d: %q was written %q", seed, got, literals[l])
				}
				checked++
			}
		}
		if got, want := d.base(head), plain.base(plain.head()); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q, by name %q", seed, got, want)
		}
	}
	if checked < rounds {
		t.Fatalf("%d statements were compared", checked)
	}
}

// TestWordingFollows holds that words go on with what an item keeps, and with a proposal that waits, and go with what it gives up.
func TestWordingFollows(t *testing.T) {
	t.Parallel()
	d, words := newDesk(t), journal.Wording{}
	item := belief.Item("kref://acme/support/i.fact")
	keeps, goes := written(t, "Ada", "Likes", "Tea & Cake", words), written(t, "Ada", "Owns", "a Żubr", words)
	r := d.request(journal.Revise, keeps, goes)
	r.Item, r.Wording = item, words
	d.do(r)
	out := d.do(d.request(journal.Contract, goes))
	if got := said(goes, out.Wording); got != "Ada|Owns|a Żubr" {
		t.Errorf("the outcome says that %q gave way", got)
	}
	now := d.item(item).Tagged(journal.Current)
	if got := said(keeps, now.Wording); now.Number != 2 || got != "Ada|Likes|Tea & Cake" || len(now.Wording) != 1 {
		t.Errorf("revision %d says %q, and has the words of %d literals", now.Number, got, len(now.Wording))
	}
	again := d.request(journal.Revise, keeps)
	again.Item = item
	d.do(again)
	if now = d.item(item).Tagged(journal.Current); len(now.Wording) != 0 {
		t.Errorf("what was stated again by its names has the words of before: %v", now.Wording)
	}
	denied := keeps.Negated()
	p := d.request(journal.Propose, denied)
	p.Rank.Class, p.Wording = belief.Inferred, journal.Wording{denied: {Object: "TEA & cake"}}
	if out := d.do(p); out.Result != journal.Refused {
		t.Fatalf("%+v", out)
	}
	waiting, err := d.Conflicts(t.Context(), tenant, space, d.head())
	if err != nil || len(waiting) != 1 || waiting[0].Wording[denied].Object != "TEA & cake" {
		t.Errorf("%v, %v", waiting, err)
	}
}

// TestWordingDamaged changes each byte of the line that has the words. A changed line is no longer read, and evidence with the line is not evidence.
func TestWordingDamaged(t *testing.T) {
	t.Parallel()
	d, words := newDesk(t), journal.Wording{}
	r := d.request(journal.Revise, written(t, "Ada", "Owns", "a Żubr", words))
	r.Wording = words
	out := d.do(r)
	entries, err := d.Entries(t.Context(), tenant, history.Page{At: []dag.Seq{d.item(out.Item).Tagged(journal.Current).Seq}})
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	e := entries[0]
	line := bytes.IndexByte(e.Private, '\n')
	if line < 0 {
		t.Fatal("the entry has no words")
	}
	for i := line; i < len(e.Private); i++ {
		changed := e
		changed.Private = bytes.Clone(e.Private)
		changed.Private[i] ^= 1
		if _, err := (journal.Codec{}).Adopt([]history.Entry{changed}); err == nil {
			t.Errorf("byte %d changed: %q was adopted", i, changed.Private[line:])
		}
		if i > line {
			if r, err := journal.ReadRevision(&changed); err == nil && !maps.Equal(r.Wording, words) {
				t.Errorf("byte %d changed: %v was read", i, r.Wording)
			}
		}
	}
	whole := fmt.Sprintf(`{"private":%s,"public":%s}`, bytes.Replace(e.Private, []byte("\n"), []byte(","), 1), e.Public)
	if _, err := canon.Parse([]byte(whole)); err == nil {
		t.Error("both lines are one value")
	}
}
