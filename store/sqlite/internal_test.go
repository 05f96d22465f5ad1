package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestQueryPlans makes sure that no statement of the readers walks a whole
// table, which a store of a few turns would never show.
func TestQueryPlans(t *testing.T) {
	ctx := context.Background()
	s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lines := 0
	for _, query := range []string{queryTurns, queryParents, queryScan, queryScanOne, querySegment, querySegments, queryMatch, queryExternal,
		queryConversations, queryEvents, queryPolicies, queryIssuedBySlice, queryIssuedAfter} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = "[]"
		}
		rows, err := s.readers.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var id, parent, unused int
		var detail string
		err = each(rows, func() error {
			lines++
			ofList := detail == "SCAN CONSTANT ROW" || strings.HasPrefix(detail, "SCAN part") || strings.HasPrefix(detail, "SCAN p") && !strings.HasPrefix(detail, "SCAN policies") ||
				strings.HasPrefix(detail, "SCAN own") || strings.Contains(detail, "VIRTUAL TABLE")
			if strings.HasPrefix(detail, "SCAN") && !ofList {
				t.Errorf("%s\nwalks a table: %s", query, detail)
			}
			if strings.Contains(detail, "TEMP B-TREE") && query != queryExternal {
				t.Errorf("%s\nsorts: %s", query, detail)
			}
			return nil
		}, &id, &parent, &unused, &detail)
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 13 {
		t.Errorf("only %d lines of plans were read", lines)
	}
}
