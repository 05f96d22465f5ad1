package sqlite

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
)

const queryLastEntry = `SELECT coalesce(max(seq), 0) FROM entries WHERE tenant = ?`

// Ready makes the folder of texts that are prepared for hooks, and returns it with the number of the tenant's last entry. From then on
// each write that appends an entry, in any process, records the entry's number there before it commits. Ready waits for the writer.
func (s *Store) Ready(ctx context.Context, tenant dag.Tenant) (folder ready.Folder, last dag.Seq, err error) {
	err = s.while(ctx, "making ready", func() error {
		return s.write(ctx, tenant, func(t *tx) error { // with the writer's lock, so that no write is between its record and its commit
			if t.tenant != 0 {
				if err := t.conn.QueryRowContext(t.ctx, queryLastEntry, t.tenant).Scan(&last); err != nil {
					return err
				}
			}
			if err := t.ready.Make(); err != nil {
				return err
			}
			return t.ready.Move(uint64(last))
		})
	})
	if err != nil {
		return folder, 0, err
	}
	return s.ready(tenant), last, nil
}

func (s *Store) ready(tenant dag.Tenant) ready.Folder { return ready.Beside(s.path, string(tenant)) }

// moveReady records the number of the last entry in the folder of prepared texts, if the folder exists.
func (t *tx) moveReady(last dag.Seq) error {
	if !t.ready.There() {
		return nil
	}
	return t.ready.Move(uint64(last))
}
