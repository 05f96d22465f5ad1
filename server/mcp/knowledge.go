package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice"
)

// Bounds of the tools about facts. knowledge.json says so too.
const (
	MaxFacts      = 1000 // facts of one knowledge_assert
	maxSupersedes = 64   // statements that one of them ends
	maxPredicates = 64
	shownRetracts = 100 // facts that knowledge_retract shows
	standardLimit = 20  // facts or entities that are shown if the caller names no number

	factValues = 32 // values of one fact on average
	listValues = fewValues + knowledge.MaxStarts + maxPredicates
)

// assertSource is the source of a fact for which none is named.
const assertSource = "mcp"

// readCount reads an integer from 1 to most, or gives 0 if there is none.
func readCount(in *canon.Cursor, key string, most int) int {
	c := in.Optional(key)
	if c == nil {
		return 0
	}
	n := c.Uint(1 << 53)
	if n == 0 || n > uint64(most) {
		c.Failf("want an integer from 1 to %d", most)
	}
	return int(n)
}

func readSeq(in *canon.Cursor, key string) dag.Seq {
	if c := in.Optional(key); c != nil {
		return dag.Seq(c.Uint(uint64(dag.MaxSeq)))
	}
	return 0
}

func readPPM(in *canon.Cursor, key string, otherwise dag.PPM) dag.PPM {
	if c := in.Optional(key); c != nil {
		return canon.ParsedNumber(c, dag.ReadPPM)
	}
	return otherwise
}

func readBool(in *canon.Cursor, key string) bool {
	c := in.Optional(key)
	return c != nil && c.Bool()
}

func readTime(in *canon.Cursor, key string) *dag.Time {
	if c := in.Optional(key); c != nil {
		t := canon.Parsed(c, knowledge.ReadTime)
		return &t
	}
	return nil
}

// readTerm reads a name of an entity or a predicate.
func readTerm(c *canon.Cursor) string {
	name := c.String()
	if c.Is(canon.String) {
		if _, err := normalize.Name(name); err != nil {
			c.Fail(err)
		}
	}
	return name
}

func readTerms(in *canon.Cursor, key string, least, most int) []string {
	c := in.Optional(key)
	if c == nil {
		if least > 0 {
			in.Field(key)
		}
		return nil
	}
	items := c.Items()
	if len(items) < least || len(items) > most {
		c.Failf("%d names, want %d to %d", len(items), least, most)
	}
	names := make([]string, len(items))
	for i := range items {
		names[i] = readTerm(items[i])
	}
	return names
}

// readText reads a string that may be left out, but not be empty.
func readText(in *canon.Cursor, key string, most int) string {
	c := in.Optional(key)
	if c == nil {
		return ""
	}
	text := c.String()
	if text == "" || len(text) > most {
		c.Failf("%d bytes, want 1 to %d", len(text), most)
	}
	return text
}

// A draft is a fact whose turn is still a name.
type draft struct {
	act  knowledge.Act
	turn string
}

func readFact(c *canon.Cursor) (d draft) {
	defer c.Close()
	source := assertSource
	if s := readText(c, "source", knowledge.MaxSource); s != "" {
		source = s
	}
	f, err := knowledge.NewFact(c.Field("subject").String(), c.Field("predicate").String(), c.Field("object").String(), source)
	if err != nil {
		c.Fail(err)
	}
	f.Confidence = readPPM(c, "confidence", dag.One)
	if t := readTime(c, "valid_from"); t != nil {
		f.From = *t
	}
	if t := readTime(c, "valid_until"); t != nil {
		f.Until = *t
	}
	if s := c.Optional("slice"); s != nil {
		f.Slice = string(canon.Parsed(s, slice.ParseSliceID))
	}
	if t := c.Optional("turn"); t != nil {
		d.turn = readName(t)
	}
	d.act = knowledge.Act{Kind: knowledge.Assert, Fact: f}
	if s := c.Optional("supersedes"); s != nil {
		ids := s.Items()
		if len(ids) > maxSupersedes {
			s.Failf("%d statements, want at most %d", len(ids), maxSupersedes)
		}
		for _, id := range ids {
			d.act.Supersedes = append(d.act.Supersedes, canon.Parsed(id, dag.ParseDigest))
		}
		d.act.Supersedes = knowledge.SortIDs(d.act.Supersedes)
	}
	if err := d.act.Check(); err != nil {
		c.Fail(err)
	}
	return d
}

type asserted struct {
	Asserted  int            `json:"asserted"`
	Confirmed int            `json:"confirmed"`
	Existing  int            `json:"existing"`
	Results   []assertedFact `json:"results"`
}

type assertedFact struct {
	Statement string `json:"statement"`
	Result    string `json:"result"`
	Seq       uint64 `json:"seq,omitempty"`
}

