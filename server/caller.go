package server

import (
	"errors"
	"strconv"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/store"
)

// getCaller says who asks.
func getCaller(c *call, _ api.None) (api.Caller, error) {
	head, err := c.server.config.Kernel.Turns().Head(c.ctx, c.tenant())
	return api.Caller{Tenant: string(c.tenant()), Role: string(c.who.Role), Head: uint64(head)}, err
}

func resolveTurn(c *call, in api.TurnNamed) (api.ResolvedTurn, error) {
	id, err := c.server.config.Kernel.Turns().Resolve(c.ctx, c.tenant(), in.Name)
	if err != nil {
		return api.ResolvedTurn{}, at("query parameter name", err)
	}
	return api.ResolvedTurn{ID: id.String()}, nil
}

func listTurns(c *call, in api.TurnQuery) (w api.StoredTurns, err error) {
	after, err := view.PageAfter(in.After)
	if err != nil {
		return w, err
	}
	if in.Key != "" {
		if err := access.CheckCredential(in.Key); err != nil {
			return w, at("query parameter key", err)
		}
	}
	only := kernel.TurnFilter{Credential: in.Key}
	if in.Role != "" {
		if only.Role, err = dag.ParseRole(in.Role); err != nil {
			return w, at("query parameter role", err)
		}
	}
	records, last, more, err := c.server.config.Kernel.Turns().By(c.ctx, c.tenant(), only, dag.Seq(after), in.Conversation, view.PageOf(in.Limit), c.server.config.Limits.PageBytes)
	if err != nil {
		return w, err
	}
	if more {
		w.Next = strconv.FormatUint(uint64(last), 10)
	}
	w.Turns, err = storedTurns(records)
	return w, err
}

func lookUpTurns(c *call, in api.TurnIDs) (w api.StoredTurns, err error) {
	size := 0
	var records []store.Record
	for _, id := range in.IDs {
		r, err := c.server.config.Kernel.Turns().Get(c.ctx, c.tenant(), id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return w, err
		}
		if size += len(r.Body); size > c.server.config.Limits.BatchBytes {
			return w, &problem{code: api.CodeTooLarge, place: "ids", detail: "the turns hold more text than an answer may; ask for fewer at once"}
		}
		records = append(records, r)
	}
	w.Turns, err = storedTurns(records)
	return w, err
}

func storedTurns(records []store.Record) (list []api.StoredTurn, err error) {
	list = make([]api.StoredTurn, len(records))
	for i := range records {
		if list[i], err = view.Turn(&records[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// createKey makes a key for a caller who may admit whatever its role may: with the key of one who may
// not, it would come to more than it has.
func createKey(c *call, in api.NewAPIKey) (api.MadeAPIKey, error) {
	if c.who.Admits != (access.Scope{}) {
		return api.MadeAPIKey{}, &problem{code: api.CodeForbidden, detail: "a key that is limited in what it admits makes no keys"}
	}
	return view.CreateKey.Answer(c.ctx, c.server.config.Kernel, c.tenant(), in)
}
