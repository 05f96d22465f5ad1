package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
)

// The nine tools of the public memory server, on this store: an entity's type, each of its observations and each
// relation is a fact of the source MemorySource. Types and observations are texts, so a relation is never taken for one
// of them, whatever the relation's type.
const (
	MemorySource      = "mcp:memory"
	TypePredicate     = "entity-type"
	ObservedPredicate = "observation"

	// MaxMemory limits the items of a list in a call, and MaxGraph the facts that read_graph and search_nodes read. The
	// schemas repeat them.
	MaxMemory = 1000
	MaxGraph  = 20_000

	maxSearch    = 2048 // characters of a query
	memoryValues = 1 << 16
)

// The JSON forms of the public server.
type (
	memoryEntity struct {
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
	}
	memoryRelation struct {
		From         string `json:"from"`
		To           string `json:"to"`
		RelationType string `json:"relationType"`
	}
	memoryGraph struct {
		Entities  []memoryEntity   `json:"entities"`
		Relations []memoryRelation `json:"relations"`
		Cut       string           `json:"cut,omitempty"` // set if there are more facts than were read
	}
)

// remembered returns an answer in the format of the public server: JSON, indented by two.
func remembered(shown any) (answer, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(shown)
	text := escapes.ReplaceAllStringFunc(strings.TrimSuffix(b.String(), "\n"), func(escape string) string {
		switch escape {
		case `\u2028`:
			return "\u2028"
		case `\u2029`:
			return "\u2029"
		}
		return escape
	})
	return answer{text: text}, err
}

// escapes matches the escapes of package json. JavaScript writes U+2028 and U+2029 unescaped.
var escapes = regexp.MustCompile(`\\(?:u202[89]|.)`)

