package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
)

// A tool is a tool with its handler. Its name is in api/describe/tools.md, or in an operation's declaration.
type tool struct {
	permission access.Permission
	values     int // maximum number of JSON values in honest arguments
	answers    answers
	arguments  reflect.Type
	do         func(ctx context.Context, s *Server, who access.Identity, in *canon.Cursor, from position) (answer, error)
}

// taking returns a tool that reads its arguments as an In and calls do with them, and with the position where the
// answer continues.
func taking[In any](p access.Permission, values int, a answers, do func(context.Context, *Server, access.Identity, In, position) (answer, error)) tool {
	return tool{p, values, a, reflect.TypeFor[In](), func(ctx context.Context, s *Server, who access.Identity, in *canon.Cursor, from position) (answer, error) {
		arguments := api.Read[In](in)
		if err := in.Err(); err != nil {
			return answer{}, refusef("the arguments: %v", err)
		}
		return do(ctx, s, who, arguments, from)
	}}
}

// answers is how long a tool's answers can be, and how a long one is limited.
type answers int

const (
	short   answers = iota // always fit into a result
	inPages                // may be long; max_bytes limits an answer, and after continues it
	atOnce                 // may be long, and cannot be requested again; max_bytes limits it
)

// fewValues is the maximum number of values in the arguments of a tool that takes a few strings.
const fewValues = 64

// turnValues is the maximum number of values of a turn on average. A turn with the maximum number of parents has more,
// and then fewer turns fit into a call.
const turnValues = 128

// tools are the tools listed here, and one for each other operation that names a tool.
var tools = operated(map[string]tool{
	"admit_turns":   {access.Admit, MaxTurns * turnValues, short, reflect.TypeFor[newTurns](), admitTurns},
	"cut_slice":     taking(access.Cut, fewValues, inPages, cutSlice),
	"verify_bundle": taking(access.Verify, fewValues, inPages, verifyBundle),
	"show_turn":     taking(access.Read, fewValues, inPages, showTurn),
	"replay_slice":  taking(access.Replay, fewValues, inPages, replaySlice),
	"explain_turn":  taking(access.Explain, fewValues, short, explainTurn),
	"recall":        taking(access.Recall, fewValues, atOnce, recall),
	"find":          taking(access.Recall, listValues, atOnce, find),

	"knowledge_assert":   taking(access.Admit, MaxFacts*factValues, atOnce, assertFacts),
	"knowledge_find":     taking(access.Recall, fewValues, inPages, findFacts),
	"knowledge_traverse": taking(access.Recall, listValues, inPages, traverse),
	"knowledge_slice":    taking(access.Cut, listValues, inPages, cutFacts),
	"knowledge_path":     taking(access.Recall, listValues, inPages, paths),
	"knowledge_history":  taking(access.Recall, fewValues, inPages, factHistory),
	"knowledge_retract":  taking(access.Admit, fewValues, atOnce, retractFacts),

	"create_entities":     loosely(taking(access.Admit, memoryValues, atOnce, createEntities)),
	"create_relations":    loosely(taking(access.Admit, memoryValues, atOnce, createRelations)),
	"add_observations":    loosely(taking(access.Admit, memoryValues, atOnce, addObservations)),
	"delete_entities":     loosely(taking(access.Admit, memoryValues, atOnce, deleteEntities)),
	"delete_observations": loosely(taking(access.Admit, memoryValues, atOnce, deleteObservations)),
	"delete_relations":    loosely(taking(access.Admit, memoryValues, atOnce, deleteRelations)),
	"read_graph":          loosely(taking(access.Recall, fewValues, inPages, readGraph)),
	"search_nodes":        loosely(taking(access.Recall, fewValues, inPages, searchNodes)),
	"open_nodes":          loosely(taking(access.Recall, memoryValues, inPages, openNodes)),
})

// operated adds the tools that answer like the service.
func operated(tools map[string]tool) map[string]tool {
	for _, spec := range api.Declared() {
		if _, own := tools[spec.Tool]; own || spec.Tool == "" {
			continue
		}
		how := inPages
		if spec.Method != http.MethodGet {
			how = atOnce
		}
		tools[spec.Tool] = tool{spec.May, listValues, how, spec.In, func(ctx context.Context, s *Server, who access.Identity, in *canon.Cursor, from position) (answer, error) {
			op, found := s.kernel.Answer(spec.ID)
			if !found {
				return answer{}, fmt.Errorf("mcp: no facet of the kernel answers %s", spec.ID)
			}
			in = withoutAfter(in)
			arguments := op.Read(in)
			if err := in.Err(); err != nil {
				return answer{}, refusef("the arguments: %v", err)
			}
			out, err := op.Ask(ctx, who.Tenant, s.inProject(turnedTo(arguments, from)))
			if err != nil {
				return answer{}, err
			}
			return pageOf(out, from), nil
		}}
	}
	return tools
}

