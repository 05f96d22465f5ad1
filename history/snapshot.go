package history

import (
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A Snapshot is data that was derived from a history and is kept under a name, to save deriving it again. It may be dropped
// at any time, and no copy of a store needs it. It takes no sequence number. A snapshot without a value does not exist.
//
// A snapshot may contain data derived from a text. The change that erases the text then drops the snapshot.
type Snapshot struct {
	Name  string
	Value []byte
}

// Bounds of a snapshot, in bytes.
const (
	MaxSnapshotName = 200
	MaxSnapshot     = 32 << 20
)

// Check reports the first reason why no store accepts the snapshot, as dag.ErrForm.
func (s *Snapshot) Check() error {
	if s.Name == "" || len(s.Name) > MaxSnapshotName || strings.ContainsFunc(s.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%w: a snapshot named %.250q, want 1 to %d printable characters of ASCII", dag.ErrForm, s.Name, MaxSnapshotName)
	}
	if len(s.Value) > MaxSnapshot {
		return fmt.Errorf("%w: the snapshot %q has %d bytes, at most %d", dag.ErrForm, s.Name, len(s.Value), MaxSnapshot)
	}
	return nil
}

// A SnapshotPage selects snapshots whose names begin with Prefix and are above After, in the order of the names' bytes.
type SnapshotPage struct {
	Prefix, After string
	Limit         int
	Names         bool // only names are returned; no value is read
}

// Upper returns the end of the names that begin with Prefix: exactly these names lie between Prefix and Upper.
func (p *SnapshotPage) Upper() string { return p.Prefix + "\x7f" }

// Holds reports whether a name belongs to the page, regardless of Limit.
func (p *SnapshotPage) Holds(name string) bool {
	return name > p.After && strings.HasPrefix(name, p.Prefix)
}
