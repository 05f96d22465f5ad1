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
	c.slice, c.turns = string(issued.Context.Provenance.SliceID), len(issued.Context.Turns)
	c.server.metrics.slices.Inc()
	header := c.echo.Response().Header()
	header["Slice-Id"] = []string{c.slice}
	tag := issued.Record.Bundle.String()
	if in.Format != view.FormatBundle {
		header["Etag"] = []string{`"` + tag + "-" + string(issued.Context.Request.Format) + `"`}
		return c.json(http.StatusOK, view.Context(issued))
	}
	header["Etag"] = []string{`"` + tag + `"`}
	return c.write(http.StatusOK, jsonType, issued.Bundle)
}