// withoutAfter returns the arguments without after: turnedTo sets it, since a tool's is another text than an operation's.
func withoutAfter(in *canon.Cursor) *canon.Cursor {
	v := *in.Value()
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m canon.Member) bool { return m.Key == "after" })
	return canon.Open(&v)
}

// inProject returns the In of an operation; a memory without a project is of the project of the server.
func (s *Server) inProject(in any) any {
	if m, ok := in.(api.NewMemory); ok && m.Project == "" && m.Instead == "" {
		m.Project = s.options.Project
		return m
	}
	if q, ok := in.(api.MemoriesQuery); ok && q.Project == "" {
		q.Around = s.options.Project
		return q
	}
	return in
}

// turnedTo returns the In of an operation on a list, with the page of the list where the answer continues.
func turnedTo(in any, from position) any {
	v := reflect.New(reflect.TypeOf(in)).Elem()
	v.Set(reflect.ValueOf(in))
	if after := v.FieldByName("After"); after.IsValid() && after.Kind() == reflect.String {
		text := ""
		switch {
		case from.view != 0 && from.after != 0:
			text = api.NextInView(dag.Seq(from.after), from.view)
		case from.after != 0:
			text = api.Next(from.after)
		}
		after.SetString(text)
	}
	return v.Interface()
}

// pageOf returns the answer of an operation. If it is a page of a list, the position of the next page is stored in the
// answer and removed from the text.
func pageOf(out any, from position) answer {
	v := reflect.New(reflect.TypeOf(out)).Elem()
	v.Set(reflect.ValueOf(out))
	a := answer{view: from.view, after: from.after}
	if next := v.FieldByName("Next"); next.IsValid() && next.Kind() == reflect.String && next.String() != "" {
		page := api.Paging{After: next.String()}
		if after, asOf, err := page.InView(0); err == nil {
			a.more, a.view = uint64(after), asOf
		} else if a.more, err = page.Number(); err != nil {
			panic("mcp: " + err.Error()) // the answer is our own
		}
		next.SetString("")
	}
	a.result = v.Interface()
	return a
}

// An answer is the answer of a tool. It is sent once, as text; docs/design/2026-11-22-mcp-window.md explains why there
// is no structured content.
type answer struct {
	result any           // becomes the text
	text   string        // if there is no result
	graph  *memoryGraph  // of the memory; replaces the text
	items  reflect.Value // a list of what was created in the memory; replaces the text
	about  any           // a separate block next to the text; nil: none
	view   dag.Seq       // the view of the answer; 0 if it has none

	// The text may be a part of a longer list.
	after uint64 // the number after which this part begins
	more  uint64 // the number after which the next part begins; 0: this is the last part
}

// tool returns the handler of a tool.
func (s *Server) tool(name string, t tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result, err := guarded(ctx, s, func(ctx context.Context) (*sdk.CallToolResult, error) { return s.call(ctx, t, r.Params.Arguments) })
		if err != nil {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: s.told(ctx, name, err)}}}, nil
		}
		return result, nil
	}
}

func (s *Server) call(ctx context.Context, t tool, arguments []byte) (*sdk.CallToolResult, error) {
	who, err := may(ctx, t.permission)
	if err != nil {
		return nil, err
	}
	asking := who
	asking.Model = true // an agent calls tools, even with the key of an admin
	ctx = access.As(ctx, asking)
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	v, err := canon.ParseSparse(arguments, t.values)
	if err != nil {
		return nil, refusef("the arguments: %v", err)
	}
	in, most, from := canon.Open(v), s.options.MaxMessage/2, position{}
	if t.answers != short && in.Is(canon.Object) {
		most = readMost(s, in)
	}
	if t.answers == inPages && in.Is(canon.Object) {
		from = readPosition(in)
	}
	a, err := t.do(ctx, s, who, in, from)
	if errors.Is(err, ingest.ErrSecret) { // the agent must leave the secret out
		return nil, refusef("%v", err)
	}
	if err != nil {
		return nil, err
	}
	if a.result != nil {
		if a.text, err = inLines(a.result); err != nil {
			return nil, err
		}
	}
	switch {
	case a.graph != nil:
		return graphPage(&a, from, most)
	case a.items.IsValid():
		return listPage(&a, most)
	}
	return page(t, &a, from, most)
}

