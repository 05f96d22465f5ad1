package history

import (
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A Snapshot is what somebody derived from a history and keeps under a name, to be spared deriving it again. It may be
// dropped at any time, and no copy of a store needs it. A snapshot without a value is not there. It takes no number.
//
// A snapshot may hold what follows from a text. Then the change that erases the text drops it.
type Snapshot struct {
	Name  string
	Value []byte
}

// Bounds of a snapshot, in bytes.
const (
	MaxSnapshotName = 200
	MaxSnapshot     = 32 << 20
)

// Check reports the first thing about a snapshot that no store keeps.
func (s *Snapshot) Check() error {
	if s.Name == "" || len(s.Name) > MaxSnapshotName || strings.ContainsFunc(s.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%w: a snapshot named %.250q, want 1 to %d printable characters of ASCII", dag.ErrForm, s.Name, MaxSnapshotName)
	}
	if len(s.Value) > MaxSnapshot {
		return fmt.Errorf("%w: the snapshot %q of %d bytes, at most %d", dag.ErrForm, s.Name, len(s.Value), MaxSnapshot)
	}
	return nil
}

// A SnapshotPage asks for snapshots whose names begin with Prefix and are above After, in the order of their bytes.
type SnapshotPage struct {
	Prefix, After string
	Limit         int
	Names         bool // the names alone: no snapshot has its value, and none is read
}

// Upper is above every name that begins with Prefix, and no name that does not is between the two.
func (p *SnapshotPage) Upper() string { return p.Prefix + "\x7f" }

// Holds reports whether a name is one of the page.
func (p *SnapshotPage) Holds(name string) bool {
	return name > p.After && strings.HasPrefix(name, p.Prefix)
}
