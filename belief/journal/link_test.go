package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// to is a link of a request to a target.
func to(kind, target string) journal.Link { return journal.Link{Type: kind, To: target} }

// kindsAfter lists the kinds of entries above a number, in their order.
func (d *desk) kindsAfter(after dag.Seq) (list []string) {
	d.t.Helper()
	entries, err := d.store.Entries(d.t.Context(), tenant, history.Page{After: after, Limit: 1000})
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range entries {
		kind, _, _ := strings.Cut(string(entries[i].Kind), "/")
		list = append(list, kind)
	}
	return list
}

// linksOf lists the links from a revision as of a number.
func linksOf(t testing.TB, b journal.Base, of belief.Address, asOf dag.Seq) (list []string) {
	t.Helper()
	all, err := b.Links(t.Context(), tenant, []string{of.String()}, false, asOf)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all[0] {
		list = append(list, fmt.Sprint(l.Type, " ", l.To, " ", l.By, " ", l.Seq, " ", l.At))
	}
	return list
}

// tagsOf lists the tags of an item that point to a revision.
func tagsOf(r *journal.ItemRecord) (list []string) {
	for _, t := range r.Tags {
		if t.Until == journal.Forever {
			list = append(list, fmt.Sprint(t.Name, t.Number))
		}
	}
	return list
}

// TestAttached records links, tags and a new space with a revision, in one change and in the order that is promised.
func TestAttached(t *testing.T) {
	d := newDesk(t)
	first := d.do(d.request(journal.Revise, literal(2, 0, false)))
	before := d.head()
	r := d.request(journal.Revise, literal(0, 0, false))
	r.Space, r.NewSpace, r.Item, r.By = "acme/other", true, "kref://acme/other/a.fact", "ada"
	r.Links = []journal.Link{to("depends_on", string(first.Item)+"?r=1"), to("created_from", "turn:"+dag.TurnID{7}.String())}
	r.Incoming = []journal.Link{{From: belief.Address{Item: first.Item, Revision: 1}, Type: journal.PromotedTo}}
	r.Tags = []string{"mine", journal.Current, journal.Published}
	o := d.do(r)
	if got, want := d.kindsAfter(before), []string{"space", "revision", "fact", "link", "link", "link", "tag", "tag"}; !slices.Equal(got, want) {
		t.Fatalf("the entries %q, want %q", got, want)
	}
	if o.Seq != d.head() || o.Revision != 1 || o.Item != r.Item {
		t.Errorf("%+v", o)
	}
	made := belief.Address{Item: o.Item, Revision: 1}
	if got := linksOf(t, d.Base, made, d.head()); len(got) != 2 || got[0] != fmt.Sprint("depends_on ", first.Item, "?r=1 ada ", before+5, " ", r.At) {
		t.Errorf("%q", got)
	}
	if got := linksOf(t, d.Base, belief.Address{Item: first.Item, Revision: 1}, d.head()); len(got) != 1 || !strings.HasPrefix(got[0], "promoted_to "+made.String()) {
		t.Errorf("%q", got)
	}
	if got := tagsOf(d.item(o.Item)); !slices.Equal(got, []string{"current1", "mine1", "published1"}) {
		t.Errorf("%q", got)
	}
	// The item is found by what it states; its tags move with the revision, and the space is there already.
	again := d.request(journal.Revise, literal(0, 0, false))
	again.Space, again.NewSpace, again.Tags = "acme/other", true, []string{journal.Published, "mine"}
	if o := d.do(again); o.Item != r.Item || o.Revision != 2 || o.Seq != d.head() {
		t.Errorf("%+v", o)
	}
	if got := tagsOf(d.item(o.Item)); !slices.Equal(got, []string{"current2", "mine2", "published2"}) {
		t.Errorf("%q", got)
	}
	contrary := d.request(journal.Revise, literal(0, 1, false))
	contrary.Space = "acme/other"
	if o := d.do(contrary); o.Result != journal.Refused || !o.Protects {
		t.Errorf("what is published gave way: %+v", o)
	}
	d.fsck()
}

