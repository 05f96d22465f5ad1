package ingest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Rules names the rules that assign a phase and a salience. A set of rules never changes: changed rules get another name.
const Rules = "rules/4"

// The attributes that name the rules by which a phase or a salience was assigned.
const (
	AttrPhaseBy    = "phase_by"
	AttrSalienceBy = "salience_by"
)

// Assign sets a draft's missing phase and salience by [Rules], and records that in the attributes. The rules depend only on
// role, author, content and attributes, and on nothing around the turn, so the same turn always gets the same values.
// docs/phases.md has the tables.
//
// A draft is an error if an attribute names the rules of a value that is missing, or if there is no room for such attributes.
// On error the draft is unchanged. Assign replaces the map of attributes and does not write to it.
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
			return fmt.Errorf("ingest: %w: turn %s has attr %s %q, but not the value that this attr describes", dag.ErrForm, d.ID, absent.attr, clip(by))
		}
	}
	if len(d.Attrs)+added > dag.MaxAttrs {
		return fmt.Errorf("ingest: %w: turn %s has %d attrs, and the attrs that name the rules of its values add %d, want at most %d in all", dag.ErrForm, d.ID, len(d.Attrs), added, dag.MaxAttrs)
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

// AsStored handles a draft whose turn was admitted before. Values that [Rules] assigned to the draft are replaced by the values
// that any version of the rules assigned to the stored turn, so the turn stays the same after the rules have changed. The
// attribute [dag.AttrBroughtBy] becomes that of the stored turn, since it does not matter who brings a turn again. Values that
// rules did not assign stay. AsStored reports whether the draft has changed. It replaces the map of attributes and does not
// write to it.
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
