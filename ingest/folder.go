package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/graphkernel/graphkernel/internal/walk"
)

// A group has the files of one given path.
type group struct {
	given      string
	repository bool
	named      bool // the path is one file, which must have a known format
	files      []*file
}

// A file is a file to be read, or to be counted as skipped.
type file struct {
	path     string
	format   Format // empty: unknown
	look     look
	subagent bool     // a sub-agent's file of Claude Code without its session in the import
	agents   []string // the files of a session's sub-agents
	packed   bool     // in a folder, and unpacked for reading
	saved    bool     // a tool's result that Claude Code saved for a session
	damage   error    // why it cannot be unpacked
}

// sources has the files of all given paths.
type sources struct {
	ctx   context.Context
	stdin io.Reader // nil: no standard input
	files *tree

	irregular []string // paths in a folder that are not regular files
	copies    []string // packed files in a folder that also exist unpacked
	spooled   string   // the temporary file with standard input
	closers   []io.Closer
}

// paths reads the given paths: every file of folders and archives, in ascending order of the paths. It finds the formats of all
// files before it hands anything over.
func (r *reading) paths(given []string) error {
	groups := make([]*group, 0, len(given))
	for _, path := range given {
		g, err := r.group(path)
		if err != nil {
			return err
		}
		groups = append(groups, g)
	}
	unknown := 0 // groups
	for _, g := range groups {
		err := r.lookAtGroup(g)
		switch {
		case errors.Is(err, ErrFormat):
			r.report.Unknown = append(r.report.Unknown, err)
			unknown++
		case err != nil:
			return err
		}
	}
	if len(groups) > 0 && unknown == len(groups) {
		return r.report.Unknown[0]
	}
	r.skipIrregular()
	for _, g := range groups {
		if g.repository {
			if err := readRepository(r, g.given); err != nil {
				return err
			}
		}
		for _, f := range g.files {
			if err := r.readOne(g, f); err != nil {
				return err
			}
		}
	}
	for _, path := range r.unread {
		if r.taken[path] {
			continue
		}
		if err := r.skipWhole(path, skipSavedResult); err != nil {
			return err
		}
	}
	return nil
}

// stat describes the file or folder at a given path.
func (s *sources) stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(s.onDisk(path))
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return info, nil
}

// group returns the files of a given path.
func (r *reading) group(given string) (*group, error) {
	if err := Check(given); err != nil {
		return nil, err
	}
	g := &group{given: given}
	if given == Stdin {
		if err := r.spool(); err != nil {
			return nil, err
		}
	}
	info, err := r.stat(given)
	if err != nil {
		return nil, err
	}
	var paths []string
	if info.IsDir() {
		if r.opts.Format == Git || r.opts.Format == "" && isRepository(given) {
			g.repository = true
			return g, nil
		}
		if paths, err = r.list(given); err != nil {
			return nil, err
		}
		if paths, err = r.unpackAmong(paths); err != nil {
			return nil, err
		}
	} else if paths, g.named, err = r.single(given); err != nil {
		return nil, err
	}
	for _, path := range paths {
		g.files = append(g.files, &file{path: path, packed: r.files.members[path] != nil && r.files.members[path].packed})
		size, err := r.files.size(path)
		if err != nil {
			return nil, err
		}
		r.expect(size)
	}
	return g, nil
}

// single returns the files of a path that is a file: the file itself, or the members of a zip archive.
func (s *sources) single(path string) (paths []string, named bool, err error) {
	head, err := s.files.headOf(path)
	switch {
	case err != nil:
		return nil, false, err
	case isZip(head):
		if paths, err = s.archive(path); err == nil {
			paths, err = s.unpackAmong(paths)
		}
		return paths, false, err
	}
	if p := packingOf(head); p != nil {
		err = s.files.unpack(path, p)
	}
	return []string{path}, true, err
}

// lookAtGroup finds the formats of a group's files and the sub-agents of its sessions. It returns an error for a group without
// a known format.
func (r *reading) lookAtGroup(g *group) error {
	known := g.repository
	for _, f := range g.files {
		switch err := r.lookAtFile(g, f); {
		case err == nil || g.named:
			if err != nil {
				return err
			}
		case errors.Is(err, ErrFormat):
			r.report.Unknown = append(r.report.Unknown, err)
		case f.packed && errors.Is(err, ErrArchive):
			f.damage = err
		default:
			return err
		}
		known = known || f.format != ""
		if name := strings.ToLower(codexName(r.files.base(f.path))); f.format == Codex && r.rollouts[name] == nil {
			r.rollouts[name] = f
		}
		if f.format != ClaudeCode || f.subagent {
			continue
		}
		agents, err := r.files.agentFiles(f.path)
		if err != nil {
			return err
		}
		for _, a := range agents {
			if r.taken[a] {
				continue
			}
			r.taken[a], r.taken[metaFile(a)] = true, true
			f.agents = append(f.agents, a)
			if g.named {
				size, err := r.files.size(a)
				if err != nil {
					return err
				}
				r.expect(size)
			}
		}
	}
	if known {
		return nil
	}
	return r.nothingKnown(g)
}