// TestAttachedOrNothing leaves nothing at all of a request one of whose links or tags cannot be recorded, that is refused, or that is dry.
func TestAttachedOrNothing(t *testing.T) {
	d := newDesk(t)
	held := d.do(d.request(journal.Revise, literal(0, 0, false)))
	at := string(held.Item)
	head := d.head()
	good := []journal.Link{to("depends_on", at+"?r=1")}
	many := make([]journal.Link, journal.MaxLinks+1)
	for i := range many {
		many[i] = to("depends_on", fmt.Sprint("slice:", i))
	}
	tags := make([]string, journal.MaxTags+1)
	for i := range tags {
		tags[i] = fmt.Sprint("t", i)
	}
	for name, c := range map[string]struct {
		change func(r *journal.Request)
		want   error
	}{
		"a link to no item": {func(r *journal.Request) {
			r.Links = append(good, to("depends_on", "kref://acme/support/none.fact?r=1"))
		}, journal.ErrNoItem},
		"a link to no revision":        {func(r *journal.Request) { r.Links = append(good, to("depends_on", at)) }, journal.ErrNoItem},
		"a link to a later revision":   {func(r *journal.Request) { r.Links = append(good, to("depends_on", at+"?r=2")) }, journal.ErrNoItem},
		"a link to what becomes of it": {func(r *journal.Request) { r.Item = held.Item; r.Links = []journal.Link{to("depends_on", at+"?r=2")} }, journal.ErrNoItem},
		"a link from no revision": {func(r *journal.Request) {
			r.Incoming = []journal.Link{{From: belief.Address{Item: held.Item, Revision: 2}, Type: "x"}}
		}, journal.ErrNoItem},
		"no space":       {func(r *journal.Request) { r.Space = "acme/none" }, journal.ErrSpace},
		"another policy": {func(r *journal.Request) { r.NewSpace, r.Policy = true, "beliefs@1" }, journal.ErrMoved},
		"a contradiction in a space": {func(r *journal.Request) {
			r.Space, r.NewSpace = "acme/none", true
			r.Statements = append(r.Statements, literal(2, 0, true))
		}, belief.ErrInput},
		"no type":                   {func(r *journal.Request) { r.Links = []journal.Link{to("Depends On", at+"?r=1")} }, belief.ErrForm},
		"no target":                 {func(r *journal.Request) { r.Links = []journal.Link{to("depends_on", "")} }, belief.ErrForm},
		"a link twice":              {func(r *journal.Request) { r.Links = append(good, good...) }, belief.ErrForm},
		"too many links":            {func(r *journal.Request) { r.Links = many }, belief.ErrForm},
		"no tag":                    {func(r *journal.Request) { r.Tags = []string{"a b"} }, belief.ErrForm},
		"a tag twice":               {func(r *journal.Request) { r.Tags = []string{"a", "b", "a"} }, belief.ErrForm},
		"too many tags":             {func(r *journal.Request) { r.Tags = tags }, belief.ErrForm},
		"contracted with a link":    {func(r *journal.Request) { r.Operator, r.Links = journal.Contract, good }, belief.ErrForm},
		"contracted with a tag":     {func(r *journal.Request) { r.Operator, r.Tags = journal.Contract, []string{"a"} }, belief.ErrForm},
		"contracted in a new space": {func(r *journal.Request) { r.Operator, r.Space, r.NewSpace = journal.Contract, "acme/none", true }, belief.ErrForm},
	} {
		for _, op := range []journal.Operator{journal.Revise, journal.Expand, journal.Propose} {
			r := d.request(op, literal(2, 0, false))
			c.change(&r)
			if o, err := d.Operate(t.Context(), tenant, r); !errors.Is(err, c.want) || d.head() != head {
				t.Errorf("%s: %+v, %v, head %d after %d", name, o, err, d.head(), head)
			}
		}
	}
	attached := func(op journal.Operator, of belief.Literal) journal.Request {
		r := d.request(op, of)
		r.Rank.Class, r.Links, r.Tags = belief.Inferred, good, []string{"mine"}
		return r
	}
	dry := attached(journal.Revise, literal(2, 0, false))
	dry.Dry, dry.Space, dry.NewSpace = true, "acme/none", true
	if o := d.do(dry); o.Result != journal.Changed || o.Seq != 0 || d.head() != head {
		t.Errorf("dry: %+v, head %d after %d", o, d.head(), head)
	}
	if o := d.do(attached(journal.Expand, literal(0, 1, false))); o.Result != journal.Refused || d.head() != head {
		t.Errorf("%+v, head %d after %d", o, d.head(), head)
	}
	if o := d.do(attached(journal.Propose, literal(0, 1, false))); o.Result != journal.Refused {
		t.Errorf("%+v", o)
	}
	if got := d.kindsAfter(head); !slices.Equal(got, []string{"conflict"}) {
		t.Errorf("of a refused proposal there is %q", got)
	}
	d.fsck()
}

