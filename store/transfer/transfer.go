// Package transfer copies the content of one store into another, through the storage contract and so between any
// two back ends: turns, erasures and other entries under the numbers that they have, the record, and cells, such as
// the newest states of other logs that a tenant cosigned as a witness. The terms are made again from the entries.
//
// The record is copied leaf by leaf in its order, so the source's ledger begins with the copy's, and both have the same size and root unless the
// source was written to. The copy of a witness continues from the state of the source, and only one of the two may continue: a copy that serves
// as a witness while the source does, too, or that was made before the source's last cosignature, can cosign another history of the same log.
//
// The source may be written to meanwhile. For each tenant, history is copied up to the head that the source had when the copy
// began, and the record as far as its entries were made from views that the copy has by then. So every slice whose record was
// copied can be replayed in the copy, even if the copy is cut short. If texts up to that head were erased meanwhile, history
// is copied further, until their erasures are in the copy, too: otherwise the copy would lack texts for no recorded reason.
//
// A copy that was cut short is completed by copying again: it continues after the head of the target. Everything that the
// target has already must be the same as in the source, or nothing is written at all. So all of it is first read from both
// stores side by side and compared, and a proof shows that the source's ledger begins with the target's. Continuing a copy
// costs two scans of what was copied, about a third of the time of copying it, and costs nothing for an empty target.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// ErrDiffers is wrapped when the target has data of a tenant that the source does not have, or has differently. Nothing was written.
var ErrDiffers = errors.New("the target holds a different history than the source")

// ErrDamaged is wrapped when the source returns data that no intact store has.
// Package fsck reports the details. Everything before it has been copied.
var ErrDamaged = errors.New("the source is damaged")

// stretchBytes is the number of bytes of texts, edges and acts that ends a stretch. The item that reaches it belongs to the stretch.
const stretchBytes = 8 << 20

// edgeBytes is the size of a parent: its id, its conversation, its kind and its leaf.
const edgeBytes = 65

// entryBytes is the size of an entry without its variable bytes.
const entryBytes = 32

// page is the number of other things that are read at once.
const page = 500

// Options of a copy. The zero value copies all tenants.
type Options struct {
	// Tenants are the tenants to copy. Nil means all tenants that the source has when the copy begins.
	Tenants []dag.Tenant

	// Stretch is the number of turns, erasures and acts that are adopted at once. 0 means 2000, which is also the maximum.
	Stretch int

	// Progress is called with the progress of a tenant's history. Nil: progress is not reported.
	Progress func(tenant dag.Tenant, done, total dag.Seq)

	// Compared is called with the number up to which a tenant's history was compared with the part that the target has. Nil: this is not reported.
	Compared func(tenant dag.Tenant, done, total dag.Seq)
}

// A Count says how many things of a kind were copied, and how many the target had already.
type Count struct{ Copied, Existing int }

// A Tenant reports what was copied of one tenant.
type Tenant struct {
	Name    dag.Tenant
	Head    dag.Seq // of the target, afterwards
	Turns   Count
	Events  Count                  // erasures
	Entries Count                  // of package history, except erasures
	Record  map[history.Kind]Count // of the record's entries, by their kinds
	Leaves  Count                  // of the ledger: all of Record
	Cells   Count
}