// viewOf returns the sequence number that a request is about. All pages of one answer have the same view.
func viewOf(ctx context.Context, s *Server, who access.Identity, asOf dag.Seq, from position) (dag.Seq, error) {
	if asOf == 0 || from.view == 0 {
		return max(asOf, from.view), nil
	}
	at, err := s.kernel.Turns().AsOf(ctx, who.Tenant, asOf)
	if err == nil && at != from.view {
		err = refusef("the arguments: as_of is %d, but after continues an answer as of %d; leave as_of out", asOf, from.view)
	}
	return from.view, err
}

// admitTurns reads turns with package ingest, which keeps their salience and attributes unchanged.
func admitTurns(ctx context.Context, s *Server, who access.Identity, in *canon.Cursor, _ position) (answer, error) {
	turns := in.Field("turns").Items()
	in.Close()
	if err := in.Err(); err != nil {
		return answer{}, refusef("the arguments: %v", err)
	}
	if len(turns) == 0 || len(turns) > MaxTurns {
		return answer{}, refusef("turns: %d turns in one call, want 1 to %d", len(turns), MaxTurns)
	}
	drafts := make([]dag.Draft, len(turns))
	for i, t := range turns {
		d, err := ingest.ReadValue(t.Value())
		if err == nil && d.Redacted {
			err = errors.New("only an import may admit a turn without its text, not an agent")
		}
		if err != nil {
			return answer{}, refusef("turns[%d]: %v", i, err)
		}
		if err := who.MayAdmit(&d); err != nil {
			return answer{}, refusef("turns[%d]: %v; nothing was admitted", i, err)
		}
		drafts[i] = d
	}
	receipt, err := s.kernel.Turns().AdmitWith(ctx, who.Tenant, who.Credential(), drafts)
	if errors.Is(err, dag.ErrForm) {
		return answer{}, refusef("%v", err)
	}
	return answer{result: receipt}, err
}

// A cut is the block next to the evidence in an answer of cut_slice.
type cut struct {
	SliceID      string `json:"slice_id"`
	Format       string `json:"format"`
	Turns        int    `json:"turns"`
	Edges        int    `json:"edges"`
	AsOf         uint64 `json:"as_of"`
	PolicyID     string `json:"policy_id"`
	KeyID        string `json:"key_id"`
	Token        string `json:"token"`
	BundleSHA256 string `json:"bundle_sha256"`
}

func cutSlice(ctx context.Context, s *Server, who access.Identity, in api.SliceRequest, from position) (answer, error) {
	format := cmp.Or(in.Format, api.FormatBundle)
	r, err := resolved(ctx, s, who, in.Anchor, string(in.Policy), in.AsOf, from)
	if err != nil {
		return answer{}, err
	}
	issued, err := s.kernel.Slices().Cut(ctx, who.Tenant, r)
	if err != nil {
		return answer{}, err
	}
	text, err := rendered(issued.Bundle, format)
	p := &issued.Slice.Provenance
	return answer{text: string(text), view: issued.Slice.AsOf, about: cut{
		SliceID: string(p.SliceID), Format: format, Turns: len(issued.Slice.Turns), Edges: len(issued.Slice.Edges),
		AsOf: uint64(issued.Slice.AsOf), PolicyID: string(p.PolicyID), KeyID: issued.Seal.KeyID, Token: issued.Seal.Token,
		BundleSHA256: issued.Record.Bundle.String(),
	}}, err
}

// recallBudget is the default budget of a context. Its prompt fits into an answer.
const recallBudget = 1500

// recalled is the block next to a prompt.
type recalled struct {
	ContextID   string          `json:"context_id"`
	AsOf        uint64          `json:"as_of"`
	PolicyID    string          `json:"policy_id"`
	Turns       int             `json:"turns"`
	Facts       int             `json:"facts"`
	Beliefs     int             `json:"beliefs"`
	Candidates  int             `json:"candidates"`
	Sufficiency api.Sufficiency `json:"sufficiency"`
}

