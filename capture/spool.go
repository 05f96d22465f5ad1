package capture

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// A Mark is left by a hook in the spool; it says that a transcript has more than was read of it.
type Mark struct {
	Agent      Agent     `json:"agent"`
	Session    string    `json:"session"`
	Transcript string    `json:"transcript"`
	Folder     string    `json:"cwd"`
	Event      string    `json:"event"` // the event that left this mark
	At         time.Time `json:"at"`

	// Said is the last message of the agent. The transcript may be written later than the hook is called, so a mark with
	// a message stays until the transcript shows it.
	Said string `json:"said,omitempty"`
}

// Bounds of a spool.
const (
	MaxMarks = 10_000   // files
	MaxSaid  = 64 << 10 // bytes of a message; a longer message is cut
)

// ErrFull is wrapped if a spool has no room. Nothing is lost while the agent keeps its transcript.
var ErrFull = errors.New("the spool is full")

// A Spool is a folder in which hooks leave marks for a kernel. Any number of processes may use it at once. Only the owner may
// read its files.
//
// A mark's file is named after its transcript and its kind, so a hundred tool calls leave one file. A process that takes marks
// first renames them to names of its own, and removes them when the transcript has been read. So a mark that a hook adds
// meanwhile is a new file, and the next process takes the marks of a process that was killed once more.
type Spool struct{ folder string }

// At returns the spool in a folder. The folder is created with the first mark.
func At(folder string) *Spool { return &Spool{folder} }

// Folder returns where the spool is.
func (s *Spool) Folder() string { return s.folder }

const (
	markSuffix  = ".json"   // not taken yet
	takenSuffix = ".taking" // taken by a process
)

const kindMore = "more" // the kind of a mark that only says that a transcript has more

// name returns a file name that is the same for all marks that say the same.
func (m *Mark) name() string {
	kind := kindMore
	switch m.Event {
	case Stop, SubagentStop:
		kind = "said"
	case SessionEnd:
		kind = "ended"
	}
	sum := sha256.Sum256([]byte(string(m.Agent) + "\x00" + m.Transcript))
	return hex.EncodeToString(sum[:16]) + "-" + kind
}

// Add leaves a mark. It is on disk when Add returns.
func (s *Spool) Add(m Mark) error {
	m.Said = cut(m.Said, MaxSaid)
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	if err := s.add(m.name()+markSuffix, data); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// cut returns the beginning of a text: up to most bytes, cut between characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func (s *Spool) add(name string, data []byte) error {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(s.folder, name)
	_, err := os.Lstat(path)
	if err == nil && strings.HasSuffix(name, kindMore+markSuffix) {
		return nil // the existing mark says the same
	}
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(s.folder)
		if err != nil {
			return err
		}
		if len(entries) >= MaxMarks {
			return fmt.Errorf("%w: %d files in %s; any command that opens the store imports them", ErrFull, len(entries), s.folder)
		}
	}
	return secretfile.Save(path, data, false)
}

// A Session combines the marks of one transcript.
type Session struct {
	Agent      Agent
	Name       string // the agent's id of the session
	Transcript string
	Folder     string
	Since      time.Time // the time of the first mark
	Last       string    // the event of the last mark
	Ended      bool
	Said       []string // messages that must appear in the transcript

	files []string
}

// Pending returns the sessions that have marks, the oldest first. It leaves a file that is not a mark where it is and reports
// it in the error, which is returned together with the sessions.
func (s *Spool) Pending() ([]*Session, error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	var broken []error
	byPath := map[string][]Mark{}
	files := map[string][]string{}
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, markSuffix) && !strings.HasSuffix(name, takenSuffix) || name == settingsFile {
			continue
		}
		path := filepath.Join(s.folder, e.Name())
		m, err := readMark(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // taken meanwhile
		}
		if err != nil {
			broken = append(broken, err)
			continue
		}
		key := string(m.Agent) + "\x00" + m.Transcript
		byPath[key] = append(byPath[key], *m)
		files[key] = append(files[key], path)
	}
	var list []*Session
	for key, marks := range byPath {
		list = append(list, sessionOf(marks, files[key]))
	}
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Transcript, b.Transcript))
	})
	return list, errors.Join(broken...)
}

func readMark(path string) (*Mark, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Mark
	if err := json.Unmarshal(data, &m); err != nil || m.Transcript == "" {
		return nil, fmt.Errorf("capture: %s is no mark of a session: %w", path, cmp.Or(err, errors.New("the mark names no transcript")))
	}
	return &m, nil
}

func sessionOf(marks []Mark, files []string) *Session {
	slices.SortFunc(marks, func(a, b Mark) int { return a.At.Compare(b.At) })
	last := &marks[len(marks)-1]
	s := &Session{Agent: last.Agent, Name: last.Session, Transcript: last.Transcript, Folder: last.Folder, Since: marks[0].At, Last: last.Event, files: files}
	for i := range marks {
		s.Ended = s.Ended || marks[i].Event == SessionEnd
		if marks[i].Said != "" {
			s.Said = append(s.Said, marks[i].Said)
		}
	}
	return s
}

// Patience is how long a mark waits for the message that it announces, and how long a half-written file stays.
const Patience = 24 * time.Hour

// Take calls fn with each session that has marks, the oldest first. If fn reports the session as read, Take removes its marks,
// except those left after Take began; otherwise the marks stay. An error of fn does not stop Take from handling the other
// sessions.
func (s *Spool) Take(ctx context.Context, now time.Time, fn func(*Session) (read bool, err error)) error {
	if err := s.claim(now); err != nil {
		return err
	}
	list, err := s.Pending()
	errs := []error{err}
	for _, session := range list {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		read, err := fn(session)
		if err != nil {
			errs = append(errs, err)
		}
		if !read || err != nil {
			continue
		}
		for _, path := range session.files {
			if !strings.HasSuffix(path, takenSuffix) {
				continue // left after Take began
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("capture: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// claim renames the existing marks, and removes old files that killed hooks left half-written.
func (s *Spool) claim(now time.Time) error {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.folder, e.Name())
		name, isMark := strings.CutSuffix(e.Name(), markSuffix)
		var err error
		switch {
		case e.Name() == settingsFile || e.Name() == placesFile || strings.HasSuffix(e.Name(), givenSuffix):
		case isMark:
			err = os.Rename(path, filepath.Join(s.folder, name+"."+rand.Text()+takenSuffix))
		case strings.HasSuffix(name, takenSuffix): // of another process, perhaps a killed one
		default:
			if info, failed := e.Info(); failed == nil && now.Sub(info.ModTime()) > Patience {
				err = os.Remove(path)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process has renamed or removed it
			return fmt.Errorf("capture: %w", err)
		}
	}
	return nil
}
