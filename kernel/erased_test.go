package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// TestErasedFacts erases a turn from which facts were learned. No file has their names any more, and
// no index anything of them; two kernels that had them in memory show them as of no number; slices
// that held them replay as erased and others as identical, here and in a copy; what another turn
// supports is believed still.
func TestErasedFacts(t *testing.T) {
	for name, opened := range readableStores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := opened(t)
			a := token.NewAuthority(ring(t, "k1"))
			k, other := over(t, s, a), over(t, s, a)
			turns := chain(t, k, 5)
			from := func(turn int, confidence dag.PPM, subject, predicate, object string) knowledge.Act {
				act := fact(t, subject, predicate, object)
				act.Fact.Turn, act.Fact.Confidence = turns[turn], confidence
				return act
			}
			text := must(knowledge.NewText("team", "noted", "The Okapi text. "+strings.Repeat("long ", 1000), "user"))
			text.Turn = turns[2]
			acts := []knowledge.Act{
				fact(t, "team", "owns", "pump"), fact(t, "valve", "feeds", "tank"),
				from(2, dag.One, "Quillon Okapi", "prefers", "Vermilion"), from(2, dag.One, "team", "knows", "Quillon Okapi"),
				from(2, dag.One, "deploy", "is", "green"), from(3, 500_000, "deploy", "is", "green"),
				{Kind: knowledge.Assert, Fact: text},
			}
			for n := range 900 { // so many that pages of indexes are split, and in no order
				turn := 2 + n%3
				word := []string{"okapi", "zebra", "zebra"}[n%3]
				acts = append(acts, from(turn, dag.PPM(n*7919%1000)*1000, fmt.Sprintf("%s %d", word, n*104729%1000), "is near", fmt.Sprint("place ", n*7919%50)))
			}
			for len(acts) > 0 {
				n := min(len(acts), 37)
				must(k.Facts().Learn(ctx, tenant, acts[:n]))
				acts = acts[n:]
			}
			before := must(k.Turns().Head(ctx, tenant))
			cut := func(start string) *kernel.IssuedFacts {
				return must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{start}}))
			}
			held, asked, without := cut("team"), cut("Quillon Okapi"), cut("valve")
			reach := func(k *kernel.Kernel, start string, asOf dag.Seq) []string {
				return entities(must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{start}, AsOf: asOf, MaxHops: 1})).Reached)
			}
			for range 3 {
				for _, k := range []*kernel.Kernel{k, other} {
					for _, asOf := range []dag.Seq{0, before} {
						if got := reach(k, "team", asOf); len(got) != 3 {
							t.Fatalf("before the erasure: %q", got)
						}
					}
				}
			}
			if read := s.Read(); !holds(read, "okapi") || !holds(read, "zebra") {
				t.Fatal("the files do not hold what they must: this test cannot fail")
			}

			earlier, later := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(transfer.Copy(ctx, earlier, s, transfer.Options{}))

			must(k.Turns().Erase(ctx, tenant, turns[2], "asked for"))

			read := s.Read()
			if holds(read, "okapi") || holds(read, "vermilion") || !holds(read, "zebra") {
				t.Errorf("after the erasure a file has okapi: %v, vermilion: %v, zebra: %v", holds(read, "okapi"), holds(read, "vermilion"), holds(read, "zebra"))
			}
			for index := range 256 {
				for _, term := range must(s.Terms(ctx, tenant, []history.Range{{Index: history.Index(index)}}))[0] {
					for _, gone := range []string{"quillon-okapi", "okapi-0", "vermilion"} {
						if key := knowledge.KeyOf(gone); bytes.Contains(term.Key, key[:]) || bytes.Contains(term.Value, key[:]) {
							t.Errorf("index %d has %s still: %+v", index, gone, term)
						}
					}
				}
			}
			for _, k := range []*kernel.Kernel{k, other} {
				for _, asOf := range []dag.Seq{before, 0} { // the earlier one first, by which nobody hears of the erasure
					if got := reach(k, "team", asOf); fmt.Sprint(got) != "[pump]" {
						t.Errorf("as of %d: %q", asOf, got)
					}
				}
				if got := reach(k, "deploy", 0); fmt.Sprint(got) != "[green]" {
					t.Errorf("what turn 3 supports: %q", got)
				}
			}
			if _, err := k.Facts().Learn(ctx, tenant, []knowledge.Act{from(2, dag.One, "x", "y", "z")}); !errors.Is(err, knowledge.ErrNoEvidence) {
				t.Errorf("a fact of an erased turn: %v, want knowledge.ErrNoEvidence", err)
			}

			replays := func(where string, k *kernel.Kernel) {
				for what, c := range map[string]struct {
					of   *kernel.IssuedFacts
					want kernel.ReplayOutcome
				}{"a slice with erased facts": {held, kernel.Erased}, "a question of an erased name": {asked, kernel.Erased}, "a slice without them": {without, kernel.Identical}} {
					if r, err := k.Slices().Replay(ctx, tenant, c.of.Bundle); err != nil || r.Outcome != c.want {
						t.Errorf("%s, %s: %+v, %v, want %s", where, what, r, err, c.want)
					}
					if r, err := k.Slices().ReplayIssued(ctx, tenant, c.of.Facts.Provenance.SliceID); err != nil || r.Outcome != c.want {
						t.Errorf("%s, %s, by its record: %+v, %v, want %s", where, what, r, err, c.want)
					}
				}
			}
			replays("here", k)
			sound := func(where string, s store.Store) {
				if report, err := fsck.Store(ctx, s, fsck.Options{}); err != nil || !report.OK() {
					t.Errorf("%s: %v, %v", where, report.Findings, err)
				}
			}
			sound("here", s)
			entries := must(s.Entries(ctx, tenant, history.Page{Limit: 1 << 20}))
			for where, copied := range map[string]*inmem.Store{"in a copy that was begun before": earlier, "in a copy": later} {
				must(transfer.Copy(ctx, copied, s, transfer.Options{}))
				replays(where, over(t, copied, a))
				sound(where, copied)
				if got := must(copied.Entries(ctx, tenant, history.Page{Limit: 1 << 20})); !slices.EqualFunc(got, entries, func(a, b history.Entry) bool { return a.Same(&b) }) {
					t.Errorf("%s: %d entries, want %d, or others", where, len(got), len(entries))
				}
			}
			changed := held.Bundle
			changed = bytes.Replace(changed, []byte(`"object":"pump"`), []byte(`"object":"bump"`), 1)
			if r, err := k.Slices().Replay(ctx, tenant, changed); err != nil || r.Outcome != kernel.Different {
				t.Errorf("a bundle that was changed: %+v, %v, want different", r, err)
			}
		})
	}
}

