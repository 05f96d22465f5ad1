package ingest

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Claude Code saves a result that is too large in SESSION/tool-results/NAME, and gives the model a preview with that path. The
// preview is the turn of the record. The saved result is a separate turn below it, RECORD/saved/NAME, since the model had not
// seen it; it may appear later than the record, or be deleted.

// A savedResult is a file that a tool's result names.
type savedResult struct {
	use   string // the tool_use id; "" for a hook
	named string // the path as written
	path  string // the path of the file now
	text  string
}

// savedOutput and savedTooLong begin a text that names a saved result; the path follows savedTo.
const (
	savedOutput  = "<persisted-output>"
	savedTooLong = "Error: result ("
	savedTo      = "saved to"
)

// savedIn returns the path at which a result says that it was saved, or "". A tool can write such a text, so readFile
// accepts only paths in the session's own folder.
func savedIn(said string) string {
	trimmed := strings.TrimSpace(said)
	if !strings.HasPrefix(trimmed, savedOutput) && !strings.HasPrefix(trimmed, savedTooLong) {
		return ""
	}
	const most = 2000
	_, path, ok := strings.Cut(trimmed[:min(len(trimmed), most)], savedTo)
	if !ok {
		return ""
	}
	path, _, _ = strings.Cut(strings.TrimLeft(path, ": "), "\n")
	return strings.TrimRight(strings.TrimSpace(path), ".")
}

// noteSaved stores the files that the result of a tool or a hook names.
func (t *claudeTurn) noteSaved(use, said string) {
	if path := savedIn(said); path != "" {
		t.saved = append(t.saved, savedResult{use: strings.Clone(use), named: path})
	}
}

// noteSavedPath stores the file that the structured result names, unless the text named one.
func (t *claudeTurn) noteSavedPath(result *canon.Value) {
	if path := text(result, "persistedOutputPath"); path != "" && len(t.saved) == 0 && len(t.results) == 1 {
		t.saved = append(t.saved, savedResult{use: strings.Clone(t.results[0]), named: path})
	}
}

// claudeSaved reads the saved results of a session.
type claudeSaved struct {
	r      *reading
	folder string // the folder of the session; see ownFolder
}

// maxSaved is the largest total size of the files of one record that are read, in bytes.
const maxSaved = 4 * dag.MaxContent

// read reads the files that a turn names. It notes a file that cannot be read in the turn, and reads a file that is named
// twice only once.
func (f *claudeSaved) read(rec *claudeRecord, t *claudeTurn) error {
	whole, seen, size := t.saved[:0], map[string]bool{}, 0
	for _, sv := range t.saved {
		lost, err := f.readFile(&sv)
		if err != nil {
			return err
		}
		if lost == "" && seen[sv.path] {
			continue
		}
		if lost == "" && size+len(sv.text) > maxSaved {
			lost = noteSavedTooLarge
		}
		if lost != "" {
			rec.noted.add(lost)
			setAttr(&t.draft, attrSavedLost, strings.TrimPrefix(lost, savedLost), &rec.noted)
			continue
		}
		seen[sv.path] = true
		size += len(sv.text)
		whole = append(whole, sv)
	}
	t.saved = whole
	return nil
}

// The reasons why a saved result is lost. The attribute has the text after savedLost.
const (
	savedLost          = "saved_result_"
	noteSavedElsewhere = "saved_result_elsewhere" // the path is not in the session's own folder
	noteSavedMissing   = "saved_result_missing"
	noteSavedLink      = "saved_result_link"      // the file, or a folder of the session, is a link
	noteSavedTooLarge  = "saved_result_too_large" // the file is too large for a turn, or all files of a record together are
	noteSavedBinary    = "saved_result_binary"    // it is not text
)

// readFile reads the file that a result names. It uses only the names in the path, since SESSION may have been moved. lost
// is the reason if the file is lost, else "".
func (f *claudeSaved) readFile(sv *savedResult) (lost string, err error) {
	parts := strings.Split(strings.ReplaceAll(sv.named, `\`, "/"), "/")
	if f.folder == "" || len(parts) < 3 {
		return noteSavedElsewhere, nil
	}
	own, folder, name := parts[len(parts)-3], parts[len(parts)-2], parts[len(parts)-1]
	if own != filepath.Base(f.folder) || folder != resultsFolder || name == "" || strings.HasPrefix(name, ".") || !filepath.IsLocal(name) {
		return noteSavedElsewhere, nil
	}
	sv.path = filepath.Join(f.folder, resultsFolder, name)
	in, lost := f.r.files.openOwned(sv.path)
	if lost != "" {
		return lost, nil
	}
	defer in.Close()
	const most = dag.MaxContent - 64 // leaves room for the title line
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil && f.r.ctx.Err() != nil:
		return "", f.r.ctx.Err()
	case err != nil:
		return noteSavedMissing, nil
	case len(data) > most:
		return noteSavedTooLarge, nil
	case bytes.IndexByte(data, 0) >= 0:
		return noteSavedBinary, nil
	}
	sv.text = string(data)
	return "", nil
}

// openOwned opens a file two folders below the session's folder; neither these folders nor the file may be links.
func (t *tree) openOwned(path string) (in io.ReadCloser, lost string) {
	if m := t.members[path]; m != nil && (!m.packed || m.plain != nil) {
		in, err := m.open()
		if err != nil {
			return nil, noteSavedMissing
		}
		return in, ""
	}
	folder := filepath.Dir(path)
	for _, at := range [...]string{filepath.Dir(folder), folder, path} {
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return nil, noteSavedMissing
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, noteSavedLink
		case info.IsDir() != (at != path) || at == path && !info.Mode().IsRegular():
			return nil, noteSavedMissing
		}
	}
	before, err := os.Lstat(path)
	if err != nil {
		return nil, noteSavedMissing
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, noteSavedMissing
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) { // replaced meanwhile
		file.Close()
		return nil, noteSavedLink
	}
	return file, ""
}

// savedTurn makes a turn from a saved file that another turn names.
func (s *claudeSession) savedTurn(rec *claudeRecord, t *claudeTurn, of *claudeNode, name string, sv *savedResult) error {
	r := s.r
	before := r.beginFile(sv.path, ClaudeCode)
	defer r.returnTo(before)
	r.record()
	r.taken[sv.path] = true
	r.advance(int64(len(sv.text)))
	var noted counts
	base := filepath.Base(sv.path)
	d := dag.Draft{Role: dag.RoleTool, Author: t.draft.Author, Conversation: t.draft.Conversation, CreatedAt: t.draft.CreatedAt}
	turnID(&d, sourceClaude, name+"/saved/"+base, &noted)
	var c content
	if sv.use == "" {
		c.titled(kindHook, kindHook, validUTF8(sv.text, &noted))
	} else {
		tool := "unknown"
		if call := s.calls.before(sv.use, of.chain); call != nil {
			tool = call.tool
			setAttr(&d, attrTool, tool, &noted)
		}
		d.Author = authorName("tool", tool, &noted)
		setAttr(&d, attrToolUseID, sv.use, &noted)
		c.result(validUTF8(sv.text, &noted), false)
	}
	d.Content = c.text.String()
	setAttr(&d, attrBlocks, c.blocks(), &noted)
	setAttr(&d, AttrSavedAs, base, &noted)
	for _, key := range [...]string{AttrFolder, attrGitBranch, attrAgentID} {
		setAttr(&d, key, t.draft.Attrs[key], &noted)
	}
	addParent(&d, of.id, dag.Reply, &noted)
	s.admit(&d, s.sessionOf(rec.v), sv.path, noted)
	return s.handFull()
}
