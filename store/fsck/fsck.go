// Package fsck checks a store: it derives anew everything that can be derived from
// what a store says, and compares. It is the checker after "graphkernel fsck", and
// the one that tests run after faults.
//
// It works through the storage contract alone, so on every back end, and may run
// while others write: it looks at each tenant up to the head that it sees first, and
// nothing that is added meanwhile, erasures included, is a finding.
//
// What cannot be derived it cannot check: when a turn was created, if its leaf was
// made to fit; a token, without the key; the hash of an API key; which key brought
// a turn, except its form; a ledger that was made anew as a whole, for which there are
// witnesses; what a cell holds, such as a root that was cosigned, except its form.
//
// What is known beside the turns it plans anew, page by page, and compares all terms. When an
// entry was recorded it cannot check. That an entry has its leaf is for the back end to see,
// which has a part of that. The segments of an index of words it makes anew from the texts.
//
// For each turn it holds some 90 bytes in memory, for each leaf of the ledger some 50, and for
// each entry 8; and no text, except those of the segment at hand.
package fsck

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
)

// A Finding is something that does not fit.
type Finding struct {
	Tenant dag.Tenant `json:"tenant"`
	// "turn 0f…", "event 9", "number 12", "conversation 0f…", "terms", "index 3",
	// "issued 17", "policy p@1", "key 0f…", "head", "leaf 8",
	// "hash 2 of level 1", "ledger", `cell "cosigned/log.example"`, `snapshot "words/…"`
	Where  string `json:"where"`
	Rule   string `json:"rule"`   // what it breaks, in a word or two
	Detail string `json:"detail"` // what was found, and what was expected
}

func (f Finding) String() string {
	return fmt.Sprintf("tenant %s: %s: %s: %s", f.Tenant, f.Where, f.Rule, f.Detail)
}

// Counts say what was looked at.
type Counts struct {
	Tenants       int `json:"tenants"`
	Turns         int `json:"turns"`
	Edges         int `json:"edges"`
	Links         int `json:"links"` // edges between conversations
	Bodies        int `json:"bodies"`
	Bare          int `json:"bare"` // turns without a body, erased or withheld
	Events        int `json:"events"`
	Entries       int `json:"entries"` // of package history
	Terms         int `json:"terms"`   // that entries began
	Conversations int `json:"conversations"`
	Policies      int `json:"policies"`
	Issued        int `json:"issued"`
	Recut         int `json:"recut"` // issued slices that were cut again
	Keys          int `json:"keys"`
	Leaves        int `json:"leaves"` // of the ledger
}

func (c *Counts) add(o Counts) {
	c.Tenants += o.Tenants
	c.Turns += o.Turns
	c.Edges += o.Edges
	c.Links += o.Links
	c.Bodies += o.Bodies
	c.Bare += o.Bare
	c.Events += o.Events
	c.Entries += o.Entries
	c.Terms += o.Terms
	c.Conversations += o.Conversations
	c.Policies += o.Policies
	c.Issued += o.Issued
	c.Recut += o.Recut
	c.Keys += o.Keys
	c.Leaves += o.Leaves
}

// A Report is what a check found.
type Report struct {
	Counts   Counts                 `json:"counts"`
	Heads    map[dag.Tenant]dag.Seq `json:"heads"`    // up to which each tenant was looked at
	Findings []Finding              `json:"findings"` // the first ones
	Found    int                    `json:"found"`    // how many there are
}

// OK says that nothing was found.
func (r *Report) OK() bool { return r.Found == 0 }

// Err returns the first finding as an error, nil if there is none.
func (r *Report) Err() error {
	switch r.Found {
	case 0:
		return nil
	case 1:
		return errors.New(r.Findings[0].String())
	}
	return fmt.Errorf("%s; and %d more", r.Findings[0], r.Found-1)
}

// DefaultFindings is how many findings a report holds unless Options says otherwise.
const DefaultFindings = 100

// Options of a check. The zero value checks everything.
type Options struct {
	// Findings bounds the findings of a report; the rest are counted. 0 means
	// DefaultFindings.
	Findings int

	// Uncut leaves out cutting the issued slices again. For tests whose issued
	// slices were never cut.
	Uncut bool

	// Page is how many of anything the store is asked for at once. 0 means 500.
	Page int

	// Progress is told how far a stage of a tenant's check has come. Nil: it is not reported.
	Progress func(Progress)
}

