package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// An AmbiguousError reports that a name fits several turns.
type AmbiguousError struct {
	Name  string
	Fits  []dag.TurnID // some of them
	Rests bool         // the name is the address of a revision, which rests on these turns
}

func (e *AmbiguousError) Error() string {
	fits := make([]string, len(e.Fits))
	for i, id := range e.Fits {
		fits[i] = id.String()
	}
	if e.Rests {
		return fmt.Sprintf("%s rests on several turns (%s); name one of them", e.Name, strings.Join(fits, ", "))
	}
	return fmt.Sprintf("%q fits several turns (%s); give more of it", e.Name, strings.Join(fits, ", "))
}

// minPrefix is the minimum length in characters of a prefix that names a turn, by its id or by a commit.
const minPrefix = 4

// fitsShown is the maximum number of turns that an AmbiguousError names.
const fitsShown = 5

// Resolve returns the turn that a name identifies. The name is the turn's id, its external id, a unique prefix of its id or of an
// external digest (a commit of git), or the address of a revision of a belief that rests on this turn and no other. A prefix has
// at least 4 characters.
func (k Turns) Resolve(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error) {
	if belief.IsAddress(name) {
		return k.restsOn(ctx, tenant, name)
	}
	lower := strings.ToLower(name)
	if id, err := dag.ParseTurnID(lower); err == nil {
		_, err := steady(k.engine, func(c *cache) (dag.ConversationID, error) { return c.graphs.Conversation(ctx, tenant, id) })
		if name == lower || !errors.Is(err, store.ErrNotFound) {
			return id, err
		} // else it may be the external id of another turn
	}
	fits, err := k.store.Find(ctx, tenant, store.External(name), fitsShown)
	if err != nil {
		return dag.TurnID{}, err
	}
	if len(fits) == 0 && len(lower) >= minPrefix {
		for _, prefix := range []store.Name{store.Prefix(lower), store.ExternalPrefix(lower)} {
			more, err := k.store.Find(ctx, tenant, prefix, fitsShown)
			if err != nil {
				return dag.TurnID{}, err
			}
			fits = append(fits, more...)
		}
	}
	switch len(fits) {
	case 0:
		return dag.TurnID{}, fmt.Errorf("no turn of tenant %s has an id, an external id, or the beginning of an id or commit (at least %d characters) that is %.80q: %w", tenant, minPrefix, name, store.ErrNotFound)
	case 1:
		return fits[0], nil
	}
	return dag.TurnID{}, &AmbiguousError{Name: name, Fits: fits}
}

// restsOn returns the one turn on which the revision at an address rests. Turns whose text was erased do not count.
func (k Turns) restsOn(ctx context.Context, tenant dag.Tenant, address string) (dag.TurnID, error) {
	a, err := belief.ParseAddress(address)
	if err != nil {
		return dag.TurnID{}, err
	}
	kref, err := k.beliefs().Kref(ctx, tenant, a)
	if err != nil {
		return dag.TurnID{}, err
	}
	if kref.Revision == nil {
		return dag.TurnID{}, fmt.Errorf("%w: %s leads to no revision as of %d", journal.ErrNoItem, a, kref.AsOf)
	}
	var fits []dag.TurnID
	for some := range slices.Chunk(kref.Revision.RestsOn(), journal.MaxTurns) {
		records, err := k.store.Turns(ctx, tenant, store.IDs(some))
		if err != nil {
			return dag.TurnID{}, err
		}
		for i := range records {
			if r := &records[i]; (r.Body != nil || r.Withheld) && len(fits) < fitsShown {
				fits = append(fits, r.Turn.ID)
			}
		}
		if len(fits) == fitsShown {
			break
		}
	}
	switch len(fits) {
	case 0:
		return dag.TurnID{}, fmt.Errorf("revision %d of %s rests on no turn that has a text: %w", kref.Revision.Number, a.Item, store.ErrNotFound)
	case 1:
		return fits[0], nil
	}
	return dag.TurnID{}, &AmbiguousError{Name: address, Fits: fits, Rests: true}
}

// Named returns the turn that a name identifies: an id, which it does not look up, or any other name that Resolve
// accepts.
func (k Turns) Named(ctx context.Context, tenant dag.Tenant, name string) (id dag.TurnID, err error) {
	if id.UnmarshalText([]byte(name)) == nil {
		return id, nil
	}
	if id, err = k.Resolve(ctx, tenant, name); err != nil {
		return id, fmt.Errorf("turn: %w", err)
	}
	return id, nil
}

func (k Turns) resolveTurn(ctx context.Context, tenant dag.Tenant, in api.TurnNamed) (api.ResolvedTurn, error) {
	id, err := k.Resolve(ctx, tenant, in.Name)
	if err != nil {
		return api.ResolvedTurn{}, &api.Fault{Place: "query parameter name", Err: err}
	}
	return api.ResolvedTurn{ID: id}, nil
}
