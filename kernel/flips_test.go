package kernel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// lived fills a kernel with some of everything, and with enough of it that trees have inner pages.
func lived(t *testing.T, ctx context.Context, k *kernel.Kernel) (ids []dag.TurnID) {
	t.Helper()
	var drafts []dag.Draft
	for i := range 200 {
		d := dag.Draft{
			ID: dag.ExternalTurnID("lived", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("lived", fmt.Sprint(i/40)), Role: []dag.Role{dag.RoleUser, dag.RoleAssistant}[i%2],
			Author: []string{"human:user", "agent:a"}[i%2], Content: fmt.Sprintf("Turn %d is of the orders table, and word%dof is in it alone. %s", i, i, strings.Repeat("It goes on. ", i%7*40)),
			CreatedAt: dag.Time(1_780_000_000_000_000 + int64(i)*60_000_000),
		}
		if i%40 > 0 {
			d.Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
		}
		ids, drafts = append(ids, d.ID), append(drafts, d)
	}
	must(k.Turns().Admit(ctx, tenant, drafts))
	believing(t, k)
	var acts []knowledge.Act
	for i := range 300 {
		acts = append(acts, fact(t, fmt.Sprintf("part %d", i%30), fmt.Sprintf("feeds %d", i), fmt.Sprintf("part %d", (i*7+1)%30)))
	}
	must(k.Facts().Learn(ctx, tenant, append(acts, alias("piece-3", "part-3"))))
	for i := range 30 {
		r := asking(journal.Revise, fmt.Sprintf("part %d", i), "is made of", fmt.Sprint("metal ", i))
		r.Turns = []dag.TurnID{ids[i]}
		must(k.Beliefs().Operate(ctx, tenant, r))
	}
	for i := range 10 {
		must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[20*i+5]}))
		must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{fmt.Sprintf("part %d", i)}}))
	}
	must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "the orders table"}))
	must(k.Turns().Erase(ctx, tenant, ids[77], "asked for"))
	return ids
}

// answers asks a kernel everything that is read. An answer is its text, or an error.
func answers(ctx context.Context, k *kernel.Kernel, ids []dag.TurnID) map[string]any {
	all := map[string]any{}
	put := func(name string, v any, err error) {
		if err == nil {
			var b []byte
			switch v := v.(type) {
			case []byte:
				b = v
			default:
				b, err = json.Marshal(v)
			}
			all[name] = string(b)
		}
		if err != nil {
			all[name] = err
		}
	}
	var out bytes.Buffer
	_, err := k.Turns().Export(ctx, tenant, nil, &out)
	put("export", out.Bytes(), err)
	for i := 0; i < len(ids); i += 23 {
		r, err := k.Turns().Get(ctx, tenant, ids[i])
		put(fmt.Sprint("turn ", i), r, err)
	}
	records, _, err := k.Turns().After(ctx, tenant, 0, nil, 1000, 1<<30)
	put("turns", records, err)
	conversations, err := k.Turns().Conversations(ctx, tenant, dag.ConversationID{}, 100)
	put("conversations", conversations, err)
	newest, _, err := k.Turns().Newest(ctx, tenant, nil, 100)
	put("newest conversations", newest, err)
	events, err := k.Turns().Events(ctx, tenant, 0, 100)
	put("events", events, err)
	for _, q := range []string{"orders table", "word5of", "word199of goes on"} {
		found, err := k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: q, Limit: 10}})
		if err == nil && found.Damaged > 0 {
			err = fmt.Errorf("%d are said to be damaged", found.Damaged)
		}
		put("search "+q, found, err)
	}
	var facts []api.Fact
	for after := ""; ; {
		page, err := k.Facts().List(ctx, tenant, api.FactQuery{Paging: api.Paging{Limit: 100, After: after}})
		if err != nil || len(page.Facts) == 0 {
			put("facts", facts, err)
			break
		}
		facts = append(facts, page.Facts...)
		after = page.Next
		if after == "" {
			put("facts", facts, nil)
			break
		}
	}
	issued, err := k.Slices().After(ctx, tenant, 0, 100)
	put("what was handed out", issued, err)
	for i := range min(len(issued), 3) {
		r, err := k.Slices().ReplayIssued(ctx, tenant, issued[i].Provenance.SliceID)
		if err == nil {
			put(fmt.Sprint("replay ", i), fmt.Sprint(r.Outcome, r.Reason), nil)
		} else {
			put(fmt.Sprint("replay ", i), nil, err)
		}
	}
	leaves, err := k.Ledger().Leaves(ctx, tenant, 0, 1000)
	put("leaves", leaves, err)
	for level := range 3 {
		hashes, err := k.Ledger().Hashes(ctx, tenant, level, 0, 16)
		put(fmt.Sprint("tile ", level), hashes, err)
	}
	for i := range 5 {
		s, err := k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{fmt.Sprintf("part %d", 6*i+1)}})
		if err == nil {
			put(fmt.Sprint("slice of facts ", i), s.Bundle, nil)
		} else {
			put(fmt.Sprint("slice of facts ", i), nil, err)
		}
		c, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[40*i+11]})
		if err == nil {
			put(fmt.Sprint("slice ", i), c.Bundle, nil)
		} else {
			put(fmt.Sprint("slice ", i), nil, err)
		}
	}
	c, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "what is part 7 made of, in the orders table"})
	if err == nil {
		put("context", c.Bundle, nil)
	} else {
		put("context", nil, err)
	}
	spaces, err := k.Beliefs().Spaces(ctx, tenant, api.SpacesQuery{})
	put("spaces", spaces, err)
	base, err := k.Beliefs().Held(ctx, tenant, beliefSpace, 0, nil)
	if err == nil {
		var held []string
		for _, h := range base.Held {
			held = append(held, h.Stated().Literal.String())
		}
		put("beliefs", held, nil)
	} else {
		put("beliefs", nil, err)
	}
	return all
}

