package server

import (
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

func cutFacts(c *call) error {
	in, err := readIn[api.FactSliceRequest](c)
	if err != nil {
		return err
	}
	q := kernel.FactRequest{Start: in.Start, Policy: policy.ID(in.Policy), AsOf: in.AsOf, ValidAt: in.ValidAt}
	issued, err := c.server.config.Kernel.Facts().Slice(c.ctx, c.tenant(), q)
	if err != nil {
		return err
	}
	c.slice = string(issued.Facts.Provenance.SliceID)
	c.server.metrics.slices.Inc()
	header := c.echo.Response().Header()
	header["Slice-Id"] = []string{c.slice}
	header["Etag"] = []string{`"` + issued.Record.Bundle.String() + `"`}
	return c.write(http.StatusOK, jsonType, issued.Bundle)
}
