package ingest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folder reads every file below a folder, by ascending path.
func (r *reading) folder(root string) error {
	paths, err := r.list(root)
	if err != nil {
		return err
	}
	r.skipIrregular()
	type file struct {
		path     string
		format   Format
		look     look
		subagent bool
	}
	files := make([]file, 0, len(paths))
	agentsOf := map[string][]string{}
	taken := map[string]bool{}
	for _, path := range paths {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		l, err := lookAt(path)
		if err != nil {
			return err
		}
		f := file{path: path, look: l}
		if r.opts.Format != "" && l.seen[r.opts.Format] > 0 {
			f.format = r.opts.Format
		} else if f.format, err = l.decide(path); err != nil {
			return err
		}
		if f.format == ClaudeCode {
			if f.subagent, err = isSubagent(path); err != nil {
				return err
			}
		}
		files = append(files, f)
		if f.format != ClaudeCode || f.subagent {
			continue
		}
		agents, err := agentFiles(path)
		if err != nil {
			return err
		}
		for _, a := range agents {
			if !taken[a] {
				taken[a] = true
				agentsOf[path] = append(agentsOf[path], a)
			}
		}
	}
	for _, f := range files {
		var err error
		switch {
		case taken[f.path]: // read with its session
		case f.format == "" && !f.look.json:
			err = r.skipWhole(f.path, skipUnknownFormat)
		case f.format == "":
			err = r.skipLines(f.path, "", skipUnknownFormat)
		case r.opts.Format != "" && f.format != r.opts.Format:
			err = r.skipLines(f.path, f.format, skipOtherFormat)
		case f.subagent: // its session is not here
			err = r.skipLines(f.path, f.format, skipUnjoined)
		case f.format == ClaudeCode:
			err = r.claudeSession(f.path, agentsOf[f.path])
		default:
			err = r.readFile(f.path, f.format)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list returns the regular files below a folder in the order of their paths, and
// adds up their sizes.
func (r *reading) list(root string) (paths []string, err error) {
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
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
			r.irregular = append(r.irregular, path)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		r.total += info.Size()
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return paths, nil
}

// skipIrregular counts what is no file: links, which could lead anywhere, sockets, pipes.
func (r *reading) skipIrregular() {
	for _, path := range r.irregular {
		r.beginFile(path, "")
		r.record()
		r.skip("not_a_file")
	}
}

// skipWhole counts a file that does not look like records as one.
func (r *reading) skipWhole(path, reason string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	r.beginFile(path, "")
	r.record()
	r.skip(reason)
	r.advance(info.Size())
	return nil
}

// skipLines counts every line of a file under one reason, except for empty lines,
// which have their own.
func (r *reading) skipLines(path string, format Format, reason string) error {
	r.beginFile(path, format)
	in, err := openLines(r.ctx, path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		line, err := in.next()
		r.advance(in.take())
		switch {
		case err == io.EOF:
			return nil
		case err != nil && err != errLongLine:
			return err
		}
		r.record()
		if err == nil && isBlank(line) {
			r.skip(skipEmptyLine)
		} else {
			r.skip(reason)
		}
	}
}

// readFull reads as much as there is, up to the length of dst.
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
