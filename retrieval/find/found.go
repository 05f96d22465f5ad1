package find

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/token"
)

// search answers a search for turns by words.
func (k Turns) search(ctx context.Context, tenant dag.Tenant, in api.Search) (w api.Found, err error) {
	q := Request{Policy: in.Policy, Space: in.Space, Exchanges: in.Exchanges, Query: retrieval.Query{
		Text: in.Query, AsOf: in.AsOf, Limit: in.Limit, Conversation: in.Conversation, Author: in.Author, Attributes: attributes(in.Attributes), Since: in.Since, Until: in.Until,
	}}
	if q.Limit == 0 {
		q.Limit = 10
	}
	if in.Role != "" {
		if q.Role, err = dag.ParseRole(in.Role); err != nil {
			return w, err
		}
	}
	if in.Standing != "" {
		if q.Standing, err = dag.ParseStanding(in.Standing); err != nil {
			return w, err
		}
	}
	if q.Within, err = k.boundary(tenant, in.Within); err != nil {
		return w, err
	}
	found, err := k.Search(ctx, tenant, q)
	if err != nil {
		return w, err
	}
	w = api.Found{AsOf: found.AsOf, Policy: found.Policy, Hits: make([]api.Hit, len(found.Hits)), Sessions: found.Sessions, Approximate: found.Approximate, NotIndexed: uint64(found.NotIndexed), Damaged: found.Damaged}
	for i := range found.Hits {
		w.Hits[i] = hit(&found.Hits[i], in.Explain)
	}
	if err := found.NotReranked; err != nil { // its text has the endpoint's address, which is not shown
		w.NotReranked = "the policy's cross-encoder did not answer with a score for each hit"
	}
	return w, nil
}

// attributes returns the attributes that a search asks for, by their names in turns.
func attributes(a *api.Attributes) map[string]string {
	if a == nil {
		return nil
	}
	all := map[string]string{"cwd": a.Folder, "git_branch": a.Branch, "model": a.Model, "title": a.Title}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// boundary verifies the bundle to which a search is limited, and returns its boundary; nil if there is no bundle.
func (k Turns) boundary(tenant dag.Tenant, bundle json.RawMessage) (*token.Boundary, error) {
	if bundle == nil {
		return nil, nil
	}
	return k.kernel.Boundary(tenant, bundle)
}

func hit(f *FoundTurn, explain bool) api.Hit {
	t := &f.Turn
	h := api.Hit{
		Turn: t.ID, Conversation: t.Conversation, Title: f.Title, Seq: t.Seq, Score: int(f.Score),
		Role: t.Role.String(), Author: t.Author, Standing: f.Standing.String(), CreatedAt: t.CreatedAt, Content: f.Content,
		Question: f.Question, Answer: f.Answer,
	}
	if explain {
		h.Parts = &api.HitParts{Words: int(f.Words), Conversation: int(f.Whole), Dates: int(f.Dates), When: int(f.When), Like: int(f.Like), Author: int(f.Named), Judged: int(f.Judged), WordRank: f.WordRank, LikeRank: f.LikeRank}
	}
	return h
}