func recall(ctx context.Context, s *Server, who access.Identity, in api.ContextRequest, _ position) (answer, error) {
	in.Budget = cmp.Or(in.Budget, recallBudget)
	if s.options.Project != "" {
		all, err := s.kernel.Beliefs().Spaces(ctx, who.Tenant, api.SpacesQuery{})
		if err != nil {
			return answer{}, err
		}
		in.Spaces = all.Around(s.options.Project)
	}
	issued, err := s.kernel.Contexts().Assemble(ctx, who.Tenant, in)
	if err != nil {
		return answer{}, err
	}
	w := issued.Answer()
	return answer{text: string(issued.Prompt), view: issued.Context.AsOf, about: recalled{
		ContextID: string(w.ContextID), AsOf: uint64(w.AsOf), PolicyID: string(w.PolicyID), Turns: len(w.Turns), Facts: len(w.Facts), Beliefs: len(w.Beliefs), Candidates: w.Candidates, Sufficiency: w.Sufficiency,
	}}, nil
}

// find finds turns by words. A model reads the hits, so it also gets what was asked before them and answered to them.
func find(ctx context.Context, s *Server, who access.Identity, in api.Search, _ position) (answer, error) {
	in.Exchanges = true
	found, err := kernel.Ask(ctx, s.kernel, who.Tenant, api.SearchTurns, in)
	return answer{result: found}, err
}

// rendered returns a bundle in a format.
func rendered(bundle []byte, format string) ([]byte, error) {
	if format == api.FormatBundle {
		return bundle, nil
	}
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, err
	}
	if format == api.FormatMarkdown {
		return render.Markdown(b), nil
	}
	return render.Messages(b)
}

// resolved returns a request with its anchor resolved and its policy named.
func resolved(ctx context.Context, s *Server, who access.Identity, name, id string, asOf dag.Seq, from position) (kernel.Request, error) {
	view, err := viewOf(ctx, s, who, asOf, from)
	if err != nil {
		return kernel.Request{}, err
	}
	anchor, err := s.kernel.Turns().Resolve(ctx, who.Tenant, name)
	if err != nil {
		return kernel.Request{}, fmt.Errorf("anchor: %w", err)
	}
	return kernel.Request{Anchor: anchor, Policy: cmp.Or(policy.ID(id), policy.DefaultID), AsOf: view}, nil
}

// bundleIn returns the bytes of a bundle in an argument. One line feed at the end is a file's, and no part of the bundle.
func bundleIn(argument string) []byte { return []byte(strings.TrimSuffix(argument, "\n")) }

func verifyBundle(_ context.Context, s *Server, who access.Identity, in theBundle, _ position) (answer, error) {
	return answer{result: s.kernel.Slices().Judge(who.Tenant, bundleIn(in.Bundle))}, nil
}

func showTurn(ctx context.Context, s *Server, who access.Identity, in theTurn, _ position) (answer, error) {
	id, err := s.kernel.Turns().Resolve(ctx, who.Tenant, in.Turn)
	if err != nil {
		return answer{}, fmt.Errorf("turn: %w", err)
	}
	shown, err := s.turn(ctx, who, id.String())
	return answer{result: shown}, err
}

func replaySlice(ctx context.Context, s *Server, who access.Identity, in theSlice, _ position) (answer, error) {
	var r *kernel.Replay
	var err error
	switch {
	case (in.SliceID == nil) == (in.Bundle == nil):
		return answer{}, refusef("want either slice_id or bundle")
	case in.SliceID != nil:
		r, err = s.kernel.Slices().ReplayIssued(ctx, who.Tenant, slice.SliceID(*in.SliceID))
	default:
		r, err = s.kernel.Slices().Replay(ctx, who.Tenant, bundleIn(*in.Bundle))
		if errors.Is(err, slice.ErrMalformed) || errors.Is(err, slice.ErrVersion) {
			return answer{}, refusef("%v; hand the bundle over byte for byte as cut_slice or knowledge_slice returned it", err)
		}
	}
	if err != nil {
		return answer{}, err
	}
	return answer{result: r.Answer()}, nil
}

func explainTurn(ctx context.Context, s *Server, who access.Identity, in question, from position) (answer, error) {
	r, err := resolved(ctx, s, who, in.Anchor, in.Policy, in.AsOf, from)
	if err != nil {
		return answer{}, err
	}
	turn, err := s.kernel.Turns().Resolve(ctx, who.Tenant, in.Turn)
	if err != nil {
		return answer{}, fmt.Errorf("turn: %w", err)
	}
	if r.AsOf, err = s.kernel.Turns().AsOf(ctx, who.Tenant, r.AsOf); err != nil { // so that the answer names its view
		return answer{}, err
	}
	e, err := s.kernel.Slices().Explain(ctx, who.Tenant, r, turn)
	if err != nil {
		return answer{}, err
	}
	return answer{result: kernel.Explained(turn, &r, &e)}, nil
}
