package ingest

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// checkDraft returns an error for the first property of a draft that GKP/1 does not allow in an admitted turn. Phase and
// salience may be missing, but not from a redacted draft.
func checkDraft(d *dag.Draft) error {
	if d.Role.String() == "" {
		return fmt.Errorf("%w: turn %s has no role", dag.ErrForm, d.ID)
	}
	if d.Phase != 0 && d.Phase.String() == "" {
		return fmt.Errorf("%w: turn %s has the unknown phase %d", dag.ErrForm, d.ID, d.Phase)
	}
	if d.HasSalience && d.Salience > dag.One {
		return fmt.Errorf("%w: turn %s has salience above 1", dag.ErrForm, d.ID)
	}
	if !d.CreatedAt.Valid() {
		return fmt.Errorf("%w: turn %s was created outside the years 1970 to 9999", dag.ErrForm, d.ID)
	}
	if err := checkParents(d); err != nil {
		return err
	}
	if d.Redacted {
		if d.Phase == 0 || !d.HasSalience {
			return fmt.Errorf("%w: turn %s is redacted and lacks its phase or salience", dag.ErrForm, d.ID)
		}
		if d.Author != "" || d.Content != "" || len(d.Attrs) > 0 || d.Salt != nil {
			return fmt.Errorf("%w: turn %s is redacted and has a body", dag.ErrForm, d.ID)
		}
		return nil
	}
	body := dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
	return body.Check()
}

// fewParents is the number of parents up to which comparing them pair by pair is faster than a map.
const fewParents = 16

func checkParents(d *dag.Draft) error {
	if len(d.Parents) > dag.MaxParents {
		return fmt.Errorf("%w: turn %s has %d parents, at most %d", dag.ErrForm, d.ID, len(d.Parents), dag.MaxParents)
	}
	var seen map[dag.TurnID]bool
	if len(d.Parents) > fewParents {
		seen = make(map[dag.TurnID]bool, len(d.Parents))
	}
	for i := range d.Parents {
		p := &d.Parents[i]
		if p.Kind.String() == "" {
			return fmt.Errorf("%w: the edge from %s has no kind", dag.ErrForm, p.ID)
		}
		if p.ID == d.ID {
			return fmt.Errorf("%w: turn %s is its own parent", dag.ErrForm, d.ID)
		}
		repeated := seen[p.ID]
		if seen != nil {
			seen[p.ID] = true
		} else {
			repeated = hasParent(d.Parents[:i], p.ID)
		}
		if repeated {
			return fmt.Errorf("%w: %s is a parent twice, at most one edge joins two turns", dag.ErrForm, p.ID)
		}
	}
	return nil
}

func hasParent(parents []dag.Parent, id dag.TurnID) bool {
	for i := range parents {
		if parents[i].ID == id {
			return true
		}
	}
	return false
}
