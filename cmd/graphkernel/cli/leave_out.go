package cli

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

// Names under which conversations that are left out on purpose are counted.
const (
	LeftOutFolder = "folder_left_out"       // of a session in a folder that capture leaves out
	LeftOutNamed  = "conversation_left_out" // of a conversation that --skip names
)

// leastPrefix is the fewest characters of an id or of a session's name that select a conversation.
const leastPrefix = 4

// A LeavingOut says which conversations an import leaves out, and counts them.
type LeavingOut struct {
	set     capture.Settings
	named   []string        // values of --skip
	matched []bool          // parallel to named
	counted map[string]int  // numbers of conversations that were left out, by name of the count
	folders map[string]int  // numbers of sessions that were left out, by folder of the list
	spool   *capture.Spool  // nil if there is none
	seen    map[string]bool // folders of conversations that were not left out
}

// LeavingOut reads the folders that capture leaves out for the store that the settings name, unless allFolders is set. It also leaves out the named
// conversations.
func (s *Settings) LeavingOut(named []string, allFolders bool) (*LeavingOut, error) {
	l := &LeavingOut{named: named, matched: make([]bool, len(named)), counted: map[string]int{}, folders: map[string]int{}, seen: map[string]bool{}}
	for _, value := range named {
		if _, err := path.Match(value, ""); err != nil {
			return nil, Usagef("--skip is %q, which is no pattern: a bracket is not closed", value)
		}
		if !strings.ContainsAny(value, "*?[") && len(value) < leastPrefix {
			return nil, Usagef("--skip is %q; want at least %d characters of an id, or of a title", value, leastPrefix)
		}
	}
	spool, err := s.Spool()
	if err != nil { // without a home folder there is no list, and the store will report any other error
		return l, nil
	}
	if l.spool = spool; allFolders {
		return l, nil
	}
	if l.set, err = spool.Settings(); err != nil {
		return nil, err
	}
	l.set.Paused = false // pausing captures does not stop an import
	return l, nil
}

// Reason implements [ingest.Options].LeaveOut.
func (l *LeavingOut) Reason(session string, first *dag.Draft) string {
	named := false
	for i, value := range l.named { // all values are tried, so that all that match are known
		if matchesConversation(value, session, first) {
			l.matched[i], named = true, true
		}
	}
	if named {
		l.counted[LeftOutNamed]++
		return LeftOutNamed
	}
	if session == "" { // lines of the project's own format, which were in a store before
		return ""
	}
	if folder := l.set.LeftOut(first.Attrs[ingest.AttrFolder]); folder != "" {
		return l.folder(folder)
	}
	for _, folder := range l.set.LeaveOut { // Gemini CLI writes a digest of the folder
		spellings := []string{folder}
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			spellings = append(spellings, real)
		}
		if ingest.HeldIn(spellings...)(func(key string) (string, bool) { v, ok := first.Attrs[key]; return v, ok }) {
			return l.folder(folder)
		}
	}
	if at := first.Attrs[ingest.AttrFolder]; at != "" {
		l.seen[at] = true
	}
	return ""
}

// Learn passes the folders of the imported conversations to the spool, see [capture.Spool.Learn].
func (l *LeavingOut) Learn(ctx context.Context) error {
	if l.spool == nil {
		return nil
	}
	return l.spool.Learn(ctx, slices.Collect(maps.Keys(l.seen))...)
}

func (l *LeavingOut) folder(folder string) string {
	l.counted[LeftOutFolder]++
	l.folders[folder]++
	return LeftOutFolder
}

// matchesConversation reports whether a value names a conversation: by the beginning of its id, or of the session's name in its program, by its title, or by
// a pattern for its title, in any case.
func matchesConversation(value, session string, first *dag.Draft) bool {
	value = strings.ToLower(value)
	title := strings.ToLower(first.Attrs[ingest.AttrTitle])
	if strings.ContainsAny(value, "*?[") {
		const slash = "\x00" // a star also matches slashes
		ok, _ := path.Match(strings.ReplaceAll(value, "/", slash), strings.ReplaceAll(title, "/", slash))
		return ok && title != ""
	}
	return session != "" && strings.HasPrefix(strings.ToLower(session), value) || strings.HasPrefix(first.Conversation.String(), value) || title == value
}

// Conversations returns how many conversations were left out, by the name of the count.
func (l *LeavingOut) Conversations() map[string]int { return l.counted }

// Folders returns the folders of the list in which sessions were left out, sorted.
func (l *LeavingOut) Folders() (folders []string) {
	for folder := range l.folders {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders
}

// Unmatched returns the values that matched no conversation.
func (l *LeavingOut) Unmatched() (values []string) {
	for i, ok := range l.matched {
		if !ok {
			values = append(values, l.named[i])
		}
	}
	return values
}
