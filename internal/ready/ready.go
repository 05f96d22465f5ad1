// Package ready keeps texts that were prepared from a SQLite store for readers that cannot wait for the store, such as the hooks of an agent. The texts are files of a
// folder next to the store's file.
//
// A text is given as long as the history has no entry that was not there when the text was prepared. An entry is anything but a turn: an erasure, a belief, a fact, an alias.
// The store itself records the number of the last entry in the folder before it commits, in every process, so a reader learns of an entry without opening the store. An
// erasure also removes all texts before it answers.
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

// A Folder has the texts of one tenant.
type Folder struct{ path string }

// Beside returns the folder of a tenant next to a store's file, whose path has no links. It need not exist: without it, a store records nothing.
func Beside(store, tenant string) Folder {
	sum := sha256.Sum256([]byte(tenant))
	return Folder{filepath.Join(store+"-ready", hex.EncodeToString(sum[:8]))}
}

// At returns the folder with a path that [Folder.Path] returned. Of "" there is no number of a last entry, so no text is given.
func At(path string) Folder { return Folder{path} }

// Path returns the folder's path.
func (f Folder) Path() string { return f.path }

const (
	lastFile   = "last"  // the number of the last entry, as eight bytes
	textSuffix = ".text" // a text that waits
	maxText    = 4 << 20 // bytes
)

// Make makes the folder. Only its owner may read it.
func (f Folder) Make() error { return os.MkdirAll(f.path, 0o700) }

// There reports whether there is the folder.
func (f Folder) There() bool {
	_, err := os.Lstat(f.path)
	return err == nil
}

// Move records the number of the last entry. The caller holds the store's lock for writing. It is on disk when Move returns.
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

// Drop removes all texts. They are gone from the folder's names when Drop returns.
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

// A kept text.
type kept struct {
	Last  uint64 `json:"last"`  // the number of the last entry, before the text was prepared
	About string `json:"about"` // names what the text follows from, as the caller of Keep does
	Text  []byte `json:"text"`
}

// keyDigits are the digits of a key's digest in the names of its texts.
const keyDigits = 32

func name(key string, n int) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:keyDigits/2]) + "-" + strconv.Itoa(n) + textSuffix
}

// Keep replaces the texts of a key. Each of them is given once. last is the number of the last entry, read before the texts were prepared. If an entry
// has come since, the texts are removed again, since an erasure may have emptied the folder before they were written, and ErrMoved is returned.
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

// Count returns how many texts of a key wait that may be given and that follow from the same.
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

// ErrNone is returned if no text waits, and ErrMoved if the texts were prepared before the last entry.
var (
	ErrNone  = errors.New("nothing is prepared")
	ErrMoved = errors.New("what was prepared is older than a rule or an erasure")
)

// Take claims a text of a key that fits, so that nobody else gets it. The text stays in a file, which is the caller's to remove; an erasure removes it, too. A text that does not
// fit stays for others; the error is that of fits if no other text does.
func (f Folder) Take(key string, fits func(text []byte) error) (text []byte, file string, err error) {
	why := ErrNone
	for _, path := range f.texts(key) {
		k, err := read(path)
		if err != nil {
			continue // taken meanwhile, or no text
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

// Prune removes the texts of other keys than those given. Of texts that were given, it removes those that no mark names any more and that were
// given before a time: their hook was killed.
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

// Hold writes a text that was given already. It stays in a file, which is the caller's to remove; an erasure removes it, too.
func (f Folder) Hold(text []byte) (file string, err error) {
	data, err := json.Marshal(kept{Text: text})
	if err != nil {
		return "", err
	}
	file = filepath.Join(f.path, "held."+rand.Text())
	return file, secretfile.Save(file, data, true)
}

// texts returns the files of a key's texts that wait.
func (f Folder) texts(key string) (paths []string) {
	prefix := name(key, 0)[:keyDigits]
	entries, _ := os.ReadDir(f.path) // without the folder there are none
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

// Open returns the text in a file that Take moved.
func Open(path string) ([]byte, error) {
	k, err := read(path)
	if err != nil {
		return nil, err
	}
	return k.Text, nil
}
