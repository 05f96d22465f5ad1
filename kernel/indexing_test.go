package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// bounded opens a kernel whose requests read no more than so many texts for an index.
func bounded(t testing.TB, s store.Store, a *token.Authority, texts int) *kernel.Kernel {
	t.Helper()
	return must(kernel.Open(kernel.Config{Store: s, Authority: a, Rand: noise(1), Clock: standing, IndexTexts: texts}))
}

// filledNames are the names of the segments that numbers up to a head are kept in, ascending.
func filledNames(head dag.Seq) (names []string) {
	for _, of := range segments.Filled() {
		for _, r := range segments.Within(head) {
			names = append(names, r.Name(of))
		}
	}
	slices.Sort(names)
	return names
}

// namesOf are the names of all snapshots of the tenant, ascending.
func namesOf(t *testing.T, s store.Store) (names []string) {
	t.Helper()
	for _, snapshot := range snapshotsOf(t, s) {
		names = append(names, snapshot.Name)
	}
	return names
}

// sound fails if fsck finds anything.
func sound(t *testing.T, s store.Store) {
	t.Helper()
	if report := must(fsck.Tenant(t.Context(), s, tenant, fsck.Options{})); report.Found > 0 {
		t.Errorf("fsck: %v", report.Findings)
	}
}

// TestMakeIndex makes segments while a store grows, is interrupted after each one, and goes on where it was. What it makes has the bytes of what a search makes that
// reads all texts, and an erased text is in none of it.
func TestMakeIndex(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k, words, erased := over(t, s, a), map[dag.TurnID]string{}, map[dag.TurnID]bool{}
			var ids []dag.TurnID
			rounds := []int{3*segments.Least + 7, segments.Least, segments.Most - 2*segments.Least, 30}
			if race.Enabled {
				rounds = rounds[:2] // one goroutine: little for the race detector
			}
			interrupted := 0
			for round, more := range rounds {
				drafts := spokenMany(r, len(ids), more, words)
				must(k.Turns().Admit(ctx, tenant, drafts))
				for i := range drafts {
					ids = append(ids, drafts[i].ID)
				}
				if round > 0 {
					id := ids[r.IntN(segments.Least)]
					for erased[id] { // an erasure of it would change nothing
						id = ids[r.IntN(segments.Least)]
					}
					must(k.Turns().Erase(ctx, tenant, id, "asked to"))
					erased[id] = true
				}
				head, made := must(k.Turns().Head(ctx, tenant)), 0
				for whole := false; !whole; {
					there := len(namesOf(t, s))
					ended, cancel := context.WithCancel(ctx)
					done, err := over(t, s, a).Turns().MakeIndex(ended, tenant, projection.Indexing{Alone: round%2 == 0, Progress: func(dag.Seq, dag.Seq) { cancel() }})
					cancel()
					switch whole = err == nil && done.Made == 0; {
					case whole:
					case done.Made != 1:
						t.Fatalf("%d segments were made after %d, %v, want 1 at a time", done.Made, there, err)
					case errors.Is(err, context.Canceled):
						interrupted++
					case err != nil:
						t.Fatal(err)
					}
					made += done.Made
					noWord(t, s, words, erased)
				}
				if got, want := namesOf(t, s), filledNames(head); !slices.Equal(got, want) || made == 0 {
					t.Fatalf("round %d: %d segments were made, and there are\n%q, want\n%q", round, made, got, want)
				}
			}
			sound(t, s)
			if interrupted == 0 {
				t.Error("nothing was interrupted")
			}
			whole := snapshotsOf(t, s)
			for _, snapshot := range whole {
				must(0, s.Write(ctx, tenant, &erasures.Keeping{Snapshots: []history.Snapshot{{Name: snapshot.Name}}, Known: dag.MaxSeq - 1}))
			}
			must(over(t, s, a).Turns().Search(ctx, tenant, find.Request{Policy: retrieval.FindPolicyID, Query: retrieval.Query{Text: "outage", Limit: 3}}))
			if again := snapshotsOf(t, s); !reflect.DeepEqual(again, whole) {
				t.Error("a search that reads all texts makes other segments")
			}
		})
	}
}