// A comparison holds the answers of damaged stores against those of the whole one.
type comparison struct {
	want                   map[string]any
	damage                 func(error) bool // whether an error must wrap store.ErrDamaged
	refused, noticed, same int
}

// newComparison needs a whole store, all of whose answers are no errors.
func newComparison(t *testing.T, want map[string]any, err error, damage func(error) bool) *comparison {
	t.Helper()
	if err != nil || len(want) == 0 {
		t.Fatalf("%d answers of the whole store, %v", len(want), err)
	}
	for name, answer := range want {
		if err, bad := answer.(error); bad {
			t.Fatalf("%s of the whole store: %v", name, err)
		}
	}
	return &comparison{want: want, damage: damage}
}

// sees takes the answers of a store that was damaged at a place, or the error with which it was not opened. Every answer must be an error or as that of
// the whole store. It returns how many errors say that the store is damaged.
func (j *comparison) sees(t *testing.T, place string, got map[string]any, err error) (damaged int) {
	t.Helper()
	if err != nil {
		j.refused++
		return 0
	}
	errs := 0
	for name, answer := range got {
		switch answer := answer.(type) {
		case error:
			errs++
			if errors.Is(answer, store.ErrDamaged) {
				damaged++
			} else if j.damage(answer) {
				t.Errorf("%s, %s: %v, which does not say that the store is damaged", place, name, answer)
			}
		default:
			if answer != j.want[name] {
				t.Errorf("%s: %s is answered, and not as by the whole store: %.200s", place, name, answer)
			}
		}
	}
	if errs > 0 {
		j.noticed++
	} else {
		j.same++
	}
	return damaged
}

// ends logs what was seen, which must be something.
func (j *comparison) ends(t *testing.T) {
	t.Helper()
	t.Logf("%d flips: %d refused, %d noticed, %d without effect on any answer", j.refused+j.noticed+j.same, j.refused, j.noticed, j.same)
	if j.noticed == 0 {
		t.Error("nothing was noticed: this shows nothing")
	}
}

// TestFlipsAreNoticedByReaders flips a bit anywhere in the file of a store, two of three times in the inner pages of its trees. Every answer
// is an error or the same as before: nothing is signed, listed or exported that lacks something or has it changed. A search may say
// that it left a damaged text out.
func TestFlipsAreNoticedByReaders(t *testing.T) {
	flips := 500
	if testing.Short() {
		flips = 50
	}
	ctx := access.As(t.Context(), access.Identity{Subject: access.Local, Role: access.Admin})
	path := filepath.Join(t.TempDir(), "whole.db")
	s := must(sqlite.Create(ctx, path, sqlite.Options{}))
	ids := lived(t, ctx, over(t, s, token.NewAuthority(ring(t, "k1"))))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(path))
	folder := t.TempDir()
	ask := func(data []byte) (map[string]any, error) {
		path := filepath.Join(folder, "asked.db")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }()
		return answers(ctx, over(t, s, token.NewAuthority(ring(t, "k1"))), ids), nil
	}
	want, err := ask(whole)
	j := newComparison(t, want, err, func(err error) bool { return !strings.Contains(err.Error(), "damaged") })
	random := storetest.NewFlips(t, whole)
	for range flips {
		data, at := random.Next()
		got, err := ask(data)
		j.sees(t, fmt.Sprint("byte ", at), got, err)
	}
	j.ends(t)
}

// TestDamagedTextCostsItself damages one text in the file. A search without kept segments and one with them find the other turns and
// say what they left out; a context, a read and an export of the turn are refused.
func TestDamagedTextCostsItself(t *testing.T) {
	ctx := access.As(t.Context(), access.Identity{Subject: access.Local, Role: access.Admin})
	for _, kept := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := must(sqlite.Create(ctx, path, sqlite.Options{}))
		k := over(t, s, token.NewAuthority(ring(t, "k1")))
		ids := lived(t, ctx, k)
		if kept {
			must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: "orders", Limit: 1}}))
			if len(must(s.Snapshots(ctx, tenant, history.SnapshotPage{Limit: 1}))) == 0 {
				t.Fatal("no segment is kept: this shows nothing")
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		file := must(os.ReadFile(path))
		at := bytes.Index(file, []byte("word123of is in it alone. It goes"))
		if at < 0 {
			t.Fatal("the text is not in the file")
		}
		file[at] ^= 1
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s = must(sqlite.Open(ctx, path, sqlite.Options{}))
		k = over(t, s, token.NewAuthority(ring(t, "k1")))
		search := func(words string) find.Found {
			return must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: words, Limit: 200}}))
		}
		if f := search("word5of"); len(f.Hits) == 0 || f.Hits[0].Turn.ID != ids[5] {
			t.Errorf("kept %v: another turn is not found: %+v", kept, f)
		}
		f := search("word123of orders")
		if f.Damaged == 0 || f.Damaged > 12 || len(f.Hits)+f.Damaged < 199 {
			t.Errorf("kept %v: of 199 turns %d are found and %d said to be damaged", kept, len(f.Hits), f.Damaged)
		}
		for _, h := range f.Hits {
			if h.Turn.ID == ids[123] {
				t.Errorf("kept %v: the damaged turn is found: %q", kept, h.Content)
			}
		}
		_, got := k.Turns().Get(ctx, tenant, ids[123])
		_, exported := k.Turns().Export(ctx, tenant, nil, io.Discard)
		_, cut := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[123]})
		for what, err := range map[string]error{"the turn": got, "an export": exported, "a slice": cut} {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("kept %v: %s: %v, want store.ErrDamaged", kept, what, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
