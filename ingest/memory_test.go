package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLongSessionMemory reads one long session. What is kept of it while it is
// read does not grow with the lengths of its lines.
func TestLongSessionMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const turns, length = 5_000, 4_000
	parent := "null"
	for i := range turns {
		var s transcript
		name := fmt.Sprint("u", i)
		s.add(`"type":"assistant","uuid":%q,"parentUuid":%s,"message":{"id":"m%d","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"t%d","name":"Read","input":{}}]}`,
			name, parent, i, strings.Repeat("word ", length/5), i)
		if _, err := file.WriteString(s.text()); err != nil {
			t.Fatal(err)
		}
		parent = `"` + name + `"`
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, batches, read := heap(), uint64(0), 0, 0
	if _, err := Read(context.Background(), path, Options{}, func(b *Batch) error {
		batches, read = batches+1, read+len(b.Drafts)
		b.Drafts, b.Places = nil, nil
		most = max(most, heap()-min(before, heap()))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if read != turns || batches < turns/batchLines {
		t.Errorf("%d turns in %d batches", read, batches)
	}
	if limit := uint64(turns * length / 3); most > limit {
		t.Errorf("%d bytes are kept of a session of %d, at most %d", most, turns*length, limit)
	}
}