// TestAttachedAgain answers a request with its key from the record, also if it made its space.
func TestAttachedAgain(t *testing.T) {
	d := newDesk(t)
	held := d.do(d.request(journal.Revise, literal(0, 0, false)))
	r := d.request(journal.Propose, literal(0, 1, false))
	r.Space, r.NewSpace, r.Key, r.Tags, r.Links = "acme/other", true, dag.Digest{1}, []string{"mine"}, []journal.Link{to("depends_on", string(held.Item)+"?r=1")}
	first, head := d.do(r), d.head()
	r.Salt = dag.Salt{77}
	if second := d.do(r); !second.Again || second.Seq != first.Seq || second.Item != first.Item || second.Revision != 1 || d.head() != head {
		t.Errorf("%+v, then %+v, head %d after %d", first, second, d.head(), head)
	}
	d.fsck()
}

// TestAttachedTogether has several make one space and move one tag at once: one makes it, and each tag is moved from the revision before.
func TestAttachedTogether(t *testing.T) {
	d := newDesk(t)
	const writers = 8
	requests := make([]journal.Request, writers)
	for i := range requests {
		requests[i] = d.request(journal.Revise, literal(2, i%4, false))
		requests[i].Space, requests[i].NewSpace, requests[i].Item = "acme/other", true, "kref://acme/other/a.fact"
		requests[i].Tags, requests[i].Links = []string{"mine"}, []journal.Link{to("created_from", fmt.Sprint("slice:", i))}
	}
	before := d.head()
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() {
			if o, err := d.Operate(t.Context(), tenant, requests[i]); err != nil || o.Result != journal.Changed {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
	all.Wait()
	counts := map[string]int{}
	for _, kind := range d.kindsAfter(before) {
		counts[kind]++
	}
	if counts["space"] != 1 || counts["revision"] != writers || counts["link"] != writers || counts["tag"] != writers {
		t.Errorf("%v", counts)
	}
	last := dag.Seq(0)
	for _, tag := range d.item("kref://acme/other/a.fact").Tags {
		if tag.Name == "mine" {
			if last != 0 && tag.Since != last {
				t.Errorf("revision %d has the tag from %d on, and the one before had it until %d", tag.Number, tag.Since, last)
			}
			last = tag.Until
		}
	}
	if last != journal.Forever {
		t.Errorf("the last tag ends with %d", last)
	}
	d.fsck()
}

// everything is what a base says as of a number: spaces, items with their tags and links, and what is believed.
func everything(t testing.TB, b journal.Base, items []belief.Item, asOf dag.Seq) (list []string) {
	t.Helper()
	spaces, err := b.Spaces(t.Context(), tenant, asOf)
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, fmt.Sprint(spaces))
	for _, s := range []belief.Space{space, "acme/other"} {
		held, err := b.Believed(t.Context(), tenant, s, asOf)
		if err != nil {
			t.Fatal(err)
		}
		for i := range held {
			list = append(list, fmt.Sprint(held[i].Stated().Literal, held[i].Element().Rank, held[i].Revision.Address()))
		}
	}
	for _, item := range items {
		r, err := b.Item(t.Context(), tenant, item, asOf)
		if errors.Is(err, journal.ErrNoItem) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(item, len(r.Revisions), r.Deprecated, tagsOf(r)))
		for n := range r.Revisions {
			list = append(list, linksOf(t, b, belief.Address{Item: item, Revision: n + 1}, asOf)...)
		}
	}
	return list
}

