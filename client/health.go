package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
)

// A Probe is a question about the service's health.
type Probe string

// The probes.
const (
	Live    Probe = "live"    // does the process answer?
	Ready   Probe = "ready"   // can it take requests?
	Startup Probe = "startup" // has it started?
)

// Health asks how the service is. It goes without the key and is sent once. A service
// that is not well is no error: the answer's status is not "ok" then.
func (c *Client) Health(ctx context.Context, p Probe) (api.Health, error) {
	if p != Live && p != Ready && p != Startup {
		return api.Health{}, fmt.Errorf("client: %.40q is no probe", string(p))
	}
	return get[api.Health](ctx, c.conn, &request{method: http.MethodGet, path: "/health/" + string(p), health: true})
}