// TestErasedFarBehind lets another kernel record more than is gone through one by one, and erase a turn whose
// text this one has. No slice shows it.
func TestErasedFarBehind(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	k, other := over(t, s, a), over(t, s, a)
	turns := chain(t, k, 3)
	cut := func() *slice.Bundle {
		return must(slice.ParseBundle(must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: turns[2]})).Bundle))
	}
	for range 2 {
		if redacted := cut().Redacted(); len(redacted) != 0 {
			t.Fatalf("before the erasure: %v", redacted)
		}
	}
	var acts []knowledge.Act
	for n := range 5000 {
		acts = append(acts, fact(t, "x", "p", fmt.Sprint(n)))
	}
	for _, turn := range turns[:2] { // one before all the facts, one after
		must(other.Turns().Erase(ctx, tenant, turn, "asked for"))
		must(other.Facts().Learn(ctx, tenant, acts))
		acts = acts[:1]
	}
	if redacted := cut().Redacted(); len(redacted) != 2 {
		t.Errorf("redacted are %v, want the two that were erased", redacted)
	}
}

var errFails = errors.New("the store fails")

// An afterAppend store fails writes of anything but turns, if it is told to.
type afterAppend struct {
	store.Store
	fail bool
}

func (s *afterAppend) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if s.fail {
		return errFails
	}
	return s.Store.Write(ctx, tenant, c)
}

// TestWorkingErased holds that neither clearing a session nor erasing a turn leaves a text anywhere in the store's own files, also where taking the
// message out of the session had failed.
func TestWorkingErased(t *testing.T) {
	for name, open := range readableStores {
		t.Run(name, func(t *testing.T) {
			at := open(t)
			once := &afterAppend{Store: at.Store}
			k := over(t, once, token.NewAuthority(ring(t, "k1")))
			ctx := access.As(t.Context(), access.Identity{Tenant: tenant, Role: access.Admin, Subject: agentOne})
			put := func(session, text string) api.PutMessage {
				return must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: session, Messages: []api.NewMessage{{Role: dag.RoleUser, Author: "human:ada", Content: text}}})).Messages[0]
			}
			held := func() []api.WorkingMessage {
				return must(k.Working().Get(ctx, tenant, api.WorkingQuery{Owner: agentOne, Session: "run"})).Messages
			}
			for i := range 40 { // each takes the place of another value
				put("clear", fmt.Sprint("quetzalcoatl ", i, strings.Repeat(" word", 200*(i%3))))
			}
			must(k.Working().Clear(ctx, tenant, api.WorkingQuery{Owner: agentOne, Session: "clear"}))
			if holds(at.Read(), "quetzalcoatl") {
				t.Error("what was cleared is in the files")
			}
			message := put("run", "popocatepetl").ID
			once.fail = true
			if _, err := k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"}); !errors.Is(err, errFails) {
				t.Fatal(err)
			}
			once.fail = false
			if list := held(); len(list) != 1 || !holds(at.Read(), "popocatepetl") {
				t.Fatalf("held %+v", list)
			}
			must(k.Turns().Erase(ctx, tenant, message, "asked for"))
			if list := held(); len(list) > 0 || holds(at.Read(), "popocatepetl") {
				t.Errorf("held %+v, and in the files", list)
			}
		})
	}
}
