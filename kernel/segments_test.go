package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/token"
)

// A snapless store keeps no snapshots that are derived, and counts the turns that are read.
type snapless struct {
	store.Store
	fails error // of writing snapshots; nil: they are written
	hides bool  // that there are any
	read  int
}

func (s *snapless) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	if s.hides {
		return nil, nil
	}
	return s.Store.Snapshots(ctx, tenant, p)
}

func (s *snapless) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if _, ok := c.(*erasures.Keeping); ok && s.fails != nil {
		return s.fails
	}
	return s.Store.Write(ctx, tenant, c)
}

func (s *snapless) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	return s.Store.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		s.read++
		return fn(r)
	})
}

// rareWord is a word that no other turn has, nor a prefix of it of four letters.
func rareWord(r *rand.Rand) string {
	const letters = "bcdfghjkmnpqrtvwxz"
	word := make([]byte, 12)
	for i := range word {
		word[i] = letters[r.IntN(len(letters))]
	}
	return string(word)
}

// snapshotsOf returns all snapshots of the tenant.
func snapshotsOf(t *testing.T, s store.Store) []history.Snapshot {
	t.Helper()
	return must(s.Snapshots(t.Context(), tenant, history.SnapshotPage{Limit: 10_000}))
}

// spokenMany makes turns with a rare word each.
func spokenMany(r *rand.Rand, from, n int, words map[dag.TurnID]string) (drafts []dag.Draft) {
	for i := range n {
		d := spoken(r, from+i)
		d.CreatedAt = dag.Time(1_780_000_000_000_000 + int64(from+i)*60_000_000)
		words[d.ID] = rareWord(r)
		d.Content += " " + words[d.ID]
		drafts = append(drafts, d)
	}
	return drafts
}

// TestSegments lets a store grow at random while texts are erased by two kernels. Kernels that are opened anew read segments, and find what one finds
// that follows, and one that reads texts alone, as of any number. After an erasure no snapshot has a word of the text.
func TestSegments(t *testing.T) {
	rounds := 12
	if race.Enabled {
		rounds = 3 // one goroutine: little for the race detector
	}
	words, vectors := segments.Series{Analyzer: "english"}, segments.Series{Model: embed.StaticID}
	for name := range stores {
		t.Run(name+"/words", func(t *testing.T) { segmented(t, open(t, name), retrieval.PolicyID, rounds, words) })
		t.Run(name+"/vectors", func(t *testing.T) { segmented(t, open(t, name), retrieval.FindPolicyID, (rounds+1)/2, vectors, words) })
	}
}

