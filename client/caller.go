package client

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
)

// Caller says who the key's holder is to the service, and how far the tenant has come.
func (c *Client) Caller(ctx context.Context) (api.Caller, error) {
	return call(ctx, c.conn, api.GetCaller, api.None{})
}
