package normalize

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// The errors of [Table.With]. The texts that wrap them hold both names and say what to do.
var (
	// ErrAmbiguous: the alias stands for another canonical name already.
	ErrAmbiguous = errors.New("ambiguous alias")
	// ErrChain: what would be canonical is an alias, or what would be an alias is canonical.
	ErrChain = errors.New("chain of aliases")
	// ErrSelf: alias and canonical name have the same form.
	ErrSelf = errors.New("alias of itself")
	// ErrUnknown: what is to be removed is not there.
	ErrUnknown = errors.New("unknown alias")
)

// A Change adds or removes an alias. Both names may have any spelling. To remove one,
// Canonical is what it must stand for, or "" for whatever it stands for.
type Change struct {
	Alias, Canonical string
	Remove           bool
}

// An Outcome says what came of a [Change].
type Outcome string

// The outcomes of changes.
const (
	Added    Outcome = "added"
	Existing Outcome = "existing" // the alias stands for this name already
	Removed  Outcome = "removed"
)

// A Table holds the aliases at one moment: which name stands for which canonical name,
// both in the form of [Name]. Depth is one: a canonical name is never an alias.
// The zero Table and the nil Table are empty. A Table is immutable, so any number of
// goroutines may use it.
type Table struct {
	// A table is a base that many tables share and the few aliases that differ from
	// it. When they are many, a new base is made: one change of a table of n aliases
	// costs, on average, the square root of n.
	base *base
	over map[string]string // alias to canonical name, or to "" if it was removed; wins over base
	more map[string]int    // by canonical name: how many aliases more than in base
	n    int
}

// A base is a whole table, in three orders. It is never changed.
type base struct {
	to      map[string]string
	aliases []string            // ascending
	members map[string][]string // aliases by canonical name, ascending
}

var empty = &base{}

// Len is the number of aliases.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Resolve returns the canonical name that a name stands for: often itself. The name has
// the form of [Name]; any other is given back. The cost is that of two map look-ups.
func (t *Table) Resolve(name string) string {
	if canonical := t.target(name); canonical != "" {
		return canonical
	}
	return name
}

// target returns what an alias stands for, or "".
func (t *Table) target(alias string) string {
	if t == nil {
		return ""
	}
	if canonical, ok := t.over[alias]; ok {
		return canonical
	}
	return t.under().to[alias]
}

func (t *Table) under() *base {
	if t == nil || t.base == nil {
		return empty
	}
	return t.base
}

// count is the number of aliases of a canonical name.
func (t *Table) count(canonical string) int {
	return len(t.under().members[canonical]) + t.more[canonical]
}

// Members returns all names of what a name stands for: the canonical one, then its
// aliases, ascending. It is never empty: a name that no table knows is its own entity.
func (t *Table) Members(name string) []string {
	canonical := t.Resolve(name)
	members := []string{canonical}
	if t == nil || t.count(canonical) == 0 {
		return members
	}
	for _, alias := range t.under().members[canonical] {
		if _, differs := t.over[alias]; !differs {
			members = append(members, alias)
		}
	}
	for alias, to := range t.over {
		if to == canonical {
			members = append(members, alias)
		}
	}
	slices.Sort(members[1:])
	return members
}

// All returns each alias with its canonical name, ascending by alias. Starting costs a
// sort of the few aliases that are not in the table's base.
func (t *Table) All() iter.Seq2[string, string] {
	return func(yield func(alias, canonical string) bool) {
		if t == nil {
			return
		}
		over := slices.Sorted(maps.Keys(t.over))
		old := t.under().aliases
		for len(over) > 0 || len(old) > 0 {
			alias := ""
			switch {
			case len(over) == 0 || len(old) > 0 && old[0] < over[0]:
				alias, old = old[0], old[1:]
			case len(old) > 0 && old[0] == over[0]:
				old = old[1:]
				fallthrough
			default:
				alias, over = over[0], over[1:]
			}
			if canonical := t.target(alias); canonical != "" && !yield(alias, canonical) {
				return
			}
		}
	}
}

