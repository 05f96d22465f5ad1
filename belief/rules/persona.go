package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
)

// ErrAlias is wrapped if a table of aliases cannot be used.
var ErrAlias = errors.New("not a table of aliases for an export")

// A PersonaItem is the current revision of an item that an export may take.
type PersonaItem struct {
	ID         string // its address; an export replaces it by item-N
	Kind       string
	Shared     bool // it has the tag shared
	Proposed   bool // no person vouches for all of its statements
	Statements []PersonaStatement
	Texts      []string // title, summary, source, keywords and topics; an exported item has the same number in the same order
}

// A PersonaStatement is a literal with its premises.
type PersonaStatement struct {
	belief.Literal
	Premises []belief.Literal
	Span     belief.Span
}

// A PersonaLink is a typed edge between two items.
type PersonaLink struct{ From, Type, To string }

// A Persona is the result of an export.
type Persona struct {
	Items []PersonaItem // their ids are item-1, item-2, …, in the order of the addresses
	Links []PersonaLink
	From  map[string]string // the address of an item, by its id
	Left  []LeftOut         // names that could not be replaced, and items that may not leave
}

// A LeftOut is an item that an export does not take, or takes with a name in it.
type LeftOut struct {
	ID     string // the address of the item
	Name   string // the name that could not be replaced; "": the item may not leave
	Reason string
	Taken  bool // the export has the item, with the name
}

// never lists the kinds that no policy lets leave, and unshared the kinds that leave only if they are shared.
var (
	never    = []string{"episodic", "conversation", "user", "relationship"}
	unshared = []string{"self", "observation", "reflection"}
)

// Export returns a persona: items of kinds that the policy lets leave and items of the unshared kinds that are shared, but no episodes,
// conversations, or models of users and relationships. It replaces names by aliases, in statements and in texts, wherever a name is a word
// of its own and however it is spelled. It leaves out an item that has a name of the table inside a longer word. people lists names of
// persons: names that the table lacks stay and are listed in Left, and so are words of texts that look like names. Links are exported if
// both of their ends are.
func Export(p kinds.Policy, items []PersonaItem, links []PersonaLink, aliases map[string]string, people []string) (*Persona, error) {
	t, err := newAliases(aliases)
	if err != nil {
		return nil, err
	}
	persons := t.lacking(people)
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b PersonaItem) int { return strings.Compare(a.ID, b.ID) })
	out := &Persona{From: map[string]string{}}
	ids := map[string]string{}
	for i := range items {
		item := &items[i]
		if _, twice := ids[item.ID]; twice {
			return nil, fmt.Errorf("%w: the item %s is listed twice", belief.ErrForm, item.ID)
		}
		ids[item.ID] = ""
		if reason := stays(p, item); reason != "" {
			out.Left = append(out.Left, LeftOut{ID: item.ID, Reason: reason})
			continue
		}
		taken, err := item.replaced(t)
		if err != nil {
			out.Left = append(out.Left, LeftOut{item.ID, "", fmt.Sprintf("with its names replaced the item is malformed: %v", err), false})
			continue
		}
		if name := taken.holds(t.within); name != "" {
			out.Left = append(out.Left, LeftOut{item.ID, name, "the name is part of a longer word, so the item is left out; rewrite it", false})
			continue
		}
		for _, a := range persons {
			if taken.holds(a.names) != "" {
				out.Left = append(out.Left, LeftOut{item.ID, a.key, "it has no alias; add one to the table", true})
			}
		}
		for _, name := range taken.suspects(t, persons) {
			out.Left = append(out.Left, LeftOut{item.ID, name, "it may be a name; if it is, add an alias to the table", true})
		}
		taken.ID = fmt.Sprintf("item-%d", len(out.Items)+1)
		ids[item.ID], out.From[taken.ID] = taken.ID, item.ID
		out.Items = append(out.Items, taken)
	}
	for _, l := range links {
		from, to := ids[l.From], ids[l.To]
		if link := (PersonaLink{from, l.Type, to}); from != "" && to != "" && !slices.Contains(out.Links, link) && t.within(l.Type) == "" {
			out.Links = append(out.Links, link)
		}
	}
	slices.SortFunc(out.Links, func(a, b PersonaLink) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.Type, b.Type), strings.Compare(a.To, b.To))
	})
	return out, nil
}

// Covered returns the first name of a table of aliases that some texts contain, as words or inside a word; "" if they contain none.
func Covered(aliases map[string]string, texts ...string) (string, error) {
	t, err := newAliases(aliases)
	if err != nil {
		return "", err
	}
	for _, text := range texts {
		if name := t.within(text); name != "" {
			return name, nil
		}
	}
	return "", nil
}

// Unshared reports whether items of a kind leave only with the tag Shared.
func Unshared(kind string) bool { return slices.Contains(unshared, kind) }

// stays returns the reason why an item may not leave; "" if it may leave.
func stays(p kinds.Policy, item *PersonaItem) string {
	switch {
	case slices.Contains(never, item.Kind):
		return fmt.Sprintf("the kind %s never leaves", item.Kind)
	case slices.Contains(unshared, item.Kind):
		if !item.Shared {
			return fmt.Sprintf("the kind %s leaves only with the tag %s", item.Kind, Shared)
		}
	case !p.Kind(item.Kind).Exports:
		return fmt.Sprintf("the policy of the space does not let the kind %s leave", item.Kind)
	}
	if kind := p.Kind(item.Kind); item.Proposed && kind.Binds() {
		return fmt.Sprintf("an agent proposed the item, and by its kind %s it would become a constraint in a space into which a person takes it", item.Kind)
	}
	return ""
}
