package kernel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/notes"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// TestNotes lists notes by pages, refuses what is none, and erases those of a turn with its text from
// every file. A copy that has the notes follows the erasure, and so does one that begins after it.
func TestNotes(t *testing.T) {
	for name, opened := range readableStores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := opened(t)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			turns := chain(t, k, 3)
			for _, text := range []string{"the okapi is late", "a zebra came", "the okapi again"} {
				must(k.Turns().Note(ctx, tenant, turns[1], text))
			}
			must(k.Turns().Note(ctx, tenant, turns[2], "a zebra stays"))
			texts := func(turn dag.TurnID) string {
				var all []string
				for after := dag.Seq(0); ; {
					page := must(k.Turns().Notes(ctx, tenant, turn, after, 2))
					if len(page) == 0 {
						return strings.Join(all, "; ")
					}
					for i := range page {
						all, after = append(all, page[i].Text), page[i].Seq
					}
				}
			}
			if got := texts(turns[1]); got != "the okapi is late; a zebra came; the okapi again" {
				t.Fatalf("notes: %q", got)
			}
			for _, text := range []string{"", strings.Repeat("x", notes.MaxText+1), "\xff"} {
				if _, err := k.Turns().Note(ctx, tenant, turns[1], text); !errors.Is(err, dag.ErrForm) {
					t.Errorf("a note %.10q: %v", text, err)
				}
			}
			if _, err := k.Turns().Note(ctx, tenant, dag.TurnID{1}, "of nothing"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a note of no turn: %v", err)
			}
			early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(transfer.Copy(ctx, early, s, transfer.Options{}))
			if !holds(s.read(), "okapi") {
				t.Fatal("the files do not hold the notes: this test cannot fail")
			}
			must(k.Turns().Erase(ctx, tenant, turns[1], "asked for"))
			if read := s.read(); holds(read, "okapi") || !holds(read, "zebra stays") {
				t.Error("the notes are in the files, or others are not")
			}
			if got := texts(turns[1]) + "|" + texts(turns[2]); got != "|a zebra stays" {
				t.Errorf("notes after the erasure: %q", got)
			}
			if _, err := k.Turns().Note(ctx, tenant, turns[1], "too late"); !errors.Is(err, dag.ErrForm) {
				t.Errorf("a note of an erased turn: %v", err)
			}
			must(transfer.Copy(ctx, early, s, transfer.Options{}))
			must(transfer.Copy(ctx, late, s, transfer.Options{}))
			for what, in := range map[string]store.Store{"the store": s.Store, "a copy from before": early, "a copy from after": late} {
				found := must(notes.Base{History: in}.Of(ctx, tenant, turns[1], 0, 9))
				if r, err := fsck.Store(ctx, in, fsck.Options{}); err != nil || len(found) != 0 || !r.OK() {
					t.Errorf("%s: %d notes, %v, %v", what, len(found), r.Findings, err)
				}
			}
		})
	}
}
