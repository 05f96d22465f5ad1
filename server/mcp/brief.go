package mcp

import (
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
)

// The names of the brief.
const (
	briefURI  = "brief://project"
	briefName = "brief"
	briefSays = "What a session of this project should know when it starts: the rules, what was remembered and decided, how the last sessions ended and what is open. Signed and recorded when it is read."
	unknown   = "Nothing is known of this project yet."
)

// addBrief adds the brief of the project, as a resource and as a prompt.
func addBrief(s *Server, server *sdk.Server) {
	server.AddResource(&sdk.Resource{Name: briefName, Title: "Brief of the project", URI: briefURI, MIMEType: "text/markdown", Description: briefSays},
		func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			text, err := s.brief(ctx)
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/markdown", Text: text}}}, nil
		})
	server.AddPrompt(&sdk.Prompt{Name: briefName, Title: "Brief of the project", Description: briefSays},
		func(ctx context.Context, _ *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := s.brief(ctx)
			if err != nil {
				return nil, err
			}
			return &sdk.GetPromptResult{Description: briefSays, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
		})
}

// brief returns the brief of the project.
func (s *Server) brief(ctx context.Context) (string, error) {
	text, err := guarded(ctx, s, func(ctx context.Context) (string, error) {
		who, err := may(ctx, access.Recall)
		if err != nil {
			return "", err
		}
		r := &api.ContextRequest{Policy: contexts.BriefID, Format: string(contexts.Brief), NonEmpty: true}
		if s.options.Brief != nil {
			if r, err = s.options.Brief(ctx); err != nil {
				return "", err
			}
		}
		issued, err := s.kernel.Contexts().Assemble(ctx, who.Tenant, *r)
		if errors.Is(err, store.ErrNotFound) {
			return unknown, nil
		}
		if err != nil {
			return "", err
		}
		return string(issued.Prompt), nil
	})
	if err != nil {
		return "", s.refusal(ctx, briefURI, err)
	}
	return text, nil
}