// Progress is how far a check has come.
type Progress struct {
	Tenant      dag.Tenant
	Stage       string
	Done, Total int64
}

// A selfChecker is a store whose database checks its own files.
type selfChecker interface {
	SelfCheck(ctx context.Context) (findings []string, err error)
}

// selfCheck adds the database's findings about its own files: a read of a damaged file may return too little, and look whole.
func (r *Report) selfCheck(ctx context.Context, s store.Store, o Options) {
	checker, ok := s.(selfChecker)
	if !ok {
		return
	}
	findings, err := checker.SelfCheck(ctx)
	if err != nil && ctx.Err() == nil { // it breaks off at a page that it cannot read
		findings = append(findings, err.Error())
	}
	for _, detail := range findings {
		r.find(o, Finding{Where: "database", Rule: "integrity", Detail: detail})
	}
}

func (r *Report) find(o Options, f Finding) {
	most := o.Findings
	if most <= 0 {
		most = DefaultFindings
	}
	if r.Found++; len(r.Findings) < most {
		r.Findings = append(r.Findings, f)
	}
}

// Database reports what the database of a store finds in its own files, and looks at nothing else. A store without a database of its own has none.
func Database(ctx context.Context, s store.Store, o Options) Report {
	r := Report{Heads: map[dag.Tenant]dag.Seq{}}
	r.selfCheck(ctx, s, o)
	return r
}

// Store checks all tenants of a store, after its database has checked its own files. The error says that the check could not be
// done, and is nobody's finding.
func Store(ctx context.Context, s store.Store, o Options) (Report, error) {
	all := Report{Heads: map[dag.Tenant]dag.Seq{}}
	all.selfCheck(ctx, s, o)
	for after := dag.Tenant(""); ; {
		page, err := s.Tenants(ctx, after, 100)
		if err != nil {
			return all, fmt.Errorf("fsck: %w", err)
		}
		if len(page) == 0 {
			return all, nil
		}
		for _, tenant := range page {
			if tenant <= after {
				return all, fmt.Errorf("fsck: the list of tenants has %q after %q", tenant, after)
			}
			after = tenant
			if _, err := dag.ParseTenant(string(tenant)); err != nil { // nothing of such a name can be recomputed
				all.find(o, Finding{Where: "tenants", Rule: "form", Detail: fmt.Sprintf("the name of a tenant is %q, which no tenant has", string(tenant))})
				continue
			}
			if err := all.tenant(ctx, s, tenant, o); err != nil {
				return all, err
			}
		}
	}
}

// Tenant checks one tenant. One that has nothing is in order.
func Tenant(ctx context.Context, s store.Store, tenant dag.Tenant, o Options) (Report, error) {
	r := Report{Heads: map[dag.Tenant]dag.Seq{}}
	r.selfCheck(ctx, s, o)
	err := r.tenant(ctx, s, tenant, o)
	return r, err
}

func (r *Report) tenant(ctx context.Context, s store.Store, tenant dag.Tenant, o Options) error {
	if o.Findings <= 0 {
		o.Findings = DefaultFindings
	}
	if o.Page <= 0 {
		o.Page = 500
	}
	c := checker{ctx: ctx, s: s, tenant: tenant, o: o, report: r, seed: maphash.MakeSeed(), told: map[[2]string]bool{}}
	err := c.run()
	c.counts.Tenants = 1
	r.Counts.add(c.counts)
	r.Heads[tenant] = c.head
	if err != nil {
		return fmt.Errorf("fsck: tenant %s: %w", tenant, err)
	}
	return nil
}

type checker struct {
	ctx    context.Context
	s      store.Store
	tenant dag.Tenant
	o      Options
	report *Report
	counts Counts
	told   map[[2]string]bool // place and rule of what was reported, as long as they are few

	head     dag.Seq
	seed     maphash.Seed
	leaves   map[half]uint64 // where the ledger has them
	size     dag.Seq         // how many there were
	appended dag.Seq         // the greatest number of the record that was seen
	turnRecord
	entryRecord

	beyond      dag.Seq // the greatest number seen above the head
	beyondWhere string
	vanished    []uint32    // turns whose bodies are gone: before the check or during it
	graph       *graph      // of the slices that were cut again last
	texts       texts       // of their turns
	table       *aliasTable // of the slice of facts that was cut again last
}

