package find_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/token"
)

// TestFolders lists the folders of first turns, by when something was said there last.
func TestFolders(t *testing.T) {
	sum := sha256.Sum256([]byte("/home/u/gemini"))
	digest := hex.EncodeToString(sum[:])
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			if list, _, err := k.Turns().Folders(t.Context(), tenant); err != nil || len(list) != 0 {
				t.Fatalf("without a history: %v, %v", list, err)
			}
			say := func(conversation string, at int, attrs map[string]string) dag.TurnID {
				d := dag.Draft{
					ID: dag.ExternalTurnID("folders", fmt.Sprint(conversation, at)), Conversation: dag.ExternalConversationID("folders", conversation), Role: dag.RoleUser, Author: "human:user",
					Content: fmt.Sprint("words ", at), CreatedAt: dag.Time(1_780_000_000_000_000 + int64(at)*1_000_000), Attrs: attrs,
				}
				must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
				return d.ID
			}
			in := func(folder string) map[string]string { return map[string]string{ingest.AttrFolder: folder} }
			for n := range 7 {
				say(fmt.Sprint("shop", n), 10+n, in("/home/u/shop"))
			}
			gone := say("bank", 1, in("/home/u/bank"))
			later := say("shop0", 90, in("/home/u/elsewhere")) // the first turn counts
			say("nowhere", 95, nil)
			say("gemini", 50, map[string]string{ingest.AttrFolderDigest: digest})
			text := func() (s string) {
				for _, f := range foldersOf(t, k) {
					s += fmt.Sprintf("%s%s %d %d:", f.Path, f.Digest, f.Conversations, (f.LastAt-1_780_000_000_000_000)/1_000_000)
					for _, c := range f.Newest {
						s += fmt.Sprint(" ", int64(c.LastAt-1_780_000_000_000_000)/1_000_000)
						if at := must(k.Turns().Get(t.Context(), tenant, c.Last)); at.Turn.Conversation != c.ID {
							t.Errorf("the last turn of conversation %s is one of %s", c.ID, at.Turn.Conversation)
						}
					}
					s += "\n"
				}
				return s
			}
			want := "/home/u/shop 7 90: 90 16 15 14 13\n" + digest + " 1 50: 50\n/home/u/bank 1 1: 1\n"
			if got := text(); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if c := foldersOf(t, k)[0].Newest[0]; c.Last != later {
				t.Errorf("the last turn is %s, want %s", c.Last, later)
			}
			must(k.Turns().Erase(t.Context(), tenant, gone, "asked for"))
			if got, want := text(), "/home/u/shop 7 90: 90 16 15 14 13\n"+digest+" 1 50: 50\n"; got != want {
				t.Errorf("after an erasure: got\n%swant\n%s", got, want)
			}
		})
	}
}

// foldersOf lists the folders, for which the whole index is read.
func foldersOf(t *testing.T, k *kernel.Kernel) []find.Folder {
	t.Helper()
	list, behind, err := k.Turns().Folders(t.Context(), tenant)
	if err != nil || behind > 0 {
		t.Fatalf("%d numbers are not looked at, %v", behind, err)
	}
	return list
}
