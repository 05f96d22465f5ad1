package fsck_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestWords checks stores with segments of words: one that follows from the texts, and some that do not.
func TestWords(t *testing.T) {
	ctx := t.Context()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	for from := 1; from <= segments.Least; from += segments.Least / 4 {
		if _, err := s.Append(ctx, tenant, []store.Batch{storetest.Chain(from, segments.Least/4, from)}); err != nil {
			t.Fatal(err)
		}
	}
	r := segments.Range{UpTo: segments.Least}
	whole, other := wordsOf(ctx, t, s, r, ""), wordsOf(ctx, t, s, r, " secret")
	damaged := bytes.Clone(whole)
	damaged[200] ^= 1
	vectors := vectorsOf(ctx, t, s, r)
	bent := bytes.Clone(vectors)
	bent[200] ^= 1
	for _, c := range []struct {
		about, name string
		value       []byte
		rule        string
	}{
		{"sound", r.Name(segments.Series{Analyzer: "english"}), whole, ""},
		{"a bit", r.Name(segments.Series{Analyzer: "english"}), damaged, "words"},
		{"a word of no text", r.Name(segments.Series{Analyzer: "english"}), other, "words"},
		{"another analyzer's", r.Name(segments.Series{Analyzer: "none"}), whole, "words"},
		{"of no analyzer", r.Name(segments.Series{Analyzer: "german"}), whole, "form"},
		{"of no size", "words/english/00000000000000-00000000000100", whole, "form"},
		{"vectors", r.Name(segments.Series{Model: embed.StaticID}), vectors, ""},
		{"a bit of a vector", r.Name(segments.Series{Model: embed.StaticID}), bent, "vectors"},
		{"words in place of vectors", r.Name(segments.Series{Model: embed.StaticID}), whole, "vectors"},
		{"of no model", r.Name(segments.Series{Model: "other@1"}), vectors, "form"},
		{"not yet full", segments.Range{After: segments.Least, UpTo: 2 * segments.Least}.Name(segments.Series{Analyzer: "english"}), whole, "words"},
	} {
		if err := storetest.Snap(ctx, s, tenant, []history.Snapshot{{Name: c.name, Value: c.value}}, false); err != nil {
			t.Fatal(err)
		}
		report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{})
		switch where := fmt.Sprintf("snapshot %q", c.name); {
		case err != nil:
			t.Errorf("%s: %v", c.about, err)
		case c.rule == "" && report.Found > 0, c.rule != "" && (report.Found != 1 || report.Findings[0].Where != where || report.Findings[0].Rule != c.rule):
			t.Errorf("%s: %v, want %q of %s", c.about, report.Findings, c.rule, where)
		}
		if err := storetest.Snap(ctx, s, tenant, []history.Snapshot{{Name: c.name}}, true); err != nil {
			t.Fatal(err)
		}
	}
}

// turnsOf returns the turns of a store's segment.
func turnsOf(ctx context.Context, t *testing.T, s store.Store, r segments.Range) (turns []retrieval.Turn) {
	t.Helper()
	err := s.Scan(ctx, tenant, r.After, nil, func(record *store.Record) error {
		turn, err := segments.TurnOf(record)
		turns = append(turns, turn)
		return err
	})
	if err != nil || len(turns) != segments.Least {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	return turns
}

// wordsOf makes a segment of a store, with a word more in its first text.
func wordsOf(ctx context.Context, t *testing.T, s store.Store, r segments.Range, more string) []byte {
	t.Helper()
	turns := turnsOf(ctx, t, s, r)
	turns[0].Content += more
	x := retrieval.New(analysis.English, 0)
	if err := x.Add(turns, nil); err != nil {
		t.Fatal(err)
	}
	return x.AppendSegment(nil, r.After, r.UpTo)
}

// vectorsOf makes the vectors of a segment of a store.
func vectorsOf(ctx context.Context, t *testing.T, s store.Store, r segments.Range) []byte {
	t.Helper()
	turns := turnsOf(ctx, t, s, r)
	var vectors [][]int8
	for _, turn := range turns {
		v, err := static.Load().Embed(ctx, []string{turn.Content})
		if err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v...)
	}
	x := retrieval.New(analysis.English, static.Load().Model().Dimensions)
	if err := x.Add(turns, vectors); err != nil {
		t.Fatal(err)
	}
	return x.AppendVectors(nil, embed.StaticID, r.After, r.UpTo)
}
