package client

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
)

// Caller returns the tenant and the role of the key, and the tenant's newest sequence number.
func (c *Client) Caller(ctx context.Context) (api.Caller, error) {
	return call(ctx, c.conn, api.GetCaller, api.None{})
}
