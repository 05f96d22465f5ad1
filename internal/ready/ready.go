// Package ready stores texts that were prepared from a SQLite store for programs that cannot wait for the store, such as an
// agent's hooks. The texts are files in a folder next to the store's file.
//
// A text is valid until the history has an entry that is newer than the text. An entry is anything but a turn: an erasure, a
// belief, a fact, an alias. Before it commits, the store itself, in every process, records the number of the last entry in the
// folder, so a reader learns of an entry without opening the store. An erasure also removes all texts before it returns.
package ready

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// A Folder holds the texts of one tenant.
type Folder struct{ path string }

// Beside returns the folder of a tenant next to a store's file; the path of the file must have no links. The folder need not
// exist: without it, a store records nothing.
func Beside(store, tenant string) Folder {
	sum := sha256.Sum256([]byte(tenant))
	return Folder{filepath.Join(store+"-ready", hex.EncodeToString(sum[:8]))}
}

// At returns the folder with a path that [Folder.Path] returned. The path "" has no number of a last entry, so Take returns no
// text.
func At(path string) Folder { return Folder{path} }

// Path returns the folder's path.
func (f Folder) Path() string { return f.path }

const (
	lastFile   = "last"  // the number of the last entry, as eight bytes
	textSuffix = ".text" // a text that was not taken yet
	maxText    = 4 << 20 // bytes
)

// Make creates the folder. Only its owner may read it.
func (f Folder) Make() error { return os.MkdirAll(f.path, 0o700) }

// There reports whether the folder exists.
func (f Folder) There() bool {
	_, err := os.Lstat(f.path)
	return err == nil
}

// Move records the number of the last entry. The caller holds the store's write lock. The number is on disk when Move returns.
func (f Folder) Move(last uint64) error {
	if now, err := f.Last(); err == nil && now == last {
		return nil
	}
	return secretfile.Save(filepath.Join(f.path, lastFile), binary.BigEndian.AppendUint64(nil, last), false)
}

// Last returns the number of the last entry.
func (f Folder) Last() (uint64, error) {
	if f.path == "" {
		return 0, fmt.Errorf("nothing is prepared for this store: %w", errors.ErrUnsupported)
	}
	data, err := os.ReadFile(filepath.Join(f.path, lastFile))
	if err != nil {
		return 0, err
	}
	if len(data) != 8 {
		return 0, fmt.Errorf("%s has %d bytes, want 8", filepath.Join(f.path, lastFile), len(data))
	}
	return binary.BigEndian.Uint64(data), nil
}

// Drop removes all texts. When Drop returns, the folder has no names of them any more.
func (f Folder) Drop() error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	removed := false
	for _, e := range entries {
		if e.Name() == lastFile || e.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(f.path, e.Name())); err == nil {
			removed = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if removed {
		errs = append(errs, secretfile.SyncFolder(f.path))
	}
	return errors.Join(errs...)
}

// kept is a text with the state that it was prepared from.
type kept struct {
	Last  uint64 `json:"last"`  // the number of the last entry before the text was prepared
	About string `json:"about"` // identifies the inputs of the text; chosen by the caller of Keep
	Text  []byte `json:"text"`
}

// keyDigits is how many hex digits of a key's digest are in the names of its texts.
const keyDigits = 32

func name(key string, n int) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:keyDigits/2]) + "-" + strconv.Itoa(n) + textSuffix
}

// Keep replaces the texts of a key. Take returns each text once. last is the number of the last entry, read before the texts
// were prepared. If an entry has come since, Keep removes the texts again, since an erasure may have emptied the folder before
// they were written, and returns ErrMoved.
func (f Folder) Keep(key string, last uint64, about string, texts ...[]byte) error {
	var files []string
	for n, text := range texts {
		data, err := json.Marshal(kept{last, about, text})
		file := filepath.Join(f.path, name(key, n))
		if err == nil {
			err = secretfile.Save(file, data, false)
		}
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	now, err := f.Last()
	if err == nil && now == last {
		return nil
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return cmp.Or(err, ErrMoved)
}

// Count returns how many texts of a key are valid and have the same about.
func (f Folder) Count(key, about string) (n int) {
	last, err := f.Last()
	if err != nil {
		return 0
	}
	for _, path := range f.texts(key) {
		if k, err := read(path); err == nil && k.Last == last && k.About == about {
			n++
		}
	}
	return n
}

// ErrNone is returned if there is no text, and ErrMoved if the texts were prepared before the last entry.
var (
	ErrNone  = errors.New("nothing is prepared")
	ErrMoved = errors.New("the prepared texts are older than a rule or an erasure")
)

// Take claims a text of a key for which fits returns nil, so that no other process gets it. The text stays in a file, which the
// caller has to remove; an erasure also removes it. A text that does not fit stays for others; if no text fits, the error is
// that of fits.
func (f Folder) Take(key string, fits func(text []byte) error) (text []byte, file string, err error) {
	why := ErrNone
	for _, path := range f.texts(key) {
		k, err := read(path)
		if err != nil {
			continue // taken meanwhile, or not a text
		}
		last, err := f.Last()
		if err != nil {
			return nil, "", err
		}
		if k.Last != last {
			if errors.Is(why, ErrNone) {
				why = ErrMoved
			}
			continue
		}
		if err := fits(k.Text); err != nil {
			why = err
			continue
		}
		taken := path + "." + rand.Text()
		if err := os.Rename(path, taken); err == nil {
			now := time.Now()
			_ = os.Chtimes(taken, now, now) // for Prune
			return k.Text, taken, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	return nil, "", why
}

// Prune removes the texts of all keys that are not in keys. It also removes taken and held texts that are not in marked and
// older than before: the hook that used them was killed.
func (f Folder) Prune(keys, marked []string, before time.Time) error {
	keep := map[string]bool{}
	for _, key := range keys {
		keep[name(key, 0)[:keyDigits]] = true
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(f.path, e.Name())
		waits := strings.HasSuffix(e.Name(), textSuffix)
		info, err := e.Info()
		switch {
		case err != nil || e.Name() == lastFile: // taken meanwhile
		case waits && (len(e.Name()) < keyDigits || !keep[e.Name()[:keyDigits]]), !waits && info.ModTime().Before(before) && !slices.Contains(marked, path):
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Hold writes a text that was already passed on. The text stays in a file, which the caller has to remove; an erasure also
// removes it.
func (f Folder) Hold(text []byte) (file string, err error) {
	data, err := json.Marshal(kept{Text: text})
	if err != nil {
		return "", err
	}
	file = filepath.Join(f.path, "held."+rand.Text())
	return file, secretfile.Save(file, data, true)
}

// texts returns the files of a key's texts that were not taken.
func (f Folder) texts(key string) (paths []string) {
	prefix := name(key, 0)[:keyDigits]
	entries, _ := os.ReadDir(f.path) // without the folder there are no texts
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), textSuffix) {
			paths = append(paths, filepath.Join(f.path, e.Name()))
		}
	}
	return paths
}

func read(path string) (*kept, error) {
	data, err := secretfile.Load(path, maxText)
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	return &k, nil
}

// Open returns the text in a file that Take or Hold returned.
func Open(path string) ([]byte, error) {
	k, err := read(path)
	if err != nil {
		return nil, err
	}
	return k.Text, nil
}