func (s *Server) assertFacts(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	facts := in.Field("facts").Items()
	drafts := make([]draft, len(facts))
	if len(facts) <= MaxFacts {
		for i := range facts {
			drafts[i] = readFact(facts[i])
		}
	}
	if err := read(in); err != nil {
		return answer{}, err
	}
	if len(facts) == 0 || len(facts) > MaxFacts {
		return answer{}, refusef("facts: %d facts in one call, want 1 to %d", len(facts), MaxFacts)
	}
	acts := make([]knowledge.Act, len(drafts))
	turns := map[string]dag.TurnID{}
	for i := range drafts {
		acts[i] = drafts[i].act
		name := drafts[i].turn
		if name == "" {
			continue
		}
		id, ok := turns[name]
		if !ok {
			var err error
			if id, err = s.kernel.Resolve(ctx, who.Tenant, name); err != nil {
				return answer{}, fmt.Errorf("facts[%d].turn: %w", i, err)
			}
			turns[name] = id
		}
		acts[i].Fact.Turn = id
	}
	outcomes, err := s.kernel.Learn(ctx, who.Tenant, acts)
	if err != nil {
		return answer{}, err
	}
	w := asserted{Results: make([]assertedFact, len(outcomes))}
	for i, o := range outcomes {
		w.Results[i] = assertedFact{o.Statement.String(), string(o.Result), uint64(o.Seq)}
		switch o.Result {
		case knowledge.Asserted:
			w.Asserted++
		case knowledge.Confirmed:
			w.Confirmed++
		default:
			w.Existing++
		}
	}
	return answer{result: w}, nil
}

// A factFilter is a kernel.FactQuery whose turn is still a name.
type factFilter struct {
	query kernel.FactQuery
	turn  string
}

func readFilter(in *canon.Cursor) (f factFilter) {
	for _, n := range [...]struct {
		key  string
		into *string
	}{{"subject", &f.query.Subject}, {"predicate", &f.query.Predicate}, {"object", &f.query.Object}, {"entity", &f.query.Entity}} {
		if c := in.Optional(n.key); c != nil {
			*n.into = readTerm(c)
		}
	}
	f.query.Source = readText(in, "source", knowledge.MaxSource)
	if c := in.Optional("turn"); c != nil {
		f.turn = readName(c)
	}
	if c := in.Optional("statement"); c != nil {
		id := canon.Parsed(c, dag.ParseDigest)
		f.query.Statement = &id
	}
	f.query.MinConfidence = readPPM(in, "min_confidence", 0)
	f.query.ValidAt = readTime(in, "valid_at")
	return f
}

func (s *Server) resolvedFilter(ctx context.Context, who access.Identity, f factFilter) (kernel.FactQuery, error) {
	if f.turn != "" {
		id, err := s.kernel.Resolve(ctx, who.Tenant, f.turn)
		if err != nil {
			return f.query, fmt.Errorf("turn: %w", err)
		}
		f.query.Turn = &id
	}
	return f.query, nil
}

type found struct {
	Total int         `json:"total"`
	AsOf  uint64      `json:"as_of"`
	Facts []shownFact `json:"facts"`
}

func (s *Server) findFacts(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	f := readFilter(in)
	f.query.AsOf, f.query.After, f.query.Limit = readView(in), dag.Seq(readPosition(in).after), cmp.Or(readCount(in, "limit", kernel.MaxFacts), standardLimit)
	evidence := readBool(in, "evidence")
	if err := read(in); err != nil {
		return answer{}, err
	}
	q, err := s.resolvedFilter(ctx, who, f)
	if err != nil {
		return answer{}, err
	}
	page, err := s.kernel.Facts(ctx, who.Tenant, q)
	if err != nil {
		return answer{}, err
	}
	w := found{Total: page.Total, AsOf: uint64(page.AsOf), Facts: make([]shownFact, len(page.Facts))}
	for i := range page.Facts {
		w.Facts[i] = showFact(&page.Facts[i], evidence)
	}
	return answer{result: w, view: page.AsOf, after: uint64(f.query.After), more: uint64(page.Next)}, nil
}

type retracted struct {
	Retracted int         `json:"retracted"`
	DryRun    bool        `json:"dry_run"`
	Facts     []shownFact `json:"facts"`
}

func (s *Server) retractFacts(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	f := readFilter(in)
	reason := readText(in, "reason", knowledge.MaxReason)
	dry := readBool(in, "dry_run")
	if err := read(in); err != nil {
		return answer{}, err
	}
	q, err := s.resolvedFilter(ctx, who, f)
	if err != nil {
		return answer{}, err
	}
	list, err := s.kernel.Retract(ctx, who.Tenant, q, reason, dry)
	if err != nil {
		return answer{}, err
	}
	w := retracted{Retracted: len(list), DryRun: dry, Facts: make([]shownFact, min(len(list), shownRetracts))}
	for i := range w.Facts {
		v, _ := list[i].Version()
		w.Facts[i] = shownFact{
			triple:     tripleOf(&v.Statement, v.Subject, v.Object),
			Confidence: ppm(v.Confidence), Source: v.Source, Turn: turnText(v.Turn), Since: uint64(v.Since),
		}
		w.Facts[i].Written = writtenIn(&list[i].Act.Fact)
	}
	return answer{result: w}, nil
}