func segmented(t *testing.T, s store.Store, p policy.ID, rounds int, kept ...segments.Series) {
	ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
	k, other := over(t, s, a), over(t, s, a)
	words, erased := map[dag.TurnID]string{}, map[dag.TurnID]bool{}
	var ids []dag.TurnID
	found, spared, dropped := 0, 0, 0
	for round := range rounds {
		drafts := spokenMany(r, len(ids), 100+r.IntN(900), words)
		must(k.Turns().Admit(ctx, tenant, drafts))
		for i := range drafts {
			ids = append(ids, drafts[i].ID)
		}
		ask := []*kernel.Kernel{k, other}[r.IntN(2)]
		must(ask.Turns().Search(ctx, tenant, find.Request{Policy: p, Query: retrieval.Query{Text: "deploy", Limit: 3}}))
		erasures := r.IntN(4)
		if round == rounds-1 {
			erasures++
		}
		for n := range erasures {
			id := ids[r.IntN(len(ids))]
			if round == rounds-1 && n == erasures-1 { // one that is in a segment for sure
				id = ids[slices.IndexFunc(ids, func(id dag.TurnID) bool { return !erased[id] })]
			}
			again := erased[id] // then the segments were derived anew without it
			before := len(snapshotsOf(t, s))
			must([]*kernel.Kernel{k, other}[r.IntN(2)].Turns().Erase(ctx, tenant, id, "asked to"))
			erased[id] = true
			dropped += before - len(snapshotsOf(t, s))
			noWord(t, s, words, erased)
			seq := must(s.Turns(ctx, tenant, store.IDs{id}))[0].Seq
			for _, snapshot := range snapshotsOf(t, s) {
				if _, r, _ := segments.Parse(snapshot.Name); !again && r.After < seq && seq <= r.UpTo {
					t.Fatalf("number %d is erased, and there is %s", seq, snapshot.Name)
				}
			}
		}
		must(k.Turns().Search(ctx, tenant, find.Request{Policy: p, Query: retrieval.Query{Text: "outage", Limit: 3}})) // which derives those again that were dropped
		ranges := segments.Within(must(k.Turns().Head(ctx, tenant)))
		var names, want []string
		for _, s := range snapshotsOf(t, s) {
			names = append(names, s.Name)
		}
		for _, series := range kept {
			for _, r := range ranges {
				want = append(want, r.Name(series))
			}
		}
		if !slices.Equal(names, want) {
			t.Fatalf("round %d: the snapshots %q, want %q", round, names, want)
		}
		plain, late := &snapless{Store: s, hides: true, fails: errors.New("none")}, &snapless{Store: s}
		all := []*kernel.Kernel{over(t, plain, a), over(t, late, a), k, other}
		head := must(k.Turns().Head(ctx, tenant))
		for range 6 {
			q := question(r, dag.Seq(1+r.IntN(int(head))))
			q.Policy = p
			if r.IntN(3) == 0 {
				q.Text += " " + words[ids[r.IntN(len(ids))]]
			}
			want := must(all[0].Turns().Search(ctx, tenant, q))
			for i, asked := range all[1:] {
				if got := must(asked.Turns().Search(ctx, tenant, q)); !reflect.DeepEqual(got, want) {
					t.Fatalf("round %d, kernel %d, %q as of %d:\ngot  %+v\nwant %+v", round, i+1, q.Text, q.AsOf, got, want)
				}
			}
			found += len(want.Hits)
		}
		if plain.read != len(ids) {
			t.Errorf("without segments %d turns were read, of %d", plain.read, len(ids))
		}
		spared += plain.read - late.read
		noWord(t, s, words, erased)
	}
	if report := must(fsck.Tenant(ctx, s, tenant, fsck.Options{})); report.Found > 0 {
		t.Errorf("fsck: %v", report.Findings)
	}
	if rounds >= 6 && (12*found < 200*rounds || 12*spared < 2*len(ids)*rounds || dropped == 0) {
		t.Errorf("%d hits, %d texts were not read, %d segments were dropped: too few to say anything", found, spared, dropped)
	}
	if len(ids) > segments.Most+segments.Least && !slices.ContainsFunc(snapshotsOf(t, s), func(s history.Snapshot) bool {
		_, r, _ := segments.Parse(s.Name)
		return r.UpTo-r.After == segments.Most
	}) {
		t.Errorf("%d turns, and no large segment", len(ids))
	}
}

// noWord looks for the words of erased turns in snapshots.
func noWord(t *testing.T, s store.Store, words map[dag.TurnID]string, erased map[dag.TurnID]bool) {
	t.Helper()
	var all []byte
	for _, snapshot := range snapshotsOf(t, s) {
		all = append(all, snapshot.Value...)
	}
	there := 0
	for id, word := range words { // terms are without the letters that they share with the term before
		if there > 0 && !erased[id] {
			continue // one is enough to know that words can be found
		}
		switch has := bytes.Contains(all, []byte(word[4:])); {
		case has && erased[id]:
			t.Fatalf("a snapshot has %s, and the text is erased", word)
		case has:
			there++
		}
	}
	if len(all) > 0 && there == 0 {
		t.Fatal("no snapshot has any word: this test cannot find anything")
	}
}