func (r *reading) lookAtFile(g *group, f *file) (err error) {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if !g.named && r.files.isSavedResult(f.path) {
		f.saved = true
		return nil
	}
	if g.named && r.opts.Format != "" {
		f.format = r.opts.Format
	} else {
		if f.look, err = r.files.lookAt(f.path); err != nil {
			return err
		}
		if r.opts.Format != "" && f.look.seen[r.opts.Format] > 0 {
			f.format = r.opts.Format
		} else if f.format, err = f.look.decide(f.path); err != nil {
			return err
		}
	}
	if f.format == ClaudeCode {
		f.subagent, err = r.files.isSubagent(f.path)
	}
	return err
}

// nothingKnown returns the error for a group without a file that can be imported.
func (r *reading) nothingKnown(g *group) error {
	if g.named {
		f := g.files[0]
		if f.look.empty {
			return fmt.Errorf("ingest: %w: %s is empty", ErrFormat, f.path)
		}
		return fmt.Errorf("ingest: %w: %s is of no known format (%s); known formats are %s; name the format with --format", ErrFormat, f.path, f.look, knownFormats())
	}
	if len(g.files) == 0 {
		for _, path := range r.irregular {
			if strings.HasPrefix(path, g.given+"/") {
				return fmt.Errorf("ingest: %w: there is no file in %s, only links to files, sockets or pipes, which are not read, such as %s", ErrFormat, g.given, path)
			}
		}
		return fmt.Errorf("ingest: %w: there is no file in %s", ErrFormat, g.given)
	}
	const most = 3
	var names []string
	for _, f := range g.files[:min(most, len(g.files))] {
		names = append(names, fmt.Sprintf("%s: %s", strings.TrimPrefix(f.path, g.given+"/"), f.look))
	}
	if more := len(g.files) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("ingest: %w: no file in %s is of a known format (%s); known formats are %s", ErrFormat, g.given, strings.Join(names, "; "), knownFormats())
}

// readOne reads a file, or counts it as skipped.
func (r *reading) readOne(g *group, f *file) error {
	r.tolerant = f.packed
	switch {
	case r.taken[f.path]: // already read with its session
		return nil
	case f.damage != nil:
		r.beginFile(f.path, "")
		r.brokenPacked(f.damage)
		return nil
	case f.saved:
		r.unread = append(r.unread, f.path) // a later session may have it
		return nil
	case f.format == "" && f.look.empty:
		return r.skipWhole(f.path, skipEmptyFile)
	case f.format == "" && f.look.archive:
		return r.skipWhole(f.path, skipArchive)
	case f.format == "" && !f.look.json:
		return r.skipWhole(f.path, skipUnknownFormat)
	case f.format == "":
		return r.skipLines(f.path, "", skipUnknownFormat)
	case r.opts.Format != "" && f.format != r.opts.Format:
		return r.skipLines(f.path, f.format, skipOtherFormat)
	case f.subagent:
		return r.skipLines(f.path, f.format, skipUnjoined)
	case f.format == ClaudeCode:
		return readClaudeCode(r, f.path, f.agents)
	}
	r.beginFile(f.path, f.format)
	return readers[f.format](r, f.path)
}

// list returns the regular files below a folder in the order of their paths.
func (s *sources) list(root string) (paths []string, err error) {
	err = walk.Dir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && strings.HasPrefix(e.Name(), ".") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		if !e.Type().IsRegular() {
			s.irregular = append(s.irregular, path)
			return nil
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return paths, nil
}

// skipIrregular counts links to files, sockets and pipes, and packed files that also exist unpacked.
func (r *reading) skipIrregular() {
	for _, path := range r.irregular {
		r.beginFile(path, "")
		r.record()
		r.skip("not_a_file")
	}
	for _, path := range r.copies {
		r.beginFile(path, "")
		r.record()
		r.skip("packed_copy")
	}
}

// skipWhole counts a file that does not consist of records as one record.
func (r *reading) skipWhole(path, reason string) error {
	size, err := r.files.size(path)
	if err != nil {
		return err
	}
	r.beginFile(path, "")
	r.record()
	r.skip(reason)
	r.advance(max(size, 0))
	return nil
}

// skipLines counts every line of a file under one reason, except empty lines, which have their own reason.
func (r *reading) skipLines(path string, format Format, reason string) error {
	before := r.beginFile(path, format)
	defer r.returnTo(before)
	in, err := openLines(r.ctx, r.files, path)
	if err != nil {
		return err
	}
	defer in.close()
	blank, others := 0, 0
	for {
		line, err := in.next()
		r.advance(in.take())
		if err != nil && err != io.EOF && err != errLongLine {
			return err
		}
		if err == io.EOF {
			break
		}
		r.record()
		if err == nil && isBlank(line) {
			blank++
		} else {
			others++
		}
	}
	r.skipMany(skipEmptyLine, blank)
	r.skipMany(reason, others)
	return nil
}

// readFull reads up to len(dst) bytes; less only at the end of in.
func readFull(in io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(in, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if err != nil {
		return n, fmt.Errorf("ingest: %w", err)
	}
	return n, nil
}
