package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/internal/walk"
)

// A Watcher finds the transcripts in folders that have changed since it last looked. It does not read their contents: it only
// looks at names, sizes and times, which works on every platform and file system, and is cheap for the thousands of files that
// an agent keeps. Only one goroutine may use it.
type Watcher struct {
	roots []string
	seen  map[string]stamp
}

// A stamp changes when a file is written to.
type stamp struct {
	size, modified int64
}

// NewWatcher returns a watcher of folders and files. Its first look reports every transcript that already exists.
func NewWatcher(roots ...string) *Watcher {
	return &Watcher{roots: roots, seen: map[string]stamp{}}
}

// Look returns the transcripts (see [IsTranscript]) that are new or were written to since the last look, in ascending order of
// their paths. For a file that belongs to a session of Claude Code, such as the file of a sub-agent, it returns the session's
// transcript. It leaves out files that disappear meanwhile. The error reports the folders that could not be read; the
// transcripts of other folders are returned nevertheless.
func (w *Watcher) Look() ([]string, error) {
	var changed []string
	var errs []error
	now := make(map[string]stamp, len(w.seen))
	for _, root := range w.roots {
		err := walk.Dir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if errors.Is(err, fs.ErrNotExist) && path != root {
					return nil
				}
				return err
			}
			if !IsTranscript(path) {
				return nil
			}
			info, err := os.Stat(path) // follows links
			if err != nil || !info.Mode().IsRegular() {
				return nil
			}
			s := stamp{info.Size(), info.ModTime().UnixNano()}
			if now[path] = s; w.seen[path] != s {
				changed = append(changed, sessionFile(path))
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("capture: %w", err))
		}
	}
	w.seen = now
	slices.Sort(changed)
	return slices.Compact(changed), errors.Join(errs...)
}

// packedExt is the suffix of a session that Codex CLI has compressed.
const packedExt = ".zst"

// IsTranscript reports whether a file may be a transcript, by its name: it ends in .jsonl or .json, or in .jsonl.zst or
// .json.zst if the uncompressed file is gone. A tool's output, which Claude Code saves in SESSION/tool-results, is not a
// transcript, whatever its name.
func IsTranscript(path string) bool {
	if filepath.Base(filepath.Dir(path)) == "tool-results" {
		return false
	}
	if plain, packed := strings.CutSuffix(path, packedExt); packed {
		if _, err := os.Lstat(plain); err == nil {
			return false
		}
		path = plain
	}
	ext := filepath.Ext(path)
	return ext == ".jsonl" || ext == ".json"
}

// Forget makes the next look report a transcript as changed.
func (w *Watcher) Forget(transcript string) {
	for path := range w.seen {
		if sessionFile(path) == transcript {
			delete(w.seen, path)
		}
	}
}

// sessionFile returns the transcript to which a file belongs: for a file below SESSION/subagents the file SESSION.jsonl if it
// exists, else the file itself.
func sessionFile(path string) string {
	for at := filepath.Dir(path); at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(at) != "subagents" {
			continue
		}
		main := filepath.Dir(at) + ".jsonl"
		if _, err := os.Stat(main); err == nil {
			return main
		}
	}
	return path
}
