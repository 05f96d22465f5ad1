package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestQueryPlans makes sure that no look-up walks a whole
// table, which a store of a few turns would never show.
func TestQueryPlans(t *testing.T) {
	ctx := context.Background()
	s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lines := 0
	for _, query := range []string{queryTenants, queryTurns, queryStored, queryPlaced, queryParents, queryScan, queryRuns, queryNumbered, queryTailRun, querySegment, querySegments, queryMatch, queryExternal, queryExternalPrefix,
		queryConversations,
		queryTenant, queryLastTurn, queryFind,
		queryLog, queryLogHashes, queryCell, queryCells,
		queryEntries, queryEntriesAt, queryRecords, queryRecordsAt, queryTerms, queryTermsLast, queryNewest, queryEndTerm} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = "[]"
		}
		rows, err := s.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
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
			if strings.HasSuffix(detail, "(tenant=?)") && query != queryCells {
				t.Errorf("%s\nwalks a tenant: %s", query, detail)
			}
			if (query == queryTerms || query == queryTermsLast) && !strings.Contains(detail, "(tenant=? AND indx=? AND (key,since)>(?,?)") {
				t.Errorf("%s\nwalks an index from its beginning: %s", query, detail)
			}
			if strings.Contains(detail, "TEMP B-TREE") && query != queryExternal && query != queryExternalPrefix && query != queryNumbered && query != queryEntriesAt && query != queryRecordsAt { // all sort few rows, or numbers
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

// TestPragmas makes sure of the settings that no test without a power cut can
// miss.
func TestPragmas(t *testing.T) {
	ctx := context.Background()
	s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	type row interface{ Scan(...any) error }
	ask := map[string]func(string) row{
		"writer": func(text string) row { return s.writer.conn.QueryRowContext(ctx, text) },
		"reader": func(text string) row { return s.db.QueryRowContext(ctx, text) },
	}
	for _, c := range []struct{ who, pragma, want string }{
		{"writer", "synchronous", "2"},
		{"writer", "journal_mode", "wal"},
		{"writer", "secure_delete", "1"},
		{"writer", "page_size", "4096"},
		{"writer", "application_id", "1196118065"},
		{"writer", "user_version", "17"},
		{"writer", "busy_timeout", "10000"},
		{"writer", "temp_store", "2"},
		{"reader", "query_only", "1"},
		{"reader", "temp_store", "2"},
		{"reader", "busy_timeout", "10000"},
	} {
		var got string
		if err := ask[c.who]("PRAGMA " + c.pragma).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: %s is %q, %v, want %q", c.who, c.pragma, got, err, c.want)
		}
	}
}
