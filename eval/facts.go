package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// Facts are the names that the facts of a corpus have, in the form of normalize.Name.
type Facts struct {
	entities   map[string]bool // aliases are among them
	predicates map[string]bool
}

// learn asserts facts, each with a turn as its evidence, and the aliases that normalize.Suggest is surest of.
func (c *Corpus) learn(ctx context.Context, facts []knowledge.Fact) error {
	c.facts = &Facts{map[string]bool{}, map[string]bool{}}
	var acts []knowledge.Act
	for _, f := range facts {
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
		c.facts.entities[f.Subject], c.facts.entities[f.Object], c.facts.predicates[f.Predicate] = true, true, true
	}
	for some := range slices.Chunk(append(acts, suggested(sorted(c.facts.entities))...), knowledge.MaxActs) {
		if _, err := c.kernel.Facts().Learn(ctx, c.tenant, some); err != nil {
			return err
		}
	}
	return nil
}

// suggested returns aliases for the suggestions of the surest kinds, as far as none makes a chain.
func suggested(names []string) (acts []knowledge.Act) {
	var t *normalize.Table
	sure := normalize.SuggestOptions{Reasons: []normalize.Reason{normalize.SamePunctuation, normalize.Inverted, normalize.Initials}}
	for _, s := range normalize.Suggest(names, nil, sure) {
		alias := s.Others[0]
		with, outcomes, err := t.With(normalize.Change{Alias: alias, Canonical: s.Name})
		if err != nil || outcomes[0] != normalize.Added {
			continue // one of them is taken already
		}
		t = with
		acts = append(acts, knowledge.Act{Kind: knowledge.Alias, Alias: alias, Canonical: s.Name, Rule: normalize.Newest})
	}
	return acts
}

// walk returns the turns that facts rest on, from the entities that the question names: the ways between two of
// them, then what is reached over the predicates that it names, then whatever is reached.
func walk(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
	entities := named(q.Text, c.facts.entities, false)
	if len(entities) == 0 {
		return nil, nil
	}
	var ids []dag.TurnID
	add := func(got api.Traversal, err error) error {
		if errors.Is(err, knowledge.ErrQuery) {
			return nil // two names of one entity
		}
		if err != nil {
			return err
		}
		for i := range got.Reached {
			for _, step := range got.Reached[i].Path {
				ids = append(ids, step.Turn)
			}
		}
		return nil
	}
	facts := c.kernel.Facts()
	for i, from := range entities {
		for _, to := range entities[i+1:] {
			if err := add(facts.Paths(ctx, c.tenant, api.PathQuery{From: from, To: to, Count: 3})); err != nil {
				return nil, err
			}
		}
	}
	if over := named(q.Text, c.facts.predicates, true); len(over) > 0 {
		if err := add(facts.Traverse(ctx, c.tenant, api.TraverseRequest{Start: entities, Predicates: over, MaxHops: 2})); err != nil {
			return nil, err
		}
	}
	if err := add(facts.Traverse(ctx, c.tenant, api.TraverseRequest{Start: entities})); err != nil {
		return nil, err
	}
	return distinct(ids), nil
}

// named returns the names that a text has: of the runs of words that are a name, the longest, which do not overlap, in their order.
// A single word in small letters is no name of an entity.
func named(text string, names map[string]bool, small bool) []string {
	const longest, most = 12, 8
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '?' || r == ',' })
	var found []string
	for at := 0; at < len(words) && len(found) < most; at++ {
		for n := min(len(words)-at, longest); n > 0; n-- {
			name, err := normalize.Name(strings.Join(words[at:at+n], " "))
			if err != nil || !names[name] || n == 1 && !small && !isCapital(words[at]) {
				continue
			}
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
			at += n - 1
			break
		}
	}
	return found
}

// isCapital reports whether a word begins with a capital letter or a digit.
func isCapital(word string) bool {
	for _, r := range word {
		return unicode.IsUpper(r) || unicode.IsDigit(r)
	}
	return false
}
