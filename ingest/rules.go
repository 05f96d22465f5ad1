package ingest

import (
	"fmt"
	"maps"

	"github.com/graphkernel/graphkernel/dag"
)

// The rules by which a phase and a salience are assigned. Each is fixed for
// ever: another table is another name.
const (
	Rules1 = "rules/1"
	Rules2 = "rules/2"
	Rules3 = "rules/3"
	Rules4 = "rules/4"

	// Rules names the rules for turns that are new.
	Rules = Rules4
)

// The attributes that say by what a phase or a salience was assigned.
const (
	AttrPhaseBy    = "phase_by"
	AttrSalienceBy = "salience_by"
)

// judgements are the rules that can be named, by their names.
var judgements = map[string]func(*dag.Draft) judgement{
	Rules1: func(d *dag.Draft) judgement { return featuresOf(d) },
	Rules2: func(d *dag.Draft) judgement { return traitsOf(d, (*traits).whose, requests) },
	Rules3: func(d *dag.Draft) judgement { return traitsOf(d, (*traits).speaks, requests) },
	Rules4: func(d *dag.Draft) judgement { return traitsOf(d, (*traits).speaks, asksToAct) },
}

// A judgement is what rules see of a turn. One look gives both values.
type judgement interface {
	phase() dag.Phase
	salience() dag.PPM
}

// Assign returns a draft the phase and the salience that it came without, by
// [Rules], and says so in its attributes. The rules look at role, author, content and
// attributes alone, at nothing around the turn, so the same turn gets the same
// values wherever and whenever it is read. docs/phases.md has the tables.
//
// A draft that says by what a value was assigned and lacks the value is an error,
// and so is one whose attributes have no room for saying it. On error the
// draft is as it was. The map of attributes is replaced, not written to.
func Assign(d *dag.Draft) error { return assign(d, Rules, Rules) }

// AssignAs is Assign for a turn that was admitted before, by the rules that its
// stored attributes name. A draft whose values were assigned by other rules is judged anew,
// and one that brought values of its own keeps them. The mark [dag.AttrBroughtBy] becomes that of the stored turn: who brings a turn
// again does not change what it is. It reports whether the draft has changed.
func AssignAs(d *dag.Draft, stored map[string]string) (changed bool, err error) {
	again := *d
	again.Attrs = maps.Clone(d.Attrs)
	phaseBy, salienceBy := stored[AttrPhaseBy], stored[AttrSalienceBy]
	marked := d.Attrs[dag.AttrBroughtBy] != stored[dag.AttrBroughtBy]
	if wasAssigned(d.Attrs[AttrPhaseBy], phaseBy, marked) && judgements[d.Attrs[AttrPhaseBy]](unjudged(d)).phase() == d.Phase {
		again.Phase = 0
		delete(again.Attrs, AttrPhaseBy)
	}
	if wasAssigned(d.Attrs[AttrSalienceBy], salienceBy, marked) && judgements[d.Attrs[AttrSalienceBy]](unjudged(d)).salience() == d.Salience {
		again.Salience, again.HasSalience = 0, false
		delete(again.Attrs, AttrSalienceBy)
	}
	if marked {
		if delete(again.Attrs, dag.AttrBroughtBy); stored[dag.AttrBroughtBy] != "" {
			if again.Attrs == nil {
				again.Attrs = map[string]string{}
			}
			again.Attrs[dag.AttrBroughtBy] = stored[dag.AttrBroughtBy]
		}
	}
	if again.Phase != 0 && again.HasSalience && !marked {
		return false, nil
	}
	if err := assign(&again, phaseBy, salienceBy); err != nil {
		return false, err
	}
	*d = again
	return true, nil
}

// wasAssigned reports whether a value was assigned by known rules, and the
// stored one by other known rules, or for a turn that is marked otherwise.
func wasAssigned(by, stored string, marked bool) bool {
	_, known := judgements[by]
	_, knownStored := judgements[stored]
	return known && knownStored && (by != stored || marked)
}

// unjudged returns a draft as it was before values were assigned.
func unjudged(d *dag.Draft) *dag.Draft {
	bare := *d
	bare.Attrs = maps.Clone(d.Attrs)
	delete(bare.Attrs, AttrPhaseBy)
	delete(bare.Attrs, AttrSalienceBy)
	return &bare
}

func assign(d *dag.Draft, phaseBy, salienceBy string) error {
	if d.Phase != 0 && d.HasSalience {
		return nil
	}
	if d.Redacted {
		return fmt.Errorf("ingest: %w: turn %s is redacted and lacks its phase or salience, which need the text", dag.ErrForm, d.ID)
	}
	added := 0
	for _, absent := range [...]struct {
		is   bool
		attr string
	}{{d.Phase == 0, AttrPhaseBy}, {!d.HasSalience, AttrSalienceBy}} {
		if !absent.is {
			continue
		}
		added++
		if by, ok := d.Attrs[absent.attr]; ok {
			return fmt.Errorf("ingest: %w: turn %s has attr %s %q and lacks what it speaks of", dag.ErrForm, d.ID, absent.attr, clip(by))
		}
	}
	if len(d.Attrs)+added > dag.MaxAttrs {
		return fmt.Errorf("ingest: %w: turn %s has %d attrs, and saying by what its values were assigned adds %d, at most %d", dag.ErrForm, d.ID, len(d.Attrs), added, dag.MaxAttrs)
	}
	attrs := maps.Clone(d.Attrs)
	if attrs == nil {
		attrs = make(map[string]string, added)
	}
	bare := *d // the rules do not see what they assign
	var judged judgement
	if d.Phase == 0 {
		judged = judgements[phaseBy](&bare)
		d.Phase = judged.phase()
		attrs[AttrPhaseBy] = phaseBy
	}
	if !d.HasSalience {
		if judged == nil || salienceBy != phaseBy {
			judged = judgements[salienceBy](&bare)
		}
		d.Salience, d.HasSalience = judged.salience(), true
		attrs[AttrSalienceBy] = salienceBy
	}
	d.Attrs = attrs
	return nil
}