// TestSegmentsDamaged changes, drops and swaps snapshots: they are derived anew. A store that takes none still answers.
func TestSegmentsDamaged(t *testing.T) {
	ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
	s := open(t, "memory")
	k := over(t, s, a)
	words := map[dag.TurnID]string{}
	drafts := spokenMany(r, 0, 5*segments.Least+10, words)
	must(k.Turns().Admit(ctx, tenant, drafts))
	q := find.Request{Policy: retrieval.PolicyID, Query: retrieval.Query{Text: "outage report " + words[drafts[700].ID], Limit: 20}}
	refusing := &snapless{Store: s, fails: errors.New("read-only")}
	want := must(over(t, refusing, a).Turns().Search(ctx, tenant, q))
	if list := snapshotsOf(t, s); len(list) != 0 {
		t.Fatalf("%d snapshots in a store that takes none", len(list))
	}
	must(k.Turns().Search(ctx, tenant, q))
	whole := snapshotsOf(t, s)
	if len(whole) != 5 {
		t.Fatalf("%d snapshots, want 5", len(whole))
	}
	for name, damage := range map[string]func(list []history.Snapshot){
		"a bit":    func(list []history.Snapshot) { list[2].Value[100] ^= 1 },
		"cut":      func(list []history.Snapshot) { list[2].Value = list[2].Value[:100] },
		"gone":     func(list []history.Snapshot) { list[2].Value = nil },
		"swapped":  func(list []history.Snapshot) { list[1].Value, list[2].Value = list[2].Value, list[1].Value },
		"all":      func(list []history.Snapshot) { clear(list[0].Value); list[1].Value, list[4].Value = nil, []byte("x") },
		"the last": func(list []history.Snapshot) { list[4].Value = nil },
	} {
		list := make([]history.Snapshot, len(whole))
		for i := range whole {
			list[i] = history.Snapshot{Name: whole[i].Name, Value: bytes.Clone(whole[i].Value)}
		}
		damage(list)
		if err := s.Write(ctx, tenant, &erasures.Keeping{Snapshots: list, Known: dag.MaxSeq - 1}); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex // several pages are read at once
		var told []string
		late := must(kernel.Open(kernel.Config{Store: s, Authority: a, Rand: noise(1), Clock: standing, Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
			return ctx, func(err error) {
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, operation+": "+err.Error())
				}
			}
		}}))
		if got := must(late.Turns().Search(ctx, tenant, q)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		if again := snapshotsOf(t, s); !reflect.DeepEqual(again, whole) {
			t.Errorf("%s: the snapshots were not derived again", name)
		}
		gone := name == "gone" || name == "the last"
		if noted := strings.Contains(fmt.Sprint(told), "read segment: segment words/english/"); noted == gone {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// A tardy store erases a turn when a segment is about to be written.
type tardy struct {
	store.Store
	before func()
}

func (s *tardy) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if _, ok := c.(*erasures.Keeping); ok && s.before != nil {
		before := s.before
		s.before = nil
		before()
	}
	return s.Store.Write(ctx, tenant, c)
}

// TestSegmentsLate erases a text between the moment when a segment was made with it and the moment when it is written: it is not.
func TestSegmentsLate(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k, words := over(t, s, a), map[dag.TurnID]string{}
			drafts := spokenMany(r, 0, segments.Least+10, words)
			must(k.Turns().Admit(ctx, tenant, drafts))
			late := over(t, &tardy{s, func() { must(k.Turns().Erase(ctx, tenant, drafts[7].ID, "asked to")) }}, a)
			q := find.Request{Policy: retrieval.PolicyID, Query: retrieval.Query{Text: "outage", Limit: 5}}
			must(late.Turns().Search(ctx, tenant, q))
			if list := snapshotsOf(t, s); len(list) != 0 {
				t.Fatalf("%d snapshots, and a text was erased when they were written", len(list))
			}
			must(late.Turns().Search(ctx, tenant, q)) // knows the erasure
			if list := snapshotsOf(t, s); len(list) != 1 {
				t.Fatalf("%d snapshots, want 1", len(list))
			}
			noWord(t, s, words, map[dag.TurnID]bool{drafts[7].ID: true})
		})
	}
}