// Copy copies from one store into another. It compares all tenants before it
// writes anything. If it fails later, the reports say what was copied until then.
func Copy(ctx context.Context, to, from store.Store, o Options) ([]Tenant, error) {
	if o.Stretch <= 0 || o.Stretch > 2000 {
		o.Stretch = 2000
	}
	names := o.Tenants
	if names == nil {
		var err error
		if names, err = Tenants(ctx, from); err != nil {
			return nil, fmt.Errorf("transfer: %w", err)
		}
	}
	copies := make([]*copying, len(names))
	for i, name := range names {
		c := &copying{ctx: ctx, to: to, from: from, tenant: name, numbers: o.Stretch, report: Tenant{Name: name, Record: map[history.Kind]Count{}}}
		if o.Progress != nil {
			c.progress = func(done dag.Seq) { o.Progress(name, done, c.head) }
		}
		if o.Compared != nil {
			c.compared = func(done dag.Seq) { o.Compared(name, done, c.report.Head) }
		}
		if err := c.prepare(); err != nil {
			return nil, fmt.Errorf("transfer: tenant %s: %w", name, err)
		}
		copies[i] = c
	}
	var reports []Tenant
	for _, c := range copies {
		err := c.run()
		reports = append(reports, c.report)
		if err != nil {
			return reports, fmt.Errorf("transfer: tenant %s: %w", c.tenant, err)
		}
	}
	return reports, nil
}

// Tenants lists all tenants of a store.
func Tenants(ctx context.Context, s store.Store) (names []dag.Tenant, _ error) {
	for after := dag.Tenant(""); ; {
		list, err := s.Tenants(ctx, after, page)
		if err != nil || len(list) == 0 {
			return names, err
		}
		names = append(names, list...)
		after = list[len(list)-1]
	}
}

// copying is the copy of one tenant.
type copying struct {
	ctx      context.Context
	to, from store.Store
	tenant   dag.Tenant
	numbers  int // most numbers of a stretch
	progress func(dag.Seq)
	compared func(dag.Seq)
	report   Tenant

	ledger ledger.Tree // the copied ledger
	head   dag.Seq     // of the source, when the copy began

	waiting bool // the next entry of the record was made from a view that the target does not have yet

	begun   []store.Stretch // stretches with the first parts of a change that continues in stretch; they are adopted together
	stretch store.Stretch
	bytes   int
	next    dag.Seq // the number that continues the stretch
}

