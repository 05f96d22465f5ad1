package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/wire"
)

// whole refuses text that is not UTF-8, which encoding/json would repair: another name
// would be recorded than was meant.
func whole(texts ...string) error {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("client: %.80q is not UTF-8", s)
		}
	}
	return nil
}

// Learn records a fact. The same again changes nothing. Evidence that is not there is
// CodeEvidence, a statement to supersede that is not believed CodeNotBelieved.
func (c *Client) Learn(ctx context.Context, f wire.NewFact) (wire.KnowledgeOutcome, error) {
	if err := whole(f.Subject, f.Predicate, f.Object, f.Source); err != nil {
		return wire.KnowledgeOutcome{}, err
	}
	return get[wire.KnowledgeOutcome](ctx, c, &request{method: http.MethodPost, path: "/api/knowledge", body: encode(f)})
}

// LearnAll records retractions, then facts, all of them or none.
func (c *Client) LearnAll(ctx context.Context, k wire.Knowledge) (wire.KnowledgeOutcomes, error) {
	for i := range k.Retractions {
		if err := whole(k.Retractions[i].Reason); err != nil {
			return wire.KnowledgeOutcomes{}, fmt.Errorf("retractions[%d]: %w", i, err)
		}
	}
	for i := range k.Facts {
		f := &k.Facts[i]
		if err := whole(f.Subject, f.Predicate, f.Object, f.Source); err != nil {
			return wire.KnowledgeOutcomes{}, fmt.Errorf("facts[%d]: %w", i, err)
		}
	}
	q := &request{method: http.MethodPost, path: "/api/knowledge/batch", body: encode(k)}
	w, err := get[wire.KnowledgeOutcomes](ctx, c, q)
	if err == nil && (len(w.Retractions) != len(k.Retractions) || len(w.Facts) != len(k.Facts)) {
		err = fmt.Errorf("client: %s: %w: %d and %d outcomes of %d retractions and %d facts", q, ErrAnswer, len(w.Retractions), len(w.Facts), len(k.Retractions), len(k.Facts))
	}
	return w, err
}

// LearnLines records lines of JSON, each a fact or a retraction, in their order, all of them or
// none. The Problem of a line that is refused has its number as Place. Nothing is sent twice:
// the lines can be read only once. They may be read for a moment longer than a failed call
// takes.
func (c *Client) LearnLines(ctx context.Context, lines io.Reader) (wire.KnowledgeOutcomes, error) {
	return get[wire.KnowledgeOutcomes](ctx, c, &request{method: http.MethodPost, path: "/api/knowledge/batch", stream: io.NopCloser(lines)})
}

// A FactFilter says which facts are meant. Names may have any spelling, and what is the zero
// value does not limit.
type FactFilter struct {
	Subject, Predicate, Object string
	Entity                     string // the subject or the object
	Source                     string
	Turn                       dag.TurnID
	Statement                  string
	MinConfidence              dag.PPM
	AsOf                       dag.Seq   // 0: the present
	ValidAt                    *dag.Time // nil: whenever it held
}

// asked adds parameters, but for those that are empty.
func asked(q url.Values, list ...string) url.Values {
	for i := 0; i < len(list); i += 2 {
		if list[i+1] != "" {
			q.Set(list[i], list[i+1])
		}
	}
	return q
}

