package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/describe"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/kernel"
)

// Options configure a server. The comment on each field gives the default, which its zero value means.
type Options struct {
	Log     *slog.Logger // logs the errors that callers do not see; nil: no log
	Version string       // of the program, shown by clients; "dev"

	// Tools are the tools of a session whose client selects none; the zero value means the default of its role.
	Tools Selection

	// Project is the space of memories that name no project; "": that of no project.
	Project belief.Space

	// Brief returns the request for the brief of the project; nil: it is of all that the caller may recall.
	Brief func(ctx context.Context) (*api.ContextRequest, error)

	// MaxMessage limits the bytes of an incoming message: 16 MiB. max_bytes of a result is at most half of that.
	MaxMessage int
	MaxCalls   int           // running tool calls; others wait: 16 per processor
	Timeout    time.Duration // of a tool call, including waiting: 30 seconds

	// For HTTP only:
	MaxSessions int           // sessions open at once: 1024
	MaxEach     int           // sessions of one identity: 64
	Idle        time.Duration // after which a session without requests ends: 30 minutes
	Origins     []string      // such as "https://agents.example": their pages may send requests; "*" is any. See Handler
}

// MaxTurns limits the turns of one admit_turns. The schema repeats it.
const MaxTurns = 1000

// A Server serves a kernel to agents. It is safe for use by many goroutines.
type Server struct {
	kernel   *kernel.Kernel
	options  Options
	roles    map[access.Role]*sdk.Server // with the tools of each role, and nothing else
	places   chan struct{}               // holds a value for each running call
	sessions sessions
	tickets  tickets

	// Calls that read the memory and then change it hold a place of their tenant.
	remembering [64]chan struct{}
	mostFacts   int // of the memory, read in one call: MaxGraph
}

// New returns a server for a kernel. The caller keeps the ownership of the kernel.
func New(k *kernel.Kernel, o Options) *Server {
	return newServer(k, o, func(*sdk.ServerOptions) {}, func(*sdk.Server) {})
}

// newServer is New with additional tools: the conformance suite needs tools that no kernel has.
func newServer(k *kernel.Kernel, o Options, adjust func(*sdk.ServerOptions), add func(*sdk.Server)) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Version = cmp.Or(o.Version, "dev")
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.MaxCalls = cmp.Or(o.MaxCalls, 16*runtime.GOMAXPROCS(0))
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxSessions = cmp.Or(o.MaxSessions, 1024)
	o.MaxEach = cmp.Or(o.MaxEach, 64)
	o.Idle = cmp.Or(o.Idle, 30*time.Minute)
	s := &Server{kernel: k, options: o, roles: make(map[access.Role]*sdk.Server, len(access.Roles)), places: make(chan struct{}, o.MaxCalls), mostFacts: MaxGraph}
	for i := range s.remembering {
		s.remembering[i] = make(chan struct{}, 1)
	}
	s.sessions.most, s.sessions.each = o.MaxSessions, o.MaxEach
	for _, role := range access.Roles {
		s.roles[role] = s.forRole(role, adjust, add)
	}
	return s
}

// versions are the protocol versions covered by the conformance suite, and older ones. The next version has no
// sessions.
var versions = slices.DeleteFunc(sdk.SupportedProtocolVersions(), func(v string) bool { return v > "2025-11-25" })

// forRole returns the server with the tools and resources of a role.
func (s *Server) forRole(role access.Role, adjust func(*sdk.ServerOptions), add func(*sdk.Server)) *sdk.Server {
	o := &sdk.ServerOptions{
		Capabilities:              &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SupportedProtocolVersions: versions,
	}
	if role.May(access.Read) {
		o.Capabilities.Resources = &sdk.ResourceCapabilities{}
	}
	if role.May(access.Recall) {
		o.Capabilities.Resources, o.Capabilities.Prompts = &sdk.ResourceCapabilities{}, &sdk.PromptCapabilities{}
	}
	adjust(o)
	server := sdk.NewServer(&sdk.Implementation{Name: "graphkernel", Title: "Graph Kernel", Version: s.options.Version}, o)
	for _, t := range definitions() {
		if do := tools[t.Name]; role.May(do.permission) {
			server.AddTool(t, s.tool(t.Name, do))
		}
	}
	if role.May(access.Read) {
		addResources(s, server)
	}
	if role.May(access.Recall) {
		addBrief(s, server)
	}
	add(server)
	server.AddReceivingMiddleware(s.opening, selecting(s, role), s.inOrder)
	return server
}

// definitions returns the tools as clients see them. The arguments that limit answers are the same for all tools and
// are added here.
func definitions() []*sdk.Tool {
	names, said := describe.Tools()
	for _, spec := range api.Declared() {
		if spec.Tool != "" && said[spec.Tool] == "" {
			names = append(names, spec.Tool)
			said[spec.Tool] = describe.Operation(spec)
		}
	}
	list := make([]*sdk.Tool, len(names))
	for i, name := range names {
		t := tools[name]
		changes := t.permission == access.Admit || t.permission == access.Cut
		hints := &sdk.ToolAnnotations{ReadOnlyHint: !changes, IdempotentHint: changes, OpenWorldHint: new(bool)}
		if changes {
			hints.DestructiveHint = new(name == "knowledge_retract" || strings.HasPrefix(name, "delete_"))
		}
		input := describe.Arguments(t.arguments)
		properties := input["properties"].(describe.Schema) //nolint:forcetypeassert // arguments are structs
		if t.answers != short {
			properties["max_bytes"] = describe.Schema{"type": "integer", "minimum": LeastBytes, "description": fmt.Sprintf("Of the answer; %d if left out.", StandardBytes)}
		}
		if t.answers == inPages {
			properties["after"] = describe.Schema{"type": "string", "maxLength": 80, "description": "next of a cut answer."}
		}
		list[i] = &sdk.Tool{Name: name, Description: said[name], Annotations: hints, InputSchema: input}
	}
	return list
}

type identityKey struct{}

// with returns a context with the caller's identity. A session is opened with it, and every call of the session gets
// it.
func with(ctx context.Context, who access.Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}

// may returns the caller's identity, or an error without the permission. Tools and resources are only offered to
// callers who may use them, but this is the check that enforces it.
func may(ctx context.Context, p access.Permission) (access.Identity, error) {
	who, _ := ctx.Value(identityKey{}).(access.Identity)
	if !who.Role.May(p) {
		return access.Identity{}, refusef("the role %q may not %s", who.Role, p)
	}
	return who, nil
}

// guarded runs do when a place is free, within the timeout, and converts a panic into an error.
func guarded[T any](ctx context.Context, s *Server, do func(context.Context) (T, error)) (result T, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return result, fmt.Errorf("waiting for a place: %w", ctx.Err())
	}
	defer func() {
		<-s.places
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do(ctx)
}

// told returns the text of an error for the caller. An error that is not the caller's fault is logged under a number,
// and the text contains only the number.
func (s *Server) told(ctx context.Context, what string, err error) string {
	if text, code, ok := sentence(err); ok {
		if code == api.CodeStore || code == api.CodeForked { // the operator must know, too
			s.options.Log.WarnContext(ctx, "mcp: the store", "what", what, "err", err)
		}
		return text
	}
	id := rand.Text()[:13]
	who, _ := ctx.Value(identityKey{}).(access.Identity)
	s.options.Log.ErrorContext(ctx, "mcp: internal error", "request_id", id, "what", what,
		"tenant", who.Tenant, "subject", who.Subject, "err", err)
	return "internal error; the operator of this server finds it in the log under request id " + id
}
