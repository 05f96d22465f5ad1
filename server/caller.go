package server

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
)

// getCaller says who asks.
func getCaller(c *call, _ api.None) (api.Caller, error) {
	head, err := c.server.config.Kernel.Turns().Head(c.ctx, c.tenant())
	return api.Caller{Tenant: string(c.tenant()), Role: string(c.who.Role), Head: head}, err
}

// createKey makes a key for a caller who may admit whatever its role may: with the key of one who may
// not, it would come to more than it has.
func createKey(c *call, in api.NewAPIKey) (api.MadeAPIKey, error) {
	if c.who.Admits != (access.Scope{}) {
		return api.MadeAPIKey{}, &problem{code: api.CodeForbidden, detail: "a key that is limited in what it admits makes no keys"}
	}
	return kernel.Ask(c.ctx, c.server.config.Kernel, c.tenant(), api.CreateKey, in)
}