func positive(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func instant(t *dag.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}

func fraction(p dag.PPM) string {
	if p == 0 {
		return ""
	}
	return p.String()
}

func (f *FactFilter) query(q url.Values) url.Values {
	asked(q, "subject", f.Subject, "predicate", f.Predicate, "object", f.Object, "entity", f.Entity, "source", f.Source, "statement", f.Statement,
		"min_confidence", fraction(f.MinConfidence), "as_of", positive(uint64(f.AsOf)), "valid_at", instant(f.ValidAt))
	if f.Turn != (dag.TurnID{}) {
		q.Set("turn", f.Turn.String())
	}
	return q
}

// FactsPage reads a page of what is believed.
func (c *Client) FactsPage(ctx context.Context, f FactFilter, p Page) (wire.Facts, error) {
	return get[wire.Facts](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge", query: f.query(p.query())})
}

// Facts gives every fact that is meant, all of one view. An error ends it.
func (c *Client) Facts(ctx context.Context, f FactFilter) iter.Seq2[wire.Fact, error] {
	return all(func(p Page) ([]wire.Fact, string, error) {
		w, err := c.FactsPage(ctx, f, p)
		return w.Facts, w.Next, err
	})
}

// Retract ends the belief in every fact that is meant, all of them or none, or with dry says
// what those are. AsOf must be 0, and something must limit. Sent again because the
// connection broke, it may give nothing: what it ended is ended.
func (c *Client) Retract(ctx context.Context, f FactFilter, reason string, dry bool) (wire.Retracted, error) {
	q := f.query(asked(url.Values{}, "reason", reason))
	if dry {
		q.Set("dry_run", "true")
	}
	r := &request{method: http.MethodDelete, path: "/api/knowledge", query: q}
	w, err := get[wire.Retracted](ctx, c, r)
	if err == nil && w.DryRun != dry {
		err = fmt.Errorf("client: %s: %w: dry_run is %t, and %t was asked for", r, ErrAnswer, w.DryRun, dry)
	}
	return w, err
}

// FactHistory gives all that was said of a statement, by ascending number. An error ends it.
func (c *Client) FactHistory(ctx context.Context, statement dag.Digest) iter.Seq2[wire.KnowledgeAct, error] {
	return all(func(p Page) ([]wire.KnowledgeAct, string, error) {
		w, err := get[wire.FactHistory](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/" + statement.String() + "/history", query: p.query()})
		return w.Acts, w.Next, err
	})
}

// Traverse gives what can be reached, each with a way to it.
func (c *Client) Traverse(ctx context.Context, t wire.TraverseRequest) (wire.Traversal, error) {
	if err := whole(append(slices.Clip(t.Start), t.Predicates...)...); err != nil {
		return wire.Traversal{}, err
	}
	return get[wire.Traversal](ctx, c, &request{method: http.MethodPost, path: "/api/knowledge/traverse", body: encode(t)})
}

// Changes reads up to limit acts numbered above after. Go on behind After of the answer, at
// once if there is More.
func (c *Client) Changes(ctx context.Context, after dag.Seq, limit int) (wire.KnowledgeChanges, error) {
	q := Page{Limit: limit}.query()
	return get[wire.KnowledgeChanges](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/changes", query: asked(q, "after", positive(uint64(after)))})
}

// A PathQuery asks for ways from one entity to another. What is the zero value is as the
// service likes.
type PathQuery struct {
	From, To      string
	Count         int
	MaxHops       int
	Direction     string
	Predicates    []string // empty: all; none holds a comma
	MinConfidence dag.PPM
	AsOf          dag.Seq
	ValidAt       *dag.Time
}

// Paths gives the best ways from one entity to another, each as something that was reached.
func (c *Client) Paths(ctx context.Context, p PathQuery) (wire.Traversal, error) {
	q := asked(url.Values{}, "from", p.From, "to", p.To, "k", positive(uint64(max(0, p.Count))), "max_hops", positive(uint64(max(0, p.MaxHops))), "direction", p.Direction,
		"predicates", strings.Join(p.Predicates, ","), "min_confidence", fraction(p.MinConfidence), "as_of", positive(uint64(p.AsOf)), "valid_at", instant(p.ValidAt))
	return get[wire.Traversal](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/path", query: q})
}

// KnowledgeStats counts what is believed; 0 is the present.
func (c *Client) KnowledgeStats(ctx context.Context, asOf dag.Seq) (wire.KnowledgeStats, error) {
	return get[wire.KnowledgeStats](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/stats", query: asked(url.Values{}, "as_of", positive(uint64(asOf)))})
}

// Aliases gives the alias table, ascending; 0 is the present. An error ends it.
func (c *Client) Aliases(ctx context.Context, asOf dag.Seq) iter.Seq2[wire.Alias, error] {
	return all(func(p Page) ([]wire.Alias, string, error) {
		q := asked(p.query(), "as_of", positive(uint64(asOf)))
		w, err := get[wire.Aliases](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/aliases", query: q})
		return w.Aliases, w.Next, err
	})
}

// AddAliases adds aliases, all of them or none. One that stands for another name is CodeAlias.
func (c *Client) AddAliases(ctx context.Context, aliases []wire.Alias) (wire.AliasesAdded, error) {
	for i := range aliases {
		if err := whole(aliases[i].Alias, aliases[i].Canonical); err != nil {
			return wire.AliasesAdded{}, fmt.Errorf("aliases[%d]: %w", i, err)
		}
	}
	body := encode(map[string][]wire.Alias{"aliases": aliases})
	return get[wire.AliasesAdded](ctx, c, &request{method: http.MethodPost, path: "/api/knowledge/aliases", body: body})
}

// RemoveAlias ends that a name stands for another.
func (c *Client) RemoveAlias(ctx context.Context, alias string) (wire.KnowledgeOutcome, error) {
	if alias == "" || alias == "." || alias == ".." { // they would lead elsewhere
		return wire.KnowledgeOutcome{}, fmt.Errorf("client: %q is no alias", alias)
	}
	return get[wire.KnowledgeOutcome](ctx, c, &request{method: http.MethodDelete, path: "/api/knowledge/aliases/" + url.PathEscape(alias)})
}

// Graph draws what is around an entity as nodes and links, in the JSON that d3 takes.
func (c *Client) Graph(ctx context.Context, entity string, maxHops, maxResults int) (json.RawMessage, error) {
	q := asked(url.Values{}, "entity", entity, "max_hops", positive(uint64(max(0, maxHops))), "max_results", positive(uint64(max(0, maxResults))))
	return get[json.RawMessage](ctx, c, &request{method: http.MethodGet, path: "/api/knowledge/graph", query: q})
}
