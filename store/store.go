// Package store owns the storage contract: what a back end must keep, in which
// order, and what it may lose. Nothing here talks to a database;
// store/inmem and store/sqlite do, and store/storetest is this contract as a
// test suite that each of them passes.
//
// A store keeps, for each tenant and sharing nothing between tenants:
//
//   - turns with their edges, in the order of their sequence numbers;
//   - bodies, which can be erased;
//   - what is known beside the turns, as package history has it: entries, and the terms by
//     which they are found;
//   - the ledger: the leaves of the entries of the record, appended in the transaction of the act.
//     So whatever is acknowledged is in it;
//   - cells: named values that are replaced as a whole, such as what the tenant, as a witness,
//     cosigned last of the logs of others;
//   - snapshots: what is derived from all that, and may be dropped at any time.
//
// It parses no text and knows no policy's meaning: callers hand over finished
// bytes. What it does own is order, and the leaves that follow from a turn's
// fields: [Prepare] and [Prepared.Plan] are the part of Append that is the same
// for every back end, and are pure. Sequence numbers of a tenant begin at 1,
// have no gaps, and are visible in order: a reader that saw head s will never
// later see a number up to s appear.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// An Arrival is a finished turn that asks to be admitted.
type Arrival struct {
	Turn    dag.Turn
	Parents []dag.Parent
	Body    []byte   // slice.AppendBody; nil if withheld
	Salt    dag.Salt // zero if withheld
	// SaltDrawn says that the caller drew the salt because none came with the
	// turn. If the turn is there already, its stored salt decides whether the
	// bodies are the same.
	SaltDrawn bool
	External  string // the value of the attribute external_id, or ""
	Marks     dag.Marks
	Key       string // the credential that brings the turn, as access.CheckCredential has it; "" without one
	Place     string // where it came from ("line 17"), for error messages; or ""

	// Unless selects terms that the caller did not know when it decided about the turn; nil: none. If one of them is stored at the commit, and the turn
	// is not, Append admits nothing and returns an error that wraps ErrOvertaken. Arrivals may share a range.
	Unless *history.Range
}

// A Batch is a set of arrivals in no particular order. Those that are new take
// consecutive sequence numbers in topological order; among the turns that are
// ready the earliest (CreatedAt, ID) comes first.
type Batch []Arrival

// A Receipt says what Append did.
type Receipt struct {
	Admitted int     // turns that are new
	Existing int     // turns that were there already, and are the same
	Edges    int     // edges that came with the new turns
	Head     dag.Seq // the tenant's newest sequence number afterwards
}

// A Record is an admitted turn, with all that the store keeps of it.
type Record struct {
	Seq      dag.Seq
	Turn     dag.Turn
	Leaf     dag.Digest
	Parents  []dag.SkeletonParent // in the order of admission
	Body     []byte               // nil: it never came, was erased, or was lost
	Salt     dag.Salt             // zero without a body
	External string               // "" without a body
	Withheld bool                 // the body never came; false with a body that is gone since
	Marks    dag.Marks            // of the arrival that was admitted; outside the leaf, and kept when the body is erased

	// Key is the credential that brought the turn first, "" if none did. The same turn again
	// does not change it, nor does an erasure. It is outside the leaf.
	Key string
}

// A Place is where a turn is. Anyone who has a turn's skeleton knows it.
type Place struct {
	Conversation dag.ConversationID
	Seq          dag.Seq
}

// A Selection says which turns to read: IDs or Places. Nil selects none.
type Selection interface{ selection() }

// IDs select turns by their ids.
type IDs []dag.TurnID

// Places select turns by where they are.
type Places []Place

func (IDs) selection()    {}
func (Places) selection() {}

// A Stretch is a part of a tenant's history as another store tells it: the records and the entries
// of consecutive sequence numbers, each by ascending Seq.
type Stretch struct {
	Records []Record
	Entries []history.Entry
	Change  history.Change // that comes to Entries, as the package of their kind makes it; nil without any

	// Rest is adopted after it, all of both or nothing: what is left of a change that begins in the stretch, where it was planned with
	// what the stretch makes of the history. Nil: nothing is.
	Rest *Stretch
}

// A Part names how much of a conversation a reader has already.
type Part struct {
	Conversation dag.ConversationID
	After        dag.Seq // every turn up to this number
}

// A Segment is what a reader lacks of some conversations.
type Segment struct {
	Head  dag.Seq        // of the tenant, when the segment was read
	Turns []dag.Skeleton // by ascending Seq
	// Links are the edges into other conversations than the parents' own, whose
	// children are numbered above the parent's Part.After. By ascending Seq.
	Links []dag.Link
}

// A Conversation is a line of a listing.
type Conversation struct {
	ID          dag.ConversationID
	Turns       int
	First, Last dag.Seq
	FirstAt     dag.Time // the smallest and greatest CreatedAt
	LastAt      dag.Time
}