// TestPartsBesideSegments leaves parts of a segment beside it, as two processes do that make segments at once: an index reads none of its texts, also where the
// part is the last of a page of segments, and the next call of MakeIndex drops the parts.
func TestPartsBesideSegments(t *testing.T) {
	ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
	s := open(t, "memory")
	k := over(t, s, a)
	parts := map[string][]byte{} // by name
	const larger = 9             // with 8 parts, one more than a page of segments: the last part is at its end
	for n := range larger {
		must(k.Turns().Admit(ctx, tenant, spokenMany(r, n*segments.Most, segments.Least, map[dag.TurnID]string{})))
		must(k.Turns().MakeIndex(ctx, tenant, projection.Indexing{}))
		for _, snapshot := range snapshotsOf(t, s) {
			if _, of, _ := segments.Parse(snapshot.Name); n > 0 && of.UpTo-of.After == segments.Least {
				parts[snapshot.Name] = snapshot.Value
			}
		}
		must(k.Turns().Admit(ctx, tenant, spokenMany(r, n*segments.Most+segments.Least, segments.Most-segments.Least, map[dag.TurnID]string{})))
	}
	must(k.Turns().MakeIndex(ctx, tenant, projection.Indexing{}))
	whole := snapshotsOf(t, s)
	q := find.Request{Policy: retrieval.FindPolicyID, Query: retrieval.Query{Text: "outage", Limit: 10}}
	want := must(over(t, s, a).Turns().Search(ctx, tenant, q))
	if series := len(segments.Filled()); len(parts) != (larger-1)*series || len(whole) != larger*series {
		t.Fatalf("%d parts of %d segments", len(parts), len(whole))
	}
	left := &erasures.Keeping{Known: dag.MaxSeq - 1}
	for name, value := range parts {
		left.Snapshots = append(left.Snapshots, history.Snapshot{Name: name, Value: value})
	}
	must(0, s.Write(ctx, tenant, left))
	counted := &snapless{Store: s}
	if got := must(over(t, counted, a).Turns().Search(ctx, tenant, q)); counted.read > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d texts were read, and %d turns found, want none read and %d found", counted.read, len(got.Hits), len(want.Hits))
	}
	past := q
	past.AsOf = segments.Least
	if got := must(over(t, counted, a).Turns().Search(ctx, tenant, past)); len(got.Hits) == 0 || got.AsOf != past.AsOf {
		t.Errorf("as of %d it found %d turns, as of %d", past.AsOf, len(got.Hits), got.AsOf)
	}
	must(k.Turns().MakeIndex(ctx, tenant, projection.Indexing{}))
	if again := snapshotsOf(t, s); !reflect.DeepEqual(again, whole) {
		t.Errorf("%d segments are left of %d, want %d", len(again), len(whole)+len(parts), len(whole))
	}
	sound(t, s)
}

