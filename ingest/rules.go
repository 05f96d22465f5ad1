package ingest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Rules names the rules by which a phase and a salience are assigned. They never change: another table is another name.
const Rules = "rules/4"

// The attributes that say by what a phase or a salience was assigned.
const (
	AttrPhaseBy    = "phase_by"
	AttrSalienceBy = "salience_by"
)

// Assign returns a draft the phase and the salience that it came without, by
// [Rules], and says so in its attributes. The rules look at role, author, content and
// attributes alone, at nothing around the turn, so the same turn gets the same
// values wherever and whenever it is read. docs/phases.md has the tables.
//
// A draft that says by what a value was assigned and lacks the value is an error,
// and so is one whose attributes have no room for saying it. On error the
// draft is as it was. The map of attributes is replaced, not written to.
func Assign(d *dag.Draft) error {
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
	judged := traitsOf(d)
	if d.Phase == 0 {
		d.Phase, attrs[AttrPhaseBy] = judged.phase(), Rules
	}
	if !d.HasSalience {
		d.Salience, d.HasSalience, attrs[AttrSalienceBy] = judged.salience(), true, Rules
	}
	d.Attrs = attrs
	return nil
}

// AsStored returns a draft that comes again the values that rules assigned to the stored turn, by whatever rules that was, in place of those that
// [Rules] assigned to the draft. So a turn that comes again is the same turn, although the rules have changed. The mark
// [dag.AttrBroughtBy] becomes that of the stored turn: who brings a turn again does not change what it is. A draft keeps values of its own. It
// reports whether the draft has changed. The map of attributes is replaced, not written to.
func AsStored(d, stored *dag.Draft) (changed bool) {
	marked := d.Attrs[dag.AttrBroughtBy] != stored.Attrs[dag.AttrBroughtBy]
	bare := *d // as it was before the rules
	bare.Attrs = maps.Clone(d.Attrs)
	delete(bare.Attrs, AttrPhaseBy)
	delete(bare.Attrs, AttrSalienceBy)
	judged := traitsOf(&bare)
	byRules := func(attr string) bool {
		return d.Attrs[attr] == Rules && strings.HasPrefix(stored.Attrs[attr], rulesPrefix) && (marked || stored.Attrs[attr] != Rules)
	}
	attrs := maps.Clone(d.Attrs)
	if byRules(AttrPhaseBy) && judged.phase() == d.Phase {
		d.Phase, attrs[AttrPhaseBy], changed = stored.Phase, stored.Attrs[AttrPhaseBy], true
	}
	if byRules(AttrSalienceBy) && judged.salience() == d.Salience {
		d.Salience, attrs[AttrSalienceBy], changed = stored.Salience, stored.Attrs[AttrSalienceBy], true
	}
	if marked {
		changed = true
		delete(attrs, dag.AttrBroughtBy)
		if by := stored.Attrs[dag.AttrBroughtBy]; by != "" {
			if attrs == nil {
				attrs = map[string]string{}
			}
			attrs[dag.AttrBroughtBy] = by
		}
	}
	if changed {
		d.Attrs = attrs
	}
	return changed
}

// rulesPrefix begins the name of every set of rules.
const rulesPrefix = "rules/"
