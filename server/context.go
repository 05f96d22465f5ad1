package server

import (
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/server/view"
)

func assembleContext(c *call) error {
	in, err := readIn[api.ContextRequest](c)
	if err != nil {
		return err
	}
	issued, err := view.Assemble(c.ctx, c.server.config.Kernel, c.tenant(), in)
	if err != nil {
		return err
	}
	c.turns = len(issued.Context.Turns)
	tag := issued.Record.Bundle.String()
	if in.Format == view.FormatBundle {
		return c.handOut(issued.Context.Provenance.SliceID, tag, issued.Bundle)
	}
	c.handedOut(issued.Context.Provenance.SliceID, tag+"-"+string(issued.Context.Request.Format))
	return c.json(http.StatusOK, view.Context(issued))
}
