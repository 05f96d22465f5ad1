package normalize

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// The errors of [Table.With]. The errors that wrap them contain both names and say what to do.
var (
	// ErrAmbiguous: the alias already has another canonical name.
	ErrAmbiguous = errors.New("ambiguous alias")
	// ErrChain: the new canonical name is an alias, or the new alias is a canonical name.
	ErrChain = errors.New("chain of aliases")
	// ErrSelf: alias and canonical name have the same form.
	ErrSelf = errors.New("alias of itself")
	// ErrUnknown: the alias to be removed does not exist.
	ErrUnknown = errors.New("unknown alias")
)

// A Change adds or removes an alias. Both names may have any spelling. For a removal,
// Canonical is the canonical name that the alias must have, or "" for any.
type Change struct {
	Alias, Canonical string
	Remove           bool
}

// An Outcome is the result of a [Change].
type Outcome string

// The outcomes of changes.
const (
	Added    Outcome = "added"
	Existing Outcome = "existing" // the alias has this canonical name already
	Removed  Outcome = "removed"
)

// A Table maps aliases to canonical names at one moment. Both are as [Name] returns them.
// The depth is one: a canonical name is never an alias. The zero Table and the nil Table
// are empty. A Table is immutable, so any number of goroutines may use it.
type Table struct {
	// A table consists of a base, which many tables share, and the few aliases that differ
	// from it. When these become too many, a new base is made. One change of a table of n
	// aliases costs, on average, the square root of n.
	base *base
	over map[string]string // alias to canonical name, or to "" if it was removed; takes precedence over base
	more map[string]int    // by canonical name: number of aliases more than in base
	n    int
}

// A base is a whole table, indexed in three ways. It is immutable.
type base struct {
	to      map[string]string
	aliases []string            // ascending
	members map[string][]string // aliases by canonical name, ascending
}

var empty = &base{}

// Len returns the number of aliases.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Resolve returns the canonical name of an alias, and any other name unchanged. The name
// must be as [Name] returns it. The cost is two map look-ups.
func (t *Table) Resolve(name string) string {
	if canonical := t.target(name); canonical != "" {
		return canonical
	}
	return name
}

// target returns the canonical name of an alias, or "".
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

// count returns the number of aliases of a canonical name.
func (t *Table) count(canonical string) int {
	return len(t.under().members[canonical]) + t.more[canonical]
}

// Members returns all names of the entity that a name belongs to: the canonical name, then
// its aliases, ascending. It is never empty: an unknown name is an entity of its own.
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

// All yields each alias with its canonical name, ascending by alias. It first sorts the
// few aliases that are not in the table's base.
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

// With returns a table with some changes applied, one after the other, and the outcome of
// each. On an error no change is applied: With returns t and no outcomes. t does not change;
// if nothing is added or removed, With returns t itself.
//
// Errors wrap ErrAmbiguous, ErrChain, ErrSelf, ErrUnknown, or an error of [Name]. One
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

// clone returns a copy of the table that apply may change.
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
		return "", fmt.Errorf("%w: %.80q and %.80q have the same canonical name %q; leave this alias out", ErrSelf, c.Alias, c.Canonical, alias)
	case old == canonical:
		return Existing, nil
	case old != "":
		return "", fmt.Errorf("%w: %q already stands for %q, not for %q; remove that alias first, or choose another", ErrAmbiguous, alias, old, canonical)
	}
	if up := t.target(canonical); up != "" {
		return "", fmt.Errorf("%w: %q cannot get the alias %q, because it is itself an alias of %q; use %q", ErrChain, canonical, alias, up, up)
	}
	if n := t.count(alias); n > 0 {
		return "", fmt.Errorf("%w: %q cannot be an alias of %q, because it is the canonical name of %d aliases, such as %q; point them to %q first",
			ErrChain, alias, canonical, n, t.Members(alias)[1], canonical)
	}
	t.set(alias, canonical, canonical, +1)
	return Added, nil
}

func (t *Table) remove(alias, canonical string) (Outcome, error) {
	switch old := t.target(alias); {
	case old == "" && canonical == "":
		return "", fmt.Errorf("%w: %q is not an alias, so it cannot be removed", ErrUnknown, alias)
	case old == "":
		return "", fmt.Errorf("%w: %q is not an alias of %q or of another name, so it cannot be removed", ErrUnknown, alias, canonical)
	case canonical != "" && canonical != old:
		return "", fmt.Errorf("%w: %q stands for %q, not for %q; to remove it, name %q", ErrUnknown, alias, old, canonical, old)
	default:
		t.set(alias, "", old, -1)
		return Removed, nil
	}
}

// set points an alias to a canonical name, or to "" to remove it, and adds by to the counts of the table and of the canonical name counted.
func (t *Table) set(alias, to, counted string, by int) {
	t.over[alias] = to
	if t.base.to[alias] == to { // also if both are "", because base lacks the alias
		delete(t.over, alias)
	}
	t.n += by
	if t.more[counted] += by; t.more[counted] == 0 {
		delete(t.more, counted)
	}
}

// settle makes a new base if more than a few aliases differ from the base, and more than
// its square root.
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