// With returns a table to which the changes were made, one after the other, and what
// came of each. It is all or nothing: on an error the table is t and there are no
// outcomes. t does not change; if nothing is added or removed, it is what is returned.
//
// Errors wrap ErrAmbiguous, ErrChain, ErrSelf, ErrUnknown, or what [Name] says. One
// change costs about a copy of as many entries as the square root of Len.
func (t *Table) With(changes ...Change) (*Table, []Outcome, error) {
	next := t.clone()
	outcomes := make([]Outcome, len(changes))
	changed := false
	for i, c := range changes {
		outcome, err := next.apply(c)
		if err != nil {
			if len(changes) > 1 {
				err = fmt.Errorf("change %d of %d: %w", i+1, len(changes), err)
			}
			return t, nil, err
		}
		outcomes[i] = outcome
		changed = changed || outcome != Existing
	}
	if !changed {
		return t, outcomes, nil
	}
	next.settle()
	return next, outcomes, nil
}

// clone returns a table that apply may change.
func (t *Table) clone() *Table {
	next := &Table{base: t.under(), n: t.Len(), over: map[string]string{}, more: map[string]int{}}
	if t != nil {
		maps.Copy(next.over, t.over)
		maps.Copy(next.more, t.more)
	}
	return next
}

func (t *Table) apply(c Change) (Outcome, error) {
	alias, err := Name(c.Alias)
	if err != nil {
		return "", fmt.Errorf("alias: %w", err)
	}
	canonical := ""
	if c.Canonical != "" || !c.Remove {
		if canonical, err = Name(c.Canonical); err != nil {
			return "", fmt.Errorf("canonical name of alias %q: %w", alias, err)
		}
	}
	if c.Remove {
		return t.remove(alias, canonical)
	}
	switch old := t.target(alias); {
	case alias == canonical:
		return "", fmt.Errorf("%w: %.80q and %.80q are both %q; leave this alias out", ErrSelf, c.Alias, c.Canonical, alias)
	case old == canonical:
		return Existing, nil
	case old != "":
		return "", fmt.Errorf("%w: %q stands for %q, not for %q; remove that alias first, or choose another", ErrAmbiguous, alias, old, canonical)
	}
	if up := t.target(canonical); up != "" {
		return "", fmt.Errorf("%w: %q, which %q would stand for, is itself an alias of %q; use %q", ErrChain, canonical, alias, up, up)
	}
	if n := t.count(alias); n > 0 {
		return "", fmt.Errorf("%w: %q, which would stand for %q, is the canonical name of %d, such as %q; re-point them to %q first",
			ErrChain, alias, canonical, n, t.Members(alias)[1], canonical)
	}
	t.set(alias, canonical, canonical, +1)
	return Added, nil
}

func (t *Table) remove(alias, canonical string) (Outcome, error) {
	switch old := t.target(alias); {
	case old == "" && canonical == "":
		return "", fmt.Errorf("%w: %q stands for nothing, so it cannot be removed", ErrUnknown, alias)
	case old == "":
		return "", fmt.Errorf("%w: %q stands for nothing, not for %q, so it cannot be removed", ErrUnknown, alias, canonical)
	case canonical != "" && canonical != old:
		return "", fmt.Errorf("%w: %q stands for %q, not for %q; to remove it, name %q", ErrUnknown, alias, old, canonical, old)
	default:
		t.set(alias, "", old, -1)
		return Removed, nil
	}
}

// set points an alias to a canonical name, or to "", and counts it for one.
func (t *Table) set(alias, to, counted string, by int) {
	t.over[alias] = to
	if t.base.to[alias] == to { // "" too, if base does not have it
		delete(t.over, alias)
	}
	t.n += by
	if t.more[counted] += by; t.more[counted] == 0 {
		delete(t.more, counted)
	}
}

// settle makes a new base if the aliases beside it are more than its square root, and
// more than a few.
func (t *Table) settle() {
	const few = 64
	if n := len(t.over); n <= few || n*n <= len(t.base.aliases) {
		return
	}
	b := &base{to: make(map[string]string, t.n), aliases: make([]string, 0, t.n), members: map[string][]string{}}
	for alias, canonical := range t.All() {
		b.to[alias] = canonical
		b.aliases = append(b.aliases, alias)
		b.members[canonical] = append(b.members[canonical], alias)
	}
	t.base, t.over, t.more = b, nil, nil
}
