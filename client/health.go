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

// Health asks for the state of the service. The request is sent once and without the key. An unhealthy service is not
// an error: the status of the answer is then not "ok".
func (c *Client) Health(ctx context.Context, p Probe) (api.Health, error) {
	if p != Live && p != Ready && p != Startup {
		return api.Health{}, fmt.Errorf("client: %.40q is no probe", string(p))
	}
	return get[api.Health](ctx, c.conn, &request{method: http.MethodGet, path: "/health/" + string(p), health: true})
}