// run writes the copy. It begins with the record, as far as possible: a revoked key must not stay valid in the target for as long as
// copying history takes. The record continues after each stretch of history, and before each erasure, whose leaf must exist first.
func (c *copying) run() error {
	for _, step := range []func() error{c.leaves, c.history, c.leaves, c.cells, c.copiedLedger} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// history copies turns, erasures and acts after the target's head, and then the erasures that
// were made meanwhile. If erasures never stop, those of the last round are left to the next copy.
func (c *copying) history() error {
	for range erasureRounds {
		if err := c.upToHead(); err != nil {
			return err
		}
		erased, err := c.erasedMeanwhile()
		if err != nil || !erased {
			return err
		}
		if c.head, err = c.from.Head(c.ctx, c.tenant); err != nil {
			return err
		}
		if err := c.leaves(); err != nil {
			return err
		}
	}
	return nil
}

// erasureRounds bounds the rounds in which a copy follows erasures.
const erasureRounds = 10

// erasedMeanwhile reports whether the source has erasures above the head, of turns up to the head or of tasks.
func (c *copying) erasedMeanwhile() (bool, error) {
	if tasks, err := (issued.Base{History: c.from}).TaskErasures(c.ctx, c.tenant, c.head, 1); err != nil || len(tasks) > 0 {
		return err == nil, err
	}
	for after := c.head; ; {
		events, err := erasures.Base{History: c.from}.After(c.ctx, c.tenant, after, page)
		if err != nil || len(events) == 0 {
			return false, err
		}
		ids := make([]dag.TurnID, len(events))
		for i := range events {
			ids[i], after = events[i].Turn, events[i].Seq
		}
		records, err := c.from.Turns(c.ctx, c.tenant, store.IDs(ids))
		if err != nil || slices.ContainsFunc(records, func(r store.Record) bool { return r.Seq <= c.head }) {
			return err == nil, err
		}
	}
}

func (c *copying) upToHead() error {
	entries := c.entries(c.from, c.report.Head, c.head)
	c.next = c.report.Head + 1
	err := c.from.Scan(c.ctx, c.tenant, c.report.Head, nil, func(r *store.Record) error {
		if r.Seq > c.head {
			return errEnough
		}
		if err := c.entriesBefore(entries, r.Seq); err != nil {
			return err
		}
		if err := c.follows(r.Seq); err != nil {
			return err
		}
		c.stretch.Records = append(c.stretch.Records, *r)
		c.bytes += len(r.Body) + edgeBytes*len(r.Parents)
		return c.flush(false)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := c.entriesBefore(entries, c.head+1); err != nil {
		return err
	}
	if c.next != c.head+1 {
		return fmt.Errorf("%w: it has no number %d, although its head is %d", ErrDamaged, c.next, c.head)
	}
	return c.flush(true)
}

// errEnough ends a scan at turns that were added meanwhile.
var errEnough = errors.New("the rest was added meanwhile")

// entriesBefore copies the entries with numbers below seq, in their order.
func (c *copying) entriesBefore(entries *reader, seq dag.Seq) error {
	for {
		e, err := entries.peek()
		if err != nil || e == nil || e.Seq >= seq {
			return err
		}
		// Erasures share no stretch with acts: entries after an erasure were planned without the data that it removed. And
		// if the record waits for a view, that view must be copied before an erasure whose leaf comes later in the record.
		erases := e.Kind == erasures.Kind
		last := len(c.stretch.Entries) > 0 && (c.stretch.Entries[len(c.stretch.Entries)-1].Kind == erasures.Kind) != erases
		if err := c.flush(last || erases && c.waiting); err != nil {
			return err
		}
		if err := c.follows(e.Seq); err != nil {
			return err
		}
		c.stretch.Entries = append(c.stretch.Entries, *e)
		c.bytes += entryBytes + len(e.Public) + len(e.Detail) + len(e.Private)
		entries.skip()
		if err := c.flush(false); err != nil {
			return err
		}
	}
}

// count returns the Count to which an entry belongs.
func (c *copying) count(e *history.Entry) *Count {
	if e.Kind == erasures.Kind {
		return &c.report.Events
	}
	return &c.report.Entries
}

// follows checks that the source skips no number.
func (c *copying) follows(seq dag.Seq) error {
	if seq != c.next {
		return fmt.Errorf("%w: it has number %d where it must have %d", ErrDamaged, seq, c.next)
	}
	c.next++
	return nil
}

// flush writes the stretch if it is long enough or the last one, and then the entries of the record that waited for it.
func (c *copying) flush(last bool) error {
	numbers := len(c.stretch.Records) + len(c.stretch.Entries)
	inside := false // the stretch ends inside a change, which is copied whole
	if n := len(c.stretch.Entries); n > 0 {
		e := &c.stretch.Entries[n-1]
		inside = e.Part != e.Parts && e.Seq == c.next-1
	}
	if numbers == 0 || !last && (inside || numbers < c.numbers && c.bytes < stretchBytes) {
		return nil
	}
	if len(c.stretch.Entries) > 0 {
		change, err := kinds.All().Adopt(history.Known, c.stretch.Entries)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		c.stretch.Change = change
	}
	if c.begun = append(c.begun, c.stretch); inside && c.next <= c.head {
		c.stretch = store.Stretch{}
		return nil
	}
	whole := c.begun[len(c.begun)-1]
	for i := len(c.begun) - 2; i >= 0; i-- {
		rest := whole
		whole = c.begun[i]
		whole.Rest = &rest
	}
	if err := c.to.Adopt(c.ctx, c.tenant, whole); errors.Is(err, dag.ErrForm) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	} else if err != nil {
		return err
	}
	for s := &whole; s != nil; s = s.Rest {
		c.report.Turns.Copied += len(s.Records)
		for i := range s.Entries {
			c.count(&s.Entries[i]).Copied++
		}
	}
	c.report.Head = c.next - 1
	c.begun, c.stretch, c.bytes = nil, store.Stretch{}, 0
	if c.progress != nil {
		c.progress(c.report.Head)
	}
	if c.waiting {
		return c.leaves()
	}
	return nil
}
