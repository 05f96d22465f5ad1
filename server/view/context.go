package view

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// FormatBundle asks for evidence in place of a prompt.
const FormatBundle = "bundle"

// Assemble has a context assembled.
func Assemble(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ContextRequest) (*kernel.IssuedContext, error) {
	r := kernel.ContextRequest{Task: in.Task, Budget: in.Budget, Policy: policy.ID(in.Policy), AsOf: dag.Seq(in.AsOf), Format: contexts.Format(in.Format)}
	switch {
	case in.Format == FormatBundle:
		r.Format = contexts.Format(in.Prompt)
	case in.Prompt != "":
		return nil, fmt.Errorf("%w: prompt is %s, which is of the evidence; with format %s it says nothing", contexts.ErrRequest, in.Prompt, cmp.Or(in.Format, string(contexts.Markdown)))
	}
	if in.Anchor != "" {
		id, err := k.Turns().Resolve(ctx, tenant, in.Anchor)
		if err != nil {
			return nil, err
		}
		r.Anchor = &id
	}
	return k.Contexts().Assemble(ctx, tenant, r)
}

func assemble(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ContextRequest) (w api.Context, err error) {
	issued, err := Assemble(ctx, k, tenant, in)
	if err != nil {
		return w, err
	}
	return Context(issued), nil
}

// Context shows an issued context.
func Context(i *kernel.IssuedContext) api.Context {
	b := i.Context
	s := b.Sufficiency()
	w := api.Context{
		ContextID: string(b.Provenance.SliceID), BundleSHA256: i.Record.Bundle.String(), PolicyID: string(b.Provenance.PolicyID), AsOf: uint64(b.AsOf),
		Format: string(b.Request.Format), Cost: b.Prompt.Cost, Candidates: len(b.Candidates), Turns: make([]string, len(b.Turns)), Facts: make([]string, len(b.Facts)),
		Sufficiency: api.Sufficiency{PPM: int(s.Share), Level: s.Level, Missing: append([]string{}, s.Missing...)},
	}
	for n := range b.Turns {
		w.Turns[n] = b.Turns[n].ID.String()
	}
	for n := range b.Facts {
		w.Facts[n] = b.Facts[n].Fact.ID().String()
	}
	switch b.Request.Format {
	case contexts.OpenAI, contexts.Anthropic, contexts.JSON:
		w.Body = i.Prompt
	default:
		w.Prompt = string(i.Prompt)
	}
	return w
}
