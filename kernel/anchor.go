package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// An AmbiguousError says that a name fits several turns.
type AmbiguousError struct {
	Name string
	Fits []dag.TurnID // some of them
}

func (e *AmbiguousError) Error() string {
	fits := make([]string, len(e.Fits))
	for i, id := range e.Fits {
		fits[i] = id.String()
	}
	return fmt.Sprintf("%q fits several turns (%s); give more of the id", e.Name, strings.Join(fits, ", "))
}

// minPrefix is the least number of characters that stand for a turn's id.
const minPrefix = 4

// fitsShown is how many turns an AmbiguousError names.
const fitsShown = 5

// Resolve finds the turn that a person means: by its id, by the beginning of its
// id if no other begins so, or by the id that another system gave it.
func (k Turns) Resolve(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error) {
	lower := strings.ToLower(name)
	if id, err := dag.ParseTurnID(lower); err == nil {
		_, err := steady(k.engine, func(c *cache) (dag.ConversationID, error) { return c.conversation(ctx, tenant, id) })
		if name == lower || !errors.Is(err, store.ErrNotFound) {
			return id, err
		} // else another system may write its ids so
	}
	fits, err := k.store.Find(ctx, tenant, store.External(name), fitsShown)
	if err != nil {
		return dag.TurnID{}, err
	}
	if len(fits) == 0 && isPrefix(lower) {
		if fits, err = k.store.Find(ctx, tenant, store.Prefix(lower), fitsShown); err != nil {
			return dag.TurnID{}, err
		}
	}
	switch len(fits) {
	case 0:
		return dag.TurnID{}, fmt.Errorf("no turn of tenant %s has an id, external id or beginning of an id (at least %d characters) that is %.80q: %w", tenant, minPrefix, name, store.ErrNotFound)
	case 1:
		return fits[0], nil
	}
	return dag.TurnID{}, &AmbiguousError{Name: name, Fits: fits}
}

func isPrefix(s string) bool {
	if len(s) < minPrefix || len(s) > 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'; !hex && c != '-' {
			return false
		}
	}
	return true
}
