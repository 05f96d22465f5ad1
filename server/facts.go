package server

import (
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/slice"
)

func cutFacts(c *call) error {
	in, err := readIn[api.FactSliceRequest](c)
	if err != nil {
		return err
	}
	q := in
	issued, err := c.server.config.Kernel.Facts().Slice(c.ctx, c.tenant(), q)
	if err != nil {
		return err
	}
	return c.handOut(issued.Facts.Provenance.SliceID, issued.Record.Bundle.String(), issued.Bundle)
}

// proveBelief issues evidence that a statement is believed.
func proveBelief(c *call) error {
	in, err := readIn[api.BeliefProofRequest](c)
	if err != nil {
		return err
	}
	issued, err := c.server.config.Kernel.Beliefs().Prove(c.ctx, c.tenant(), in)
	if err != nil {
		return err
	}
	return c.handOut(issued.Belief.Provenance.SliceID, issued.Record.Bundle.String(), issued.Bundle)
}

// handOut answers with an issued bundle.
func (c *call) handOut(id slice.SliceID, tag string, bundle []byte) error {
	c.handedOut(id, tag)
	return c.write(http.StatusOK, jsonType, bundle)
}

// handedOut sets the headers that name the issued bundle.
func (c *call) handedOut(id slice.SliceID, tag string) {
	c.slice = string(id)
	c.server.metrics.slices.Inc()
	header := c.echo.Response().Header()
	header["Slice-Id"] = []string{c.slice}
	header["Etag"] = []string{`"` + tag + `"`}
}