// TestSearchBeforeIndex asks a kernel whose requests read few texts. A search finds what there was at the number that it reached, and says how many numbers it did not look at;
// a context of the present is refused, and one as of a number that was reached is the one that any kernel gives. When the index is made, both are whole.
func TestSearchBeforeIndex(t *testing.T) {
	ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
	s := open(t, "memory")
	whole := over(t, &snapless{Store: s, hides: true, fails: errors.New("none")}, a) // keeps no segments
	const turns, texts = 2*segments.Least + 100, 300
	must(whole.Turns().Admit(ctx, tenant, spokenMany(r, 0, turns, map[dag.TurnID]string{})))
	k := bounded(t, s, a, texts)
	for i, p := range []policy.ID{retrieval.FindPolicyID, retrieval.PolicyID, retrieval.FindPolicyID} {
		reached := dag.Seq(texts * (i + 1)) // the index by vectors serves words, too
		q := find.Request{Policy: p, Query: retrieval.Query{Text: "outage deploy", Limit: 20}}
		got, then := must(k.Turns().Search(ctx, tenant, q)), q
		then.AsOf = reached
		want := must(whole.Turns().Search(ctx, tenant, then))
		want.NotIndexed = turns - reached
		if !reflect.DeepEqual(got, want) || len(got.Hits) == 0 {
			t.Fatalf("%s finds %d turns as of %d without %d, want %d as of %d without %d", p, len(got.Hits), got.AsOf, got.NotIndexed, len(want.Hits), want.AsOf, want.NotIndexed)
		}
	}
	past := find.Request{Policy: retrieval.FindPolicyID, Query: retrieval.Query{Text: "outage deploy", Limit: 20, AsOf: texts}}
	if got := must(k.Turns().Search(ctx, tenant, past)); got.NotIndexed != 0 || got.AsOf != texts {
		t.Errorf("a search as of %d is as of %d, without %d", texts, got.AsOf, got.NotIndexed)
	}
	if list := snapshotsOf(t, s); len(list) > 0 {
		t.Errorf("requests made %d segments", len(list))
	}
	fresh := bounded(t, s, a, texts)
	ask := api.ContextRequest{Task: "why was the deploy rolled back", Budget: 800}
	if c, err := fresh.Contexts().Assemble(ctx, tenant, ask); !errors.Is(err, projection.ErrIndexing) {
		t.Errorf("a context before the index is whole: %v, %v, want ErrIndexing", c, err)
	}
	early := ask
	early.AsOf = texts
	if got, want := must(fresh.Contexts().Assemble(ctx, tenant, early)), must(whole.Contexts().Assemble(ctx, tenant, early)); !bytes.Equal(got.Bundle, want.Bundle) {
		t.Errorf("the context as of %d has other bytes", texts)
	}
	if _, behind, err := bounded(t, s, a, texts).Turns().Folders(ctx, tenant); err != nil || behind == 0 {
		t.Errorf("the folders lack %d numbers, %v", behind, err)
	}
	must(fresh.Turns().MakeIndex(ctx, tenant, projection.Indexing{}))
	head := must(fresh.Turns().Head(ctx, tenant))
	ask.AsOf = head
	if got, want := must(fresh.Contexts().Assemble(ctx, tenant, ask)), must(whole.Contexts().Assemble(ctx, tenant, ask)); !bytes.Equal(got.Bundle, want.Bundle) {
		t.Error("the context of the whole index has other bytes")
	}
	head = must(fresh.Turns().Head(ctx, tenant))
	for _, each := range []*kernel.Kernel{k, fresh} { // one goes on from what it had
		q := find.Request{Policy: retrieval.FindPolicyID, Query: retrieval.Query{Text: "outage deploy", Limit: 20}}
		got, want := must(each.Turns().Search(ctx, tenant, q)), must(whole.Turns().Search(ctx, tenant, q))
		if !reflect.DeepEqual(got, want) || got.AsOf != head {
			t.Errorf("with the whole index it finds %d turns as of %d without %d, want %d as of %d", len(got.Hits), got.AsOf, got.NotIndexed, len(want.Hits), head)
		}
	}
}

