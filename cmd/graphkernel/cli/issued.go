package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Kinds of records of issued evidence, as in ListSlices.
const (
	KindSlice   = "slice"
	KindFacts   = "facts"
	KindContext = "context"
	KindBelief  = "belief"
)

// KindOf returns the kind of a record of issued evidence.
func KindOf(i *api.Issued) string {
	switch i.SchemaVersion {
	case slice.FactsVersion:
		return KindFacts
	case slice.ContextVersion, slice.ContextVersionV2:
		return KindContext
	case slice.BeliefVersion:
		return KindBelief
	}
	return KindSlice
}

// leastBegin is the fewest characters of a beginning that may name something.
const leastBegin = 4

// IsSliceBegin reports whether a text may be a slice id, or begin one.
func IsSliceBegin(text string) bool {
	return len(text) >= leastBegin && len(text) <= 16 && strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}

// Issued finds the newest record of a bundle that was handed out, by its id or by a beginning that only this id has.
func Issued(ctx context.Context, s *Session, name string) (found api.Issued, err error) {
	if !IsSliceBegin(name) {
		return found, Usagef("%.40q is no id of a slice or a context; want 16 hex digits, or at least the first %d", name, leastBegin)
	}
	page, err := Do(ctx, s, api.ListSlices, api.SliceQuery{Begins: name, Paging: api.Paging{Limit: 100}})
	if err != nil {
		return found, err
	}
	var ids []string
	for _, i := range page.Slices {
		if len(ids) == 0 || ids[len(ids)-1] != string(i.SliceID) {
			ids = append(ids, string(i.SliceID))
		}
		if i.Number > found.Number {
			found = i
		}
	}
	switch {
	case len(ids) == 0:
		return found, fmt.Errorf("no slice or context of tenant %s has an id that is or begins with %s: %w; see: graphkernel slices", s.Tenant, name, store.ErrNotFound)
	case len(ids) > 1:
		return api.Issued{}, Usagef("%q begins several ids (%s); give more characters of the id you mean", name, strings.Join(ids[:min(len(ids), 5)], ", "))
	}
	return found, nil
}

// Again computes the bundle of a record again.
func Again(ctx context.Context, s *Session, i *api.Issued) ([]byte, error) {
	digest := i.BundleSHA256
	return s.Slices.Bundle(ctx, i.SliceID, &digest)
}

// EachIssued calls fn with the records of issued evidence, the newest first, until fn returns false.
func EachIssued(ctx context.Context, s *Session, q api.SliceQuery, fn func(api.Issued) bool) error {
	for q.Newest = true; ; {
		page, err := Do(ctx, s, api.ListSlices, q)
		if err != nil {
			return err
		}
		for _, i := range page.Slices {
			if !fn(i) {
				return nil
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// mostCompleted is the most ids that a shell is offered.
const mostCompleted = 100

// CompleteIssued completes ids of issued evidence, of all kinds if kind is "". If they cannot be read, there are no completions.
func (st *Stores) CompleteIssued(kind string) cobra.CompletionFunc {
	return st.Complete(func(ctx context.Context, s *Session, begin string) (ids []string, err error) {
		err = EachIssued(ctx, s, api.SliceQuery{Kind: kind, Paging: api.Paging{Limit: mostCompleted}}, func(i api.Issued) bool {
			if strings.HasPrefix(string(i.SliceID), begin) {
				ids = append(ids, fmt.Sprintf("%s\t%s of %.16s", i.SliceID, KindOf(&i), i.IssuedAt))
			}
			return len(ids) < mostCompleted
		})
		return ids, err
	})
}

// Complete makes a completion of the first argument with ids from a store or a service.
func (st *Stores) Complete(ids func(ctx context.Context, s *Session, begin string) ([]string, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begin string) (found []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completedWithin)
		defer cancel()
		_ = st.WithIdleKernel(ctx, token.Keyring{}, func(s *Session) (err error) { // on an error there are no completions
			found, err = ids(ctx, s, strings.ToLower(begin))
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completedWithin is how long a shell waits for ids.
const completedWithin = 2 * time.Second

// CompleteTurns completes ids of turns and, if conversations is set, of conversations: the newest conversations, and the turns of the conversation with the
// latest turn, or the turns whose ids begin with the typed text.
func (st *Stores) CompleteTurns(conversations bool) cobra.CompletionFunc {
	return st.Complete(func(ctx context.Context, s *Session, begin string) (ids []string, err error) {
		list, err := s.Conversations(ctx)
		if err != nil {
			return nil, err
		}
		ByLast(list)
		for i := range list {
			if conversations && len(ids) < mostCompleted/2 && strings.HasPrefix(list[i].ID.String(), begin) {
				ids = append(ids, fmt.Sprintf("%s\t%s, %.16s", list[i].ID, Count(list[i].Turns, "turn"), list[i].LastAt))
			}
		}
		for i := range list[:min(len(list), 3)] { // a shell should not wait for all of them
			id := list[i].ID
			var turns []string
			if err := s.EachTurn(ctx, api.TurnQuery{Conversation: &id}, func(t *Turn) error {
				if strings.HasPrefix(t.ID.String(), begin) {
					turns = append(turns, fmt.Sprintf("%s\t%s: %s", t.ID, t.Role, render.OneLine(render.Visible(t.Content), 40)))
				}
				return nil
			}); err != nil {
				return ids, err
			}
			slices.Reverse(turns) // the newest first
			ids = append(ids, turns[:min(len(turns), mostCompleted-len(ids))]...)
		}
		return ids, nil
	})
}

// CompleteSpaces completes the name of a space of beliefs.
func (st *Stores) CompleteSpaces() cobra.CompletionFunc {
	return st.Complete(func(ctx context.Context, s *Session, begin string) (names []string, err error) {
		all, err := Do(ctx, s, api.ListSpaces, api.SpacesQuery{})
		for _, one := range all.Spaces {
			if strings.HasPrefix(string(one.Space), begin) && len(names) < mostCompleted {
				names = append(names, string(one.Space)+"\tunder "+string(one.Policy))
			}
		}
		return names, err
	})
}
