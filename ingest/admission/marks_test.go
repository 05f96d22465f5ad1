package admission_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func markedBy(t *testing.T, s store.Store) (all []dag.Marks) {
	t.Helper()
	err := s.Scan(t.Context(), tenant, 0, nil, func(r *store.Record) error {
		all = append(all, r.Marks)
		all[len(all)-1].Things = slices.Clone(r.Marks.Things)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMarks admits by every way that there is, by several kernels at once, and finds the same thing for the
// same file; after an erasure, too. What a kernel exports shows none of it.
func TestMarks(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t, name), t.Context()
			files := []string{"/a", "/secret", "", "/a", "/secret", "/c", "", "/a"}
			drafts := kerneltest.Touching(files...)
			for i := range drafts {
				drafts[i].Parents = nil
			}
			var admitting sync.WaitGroup
			for i := range drafts {
				k := over(t, s, token.NewAuthority(ring(t, "k1")))
				admitting.Go(func() {
					if i%2 == 0 {
						must(k.Turns().Admit(ctx, tenant, drafts[i:i+1]))
						return
					}
					must(k.Turns().AdmitInOrder(ctx, tenant, "", drafts[i:i+1]))
				})
			}
			admitting.Wait()
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			must(k.Turns().Erase(ctx, tenant, drafts[1].ID, "asked for"))
			records := must(s.Turns(ctx, tenant, store.IDs{drafts[0].ID, drafts[1].ID, drafts[2].ID, drafts[3].ID, drafts[4].ID, drafts[5].ID, drafts[6].ID, drafts[7].ID}))
			things, cells := map[string]dag.Thing{}, must(s.Cells(ctx, tenant, marks.Cell))
			if len(cells) != 1 || len(cells[0].Value) != 32 {
				t.Fatalf("the key is %+v", cells)
			}
			key := must(marks.ParseKey(cells[0].Value))
			for _, r := range records {
				at := slices.IndexFunc(drafts, func(d dag.Draft) bool { return d.ID == r.Turn.ID })
				want, names := marks.Of(&drafts[at])
				want.Things, want.Origin = key.Things(names), dag.Origin{Channel: dag.ChannelProgram}
				if !r.Marks.Equal(&want) || (len(want.Things) == 1) != (files[at] != "") {
					t.Errorf("turn %d has the marks %+v, want %+v", at, r.Marks, want)
				}
				if files[at] != "" {
					if known, ok := things[files[at]]; ok && known != r.Marks.Things[0] {
						t.Errorf("%s has two things", files[at])
					}
					things[files[at]] = r.Marks.Things[0]
				}
			}
			if len(things) != 3 || things["/a"] == things["/secret"] {
				t.Errorf("the things are %v", things)
			}
			var out bytes.Buffer
			must(k.Turns().Export(ctx, tenant, nil, &out))
			for _, shown := range []string{fmt.Sprintf("%x", key[:]), string(key[:]), things["/a"].String()} {
				if strings.Contains(out.String(), shown) {
					t.Error("the export shows a key or a thing")
				}
			}
		})
	}
}

// TestMarksOfImports holds that an import marks what it brings as an admission does, and that what touches nothing
// makes no key.
func TestMarksOfImports(t *testing.T) {
	ctx := t.Context()
	s, there := open(t, "memory"), open(t, "memory")
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	must(k.Turns().Admit(ctx, tenant, kerneltest.Drafts(3)))
	if cells := must(s.Cells(ctx, tenant, "")); len(cells) != 0 {
		t.Errorf("there are the cells %+v", cells)
	}
	of := func(s store.Store, seed byte) kernel.Turns {
		return must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(seed), Clock: standing})).Turns()
	}
	must(of(there, 1).Admit(ctx, tenant, kerneltest.Touching("/a", "/b", "/a")))
	exported := file(t, "export.jsonl", [][]byte{export(t, over(t, there, token.NewAuthority(ring(t, "k1"))))})
	fresh := open(t, "memory")
	must(of(fresh, 2).Import(ctx, tenant, exported, ingest.Options{}))
	got, want := markedBy(t, fresh), markedBy(t, there)
	if len(got) != 3 || got[0].Things[0] != got[2].Things[0] || got[0].Things[0] == got[1].Things[0] || got[0].Cost != want[0].Cost || got[0].Voice != want[0].Voice {
		t.Errorf("got %+v, and there are %+v", got, want)
	}
	if got[0].Things[0] == want[0].Things[0] {
		t.Error("two stores mark under one key")
	}
}
