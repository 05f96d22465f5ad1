package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// A Set is a named group of tools. A model reads the definitions of all its tools before anything else, so a session
// has the tools of one set unless the client selects others.
type Set struct {
	Name  string
	For   string
	Tools []string
}

// Names of sets that the program refers to.
const (
	Everyday  = "everyday"
	Audit     = "audit"
	MemorySet = "memory"
	All       = "all"
)

// Sets lists the sets. Every tool is in at least one of them in addition to All: it is listed here, or the operation it
// is made from names the set.
var Sets = operatedSets([]Set{
	{Everyday, "what an agent needs every day: remember texts and find them, get context, search, record turns, verify", []string{
		"admit_turns", "cut_slice", "verify_bundle", "show_turn",
	}},
	{"facts", "all about facts", []string{
		"knowledge_assert", "knowledge_find", "knowledge_traverse", "knowledge_path", "knowledge_history", "knowledge_retract", "knowledge_slice",
	}},
	{Audit, "check evidence, and explain its contents", []string{
		"verify_bundle", "replay_slice", "explain_turn", "show_turn", "list_policies", "knowledge_find", "knowledge_history",
	}},
	{"memories", "what is remembered, as texts: remember, find, forget, and ask why", nil},
	{"beliefs", "beliefs: propose them, list them, ask why they are believed and what depends on them", nil},
	{"working", "messages of a session, kept for a while outside the history", nil},
	{MemorySet, "the nine tools of the public memory server", []string{
		"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations", "delete_relations",
		"read_graph", "search_nodes", "open_nodes",
	}},
	{All, "all tools", toolNames()},
})

// operatedSets adds the tools made from operations.
func operatedSets(sets []Set) []Set {
	for _, spec := range api.Declared() {
		for i := range sets {
			if slices.Contains(spec.Sets, sets[i].Name) {
				sets[i].Tools = append(sets[i].Tools, spec.Tool)
			}
		}
	}
	return sets
}

// toolNames returns the names of all tools, in the order of their definition.
func toolNames() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.Name)
	}
	return names
}

// A Selection is the tools of a session, as far as its role permits them. The zero value is the default of the role.
// Roles determine what a caller may do; a selection only determines what is in a model's window.
type Selection struct{ names []string }

// ParseTools reads names of sets and of tools, separated by commas. An empty text returns the zero Selection.
func ParseTools(text string) (Selection, error) {
	if text == "" {
		return Selection{}, nil
	}
	all := setNamed(All).Tools
	chosen := map[string]bool{}
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		names := []string{name}
		if set := setNamed(name); set != nil {
			names = set.Tools
		} else if !slices.Contains(all, name) {
			return Selection{}, fmt.Errorf("there is no tool and no set of tools %.80q; the sets are %s, and the tools are %s", name, strings.Join(setNames(), ", "), strings.Join(all, ", "))
		}
		for _, tool := range names {
			chosen[tool] = true
		}
	}
	return Selection{slices.DeleteFunc(slices.Clone(all), func(tool string) bool { return !chosen[tool] })}, nil
}

// setNamed returns the set of a name, or nil.
func setNamed(name string) *Set {
	if i := slices.IndexFunc(Sets, func(s Set) bool { return s.Name == name }); i >= 0 {
		return &Sets[i]
	}
	return nil
}

func setNames() []string {
	names := make([]string, len(Sets))
	for i := range Sets {
		names[i] = Sets[i].Name
	}
	return names
}

// ToolNames returns all names that ParseTools accepts: those of the sets, then those of the tools.
func ToolNames() []string { return append(setNames(), setNamed(All).Tools...) }

// defaultFor returns the default tools of a role.
func defaultFor(role access.Role) Selection {
	if role == access.Auditor {
		return Selection{setNamed(Audit).Tools}
	}
	return Selection{setNamed(Everyday).Tools}
}

func (s Selection) has(tool string) bool { return slices.Contains(s.names, tool) }

type selectionKey struct{}

// selecting restricts a session to the tools that were selected when it was opened.
func selecting(s *Server, role access.Role) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			selected, _ := ctx.Value(selectionKey{}).(Selection)
			if selected.names == nil {
				selected = s.options.Tools
			}
			if selected.names == nil {
				selected = defaultFor(role)
			}
			hidden := func(name string) bool { _, ours := tools[name]; return ours && !selected.has(name) }
			if call, ok := r.(*sdk.CallToolRequest); ok && hidden(call.Params.Name) {
				return nil, &jsonrpc.Error{
					Code:    jsonrpc.CodeInvalidParams,
					Message: fmt.Sprintf("unknown tool %q: it was not selected when the session was opened", call.Params.Name),
				}
			}
			result, err := next(ctx, method, r)
			switch result := result.(type) {
			case *sdk.ListToolsResult:
				shown := *result
				shown.Tools = slices.DeleteFunc(slices.Clone(result.Tools), func(t *sdk.Tool) bool { return hidden(t.Name) })
				return &shown, err
			case *sdk.InitializeResult:
				if result == nil { // it was refused
					return result, err
				}
				shown := *result
				shown.Instructions = instructionsFor(selected, role)
				return &shown, err
			}
			return result, err
		}
	}
}
