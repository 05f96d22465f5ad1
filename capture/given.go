package capture

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/project"
	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// A Prepared text is a context that was signed in advance, for one session.
type Prepared struct {
	Text    string          `json:"text"`    // for the agent, with the marks around it
	Context json.RawMessage `json:"context"` // for the kernel, which records it
	Keys    KeyFile         `json:"keys"`    // the keyring that signed it
}

// ReadyKey returns the key under which texts are prepared for sessions in a folder. All folders of one clone of a repository in which one branch is
// checked out have the same key. The key of the folder "" is for the rules that hold in every folder.
func ReadyKey(folder string) string {
	if folder == "" {
		return "anywhere"
	}
	at := filepath.Clean(folder)
	if p, err := project.At(at); err == nil && p.Common != "" {
		return "repository\x00" + p.Common + "\x00" + project.Branch(at)
	} else if err == nil && p.Known() {
		at = p.Folder
	}
	return "folder\x00" + at
}

// ReadyIn says where texts are prepared for the hooks of a spool.
type ReadyIn struct {
	Folder   string   `json:"folder"`   // a folder of package internal/ready
	Policies []string `json:"policies"` // by which hooks ask for contexts of prompts; "" is the kernel's default. Without any, nothing is prepared
}

// A KeyFile describes a keyring's file as it was when a text was signed. The zero value means no file.
type KeyFile struct {
	Path    string    `json:"path,omitempty"`
	Size    int64     `json:"size,omitempty"`
	ModTime time.Time `json:"mod_time,omitzero"`
}

// KeyFileAt describes the file at a path now; the path "" means no file. A file that does not exist has no time.
func KeyFileAt(path string) KeyFile {
	k := KeyFile{Path: path}
	if path == "" {
		return k
	}
	if info, err := os.Stat(path); err == nil {
		k.Size, k.ModTime = info.Size(), info.ModTime()
	}
	return k
}

// Same reports whether the key file is unchanged. If it has changed, a prepared text may carry the signature of a key that has
// since been retired.
func (k KeyFile) Same() bool {
	if k.Path == "" {
		return true
	}
	now := KeyFileAt(k.Path)
	return now.Size == k.Size && now.ModTime.Equal(k.ModTime)
}

func (s *Spool) readyIn() string { return s.folder + ".ready.json" }

// ReadyIn returns where texts are prepared, or the zero value if that is not recorded.
func (s *Spool) ReadyIn() (in ReadyIn, err error) {
	data, err := os.ReadFile(s.readyIn())
	if errors.Is(err, fs.ErrNotExist) {
		return in, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return in, fmt.Errorf("capture: %s: %w", s.readyIn(), err)
	}
	return in, nil
}

// SetReadyIn records where texts are prepared.
func (s *Spool) SetReadyIn(in ReadyIn) error {
	data, err := json.Marshal(in)
	if err == nil {
		err = secretfile.Save(s.readyIn(), data, false)
	}
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// A Given is the mark of a hook that passed a prepared text to an agent. The kernel records the context when it processes the
// mark.
type Given struct {
	Agent   Agent     `json:"agent"`
	Session string    `json:"session"`
	Event   string    `json:"event"`
	At      time.Time `json:"at"`
	File    string    `json:"file"`             // holds the text; an erasure may have removed it
	Failed  string    `json:"failed,omitempty"` // why the agent has no text, or only a part of it

	path string
}

const givenSuffix = ".given"

// Give writes the mark, or overwrites it if this Given was written before.
func (s *Spool) Give(g *Given) error {
	data, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	if g.path == "" {
		sum := sha256.Sum256([]byte(g.File))
		g.path = filepath.Join(s.folder, hex.EncodeToString(sum[:8])+rand.Text()[:8]+givenSuffix)
	}
	if err := secretfile.Save(g.path, data, false); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// Givens returns the marks of the texts that hooks passed to agents.
func (s *Spool) Givens() (list []*Given, err error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), givenSuffix) {
			continue
		}
		g := &Given{path: filepath.Join(s.folder, e.Name())}
		data, failed := os.ReadFile(g.path)
		if failed == nil {
			failed = json.Unmarshal(data, g)
		}
		switch {
		case errors.Is(failed, fs.ErrNotExist): // processed meanwhile
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("capture: %s: %w", g.path, failed))
		default:
			list = append(list, g)
		}
	}
	return list, err
}

// Done removes the mark and the text.
func (g *Given) Done() error {
	for _, path := range []string{g.File, g.path} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("capture: %w", err)
		}
	}
	return nil
}
