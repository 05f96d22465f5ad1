// Package store owns the storage contract: what a back end must keep, in which order, and what it may lose. The package itself stores
// nothing; back ends such as store/inmem and store/sqlite do, and store/storetest is this contract as a test suite that each of them passes.
//
// A store keeps, separately for each tenant:
//
//   - turns with their edges, in the order of their sequence numbers;
//   - bodies, which can be erased;
//   - everything else that is known, in the form of package history: entries, and the terms by
//     which they are found;
//   - the ledger: the leaves of the record's entries, appended in the transaction of the act.
//     So every acknowledged act is in it;
//   - cells: named values that are replaced as a whole, such as the newest states of other logs
//     that the tenant cosigned as a witness;
//   - snapshots: data that is derived from all of these, and may be dropped at any time.
//
// The package parses no text and does not know what a policy means: callers hand over finished bytes. It does own the order, and the leaves that
// follow from a turn's fields: [Prepare] and [Prepared.Plan] are the part of Append that is the same for every back end, and are pure. Sequence
// numbers of a tenant begin at 1, have no gaps, and become visible in order: after a reader has seen head s, no number up to s appears.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// An Arrival is a finished turn that is to be admitted.
type Arrival struct {
	Turn    dag.Turn
	Parents []dag.Parent
	Body    []byte   // slice.AppendBody; nil if withheld
	Salt    dag.Salt // zero if withheld
	// SaltDrawn says that the caller drew the salt because none came with the turn. If the
	// turn is stored already, its stored salt decides whether the bodies are the same.
	SaltDrawn bool
	External  string // the value of the attribute external_id, or ""
	Marks     dag.Marks
	Key       string // the credential that brings the turn, in the form of access.CheckCredential; "" without one
	Place     string // where it came from ("line 17"), for error messages; or ""

	// Unless selects terms that the caller did not know when it decided about the turn; nil: none. If such a term is stored at the
	// commit and the turn is not, Append admits nothing and returns an error that wraps ErrOvertaken. Arrivals may share a range.
	Unless *history.Range
}

// A Batch is a set of arrivals in no particular order. New turns take consecutive sequence numbers in
// topological order; of the turns that are ready, the one with the smallest (CreatedAt, ID) comes first.
type Batch []Arrival

// A Receipt says what Append did.
type Receipt struct {
	Admitted int     // turns that are new
	Existing int     // turns that were stored already, and are the same
	Edges    int     // edges that came with the new turns
	Head     dag.Seq // the tenant's newest sequence number afterwards
}

// A Record is an admitted turn, with everything that the store keeps of it.
type Record struct {
	Seq      dag.Seq
	Turn     dag.Turn
	Leaf     dag.Digest
	Parents  []dag.SkeletonParent // in the order of admission
	Body     []byte               // nil: it never came, was erased, or was lost
	Salt     dag.Salt             // zero without a body
	External string               // "" without a body
	Withheld bool                 // the body never came; false if a body came and is gone
	Marks    dag.Marks            // of the admitted arrival; not in the leaf, and kept when the body is erased

	// Key is the credential that first brought the turn, "" if none did. Neither
	// another arrival of the turn nor an erasure changes it. It is not in the leaf.
	Key string
}

// A Place is the position of a turn in a tenant's history. A turn's skeleton contains it.
type Place struct {
	Conversation dag.ConversationID
	Seq          dag.Seq
}

// A Selection says which turns to read: IDs or Places. Nil selects none.
type Selection interface{ selection() }

// IDs select turns by their ids.
type IDs []dag.TurnID

// Places select turns by their positions.
type Places []Place

func (IDs) selection()    {}
func (Places) selection() {}

// A Stretch is a part of a tenant's history in another store: the records and the entries of consecutive sequence numbers, each by ascending Seq.
type Stretch struct {
	Records []Record
	Entries []history.Entry
	Change  history.Change // the change that plans Entries, made by the package of their kind; nil without entries

	// Rest is adopted after the stretch, in the same transaction. It is the remainder of a change that begins
	// in the stretch, if the remainder must be planned after the stretch is adopted. Nil: there is none.
	Rest *Stretch
}

