package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// The kinds of hooks that read events.
const (
	HookCapture = "capture"
	HookGuard   = "guard"
	HookContext = "context"
)

// Unread counts the failures of an agent's hooks of one kind since their last success: events that they could not read, or
// contexts that they could not pass on in time.
type Unread struct {
	Agent Agent     `json:"agent"`
	Hook  string    `json:"hook"` // HookCapture, HookGuard or HookContext
	Count int       `json:"count"`
	Since time.Time `json:"since"`
	Last  time.Time `json:"last"`
	Error string    `json:"error"` // of the last failure
}

// Bounds of the record of unread events.
const (
	maxUnread      = 64 << 10 // bytes of a file; a longer file is replaced by one line with its sum
	maxUnreadError = 300      // bytes of a message
)

// unread returns the path of the file that has a line for each unread event of an agent's hook. It lies next to the spool's folder.
func (s *Spool) unread(agent Agent, hook string) string {
	return s.folder + ".unread-" + string(agent) + "-" + hook + ".jsonl"
}

// DidRead records whether a hook could do its work. err is nil, or the error of ReadEvent or ReadCall, or the reason why there
// was no context. A success clears the failures that Unread reports for hooks of the same kind.
func (s *Spool) DidRead(agent Agent, hook string, err error, now time.Time) error {
	path := s.unread(agent, hook)
	if err == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("capture: %w", err)
		}
		return nil
	}
	if err := addUnread(path, Unread{Agent: agent, Hook: hook, Count: 1, Since: now.UTC(), Last: now.UTC(), Error: cut(err.Error(), maxUnreadError)}); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// addUnread appends a line, so hooks that run at the same time lose no event.
func addUnread(path string, u Unread) error {
	if before, err := readUnread(path); err != nil {
		return err
	} else if before != nil && before.full {
		u.Count, u.Since = before.Count+1, before.Since
	}
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if u.Count > 1 {
		return secretfile.Save(path, line, false)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// Unread returns the failures of each agent and kind of hook since the last success.
func (s *Spool) Unread() (list []Unread, err error) {
	for _, agent := range Agents {
		for _, hook := range []string{HookCapture, HookGuard, HookContext} {
			u, failed := readUnread(s.unread(agent, hook))
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("capture: %w", failed))
			} else if u != nil {
				list = append(list, u.Unread)
			}
		}
	}
	return list, err
}

// An unreadFile is the sum of a file's lines.
type unreadFile struct {
	Unread
	full bool
}

// readUnread returns the sum of a file's lines, or nil if there is no file. A line that was cut off counts as one event.
func readUnread(path string) (*unreadFile, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, 2*maxUnread))
	if err != nil {
		return nil, err
	}
	all := &unreadFile{full: len(data) >= maxUnread}
	for line := range bytes.Lines(data) {
		var u Unread
		if json.Unmarshal(line, &u) != nil || u.Count < 1 {
			all.Count++
			continue
		}
		if all.Since.IsZero() || u.Since.Before(all.Since) {
			all.Since = u.Since
		}
		if !u.Last.Before(all.Last) {
			all.Agent, all.Hook, all.Last, all.Error = u.Agent, u.Hook, u.Last, u.Error
		}
		all.Count += u.Count
	}
	return all, nil
}
