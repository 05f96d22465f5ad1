package server

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
)

// getCaller returns the caller.
func getCaller(c *call, _ api.None) (api.Caller, error) {
	head, err := c.server.config.Kernel.Turns().Head(c.ctx, c.tenant())
	return api.Caller{Tenant: string(c.tenant()), Role: string(c.who.Role), Head: head}, err
}

// createKey makes a key for a caller who may admit everything that its role allows. A limited key must not make keys,
// because the new key could have more rights than it.
func createKey(c *call, in api.NewAPIKey) (api.MadeAPIKey, error) {
	if c.who.Admits != (access.Scope{}) {
		return api.MadeAPIKey{}, &problem{code: api.CodeForbidden, detail: "a key that may admit only some turns may not make keys"}
	}
	return kernel.Ask(c.ctx, c.server.config.Kernel, c.tenant(), api.CreateKey, in)
}
