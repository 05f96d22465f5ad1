package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/ledger"
)

// A Signed is the root of a log when its identity last signed for it, and whether the log was seen to fork since then.
type Signed struct {
	Root   ledger.Root
	Forked string // who saw the fork and what they saw, or ""
}

// A History is the file in which an identity records the last root that it signed, by the origin of the log. It binds
// the identity to the history that it signed first: a store that does not continue that history is a different store,
// or one restored from an older copy. The file contains no secret; it is protected like a secret because anyone who can
// change it can make the kernel sign a second history.
type History struct{ path string }

// HistoryBeside returns the history that belongs to the identity's file at a path.
func HistoryBeside(path string) History { return History{path + ".history"} }

// HistoryAt returns the history in the file at a path.
func HistoryAt(path string) History { return History{path} }

const (
	historyType = "graphkernel_history_v1"
	maxHistory  = 64 << 20
)

// Last returns the last root that was signed for the log; ok is false if there is none.
func (h History) Last(origin ledger.Origin) (s Signed, ok bool, err error) {
	data, err := secretfile.Load(h.path, maxHistory)
	if errors.Is(err, fs.ErrNotExist) {
		return Signed{}, false, nil
	}
	if err != nil {
		return Signed{}, false, fileError(err)
	}
	all, err := parseHistory(data)
	if err != nil {
		return Signed{}, false, fmt.Errorf("%s: %w", h.path, err)
	}
	s, ok = all[origin]
	return s, ok, nil
}

// Change replaces the last root that was signed for the log with the result of change, while other callers wait. ok
// tells change whether there was one.
func (h History) Change(origin ledger.Origin, change func(was Signed, ok bool) Signed) error {
	var parsing error
	err := secretfile.Change(h.path, maxHistory, func(data []byte, exists bool) ([]byte, error) {
		all := map[ledger.Origin]Signed{}
		if exists {
			if all, parsing = parseHistory(data); parsing != nil {
				parsing = fmt.Errorf("%s: %w", h.path, parsing)
				return nil, parsing
			}
		}
		was, ok := all[origin]
		all[origin] = change(was, ok)
		return append(appendHistory(nil, all), '\n'), nil
	})
	if err != nil && parsing == nil {
		return fileError(err)
	}
	return parsing
}

func appendHistory(dst []byte, all map[ledger.Origin]Signed) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("logs")
	w.BeginArray()
	for _, origin := range slices.Sorted(maps.Keys(all)) {
		s := all[origin]
		w.BeginObject()
		if s.Forked != "" {
			w.Key("forked")
			w.String(s.Forked)
		}
		w.Key("origin")
		w.String(string(origin))
		w.Key("root")
		w.Hex(s.Root.Hash[:])
		w.Key("size")
		w.Uint(s.Root.Size)
		w.EndObject()
	}
	w.EndArray()
	w.Key("type")
	w.String(historyType)
	w.EndObject()
	return w.Bytes
}

func parseHistory(data []byte) (map[ledger.Origin]Signed, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	c := canon.Open(doc)
	if f := c.Field("type"); f.String() != historyType {
		f.Failf("want %q", historyType)
	}
	all := map[ledger.Origin]Signed{}
	for _, item := range c.Field("logs").Items() {
		s := Signed{Root: ledger.Root{
			Size: item.Field("size").Uint(ledger.MaxSize), Hash: ledger.Hash(canon.Parsed(item.Field("root"), dag.ParseDigest)),
		}}
		if f := item.Optional("forked"); f != nil {
			if s.Forked = f.String(); s.Forked == "" {
				f.Failf("want a reason")
			}
		}
		origin := item.Field("origin")
		name := ledger.Origin(origin.String())
		if _, twice := all[name]; twice || !ledger.IsName(string(name)) {
			origin.Failf("want a well-formed origin that is not listed twice")
		}
		item.Close()
		all[name] = s
	}
	c.Close()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return all, nil
}