// A Store is a back end. All methods may be called at once from many
// goroutines. After Close every method returns ErrClosed.
//
// A method that returns an error has changed nothing, with one exception that
// no back end can avoid: a failed write may have been kept in full if the
// failure struck after the commit. Its error then wraps ErrUncertain if the store
// goes on, or ErrBroken, and every later one too, if it must be opened again.
// Repeating it is always safe, since every write is idempotent. Nothing is ever
// half kept.
//
// A write that returned nil is durable: it survives a kill of the process and,
// where the back end promises that, of the machine.
//
// Returned slices belong to the caller. Arguments are not retained.
type Store interface {
	Admissions
	Reader
	history.History
	Ledger
	history.Cells

	// Tenants lists up to limit tenants that have anything stored, with names
	// above after in the order of their bytes, ascending.
	Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error)

	// Head returns the tenant's newest sequence number, 0 if it has none.
	Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error)

	// Snapshots returns the snapshots of a page, in the order of their names' bytes. A change writes and drops
	// them; see history.Plan.
	Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error)

	// Epoch returns a number that changes whenever the database may have lost acknowledged data,
	// for example after a failover. It changes before any of the new data can be read: if it is
	// the same before a question and after the answer, the answer is of that epoch. A caller that
	// caches what it reads drops its cache when the number changes. Back ends whose data no other
	// server can replace return 0.
	Epoch() uint64

	// Close releases the store. Closing twice is harmless.
	Close() error
}

// Admissions take turns in, for each tenant apart.
type Admissions interface {
	// Append admits batches, all of them or none, the batches one after the
	// other. A turn that is there already with the same fields, parents and
	// body is counted as existing. The same id with anything else is a
	// *ConflictError. A parent that is neither stored nor in the batch (or an
	// earlier one) is a *ParentError. A new turn whose Arrival.Unless has a term wraps ErrOvertaken. An erased turn that arrives again counts
	// as existing and stays erased.
	Append(ctx context.Context, tenant dag.Tenant, batches []Batch) (Receipt, error)

	// Adopt takes over a stretch of history from another store, all of it or
	// nothing, under the numbers that it has there. It must continue this store's
	// history: the first number is that of the head and one, or ErrGap is
	// wrapped. Change is planned, and must come to Entries; it knows the turns of the stretch, too. A
	// body that it takes away is not kept. A change of several entries is whole in it, or in it and its Rest, so that the head is
	// always the end of a change. What cannot be such a history wraps dag.ErrForm: a gap or a
	// number used twice, a leaf or a body that is not what its turn has the digest of, or a parent that
	// is not admitted before its child.
	Adopt(ctx context.Context, tenant dag.Tenant, s Stretch) error
}

// A Reader reads the turns that were admitted, for each tenant apart.
type Reader interface {
	// Turns returns the records of the selected turns, each once and in any order; what does
	// not exist is left out. One query. Places are the cheapest way to many turns.
	Turns(ctx context.Context, tenant dag.Tenant, of Selection) ([]Record, error)

	// Segment returns what a reader lacks of the given conversations, at one
	// moment. If nothing was appended to them it returns an empty segment with
	// the present head, at the cost of a look-up. At most a constant number of queries.
	Segment(ctx context.Context, tenant dag.Tenant, parts []Part) (Segment, error)

	// Scan calls fn with the records numbered above after up to the head at the
	// call, by ascending number, in memory that does not grow with their
	// number. If conversation is not nil, with those of one conversation only.
	// An error of fn ends the scan and is returned. A record that is damaged ends it with an error
	// that wraps ErrDamaged, after all records before it. The record is fn's until it
	// returns; its Body and Parents fn may keep. While fn runs the store holds
	// nothing open, so fn may call it.
	Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*Record) error) error

	// Find returns up to limit ids of turns that have a name, ascending.
	Find(ctx context.Context, tenant dag.Tenant, name Name, limit int) ([]dag.TurnID, error)

	// Conversations lists up to limit conversations with ids above after,
	// ascending.
	Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]Conversation, error)
}

// A Ledger gives the hashes of each tenant's ledger.
type Ledger interface {
	// Log returns the right edge of the tenant's ledger, an empty tree if it has none.
	Log(ctx context.Context, tenant dag.Tenant) (ledger.Tree, error)

	// LogHashes returns n hashes of a level of the ledger from an index on, in order, as
	// ledger.Reader asks for them. Fewer if there are no more.
	LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error)
}

// A Migration says which schema a back end found, and which it left or would leave.
// Schemas of one number mean the same in every back end.
type Migration struct {
	From, To int // 0 is nothing at all
}

// Errors that callers branch on.
var (
	ErrNotFound   = history.ErrNotFound
	ErrClosed     = errors.New("store is closed")
	ErrBroken     = errors.New("store is unusable until it is opened again")
	ErrUnwritable = errors.New("the store's disk takes no writes; nothing was changed") // until it has room again, or is writable
	ErrQuery      = errors.New("the database could not be asked; that tells nothing of what it holds")
	ErrDamaged    = history.ErrDamaged
	ErrUnreadable = fmt.Errorf("%w: unreadable", ErrDamaged)
	ErrUncertain  = errors.New("the write may have been kept or not; repeat it, which is safe")
	ErrLost       = errors.New("the store cannot be reached; nothing was changed")
	ErrGap        = errors.New("the stretch does not continue the history that is stored")
	ErrBusy       = errors.New("store is busy with another process") // repeating what was asked is safe, and the remedy
	ErrMoved      = errors.New("what was to be replaced has been replaced already")
	ErrOvertaken  = errors.New("something was recorded that the admission was decided without; nothing was admitted")
	ErrSchema     = errors.New("the store has a schema that this version does not read")
)

// A ConflictError says that a turn with this id was admitted with other
// content. Nothing of the batch was admitted.
type ConflictError struct {
	ID               dag.TurnID
	Place            string     // where the refused turn came from, or ""
	Field            string     // what differs: body, parents, conversation, role, phase, salience or created_at
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
	ID    dag.TurnID // the smallest of them
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
