// Package plain is what a user would write instead of the kernel: the turns and edges
// in two tables of a database, and the selection in the program. It returns the same turns
// as the kernel does, in the same order, and nothing more: it hashes, signs and records
// nothing.
//
//	picked, err := plain.PerTurn(ctx, db, anchor, params) // a few queries for each turn
//	picked, err := plain.Nearby(ctx, db, anchor, params)  // one recursive query
//	texts, err := db.Texts(ctx, picked)
//
// Both are written to be as fast as they can be without becoming a kernel themselves:
// statements are prepared, every look-up has an index that holds all it asks for, and
// text is read once, of the turns that were picked.
package plain

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A Turn is what selection reads of one.
type Turn struct {
	ID       dag.TurnID
	Phase    dag.Phase
	Salience dag.PPM
}

// A Reader answers what selection asks of one turn. Each method gives a turn once, in
// any order.
type Reader interface {
	// Turn returns one turn, or ErrUnknown.
	Turn(ctx context.Context, id dag.TurnID) (Turn, error)
	Parents(ctx context.Context, of dag.TurnID) ([]Turn, error)
	Children(ctx context.Context, of dag.TurnID) ([]Turn, error)
	// Siblings returns the other children of a turn's parents.
	Siblings(ctx context.Context, of dag.TurnID) ([]Turn, error)
}

// ErrUnknown is wrapped when there is no such turn.
var ErrUnknown = errors.New("no such turn")

// An Edge joins two turns.
type Edge struct{ Parent, Child dag.TurnID }

// A Database holds the turns and edges of one tenant. Its methods may be called at once.
type Database interface {
	Reader

	// Near returns up to bound turns around a turn, breadth first, and every edge that
	// begins or ends at one of them. One query.
	Near(ctx context.Context, anchor dag.TurnID, bound int) ([]Turn, []Edge, error)

	// Texts returns the text of turns. One query.
	Texts(ctx context.Context, ids []dag.TurnID) (map[dag.TurnID]string, error)

	// Load inserts turns with their edges, in one transaction.
	Load(ctx context.Context, drafts []dag.Draft) error

	// Settle does what the database would do by itself some minutes after a load.
	Settle(ctx context.Context) error

	// Tenant returns the same database for another tenant. Closing it closes both.
	Tenant(name dag.Tenant) Database

	Close() error
}

// PerTurn selects as the paper describes it: it asks the database about each turn that
// it picks.
func PerTurn(ctx context.Context, db Database, anchor dag.TurnID, p policy.SlicePolicyV1) ([]dag.TurnID, error) {
	return choose(ctx, db, anchor, p)
}

// Nearby brings the turns around the anchor with one recursive query and selects
// among them. If the selection leaves what was brought, four times as many are brought.
func Nearby(ctx context.Context, db Database, anchor dag.TurnID, p policy.SlicePolicyV1) ([]dag.TurnID, error) {
	for bound := 4 * p.MaxNodes; ; bound *= 4 {
		turns, edges, err := db.Near(ctx, anchor, bound)
		if err != nil {
			return nil, err
		}
		picked, err := choose(ctx, newNeighbourhood(turns, edges), anchor, p)
		if errors.Is(err, ErrUnknown) && len(turns) == bound {
			continue
		}
		return picked, err
	}
}