// A Part says how much of a conversation a reader has already.
type Part struct {
	Conversation dag.ConversationID
	After        dag.Seq // the reader has every turn up to this number
}

// A Segment contains the turns that a reader lacks of some conversations.
type Segment struct {
	Head  dag.Seq        // of the tenant, when the segment was read
	Turns []dag.Skeleton // by ascending Seq
	// Links are the edges from these conversations into others, if the child is
	// numbered above the Part.After of the parent's conversation. By ascending Seq.
	Links []dag.Link
}

// A Conversation is one conversation of a listing.
type Conversation struct {
	ID          dag.ConversationID
	Turns       int
	First, Last dag.Seq
	FirstAt     dag.Time // the smallest and greatest CreatedAt
	LastAt      dag.Time
}

// A Store is a back end. All methods may be called at once from many goroutines. After Close every method returns ErrClosed.
//
// A method that returns an error has changed nothing, with one exception that no back end can avoid: a failed write may be stored in full if
// the failure came after the commit. Its error then wraps ErrUncertain if the store can still be used; if the store must be opened again, this
// and every later error wraps ErrBroken. Repeating a write is always safe, since every write is idempotent. No write is ever stored in part.
//
// A write that returned nil is durable: it survives a kill of the process and, if the back end promises that, of the machine.
//
// Returned slices belong to the caller. Arguments are not retained.
type Store interface {
	Admissions
	Reader
	history.History
	Ledger
	history.Cells

	// Tenants returns up to limit tenants with stored data, with names above after, ascending in the order of the names' bytes.
	Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error)

	// Head returns the tenant's newest sequence number, 0 if it has none.
	Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error)

	// Snapshots returns the snapshots of a page, in the order of their names' bytes. A change writes and drops
	// them; see history.Plan.
	Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error)

	// Epoch returns a number that changes whenever the database may have lost acknowledged data, for example after a failover. It changes
	// before any of the new data can be read: if it is the same before a query and after its answer, the answer is of that epoch. A caller
	// that caches what it reads drops its cache when the number changes. Back ends whose data no other server can replace return 0.
	Epoch() uint64

	// Close releases the store. Closing twice is harmless.
	Close() error
}

// Admissions admits turns, separately for each tenant.
type Admissions interface {
	// Append admits batches one after the other, all of them or none. A turn that is stored already with the same
	// fields, parents and body counts as existing. The same id with any difference is a *ConflictError. A parent that
	// is neither stored, nor in the batch or an earlier one, is a *ParentError. A new turn whose Arrival.Unless has a
	// term is an error that wraps ErrOvertaken. An erased turn that arrives again counts as existing and stays erased.
	Append(ctx context.Context, tenant dag.Tenant, batches []Batch) (Receipt, error)

	// Adopt adopts a stretch of history from another store, all of it or nothing, under the numbers that it has there. The
	// stretch must continue this store's history: its first number is the head plus one, or the error wraps ErrGap. Its Change
	// is planned, with the turns of the stretch among those it knows, and must plan exactly Entries. A body that the change
	// removes is not stored. A change of several entries must be whole in the stretch, or in the stretch and its Rest, so that
	// the head is always the end of a change. A stretch that cannot be such a history is an error that wraps dag.ErrForm: a gap
	// or a number used twice, a leaf or a body that does not match its turn, or a parent that is not admitted before its child.
	Adopt(ctx context.Context, tenant dag.Tenant, s Stretch) error
}