// TestMakeIndexLate erases a text between the moment when a segment was made with it and the moment when it is written: it is made again without it. A segment with a text that
// is damaged is not made, and the others are.
func TestMakeIndexLate(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k, words := over(t, s, a), map[dag.TurnID]string{}
			drafts := spokenMany(r, 0, 2*segments.Least+10, words)
			must(k.Turns().Admit(ctx, tenant, drafts))
			first := must(s.Turns(ctx, tenant, store.IDs{drafts[7].ID}))[0]
			late := over(t, &tardy{s, func() { must(k.Turns().Erase(ctx, tenant, drafts[7].ID, "asked to")) }}, a)
			if done := must(late.Turns().MakeIndex(ctx, tenant, projection.Indexing{})); done.Made != 1 || done.Lacking != 1 {
				t.Fatalf("%+v, want one segment made and one that is lacking", done)
			}
			noWord(t, s, words, map[dag.TurnID]bool{drafts[7].ID: true})
			if done := must(late.Turns().MakeIndex(ctx, tenant, projection.Indexing{})); done.Made != 1 || done.Lacking != 0 {
				t.Fatalf("%+v, want the other segment made", done)
			}
			noWord(t, s, words, map[dag.TurnID]bool{drafts[7].ID: true})
			sound(t, s)

			list := snapshotsOf(t, s)
			bent := history.Snapshot{Name: list[0].Name, Value: bytes.Clone(list[0].Value)}
			bent.Value[100] ^= 1
			must(0, s.Write(ctx, tenant, &erasures.Keeping{Snapshots: []history.Snapshot{bent}, Known: dag.MaxSeq - 1}))
			if done := must(k.Turns().MakeIndex(ctx, tenant, projection.Indexing{})); done.Made != 0 {
				t.Errorf("%d segments were made, and nobody looked at them", done.Made)
			}
			if done := must(k.Turns().MakeIndex(ctx, tenant, projection.Indexing{Check: true})); done.Made != 1 || !reflect.DeepEqual(snapshotsOf(t, s), list) {
				t.Errorf("%d segments were made of one that is damaged", done.Made)
			}
			must(0, s.Write(ctx, tenant, &erasures.Keeping{Snapshots: []history.Snapshot{{Name: list[0].Name}}, Known: dag.MaxSeq - 1}))
			broken := over(t, &lostText{s, first.Seq + 1}, a)
			if done := must(broken.Turns().MakeIndex(ctx, tenant, projection.Indexing{})); done.Made != 0 || done.Lacking != 1 {
				t.Errorf("%+v, want one segment lacking for a text that is damaged", done)
			}
		})
	}
}

// A lostText store has another text in place of one.
type lostText struct {
	store.Store
	of dag.Seq
}

func (s *lostText) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	return s.Store.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		if r.Seq == s.of {
			r.Body = append(bytes.Clone(r.Body), ' ')
		}
		return fn(r)
	})
}

// TestKeepIndex makes segments beside admissions and erasures, and again where a search finds one that is damaged.
func TestKeepIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, r, a := t.Context(), seeded(t), token.NewAuthority(ring(t, "k1"))
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		defer s.Close()
		k := bounded(t, s, a, segments.Least)
		words := map[dag.TurnID]string{}
		must(k.Turns().Admit(ctx, tenant, spokenMany(r, 0, segments.Least, words)))
		keeping, cancel := context.WithCancel(ctx)
		failed := func(_ dag.Tenant, err error) { t.Error(err) }
		go k.Turns().KeepIndex(keeping, []dag.Tenant{tenant}, false, failed)
		holds := func(when string) {
			t.Helper()
			synctest.Wait()
			if got, want := namesOf(t, s), filledNames(must(k.Turns().Head(ctx, tenant))); !slices.Equal(got, want) {
				t.Errorf("%s there are %q, want %q", when, got, want)
			}
		}
		holds("at first")
		var last dag.TurnID
		for n := range 3 {
			drafts := spokenMany(r, (n+1)*segments.Least, segments.Least, words)
			last = drafts[0].ID
			must(k.Turns().Admit(ctx, tenant, drafts))
			holds(fmt.Sprint("after admission ", n))
		}
		must(k.Turns().Erase(ctx, tenant, last, "asked to"))
		holds("after an erasure")
		noWord(t, s, words, map[dag.TurnID]bool{last: true})
		list := snapshotsOf(t, s)
		bent := history.Snapshot{Name: list[1].Name, Value: bytes.Clone(list[1].Value)}
		bent.Value[100] ^= 1
		must(0, s.Write(ctx, tenant, &erasures.Keeping{Snapshots: []history.Snapshot{bent}, Known: dag.MaxSeq - 1}))
		must(k.Turns().Search(ctx, tenant, find.Request{Policy: retrieval.FindPolicyID, Query: retrieval.Query{Text: "outage", Limit: 3}}))
		synctest.Wait()
		if !reflect.DeepEqual(snapshotsOf(t, s), list) {
			t.Error("the damaged segment was not made again")
		}
		cancel()
		synctest.Wait()
		must(k.Turns().Admit(ctx, tenant, spokenMany(r, 9*segments.Least, segments.Least, words)))
		synctest.Wait()
		if len(snapshotsOf(t, s)) != len(list) {
			t.Error("segments are made after the end")
		}
	})
}