// remember waits until no other call of the tenant is between reading and changing the memory. The caller must call
// done.
func remember(ctx context.Context, s *Server, tenant dag.Tenant) (done func(), err error) {
	place := s.remembering[maphash.String(memorySeed, string(tenant))%uint64(len(s.remembering))]
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var memorySeed = maphash.MakeSeed()

// kept returns up to limit facts of a view that match a filter, from any source, and reports whether there are more. It
// reads them in pages.
func kept(ctx context.Context, s *Server, who access.Identity, only api.FactFilter, view dag.Seq, limit int) (facts []api.Fact, cut bool, err error) {
	for q := (api.FactQuery{FactFilter: only, View: api.View{AsOf: view}, Paging: api.Paging{Limit: query.MaxFacts}}); ; {
		page, err := s.kernel.Facts().List(ctx, who.Tenant, q)
		if err != nil {
			return nil, false, err
		}
		facts = append(facts, page.Facts...)
		if limit > 0 && (len(facts) > limit || len(facts) == limit && page.Total > limit) {
			return facts[:limit], true, nil
		}
		if q.After = page.Next; page.Next == "" {
			return facts, false, nil
		}
	}
}

// about returns the memory's facts with an entity as subject or object, by ascending number. If the entity's name is
// also the text of a type or an observation, those facts are left out. The view 0 is now.
func about(ctx context.Context, s *Server, who access.Identity, name string, view dag.Seq) ([]api.Fact, error) {
	facts, _, err := kept(ctx, s, who, api.FactFilter{Subject: name, Source: MemorySource}, view, 0)
	if err != nil {
		return nil, err
	}
	incoming, _, err := kept(ctx, s, who, api.FactFilter{Object: name, Source: MemorySource}, view, 0)
	if err != nil {
		return nil, err
	}
	return append(facts, slices.DeleteFunc(incoming, func(f api.Fact) bool { return !isRelation(&f) })...), nil
}

func isRelation(f *api.Fact) bool { return !isType(f) && !isObservation(f) }

func isType(f *api.Fact) bool {
	return f.Predicate == TypePredicate && normalize.IsText(f.Stated().Object)
}

func isObservation(f *api.Fact) bool {
	return f.Predicate == ObservedPredicate && normalize.IsText(f.Stated().Object)
}

// A graph is the entities and relations in facts of the memory.
type graph struct {
	memoryGraph
	names []string    // canonical, of Entities
	ends  [][2]string // canonical, of Relations
}

// graphOf builds a graph: the entities in the order of their creation, the observations and relations in the order in
// which they were added.
func graphOf(facts []api.Fact) *graph {
	slices.SortFunc(facts, func(a, b api.Fact) int { return cmp.Compare(a.Since, b.Since) })
	g := &graph{memoryGraph: memoryGraph{Entities: []memoryEntity{}, Relations: []memoryRelation{}}}
	index := map[string]int{}
	for i := range facts {
		f := &facts[i]
		if _, ok := index[f.Subject]; !isType(f) || ok {
			continue
		}
		index[f.Subject] = len(g.Entities)
		name, _, kind := f.Spelled()
		g.Entities, g.names = append(g.Entities, memoryEntity{name, kind, []string{}}), append(g.names, f.Subject)
	}
	seen := map[[3]string]bool{}
	for i := range facts {
		f := &facts[i]
		object := f.Object
		if !isRelation(f) {
			object = f.Stated().Object
		}
		key := [3]string{f.Subject, f.Predicate, object}
		if seen[key] {
			continue
		}
		seen[key] = true
		subject, predicate, object := f.Spelled()
		switch at, ok := index[f.Subject]; {
		case isRelation(f):
			g.Relations, g.ends = append(g.Relations, memoryRelation{subject, object, predicate}), append(g.ends, [2]string{f.Subject, f.Object})
		case ok && isObservation(f):
			g.Entities[at].Observations = append(g.Entities[at].Observations, object)
		}
	}
	return g
}

// only returns the matching entities, and the relations with one of them at an end.
func (g *graph) only(fits func(name string, e *memoryEntity) bool) memoryGraph {
	part := memoryGraph{Entities: []memoryEntity{}, Relations: []memoryRelation{}, Cut: g.Cut}
	in := map[string]bool{}
	for i, name := range g.names {
		if fits(name, &g.Entities[i]) {
			in[name] = true
			part.Entities = append(part.Entities, g.Entities[i])
		}
	}
	for i, ends := range g.ends {
		if in[ends[0]] || in[ends[1]] {
			part.Relations = append(part.Relations, g.Relations[i])
		}
	}
	return part
}

// wholeGraph returns the memory of a view, up to the limit of MaxGraph facts.
func wholeGraph(ctx context.Context, s *Server, who access.Identity, view dag.Seq) (*graph, error) {
	facts, cut, err := kept(ctx, s, who, api.FactFilter{Source: MemorySource}, view, s.mostFacts)
	if err != nil {
		return nil, err
	}
	g := graphOf(facts)
	if cut {
		g.Cut = cutSentence
	}
	return g, nil
}

const cutSentence = "this is not all: the memory has more facts than are looked at in one call, and these are the oldest; open_nodes finds any entity by its name"

// memoryView returns the view of the pages of an answer.
func memoryView(ctx context.Context, s *Server, who access.Identity, from position) (dag.Seq, error) {
	if from.view != 0 {
		return from.view, nil
	}
	return s.kernel.Turns().Head(ctx, who.Tenant)
}

// shownGraph returns the answer to a query about the memory of a view.
func shownGraph(ctx context.Context, s *Server, who access.Identity, from position, ask func(view dag.Seq) (memoryGraph, error)) (answer, error) {
	view, err := memoryView(ctx, s, who, from)
	if err != nil {
		return answer{}, err
	}
	g, err := ask(view)
	if err != nil {
		return answer{}, err
	}
	return answer{graph: &g, view: view}, nil
}

func readGraph(ctx context.Context, s *Server, who access.Identity, _ nothing, from position) (answer, error) {
	return shownGraph(ctx, s, who, from, func(view dag.Seq) (memoryGraph, error) {
		g, err := wholeGraph(ctx, s, who, view)
		if err != nil {
			return memoryGraph{}, err
		}
		return g.memoryGraph, nil
	})
}

func searchNodes(ctx context.Context, s *Server, who access.Identity, in nodeSearch, from position) (answer, error) {
	query := in.Query
	if n := utf8.RuneCountInString(query); n > maxSearch {
		return answer{}, refusef("the arguments: query: %d characters, want at most %d", n, maxSearch)
	}
	lower := cases.Lower(language.Und) // like JavaScript
	query = lower.String(query)
	has := func(text string) bool { return strings.Contains(lower.String(text), query) }
	return shownGraph(ctx, s, who, from, func(view dag.Seq) (memoryGraph, error) {
		g, err := wholeGraph(ctx, s, who, view)
		if err != nil {
			return memoryGraph{}, err
		}
		return g.only(func(_ string, e *memoryEntity) bool {
			return has(e.Name) || has(e.EntityType) || slices.ContainsFunc(e.Observations, has)
		}), nil
	})
}

func openNodes(ctx context.Context, s *Server, who access.Identity, in nodeNames, from position) (answer, error) {
	return shownGraph(ctx, s, who, from, func(view dag.Seq) (memoryGraph, error) {
		aliases, err := s.kernel.Facts().Aliases(ctx, who.Tenant, view)
		if err != nil {
			return memoryGraph{}, err
		}
		asked := map[string]bool{}
		var facts []api.Fact
		for _, name := range in.Names {
			canonical, err := normalize.Name(name)
			if canonical = aliases.Resolve(canonical); err != nil || asked[canonical] {
				continue // no entity can have such a name
			}
			asked[canonical] = true
			some, err := about(ctx, s, who, name, view)
			if err != nil {
				return memoryGraph{}, err
			}
			facts = append(facts, some...)
		}
		return graphOf(facts).only(func(name string, _ *memoryEntity) bool { return asked[name] }), nil
	})
}