// A Reader reads admitted turns, separately for each tenant.
type Reader interface {
	// Turns returns the records of the selected turns, each once and in any order; turns that do
	// not exist are left out. It takes one query. Places are the cheapest way to read many turns.
	Turns(ctx context.Context, tenant dag.Tenant, of Selection) ([]Record, error)

	// Segment returns the turns that a reader lacks of the given conversations, as of one moment. If nothing was appended to them
	// it returns an empty segment with the present head, at the cost of a look-up. It takes at most a constant number of queries.
	Segment(ctx context.Context, tenant dag.Tenant, parts []Part) (Segment, error)

	// Scan calls fn with the records numbered above after, up to the head at the time of the call, by ascending number. Its memory does
	// not grow with their number. If conversation is not nil, it reads only the records of that conversation. An error of fn ends the scan
	// and is returned. A damaged record ends the scan with an error that wraps ErrDamaged, after all records before it. fn may use the
	// record until it returns, and may keep its Body and Parents. The store keeps nothing open while fn runs, so fn may call the store.
	Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*Record) error) error

	// Find returns up to limit ids of turns that match a name, ascending.
	Find(ctx context.Context, tenant dag.Tenant, name Name, limit int) ([]dag.TurnID, error)

	// Conversations lists up to limit conversations with ids above after,
	// ascending.
	Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]Conversation, error)
}

// A Ledger returns the hashes of each tenant's ledger.
type Ledger interface {
	// Log returns the right edge of the tenant's ledger, an empty tree if it has none.
	Log(ctx context.Context, tenant dag.Tenant) (ledger.Tree, error)

	// LogHashes returns n hashes of a level of the ledger from an index on, in order, as ledger.Reader requires; fewer if there are no more.
	LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error)
}

// A Migration contains the schema that a back end found, and the schema that it left
// or would leave. Schemas with the same number are equivalent in all back ends.
type Migration struct {
	From, To int // 0: no schema at all
}

// Errors that callers branch on.
var (
	ErrNotFound   = history.ErrNotFound
	ErrClosed     = errors.New("store is closed")
	ErrBroken     = errors.New("store is unusable until it is opened again")
	ErrUnwritable = errors.New("the store takes no writes: it is full or read-only; nothing was changed") // until there is room again, or the store is writable
	ErrQuery      = errors.New("the query failed at the database, so it is not known what the database holds")
	ErrDamaged    = history.ErrDamaged
	ErrUnreadable = fmt.Errorf("%w: unreadable", ErrDamaged)
	ErrUncertain  = errors.New("it is not known whether the write was saved; repeat it, which is safe")
	ErrLost       = errors.New("the store cannot be reached; nothing was changed")
	ErrGap        = errors.New("the stretch does not continue the stored history")
	ErrBusy       = errors.New("store is busy with another process") // repeating the call is safe, and helps
	ErrMoved      = errors.New("the value to be replaced was changed meanwhile")
	ErrOvertaken  = errors.New("the turns were checked before a newer entry was recorded; nothing was admitted")
	ErrSchema     = errors.New("this version cannot read the schema of the store")
)

// A ConflictError says that a turn with this id was admitted with other
// content. Nothing of the batch was admitted.
type ConflictError struct {
	ID               dag.TurnID
	Place            string     // where the refused turn came from, or ""
	Field            string     // the field that differs: body, parents, conversation, role, phase, salience or created_at
	Stored, Arriving dag.Digest // both body digests
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%sturn %s is stored with another %s (stored body digest %s, arriving %s); nothing of its batch was admitted",
		place(e.Place), e.ID, e.Field, e.Stored, e.Arriving)
}

// A ParentError says that a turn names a parent that is not known.
type ParentError struct {
	Child, Parent dag.TurnID
	Place         string
}

func (e *ParentError) Error() string {
	return fmt.Sprintf("%sturn %s names the parent %s, which is neither stored nor in the same batch; admit the parent first",
		place(e.Place), e.Child, e.Parent)
}

// A CycleError says that turns of a batch are each other's ancestors.
type CycleError struct {
	ID    dag.TurnID // the smallest id of a turn on a cycle
	Place string
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("%sturn %s is its own ancestor within the batch; a conversation cannot hold a cycle", place(e.Place), e.ID)
}

func place(p string) string {
	if p == "" {
		return ""
	}
	return p + ": "
}
