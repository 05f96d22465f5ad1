package sqlite

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// Adopt adopts a stretch of history. A body that the stretch's change removes is never written. If the stretch erases stored data, the log is
// emptied as in Write. The log is also emptied for a stretch that is stored already, so repeating an Adopt that was cut short completes it.
func (s *Store) Adopt(ctx context.Context, tenant dag.Tenant, stretch store.Stretch) error {
	prepared, err := store.PrepareStretch(stretch)
	if err != nil {
		return failed("adopt", err)
	}
	return s.while(ctx, "adopt", func() error {
		erases := false
		err := s.write(ctx, tenant, func(t *tx) error {
			for p := prepared; p != nil; p = p.Rest() {
				takes, err := t.adopt(p)
				if err != nil {
					return err
				}
				if erases = erases || takes; p.Last() != 0 {
					t.head = p.Last()
				}
			}
			return nil
		})
		if erases && err == nil || errors.Is(err, store.ErrGap) && len(stretch.Entries) > 0 {
			err = errors.Join(err, s.emptyLog(ctx), s.ready(tenant).Drop())
		}
		return err
	})
}

// adopt adopts a stretch, and reports whether it erases stored data.
func (t *tx) adopt(p *store.PreparedStretch) (erases bool, _ error) {
	known, err := t.known(p.Arriving(), p.Beyond())
	if err != nil {
		return false, err
	}
	if err := p.Follows(known.Head); err != nil {
		return false, err
	}
	plan, tree := &history.Plan{}, ledger.Tree{}
	if c := p.Change(); c != nil {
		if plan, err = t.plan(c, &tree); err != nil {
			return false, err
		}
	}
	records, stored, err := p.Plan(known, plan.Bodies)
	if err != nil || p.Last() == 0 {
		return false, err
	}
	if err := t.own(); err != nil {
		return false, err
	}
	if err := t.admit(records); err != nil {
		return false, err
	}
	plan.Bodies = stored
	if err := t.carryOut(plan, tree); err != nil {
		return false, err
	}
	erases = plan.Erases && len(stored)+len(plan.End)+len(plan.Forget)+len(plan.ForgetRecords) > 0
	if err := t.exec("head", t.writer.head, int64(p.Last()), t.tenant); err != nil || len(plan.Entries) == 0 {
		return erases, err
	}
	return erases, t.moveReady(plan.Entries[len(plan.Entries)-1].Seq)
}
