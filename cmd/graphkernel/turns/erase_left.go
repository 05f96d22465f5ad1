package turns

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/render"
)

// leftover lists the places that still contain the text of turns that were erased here.
type leftover struct {
	contexts []string // ids of contexts that showed the text
	slices   []string // ids of slices that contained the text
	unlooked string   // why some slices could not be checked; "" if all were
	files    []string // agents' transcripts that the turns came from
	told     []string // agents' transcripts of sessions that received such a context
	folders  []string // folders of conversations whose transcript was not found
}

// mostHanded is the most turns for which evidence is searched: slices are cut again for each.
const mostHanded = 100

// leftOf finds the places that contain the text of turns. It is called before the turns are erased, because more is known about them then. The advice is
// added to the sentence that says that only the first turns were looked for.
func leftOf(ctx context.Context, a *cli.App, s *cli.Session, turns []cli.Turn, advice string) (leftover, error) {
	left := leftover{contexts: []string{}, slices: []string{}, files: []string{}}
	if len(turns) > mostHanded {
		left.unlooked = fmt.Sprintf("contexts and slices with the text were searched for the first %d turns only%s", mostHanded, advice)
	}
	for i := range turns[:min(len(turns), mostHanded)] {
		held, err := cli.Do(ctx, s, api.TurnHolding, api.TurnByID{ID: turns[i].ID})
		if cli.Is(err, api.CodeForbidden) {
			left.unlooked = "the API key may not list the contexts and slices that held the text"
			break
		}
		if err != nil {
			return left, err
		}
		left.contexts, left.slices = withIDs(left.contexts, held.Contexts), withIDs(left.slices, held.Slices)
		if held.Older > 0 {
			left.unlooked = fmt.Sprintf("%s handed out before the newest %d were not searched for the text", cli.Count(int(held.Older), "slice"), held.Looked)
		}
	}
	left.transcripts(a, turns)
	return left, nil
}

func withIDs(ids []string, list []api.Issued) []string {
	for i := range list {
		if !slices.Contains(ids, string(list[i].SliceID)) {
			ids = append(ids, string(list[i].SliceID))
		}
	}
	return ids
}

// transcriptRoots are the folders of the agents' transcripts.
func transcriptRoots(a *cli.App) (roots []string) {
	home := cli.First(a.Settings.Getenv("HOME"), a.Settings.Getenv("USERPROFILE"))
	if claude := a.Settings.Getenv("CLAUDE_CONFIG_DIR"); claude != "" {
		roots = append(roots, filepath.Join(claude, "projects"))
	} else if home != "" {
		roots = append(roots, filepath.Join(home, ".claude", "projects"))
	}
	if home != "" {
		roots = append(roots, filepath.Join(home, ".codex", "sessions"), filepath.Join(home, ".gemini", "tmp"))
	}
	return roots
}

// transcripts searches the agents' transcripts for records of the turns: by the turn's id, by the record's name in the agent, or by the session that the name
// begins with. A resumed or forked session repeats records, so there may be several transcripts.
func (l *leftover) transcripts(a *cli.App, turns []cli.Turn) {
	names := map[string][]int{} // turns by the names that their records have
	for i := range turns {
		t := &turns[i]
		name, _, _ := strings.Cut(t.Attrs[dag.AttrExternalID], "/")
		for _, name := range []string{t.ID.String(), name} {
			if name != "" {
				names[name] = append(names[name], i)
			}
		}
	}
	found := map[dag.ConversationID]bool{}
	for _, root := range transcriptRoots(a) {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // unreadable files are skipped
			if err != nil || e.IsDir() || !capture.IsTranscript(path) {
				return nil
			}
			data, err := readTranscript(path)
			if err != nil {
				return nil
			}
			came := false
			for id := range recordNames(data) {
				for _, i := range names[id] {
					came, found[turns[i].Conversation] = true, true
					l.saved(path, turns[i].Attrs[ingest.AttrSavedAs])
				}
			}
			if came {
				l.files = append(l.files, path)
			}
			if slices.ContainsFunc(l.contexts, func(id string) bool { return bytes.Contains(data, []byte("graphkernel-context "+id)) }) {
				l.told = append(l.told, path)
			}
			return nil
		})
	}
	for i := range turns {
		folder := turns[i].Attrs[ingest.AttrFolder]
		if !found[turns[i].Conversation] && folder != "" && !slices.Contains(l.folders, folder) {
			l.folders = append(l.folders, folder)
		}
	}
}

// saved adds the file in which Claude Code saved a tool's result of a session, if the turn came from it.
func (l *leftover) saved(session, name string) {
	if name == "" || !filepath.IsLocal(name) {
		return
	}
	path := filepath.Join(strings.TrimSuffix(session, ".jsonl"), "tool-results", name)
	if _, err := os.Lstat(path); err == nil && !slices.Contains(l.files, path) {
		l.files = append(l.files, path)
	}
}

// readTranscript reads a transcript, even if its agent has compressed it.
func readTranscript(path string) ([]byte, error) {
	in, err := ingest.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, ingest.MaxDocument))
	return data, cmp.Or(err, in.Close())
}

// recordNames returns the values of the members "uuid", "id" and "sessionId" in a JSON text, at any depth. References to other records, such as parentUuid,
// are not included.
func recordNames(data []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			at := bytes.Index(data, []byte(`d"`))
			if at < 0 {
				return
			}
			before, rest := data[:at+1], bytes.TrimLeft(data[at+2:], " ")
			data = data[at+2:]
			if !bytes.HasPrefix(rest, []byte(":")) || !bytes.HasSuffix(before, []byte(`"uuid`)) && !bytes.HasSuffix(before, []byte(`"id`)) && !bytes.HasSuffix(before, []byte(`"sessionId`)) {
				continue
			}
			rest = bytes.TrimLeft(rest[1:], " ")
			if !bytes.HasPrefix(rest, []byte(`"`)) {
				continue
			}
			if end := bytes.IndexByte(rest[1:], '"'); end >= 0 && !yield(strings.ToLower(string(rest[1:1+end]))) {
				return
			}
		}
	}
}

// all returns every transcript that contains the text.
func (l *leftover) all() []string {
	all := slices.Concat(l.files, l.told)
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

func (l *leftover) print(w io.Writer) {
	for _, file := range l.files {
		fmt.Fprintf(w, "  the agent's own transcript still holds the text: %s\n", render.Visible(file))
	}
	for _, file := range l.told {
		fmt.Fprintf(w, "  the transcript of an agent that was shown the text in a context still holds it: %s\n", render.Visible(file))
	}
	for _, folder := range l.folders {
		fmt.Fprintf(w, "  the agent that worked in %s may keep a transcript of its own, which still holds the text\n", render.Visible(folder))
	}
	for _, of := range []struct {
		what string
		ids  []string
	}{{"contexts", l.contexts}, {"slices", l.slices}} {
		if len(of.ids) > 0 {
			fmt.Fprintf(w, "  %s that were handed out still hold the text in their bundles, wherever those are: %s\n", of.what, strings.Join(of.ids, ", "))
		}
	}
	if l.unlooked != "" {
		fmt.Fprintf(w, "  %s\n", l.unlooked)
	}
}
