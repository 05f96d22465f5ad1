package server

import (
	"context"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
)

func assembleContext(c *call) error {
	in, err := readIn[api.ContextRequest](c)
	if err != nil {
		return err
	}
	issued, err := c.server.config.Kernel.Contexts().Assemble(c.ctx, c.tenant(), in)
	if err != nil {
		return err
	}
	c.turns = len(issued.Context.Turns)
	id, tag := issued.Context.Provenance.SliceID, issued.Record.Bundle.String()
	if in.Recipient != nil {
		c.unsent = func(reason string) error {
			_, err := c.server.config.Kernel.Contexts().NotGiven(context.WithoutCancel(c.ctx), c.tenant(), id, issued.Record.Bundle, reason)
			return err
		}
	}
	if in.Format == api.FormatBundle {
		return c.handOut(id, tag, issued.Bundle)
	}
	c.handedOut(id, tag+"-"+string(issued.Context.Request.Format))
	return c.json(http.StatusOK, issued.Answer())
}
