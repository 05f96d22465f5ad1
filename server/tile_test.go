package server

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
)

// format writes a tile's path as C2SP tlog-tiles has it. parseTile reads it.
func (t tile) format() string {
	level := fmt.Sprint(t.level)
	if t.entries {
		level = "entries"
	}
	path := level + "/" + monitor.TileIndex(t.index)
	if t.width < ledger.TileWidth {
		path += fmt.Sprint(".p/", t.width)
	}
	return path
}

// FuzzTile holds that the contract lets through exactly one spelling of each tile.
func FuzzTile(f *testing.F) {
	of := api.Fields(reflect.TypeFor[api.TileAt]())[0]
	for _, path := range []string{
		"0/000", "entries/999.p/255", "5/x001/000", "63/x999/x999/x999/x999/x999/999.p/1", "0/x001/x234/067", "0/x000/000", "1/x010/x000/000", "0/000.p/256", "9/099.p/99", "0/x100/000",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if _, err := of.ReadText(path); err != nil {
			if parsed, err := parseTile(path); err == nil && parsed.format() == path && parsed.level < 64 && parsed.level >= 0 && parsed.width > 0 && strings.Count(path, "x") <= 5 {
				t.Errorf("%q is refused, and well written", path)
			}
			return
		}
		parsed, err := parseTile(path)
		if err != nil || parsed.format() != path {
			t.Errorf("%q is read as %+v, which is %q: %v", path, parsed, parsed.format(), err)
		}
	})
}

// TestTileIndexes reads indexes of every length, and says which no ledger can have.
func TestTileIndexes(t *testing.T) {
	for _, n := range []uint64{0, 1, 999, 1000, 1234067, 999_999_999, 1<<40 - 1, 1 << 40, 999_999_999_999_999_999} {
		for _, level := range []int{0, 5, 6, 63} {
			want := tile{level: level, index: n, width: ledger.TileWidth}
			got, err := parseTile(want.format())
			if err != nil || got != want {
				t.Errorf("%s is read as %+v: %v", want.format(), got, err)
			}
			if got.beyond() != (n >= 1<<40 || level > 5) {
				t.Errorf("%s: beyond is %t", want.format(), got.beyond())
			}
		}
	}
}
