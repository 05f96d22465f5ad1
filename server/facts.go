package server

import (
	"net/http"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

func (c *call) cutFacts() error {
	at := canon.Open(c.value)
	q := kernel.FactRequest{Start: readNames(at.Field("start"))}
	if f := at.Optional("policy"); f != nil {
		q.Policy = canon.Parsed(f, policy.ParseID)
	}
	if f := at.Optional("as_of"); f != nil {
		q.AsOf = dag.Seq(f.Uint(canon.MaxInt))
	}
	if f := at.Optional("valid_at"); f != nil {
		v := canon.Parsed(f, dag.ReadTime)
		q.ValidAt = &v
	}
	at.Close()
	if err := at.Err(); err != nil {
		return err
	}
	issued, err := c.server.config.Kernel.FactSlice(c.ctx, c.tenant(), q)
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
