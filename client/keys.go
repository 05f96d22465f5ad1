package client

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
)

// Caller says who the key's holder is to the service, and how far the tenant has come.
func (c *Client) Caller(ctx context.Context) (api.Caller, error) {
	return call(ctx, c.conn, api.GetCaller, api.None{})
}

// List reads every API key of the tenant, revoked ones too, the oldest first.
func (c Keys) List(ctx context.Context) (api.APIKeys, error) {
	return call(ctx, c.conn, api.ListKeys, api.None{})
}

// Create makes an API key of the tenant. It is not sent again when the connection breaks: a
// key whose answer is lost is one that nobody holds, and List shows it.
func (c Keys) Create(ctx context.Context, k api.NewAPIKey) (api.MadeAPIKey, error) {
	return call(ctx, c.conn, api.CreateKey, k)
}

// Revoke ends an API key for good. Revoking again changes nothing.
func (c Keys) Revoke(ctx context.Context, id string) (api.RevokedAPIKey, error) {
	return call(ctx, c.conn, api.RevokeKey, api.APIKeyByID{ID: id})
}
