// Package space is the room of beliefs: the statements that agents hold to be true, in spaces. It answers the requests of package api about
// beliefs, decides what callers may change, and caches records in memory.
//
//	out, err := k.Beliefs().Revise(ctx, tenant, api.BeliefRequest{Space: "acme/desk", Statements: statements})
//
// It uses the kernel through the interface [Kernel]. Package journal owns the records.
package space

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// A Kernel has the methods of the kernel that the room needs. Errors are the kernel's.
type Kernel interface {
	Desk
	Records
	Testimony
	Signing
}

// A Desk has the methods that every operation needs.
type Desk interface {
	// Now returns the time of the kernel's clock.
	Now() (dag.Time, error)
	// Draw fills a slice with random bytes.
	Draw(b []byte) error
	// Screen refuses texts that may not be stored. It calls the function only if a screen is in use.
	Screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error
	// Observe is called before an operation; the function that it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Counts returns what requests of the caller count for, under the standing policy in force.
	Counts(ctx context.Context, tenant dag.Tenant) (standing.Standing, error)
	// Changed wakes everyone who waits for changes of a tenant.
	Changed(tenant dag.Tenant)
}

// Records has the methods that read the records of beliefs.
type Records interface {
	// Journal returns the records of beliefs. It does not check the epoch of the store.
	Journal() journal.Base
	// Reading runs a function in the store's current epoch, and runs it again if that epoch ends meanwhile.
	Reading(fn func(Epoch) error) error
	// AsOf returns the greatest number up to asOf at which a change ends; 0 is the present.
	AsOf(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (dag.Seq, error)
	// Policy returns a registered policy.
	Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error)
	// Course returns the settings of the standing policy up to a number.
	Course(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (standing.Course, error)
	// OfAgent reports whether the recorded name of a caller is an agent's.
	OfAgent(ctx context.Context, tenant dag.Tenant, by string) (bool, error)
}

// An Epoch reads records in one epoch of the store. It returns an error instead of data that may be from another epoch.
type Epoch interface {
	// Item returns the records of an item as of every number up to the head, and the number of the view that asOf means.
	Item(ctx context.Context, tenant dag.Tenant, item belief.Item, asOf dag.Seq) (*journal.ItemHistory, dag.Seq, error)
	// Kept returns the cache of the epoch.
	Kept() *Kept
}

// Testimony reads the names, turns and slices that beliefs refer to.
type Testimony interface {
	// Aliases returns the aliases of names as of a number; 0 is the present.
	Aliases(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (*normalize.Table, error)
	// Turns returns the turns with some ids in any order. It leaves out turns that do not exist.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Issued refuses a slice that was never issued.
	Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) error
}

// Signing has the methods for the keys that sign personas.
type Signing interface {
	// Signer returns the signing origin and its signer, and records the key in the ledger. Without an identity the error is identity.ErrNone.
	Signer(ctx context.Context, tenant dag.Tenant) (origin string, _ attest.Signer, _ error)
	// Identity returns the kernel's identity; the zero value is none.
	Identity() identity.Identity
}

// Beliefs combines the parts of the room.
type Beliefs struct {
	View
	Catalog
	Statements
	Memories
	Upkeep
	Personas
}

// New returns the room of a kernel. It costs nothing.
func New(k Kernel) Beliefs {
	r := reader{k}
	return Beliefs{View{r}, Catalog{r}, Statements{r}, Memories{r}, Upkeep{r}, Personas{r}}
}

// A View returns beliefs and the reasons for them.
type View struct{ reader }

// A Catalog lists items and resolves addresses. It tags, links, deprecates and restores items, and counts their uses.
type Catalog struct{ reader }

// Statements revises, contracts, expands and proposes statements, and resolves conflicts about them.
type Statements struct{ reader }

// Upkeep promotes beliefs that meet the conditions for it, and lowers, abstracts and archives others.
type Upkeep struct{ reader }

// Personas exports personas from spaces and imports them into spaces.
type Personas struct{ reader }

// Operations lists the operations of the room.
func (k Beliefs) Operations() []api.Answer {
	return slices.Concat(k.View.Operations(), k.Catalog.Operations(), k.Statements.Operations(), k.Memories.Operations(), k.Upkeep.Operations(), k.Personas.Operations())
}

// Operations lists the operations of a view.
func (k View) Operations() []api.Answer {
	return []api.Answer{api.ListSpaces.By(k.Spaces), api.GetBeliefBase.By(k.Base), api.DiffBeliefs.By(k.Diff), api.BeliefRules.By(k.Rules), api.BeliefConflicts.By(k.Conflicts), api.ExplainBelief.By(k.Why)}
}

// Operations lists the operations of a catalog.
func (k Catalog) Operations() []api.Answer {
	return []api.Answer{api.ListItems.By(k.Items), api.ResolveKref.By(k.Resolve), api.BeliefImpact.By(k.Impact), api.TagKref.By(k.Tag), api.DeprecateItem.By(k.Deprecate), api.RestoreItem.By(k.Restore), api.LinkKref.By(k.Link), api.UseBelief.By(k.Used)}
}

// Operations lists the operations on statements.
func (k Statements) Operations() []api.Answer {
	return []api.Answer{api.SetSpace.By(k.SetSpace), api.ReviseBeliefs.By(k.Revise), api.ContractBeliefs.By(k.Contract), api.ExpandBeliefs.By(k.Expand), api.ProposeBeliefs.By(k.Propose), api.ResolveConflict.By(k.ResolveConflict)}
}

// Operations lists the operations of upkeep.
func (k Upkeep) Operations() []api.Answer {
	return []api.Answer{api.PromoteBeliefs.By(k.Promote), api.CascadeBeliefs.By(k.Cascade), api.DecayBeliefs.By(k.Decay), api.AbstractBeliefs.By(k.Abstract), api.ArchiveBeliefs.By(k.Archive), api.UnarchiveBeliefs.By(k.Unarchive)}
}

// Operations lists the operations on personas.
func (k Personas) Operations() []api.Answer {
	return []api.Answer{api.ExportPersona.By(k.ExportPersona), api.ImportPersona.By(k.ImportPersona)}
}

// A reader reads records. All parts of the room share it.
type reader struct{ kernel Kernel }

func (k reader) catalog() Catalog       { return Catalog{k} }
func (k reader) statements() Statements { return Statements{k} }

// read runs a function in one epoch of the store, and returns its result.
func read[T any](k Kernel, fn func(Epoch) (T, error)) (v T, err error) {
	err = k.Reading(func(e Epoch) (err error) {
		v, err = fn(e)
		return err
	})
	return v, err
}

func (k reader) journal() journal.Base { return k.kernel.Journal() }

// kindsOf returns the policy of a space, and its id.
func (k reader) kindsOf(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (kinds.Policy, string, error) {
	id, err := k.spaceOf(ctx, tenant, space, asOf)
	if err != nil {
		return kinds.Policy{}, "", err
	}
	p, err := k.kindPolicy(ctx, tenant, policy.ID(id))
	return p, id, err
}

func (k reader) kindPolicy(ctx context.Context, tenant dag.Tenant, id policy.ID) (kinds.Policy, error) {
	r, err := k.kernel.Policy(ctx, tenant, id)
	if err != nil {
		return kinds.Policy{}, err
	}
	return kinds.Of(r)
}

// spaceOf returns the id of a space's policy. It refuses a space that the caller may not see.
func (k reader) spaceOf(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (string, error) {
	if err := ScopeOf(ctx).Check(space); err != nil {
		return "", err
	}
	return k.journal().Space(ctx, tenant, space, asOf)
}

// underPolicy calls do with the policy of a space, and calls it again if the space was put under another policy meanwhile.
func (k reader) underPolicy(ctx context.Context, tenant dag.Tenant, space belief.Space, do func(p kinds.Policy, id string) error) error {
	return k.underPolicyOf(ctx, tenant, space, false, do)
}

// underPolicyOf is like underPolicy. If makes is true and the space does not exist, it uses the policy of new spaces; do then makes the space.
func (k reader) underPolicyOf(ctx context.Context, tenant dag.Tenant, space belief.Space, makes bool, do func(p kinds.Policy, id string) error) error {
	defer k.kernel.Changed(tenant)
	const most = 5
	for tries := 1; ; tries++ {
		p, id, err := k.kindsOf(ctx, tenant, space, history.Forever-1)
		if makes && errors.Is(err, journal.ErrSpace) {
			id = string(kinds.ID)
			p, err = k.kindPolicy(ctx, tenant, kinds.ID)
		}
		if err == nil {
			err = do(p, id)
		}
		if !errors.Is(err, journal.ErrMoved) || tries == most {
			return err
		}
	}
}

// evidence refuses turns that do not exist or have lost their text, and counts the units of evidence: 3 for a person's turn, 2 for a tool's
// answer, and 1 for a turn of the agent.
func (k reader) evidence(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) (units uint64, _ error) {
	if len(turns) == 0 {
		return 0, nil
	}
	records, err := k.kernel.Turns(ctx, tenant, turns)
	if err != nil {
		return 0, err
	}
	there := map[dag.TurnID]bool{}
	for i := range records {
		r := &records[i]
		if r.Body == nil && !r.Withheld {
			return 0, fmt.Errorf("%w: the text of turn %s was erased", knowledge.ErrNoEvidence, r.Turn.ID)
		}
		there[r.Turn.ID] = true
		switch {
		case r.Marks.Voice == dag.VoicePerson && (r.Turn.Role != dag.RoleTool || r.Marks.Rules != dag.Marks1):
			units += 3
		case r.Turn.Role == dag.RoleTool:
			units += 2
		default:
			units++
		}
	}
	for _, id := range turns {
		if !there[id] {
			return 0, fmt.Errorf("%w: turn %s of tenant %s", knowledge.ErrNoEvidence, id, tenant)
		}
	}
	return units, nil
}

func (k reader) conflicts(ctx context.Context, tenant dag.Tenant, space belief.Space) ([]*journal.Conflict, error) {
	if _, err := k.spaceOf(ctx, tenant, space, history.Forever-1); err != nil {
		return nil, err
	}
	return k.journal().Conflicts(ctx, tenant, space, history.Forever-1)
}
