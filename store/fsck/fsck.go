// Package fsck checks a store: it recomputes everything that can be derived from stored
// data, and compares. "graphkernel fsck" runs this checker, and so do tests after faults.
//
// It uses only the storage contract, so it works with every back end. It may run while others write: it checks
// each tenant up to the head that it sees first, and additions and erasures made meanwhile are not findings.
//
// It cannot check data that cannot be derived: when a turn was created, if its leaf was made to fit; a token,
// without the key; the hash of an API key; which key brought a turn, except its form; a ledger that was replaced
// as a whole, which is for witnesses to detect; the value of a cell, such as a cosigned root, except its form.
//
// It plans entries again, page by page, and compares all terms. It cannot check when an entry was recorded. Whether an entry has
// its leaf is checked by the back end, which stores a part of it. The segments of an index of words are made again from the texts.
//
// For each turn it needs some 90 bytes of memory, for each leaf of the ledger some
// 50, and for each entry 8; and no texts, except those of the segment being checked.
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
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A Finding is a defect that the check found.
type Finding struct {
	Tenant dag.Tenant `json:"tenant"`
	// "turn 0f…", "event 9", "number 12", "conversation 0f…", "terms", "index 3",
	// "issued 17", "policy p@1", "key 0f…", "head", "leaf 8",
	// "hash 2 of level 1", "ledger", `cell "cosigned/log.example"`, `snapshot "words/…"`
	Where  string `json:"where"`
	Rule   string `json:"rule"`   // the broken rule, in a word or two
	Detail string `json:"detail"` // what was found, and what was expected
}

func (f Finding) String() string {
	return fmt.Sprintf("tenant %s: %s: %s: %s", f.Tenant, f.Where, f.Rule, f.Detail)
}

// Counts are the numbers of things that were checked.
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

// A Report is the result of a check.
type Report struct {
	Counts   Counts                 `json:"counts"`
	Heads    map[dag.Tenant]dag.Seq `json:"heads"`    // the numbers up to which each tenant was checked
	Findings []Finding              `json:"findings"` // the first ones
	Found    int                    `json:"found"`    // the number of all findings
}

// OK reports whether nothing was found.
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

// DefaultFindings is the number of findings in a report if Options.Findings is 0.
const DefaultFindings = 100

// Options of a check. The zero value checks everything.
type Options struct {
	// Findings bounds the findings of a report; the rest are counted. 0 means
	// DefaultFindings.
	Findings int

	// Uncut skips cutting the issued slices again. It is for tests whose issued slices were never cut.
	Uncut bool

	// Page is the number of items that the store is asked for at once. 0 means 500.
	Page int

	// Progress is called with the progress of a stage of a tenant's check. Nil: progress is not reported.
	Progress func(Progress)
}

// Progress says how far a check has come.
type Progress struct {
	Tenant      dag.Tenant
	Stage       string
	Done, Total int64
}

// A selfChecker is a store whose database checks its own files.
type selfChecker interface {
	SelfCheck(ctx context.Context) (findings []string, err error)
}

// selfCheck adds the database's findings about its own files: reading a damaged file may return too little without an error.
func (r *Report) selfCheck(ctx context.Context, s store.Store, o Options) {
	checker, ok := s.(selfChecker)
	if !ok {
		return
	}
	findings, err := checker.SelfCheck(ctx)
	if err != nil && ctx.Err() == nil { // the self-check ends at a page that it cannot read
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

// Database returns the findings of a store's database about its own files, and checks nothing else. A store without a database of its own has none.
func Database(ctx context.Context, s store.Store, o Options) Report {
	r := Report{Heads: map[dag.Tenant]dag.Seq{}}
	r.selfCheck(ctx, s, o)
	return r
}

// Store checks all tenants of a store, after its database has checked its own
// files. An error means that the check could not be completed; it is not a finding.
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
			if _, err := dag.ParseTenant(string(tenant)); err != nil { // nothing under such a name can be recomputed
				all.find(o, Finding{Where: "tenants", Rule: "form", Detail: fmt.Sprintf("%q is not a name that a tenant can have", string(tenant))})
				continue
			}
			if err := all.tenant(ctx, s, tenant, o); err != nil {
				return all, err
			}
		}
	}
}

// Tenant checks one tenant. A tenant without data has no findings.
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
	told   map[[2]string]bool // place and rule of reported findings, while they are few

	head     dag.Seq
	seed     maphash.Seed
	leaves   map[half]uint64 // the index of each leaf in the ledger
	size     dag.Seq         // the number of leaves at the beginning
	appended dag.Seq         // the greatest number of the record that was seen
	turnRecord
	entryRecord

	beyond      dag.Seq // the greatest number seen above the head
	beyondWhere string
	vanished    []uint32        // turns whose bodies are gone: before the check or during it
	graph       *graph          // the graph of the slices that were cut again last
	texts       texts           // the texts of their turns
	course      standing.Course // the settings of the standing policy; nil: not read yet
	table       *aliasTable     // for the slice of facts that was cut again last
}

func (c *checker) run() error {
	head, err := c.s.Head(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("head", err)
	}
	c.head = head
	for _, stage := range []struct {
		run   func(*checker) error
		whole *bool // whether the data that the stage needs was read completely; if not, everything would be reported as missing
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
		{checkSettings, nil},
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

// find reports a finding. For each place, a rule is reported at most once.
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

// unreadable reports a failed read as a finding. It returns an error that only says that the store cannot be asked now.
func (c *checker) unreadable(where string, err error) error { return c.cannot(where, "readable", err) }

func (c *checker) cannot(where, rule string, err error) error {
	if passing := c.passing(err); passing != nil {
		return passing
	}
	c.find(where, rule, "%v", err)
	return nil
}

// passing returns an error that only says that the store cannot be asked now, or the error of the check's context.
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

// saw remembers a number above the head, which may have been added meanwhile.
func (c *checker) saw(seq dag.Seq, where string) {
	if seq > c.beyond {
		c.beyond, c.beyondWhere = seq, where
	}
}

// later checks additions and erasures made meanwhile: they must explain the numbers above the head and the missing bodies that were seen.
func (c *checker) later() error {
	head, err := c.s.Head(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("head", err)
	}
	if c.beyond > head {
		c.find(c.beyondWhere, "head", "it has or names number %d, but the head is only %d", c.beyond, head)
	}
	if head < c.head {
		c.find("head", "head", "it went back from %d to %d", c.head, head)
	}
	tree, err := c.s.Log(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("ledger", err)
	}
	if c.appended > dag.Seq(tree.Size()) {
		c.find(leafName(uint64(c.appended)-1), "size", "the leaf or one of its terms is stored, but the ledger has only %d leaves", tree.Size())
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
		if at > c.head { // erased since the check began
			delete(gone, turn)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(gone), dag.TurnID.Compare) {
		c.find(turnName(id), "body", "its body is gone, but no erasure is on record")
	}
	return nil
}

func turnName(id dag.TurnID) string { return "turn " + id.String() }

func conversationName(id dag.ConversationID) string { return "conversation " + id.String() }