func (c *checker) run() error {
	head, err := c.s.Head(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("head", err)
	}
	c.head = head
	for _, stage := range []struct {
		run   func(*checker) error
		whole *bool // unless what it rests on was read whole, everything would be told as missing
	}{
		{checkLedger, nil},
		{checkTurns, nil},
		{checkEntries, nil},
		{checkNumbers, nil},
		{checkLookups, &c.whole},
		{checkMatches, &c.whole},
		{checkConversations, &c.whole},
		{checkSegments, &c.whole},
		{checkTerms, &c.allEntries},
		{checkPolicies, nil},
		{checkIssued, nil},
		{checkKeys, nil},
		{checkCells, nil},
		{checkWords, &c.whole},
		{(*checker).later, nil},
	} {
		if stage.whole != nil && !*stage.whole {
			continue
		}
		if err := stage.run(c); err != nil {
			return err
		}
	}
	return nil
}

// find reports a finding. Of one place each rule is told once.
func (c *checker) find(where, rule, format string, args ...any) {
	key := [2]string{where, rule}
	if c.told[key] {
		return
	}
	if len(c.told) < 100*c.o.Findings {
		c.told[key] = true
	}
	c.report.Found++
	if len(c.report.Findings) < c.o.Findings {
		c.report.Findings = append(c.report.Findings, Finding{c.tenant, where, rule, fmt.Sprintf(format, args...)})
	}
}

// unreadable makes a finding of what a store cannot read, and returns back what only
// says that the store cannot be asked now.
func (c *checker) unreadable(where string, err error) error { return c.cannot(where, "readable", err) }

func (c *checker) cannot(where, rule string, err error) error {
	if passing := c.passing(err); passing != nil {
		return passing
	}
	c.find(where, rule, "%v", err)
	return nil
}

// passing returns an error if it says only that the store cannot be asked now.
func (c *checker) passing(err error) error {
	for _, passing := range []error{
		context.Canceled, context.DeadlineExceeded,
		store.ErrClosed, store.ErrBroken, store.ErrBusy, store.ErrLost, store.ErrUncertain, store.ErrUnwritable, store.ErrSchema, store.ErrQuery,
	} {
		if errors.Is(err, passing) {
			return err
		}
	}
	return c.ctx.Err()
}

func (c *checker) progress(stage string, done, total int) {
	if c.o.Progress != nil {
		c.o.Progress(Progress{c.tenant, stage, int64(done), int64(total)})
	}
}

// saw remembers a number above the head, which somebody may have added meanwhile.
func (c *checker) saw(seq dag.Seq, where string) {
	if seq > c.beyond {
		c.beyond, c.beyondWhere = seq, where
	}
}

// later looks at what was added meanwhile: it must explain what was seen of it.
func (c *checker) later() error {
	head, err := c.s.Head(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("head", err)
	}
	if c.beyond > head {
		c.find(c.beyondWhere, "head", "it has or names number %d, and the head is %d", c.beyond, head)
	}
	if head < c.head {
		c.find("head", "head", "it went from %d to %d", c.head, head)
	}
	tree, err := c.s.Log(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("ledger", err)
	}
	if c.appended > dag.Seq(tree.Size()) {
		c.find(leafName(uint64(c.appended)-1), "size", "it is there, or a term of it, and the ledger has %d leaves", tree.Size())
	}
	gone := map[dag.TurnID]bool{}
	for _, i := range c.vanished {
		if t := c.turn(i); !t.erased {
			gone[t.id] = true
		}
	}
	erased, err := erasures.Base{History: c.s}.Among(c.ctx, c.tenant, slices.Collect(maps.Keys(gone)))
	if err != nil {
		return c.unreadable("events", err)
	}
	for turn, at := range erased {
		if at > c.head { // since this check began
			delete(gone, turn)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(gone), dag.TurnID.Compare) {
		c.find(turnName(id), "body", "its body is gone, and no erasure is on record")
	}
	return nil
}

func turnName(id dag.TurnID) string { return "turn " + id.String() }

func conversationName(id dag.ConversationID) string { return "conversation " + id.String() }
