package server

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func verifyToken(c *call) error {
	if c.value.Kind != canon.Object {
		return misread(canon.FaultAt("", fmt.Errorf("want an object, got %s", c.value.Kind)))
	}
	verdict := judgeToken(c)
	c.server.metrics.judged(kindToken, verdict.Outcome)
	return c.json(http.StatusOK, api.TokenVerdict{Admissible: verdict.Outcome == token.Verified, Outcome: string(verdict.Outcome), KeyID: string(verdict.KeyID), Reason: verdict.Reason})
}

// judgeToken verifies the token of a claim. A missing or malformed field is a verdict too.
func judgeToken(c *call) token.TokenVerdict {
	claim := claim{value: c.value}
	p := slice.Provenance{
		SliceID:           parsed(&claim, "slice_id", slice.ParseSliceID),
		Anchor:            parsed(&claim, "anchor_turn_id", dag.ParseTurnID),
		PolicyID:          parsed(&claim, "policy_id", policy.ParseID),
		PolicyParamsHash:  parsed(&claim, "policy_params_hash", dag.ParseDigest),
		GraphSnapshotHash: parsed(&claim, "graph_snapshot_hash", dag.ParseDigest),
		SchemaVersion:     claim.text("schema_version"),
	}
	given := claim.text("token")
	key := ""
	if c.value.Get("key_id") != nil {
		key = string(parsed(&claim, "key_id", token.ParseKeyID))
	}
	if claim.err != nil {
		return token.TokenVerdict{Outcome: token.Malformed, KeyID: token.KeyID(key), Reason: claim.err.Error()}
	}
	c.slice = string(p.SliceID)
	return c.server.config.Kernel.Slices().VerifyToken(c.tenant(), &p, key, given)
}

// A claim reads the fields of a token's claim and keeps the first fault.
type claim struct {
	value *canon.Value
	err   error
}

func (r *claim) text(key string) string {
	v := r.value.Get(key)
	switch {
	case r.err != nil:
	case v == nil:
		r.err = fmt.Errorf("%s is missing", key)
	case v.Kind != canon.String:
		r.err = fmt.Errorf("%s: want %s, got %s", key, canon.String, v.Kind)
	default:
		return v.Text
	}
	return ""
}

func parsed[T any](r *claim, key string, parse func(string) (T, error)) T {
	var zero T
	text := r.text(key)
	if r.err != nil {
		return zero
	}
	got, err := parse(text)
	if err != nil {
		r.err = fmt.Errorf("%s: %w", key, err)
		return zero
	}
	return got
}

// bundle returns the body as a bundle. One line feed at the end is a file's, and no part of the bundle.
func (c *call) bundle() []byte { return bytes.TrimSuffix(c.body, []byte("\n")) }

func verifyBundle(c *call) error {
	if len(c.body) == 0 {
		return &problem{code: api.CodeInvalid, place: "body", detail: "the body is empty; want the bundle's bytes"}
	}
	verdict := c.server.config.Kernel.Slices().Judge(c.tenant(), c.bundle())
	c.slice = verdict.SliceID
	c.server.metrics.judged(kindBundle, token.Outcome(verdict.Outcome))
	return c.json(http.StatusOK, verdict)
}

func registerPolicy(c *call) error {
	p, err := standard.Forms().ParseRegistration(c.body)
	if err != nil {
		return misread(err)
	}
	if err := c.server.config.Kernel.Policies().Register(c.ctx, c.tenant(), p); err != nil {
		return err
	}
	return c.json(http.StatusOK, api.PolicyOf(p))
}