// TestAttachedAdopted does random requests with links, tags and new spaces. A store that takes their entries in stretches of any size says the same as of every number, and so does
// this one as of what was.
func TestAttachedAdopted(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	counts := map[string]int{}
	for range 12 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 5))
		d := newDesk(t)
		var items []belief.Item
		moments := map[dag.Seq][]string{}
		for range 40 {
			op := []journal.Operator{journal.Revise, journal.Expand, journal.Propose}[r.IntN(3)]
			q := d.request(op, literal(r.IntN(3), r.IntN(4), r.IntN(4) == 0))
			q.Space, q.NewSpace = []belief.Space{space, "acme/other"}[r.IntN(2)], r.IntN(2) == 0
			q.Rank.Class = belief.Class(1 + r.IntN(4))
			for _, name := range []string{"mine", "seen", journal.Published, journal.Current} {
				if r.IntN(5) == 0 {
					q.Tags = append(q.Tags, name)
				}
			}
			for len(items) > 0 && r.IntN(2) == 0 {
				l := to(fmt.Sprint("t", r.IntN(100)), belief.Address{Item: items[r.IntN(len(items))], Revision: 1 + r.IntN(2)}.String())
				if !slices.Contains(q.Links, l) {
					q.Links = append(q.Links, l)
				}
			}
			head := d.head()
			o, err := d.Operate(t.Context(), tenant, q)
			switch {
			case errors.Is(err, journal.ErrNoItem), errors.Is(err, journal.ErrSpace):
				if counts["nothing"]++; d.head() != head {
					t.Fatalf("seed %d: %v, and head %d after %d", seed, err, d.head(), head)
				}
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			case o.Result == journal.Changed:
				if counts["attached"] += len(q.Links) + len(q.Tags); !slices.Contains(items, o.Item) {
					items = append(items, o.Item)
				}
			default:
				counts[o.Result]++
			}
			moments[d.head()] = everything(t, d.Base, items, d.head())
		}
		other := inmem.Open(&inmem.Disk{}, inmem.Options{})
		if _, err := transfer.Copy(t.Context(), other, d.store, transfer.Options{Stretch: 1 + r.IntN(9)}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for asOf := dag.Seq(1); asOf <= d.head(); asOf++ {
			want := everything(t, d.Base, items, asOf)
			if got := everything(t, journal.Of(other, nil), items, asOf); !slices.Equal(got, want) {
				t.Fatalf("seed %d: as of %d the copy says\n%q, want\n%q", seed, asOf, got, want)
			}
			if was, ok := moments[asOf]; ok && len(was) > 0 && !slices.Equal(was, want) {
				t.Fatalf("seed %d: as of %d\n%q, and it was\n%q", seed, asOf, want, was)
			}
		}
		d.fsck()
		(&desk{Base: journal.Of(other, nil), t: t, store: other}).fsck()
	}
	if counts["nothing"] < 20 || counts["attached"] < 200 || counts[journal.Refused] < 20 {
		t.Errorf("%v", counts)
	}
}

// TestAttachedFaults lets a store fail at each step of a change: all of a request is there or nothing, and the same request with its key brings it to its end.
func TestAttachedFaults(t *testing.T) {
	ends := map[dag.Seq]int{}
	for at := 1; ; at++ {
		disk := &inmem.Disk{}
		d := &desk{Base: journal.Of(inmem.Open(disk, inmem.Options{}), nil), t: t}
		if _, err := d.SetSpace(t.Context(), tenant, journal.SpacePolicy{Space: space, Policy: kindsV, At: 1}, func([]journal.Believed) error { return nil }); err != nil {
			t.Fatal(err)
		}
		steps := 0
		broken := journal.Of(inmem.Open(disk, inmem.Options{Step: func(string) error {
			if steps++; steps == at {
				return errors.New("broken")
			}
			return nil
		}}), nil)
		r := d.request(journal.Revise, literal(2, 0, false))
		r.Space, r.NewSpace, r.Tags, r.Links, r.Key = "acme/other", true, []string{"mine"}, []journal.Link{to("created_from", "slice:1")}, dag.Digest{1}
		_, err := broken.Operate(t.Context(), tenant, r)
		d.store = inmem.Open(disk, inmem.Options{})
		d.Base = journal.Of(d.store, nil)
		kept := d.head() == 6
		if ends[d.head()]++; d.head() != 1 && !kept {
			t.Errorf("step %d: the head is %d", at, d.head())
		}
		if o := d.do(r); o.Seq != 6 || d.head() != 6 || o.Again != kept {
			t.Errorf("step %d: %+v, head %d", at, o, d.head())
		}
		d.fsck()
		if err == nil {
			break
		}
	}
	if ends[1] == 0 || ends[6] < 2 {
		t.Errorf("how often the head was where: %v", ends)
	}
}
