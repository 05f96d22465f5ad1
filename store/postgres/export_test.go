package postgres

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// MigrateWith is Migrate with schemas that follow on those of the program.
func MigrateWith(ctx context.Context, url string, texts ...string) (store.Migration, error) {
	known, err := packed.Schema(schemaFiles)
	if err != nil {
		return store.Migration{}, err
	}
	files := fstest.MapFS{}
	for i, text := range append(known, texts...) {
		if text != "" {
			files[fmt.Sprintf("schema/%04d.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	s, err := connect(ctx, url, Options{Connections: 1})
	if err != nil {
		return store.Migration{}, err
	}
	defer s.pool.Close()
	return migrate(ctx, s.pool, files, false)
}

// Queries are the statements that look something up, by their names.
var Queries = map[string]string{
	"Head": queryHead, "Tenants": queryTenants, "Turns": queryTurns, "Stored": queryStored, "Placed": queryPlaced,
	"ScanTenant": queryScanTenant, "ScanConversation": queryScanConversation,
	"Segment": querySegment, "Segments": querySegments,
	"Match": queryMatch, "External": queryExternal, "ExternalPrefix": queryExternalPrefix, "Conversations": queryConversations,
	"Parents": queryParents, "Tails": queryTails, "TakeRun": queryTakeRun, "Lock": queryLock,
	"Find": queryFind, "Erase": queryErase,
	"Records": queryRecords, "RecordsAt": queryRecordsAt, "TermsLast": queryTermsLast,
	"Log": queryLog, "LogHashes": queryLogHashes, "Cell": queryCell, "Cells": queryCells,
	"Entries": queryEntries, "EntriesAt": queryEntriesAt, "Terms": queryTerms, "TermsEntries": queryTermsEntries, "Newest": queryNewest, "EndTerm": queryEndTerm,
}

// Lost returns an error its place among those that callers branch on.
func Lost(err error) error { return lost(err) }

// MaxConnections is the size of the store's pool.
func (s *Store) MaxConnections() int { return int(s.pool.Config().MaxConns) }
