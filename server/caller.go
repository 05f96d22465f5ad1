package server

import "github.com/graphkernel/graphkernel/api"

// getCaller returns the caller.
func getCaller(c *call, _ api.None) (api.Caller, error) {
	head, err := c.server.config.Kernel.Turns().Head(c.ctx, c.tenant())
	if err != nil {
		return api.Caller{}, err
	}
	ruling, err := c.server.config.Kernel.Standings().OfRequest(c.ctx, c.tenant())
	return api.Caller{Tenant: string(c.tenant()), Role: string(c.who.Role), Head: head, Standing: ruling.Standing.String()}, err
}
