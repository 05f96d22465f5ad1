package server

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
)

// consolidateWorking consolidates a session, and counts the admitted turns.
func consolidateWorking(c *call, in api.Consolidating) (api.Consolidated, error) {
	out, err := kernel.Ask(c.ctx, c.server.config.Kernel, c.tenant(), api.ConsolidateWorking, in)
	if err == nil {
		countTurns(c, api.Receipt{Admitted: out.Admitted, Existing: out.Existing, Head: out.Head})
	}
	return out, err
}
