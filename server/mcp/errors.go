package mcp

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A refusal is an error of the caller's, in words meant for them.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refusef(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// sentence is the one table from errors to what a caller is told: what is wrong, and
// what to do. It reports false for what is not theirs to know. A malformed value is
// not in it: it is the caller's where arguments are read, and damage anywhere else.
func sentence(err error) (string, bool) {
	var refused *refusal
	var conflict *store.ConflictError
	var parent *store.ParentError
	var cycle *store.CycleError
	var ambiguous *kernel.AmbiguousError
	for _, row := range [...]struct {
		is   bool
		then string
	}{
		{errors.As(err, &refused), ""},
		{errors.As(err, &conflict), "; a turn never changes, so give the new one an id of its own"},
		{errors.As(err, &parent), "; admit it first, or in the same call"},
		{errors.As(err, &cycle), "; leave out one of the edges"},
		{errors.As(err, &ambiguous), ""},
	} {
		if row.is {
			return err.Error() + row.then, true
		}
	}
	for _, row := range [...]struct {
		is   error
		tell bool
		then string
	}{
		{kernel.ErrDamaged, false, ""}, // before those that it may come with
		{token.ErrNoKey, true, "; nothing can be cut until the operator of this server makes one (graphkernel keys init)"},
		{kernel.ErrBeyondHead, true, "; leave as_of out for the present"},
		{kernel.ErrTooLarge, true, "; name a policy that lets in less"},
		{policy.ErrMismatch, true, "; list_policies shows their types"},
		{policy.ErrUnknown, true, "; list_policies names those that there are"},
		{slice.ErrAnchor, true, "; it was admitted later, so give a higher as_of or leave it out"},
		{knowledge.ErrQuery, true, ""},
		{knowledge.ErrNotBelieved, true, "; nothing was changed; knowledge_find says what is believed now"},
		{kernel.ErrNoEvidence, true, "; nothing was changed"},
		{kernel.ErrNoFilter, true, ""},
		{store.ErrNotFound, true, ""},
	} {
		if errors.Is(err, row.is) {
			return err.Error() + row.then, row.tell
		}
	}
	if s, ok := view.StateOf(err); ok {
		return s.Detail, true
	}
	return "", false
}
