package server

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/server/view"
)

// consolidateWorking counts the turns that it admits.
func consolidateWorking(c *call, in api.Consolidating) (api.Consolidated, error) {
	out, err := view.ConsolidateWorking.Answer(c.ctx, c.server.config.Kernel, c.tenant(), in)
	if err == nil {
		countTurns(c, api.Receipt{Admitted: out.Admitted, Existing: out.Existing, Head: out.Head})
	}
	return out, err
}
