package view

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/store"
)

// A State is what callers are told of an error that says how the service is, and not what is wrong with
// what they asked. The error itself is for the log.
type State struct {
	Code       api.Code
	Detail     string
	RetryAfter int // seconds; 0: none
}

// states is the table of such errors, over HTTP and for agents.
var states = [...]struct {
	is error
	State
}{
	{identity.ErrNone, State{api.CodeNoIdentity, "the kernel has no identity, so it signs nothing for third parties; its keeper runs graphkernel identity init", 0}},
	{kernel.ErrTenant, State{api.CodeNotFound, "there is no such slice", 0}}, // another tenant's evidence does not exist here
	{access.ErrUnavailable, State{api.CodeKeys, "whose key it is cannot be found out now; try again", 5}},
	{kernel.ErrWentBack, State{api.CodeStore, "the store holds less of this tenant than it did; its keeper has to look into it and to restart the service", 60}},
	{kernel.ErrForked, State{api.CodeStore, "the ledger is not the history that this kernel has signed, so nothing is issued until its keeper has decided which one goes on (graphkernel fsck, identity adopt)", 300}},
	{store.ErrUncertain, State{api.CodeStore, "the store did not answer, and whether this was kept is not known; repeating it is safe, and the way to find out", 1}},
	{store.ErrUnwritable, State{api.CodeStore, "the store's disk is full or takes no writes; nothing was changed, and what only reads goes on", 10}},
	{store.ErrLost, State{api.CodeStore, "the store cannot be reached; nothing was changed", 1}},
	{store.ErrBusy, State{api.CodeStore, "others are at work on the store; repeating the request is safe", 1}},
	{store.ErrClosed, State{api.CodeStore, "the store is not available; what was asked may be repeated", 5}},
	{store.ErrBroken, State{api.CodeStore, "the store is not available; what was asked may be repeated", 5}},
	{context.DeadlineExceeded, State{api.CodeTimeout, "the request took too long; if it was to change something, repeating it is safe", 0}},
	{context.Canceled, State{api.CodeGone, "the client cancelled the call", 0}},
}

// StateOf returns the state that an error tells of, and false if it tells of none.
func StateOf(err error) (State, bool) {
	for i := range states {
		if errors.Is(err, states[i].is) {
			return states[i].State, true
		}
	}
	return State{}, false
}
