package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/server/mcp"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// What agents may do leaves persons' beliefs and constraints as they are. A world is a tenant in which a person has said some things. An agent does a few things to it, by
// three doors: the service, the tools, and a program that embeds the kernel. Then a person goes on. All that a person vouches for, all constraints and all that contexts
// have of them are what they are in a world without the agent.

const (
	powerSpace = "acme/s"
	neverDrop  = "kref://acme/s/never.hard_rule"
	agentsOwn  = "kref://acme/s/own.fact"
)

// A powers is a kernel with its service, on which worlds are made.
type powers struct {
	t      testing.TB
	kernel *kernel.Kernel
	store  *inmem.Store
	served http.Handler
	tools  *mcp.Server
	worlds int
}

func newPowers(t testing.TB) *powers {
	t.Helper()
	selection, err := mcp.ParseTools(mcp.All)
	if err != nil {
		t.Fatal(err)
	}
	p := &powers{t: t}
	s := start(t, func(c *server.Config) {
		p.tools = mcp.New(c.Kernel, mcp.Options{Tools: selection})
		c.MCP = p.tools.Handler
	})
	p.kernel, p.served, p.store = s.kernel, s.server, s.store.(*inmem.Store)
	return p
}

// A world is a tenant.
type world struct {
	*powers
	tenant dag.Tenant
	key    string // of the agent
	agent  access.Identity
	person context.Context
	lines  map[access.Role]*session // of tools over stdio
}

// newWorld makes a world in which a person has said some things, and an agent one.
func (p *powers) newWorld() *world {
	p.t.Helper()
	p.worlds++
	w := &world{powers: p, tenant: dag.Tenant(fmt.Sprint("w", p.worlds)), lines: map[access.Role]*session{}}
	w.person = access.As(p.t.Context(), access.Identity{Tenant: w.tenant, Subject: access.Local, Role: access.Admin})
	text, key, err := p.kernel.Keys().Create(w.person, w.tenant, access.Agent, "")
	w.must(err)
	w.key, w.agent = text, key.Identity()
	bound, err := policy.Bind("desk@1", kinds.New(belief.Constraints{Functional: []string{"prefers"}}, nil))
	w.must(err)
	w.must(p.kernel.Policies().Register(w.person, w.tenant, bound))
	for _, line := range []struct{ op, body string }{
		{"setSpace", `{"space":"acme/s","policy":"desk@1"}`},
		{"setSpace", `{"space":"acme/t"}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/never.hard_rule","title":"Never drop a table","summary":"Ask the owner first.","statements":[{"subject":"agent","predicate":"drops","object":"table","not":true}]}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/ask.instruction","statements":[{"subject":"agent","predicate":"asks","object":"owner"}]}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/editor.preference","statements":[{"subject":"anna","predicate":"prefers","object":"vim"}],"confidence":0.4}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/orders.fact","title":"Orders","statements":[{"subject":"orders","predicate":"is-in","object":"postgres"}],"confidence":0.4}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/way.fact","statements":[{"subject":"orders","predicate":"is-safe","object":"yes"}],"premises":[{"subject":"orders","predicate":"is-in","object":"postgres"}]}`},
		{"reviseBeliefs", `{"space":"acme/t","item":"kref://acme/t/quiet.hard_rule","statements":[{"subject":"agent","predicate":"shouts","object":"never"}]}`},
	} {
		w.must(w.does(w.person, line.op, line.body))
	}
	w.must(w.does(access.As(p.t.Context(), w.agent), "proposeBeliefs", `{"space":"acme/s","item":"`+agentsOwn+`","statements":[{"subject":"shop","predicate":"is","object":"open"}]}`))
	_, err = p.kernel.Turns().Admit(w.person, w.tenant, []dag.Draft{draftOf(p.t, turn(1)), draftOf(p.t, turn(2, 1))})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// does asks the kernel, as a program that embeds it.
func (w *world) does(ctx context.Context, id, body string) error {
	op, found := w.kernel.Answer(id)
	if !found {
		return fmt.Errorf("no facet answers %s", id)
	}
	v, err := canon.ParseSparse([]byte(body), 1<<16)
	if err != nil {
		return err
	}
	c := canon.Open(v)
	in := op.Read(c)
	if err := c.Err(); err != nil {
		return err
	}
	_, err = op.Ask(ctx, w.tenant, in)
	return err
}

// An act is something that an agent does, by one of the doors.
type act struct {
	door, name string
	keeps      bool // it changes what has no number
	renames    bool // it changes what names mean, also those that a person uses later
	do         func(w *world) error
}

func (a act) String() string { return a.door + " " + a.name }

// served asks the service with the agent's key.
func (w *world) asks(method, path, body string) error {
	r := httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(w.t.Context())
	r.Header.Set("Authorization", "Bearer "+w.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a := httptest.NewRecorder()
	w.served.ServeHTTP(a, r)
	if a.Code >= 500 && a.Code != http.StatusServiceUnavailable {
		w.t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	if a.Code != http.StatusOK {
		return fmt.Errorf("%d %.300s", a.Code, a.Body)
	}
	return nil
}

// A session is one of tools, over pipes.
type session struct {
	to   io.WriteCloser
	from *bufio.Scanner
	done chan error
	n    int
}

func (w *world) open(role access.Role) *session {
	if s := w.lines[role]; s != nil {
		return s
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	s := &session{to: to, from: bufio.NewScanner(from), done: make(chan error, 1)}
	s.from.Buffer(nil, 16<<20)
	go func() {
		s.done <- w.tools.ServeStdio(context.WithoutCancel(w.t.Context()), access.Identity{Tenant: w.tenant, Role: role, Subject: access.Stdio}, in, out)
		_ = out.Close()
	}()
	w.lines[role] = s
	w.must(s.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	_, err := io.WriteString(s.to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	w.must(err)
	return s
}

// close ends the sessions of a world.
func (w *world) close() {
	for _, s := range w.lines {
		_ = s.to.Close()
		for s.from.Scan() { // what was on its way
		}
		<-s.done
	}
}

func (s *session) call(method, params string) error {
	s.n++
	if _, err := fmt.Fprintf(s.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.n, method, params); err != nil {
		return err
	}
	for s.from.Scan() {
		var a struct {
			ID     int             `json:"id"`
			Error  json.RawMessage `json:"error"`
			Result struct {
				IsError bool            `json:"isError"`
				Content json.RawMessage `json:"content"`
			} `json:"result"`
		}
		if err := json.Unmarshal(s.from.Bytes(), &a); err != nil || a.ID != s.n {
			continue
		}
		if a.Error != nil || a.Result.IsError {
			return fmt.Errorf("%s %.300s", a.Error, a.Result.Content)
		}
		return nil
	}
	return errors.Join(io.ErrUnexpectedEOF, s.from.Err())
}

func draftOf(t testing.TB, of map[string]any) dag.Draft {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	d, err := readTurn(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A power is all that a person and a reader of contexts see of what persons said.
type power struct{ constraints, vouched, contexts, orders []string }

func (a *power) differs(b *power) string {
	for _, part := range []struct {
		what      string
		got, want []string
	}{{"constraints", a.constraints, b.constraints}, {"what persons vouch for", a.vouched, b.vouched}, {"contexts", a.contexts, b.contexts}, {"turns that are orders", a.orders, b.orders}} {
		if !slices.Equal(part.got, part.want) {
			return fmt.Sprintf("%s:\n%s\nwant\n%s", part.what, strings.Join(part.got, "\n"), strings.Join(part.want, "\n"))
		}
	}
	return ""
}

// seen reads a world.
func (w *world) seen() *power {
	w.t.Helper()
	out := &power{}
	for _, space := range []belief.Space{powerSpace, "acme/t"} {
		rules, err := w.kernel.Beliefs().Constraints(w.person, w.tenant, space, 0)
		w.must(err)
		for i := range rules.Held {
			out.constraints = append(out.constraints, contexts.BeliefText(rules.Held[i].Revision))
		}
		all, err := w.kernel.Beliefs().Held(w.person, w.tenant, space, 0, nil)
		w.must(err)
		for i := range all.Held {
			if s, r := all.Held[i].Stated(), all.Held[i].Revision; s.Rank.Class >= belief.Human {
				out.vouched = append(out.vouched, fmt.Sprintf("%s %+v %v %v %d %q %q %s", r.Item.Kind(), s.Literal, s.Premises, s.Span, s.Rank.Class, r.Title, r.Summary, r.Confidence))
			}
		}
	}
	for _, ctx := range []context.Context{w.person, access.As(w.t.Context(), w.agent)} {
		for _, spaces := range [][]belief.Space{nil, {powerSpace}, {"acme/t"}} {
			i, err := w.kernel.Contexts().Assemble(ctx, w.tenant, api.ContextRequest{Task: "which table, editor and orders", Spaces: spaces})
			if err != nil {
				out.contexts = append(out.contexts, err.Error())
				continue
			}
			for n := range i.Context.Candidates {
				if c := &i.Context.Candidates[n]; c.Mandatory() {
					at := slices.IndexFunc(i.Context.Beliefs, func(r journal.Revision) bool { return r.Address().String() == c.ID })
					out.contexts = append(out.contexts, fmt.Sprint(spaces, " ", contexts.BeliefText(&i.Context.Beliefs[at])))
				}
			}
		}
	}
	conversations, err := w.kernel.Turns().Conversations(w.person, w.tenant, dag.ConversationID{}, 1_000)
	w.must(err)
	for i := range conversations {
		of, err := w.kernel.Standings().List(w.person, w.tenant, api.StandingsQuery{Conversation: &conversations[i].ID, Paging: api.Paging{Limit: 1_000}})
		w.must(err)
		for n := range of.Turns {
			if s := &of.Turns[n]; s.Standing == "system" || s.Standing == "owner" || s.Standing == "member" {
				out.orders = append(out.orders, fmt.Sprint(s.Turn, " ", s.Standing))
			}
		}
	}
	slices.Sort(out.constraints)
	slices.Sort(out.vouched)
	slices.Sort(out.orders)
	slices.Sort(out.contexts)
	return out
}

// goesOn has a person say more, take back what the agent proposed, and run the rules.
func (w *world) goesOn() {
	w.t.Helper()
	for _, line := range []struct{ op, body string }{
		{"reviseBeliefs", `{"space":"acme/s","kind":"hard_rule","key":"follow-1","title":"The valve","summary":"It stays shut.","statements":[{"subject":"agent","predicate":"opens","object":"valve","not":true}]}`},
		{"reviseBeliefs", `{"space":"acme/s","item":"kref://acme/s/later.hard_rule","statements":[{"subject":"agent","predicate":"waits","object":"always"}]}`},
		{"reviseBeliefs", `{"space":"acme/s","kind":"preference","statements":[{"subject":"bo","predicate":"prefers","object":"tea"}]}`},
		{"cascadeBeliefs", `{"space":"acme/s"}`}, {"decayBeliefs", `{"space":"acme/s"}`}, {"promoteBeliefs", `{"space":"acme/s"}`}, {"cascadeBeliefs", `{"space":"acme/t"}`},
	} {
		w.must(w.does(w.person, line.op, line.body))
	}
	for _, space := range []belief.Space{powerSpace, "acme/t"} {
		all, err := w.kernel.Beliefs().Held(w.person, w.tenant, space, 0, nil)
		w.must(err)
		for i := range all.Held {
			if r := all.Held[i].Revision; all.Held[i].At == 0 && !slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Rank.Class >= belief.Human }) {
				done, err := w.kernel.Beliefs().Deprecate(w.person, w.tenant, api.Deprecation{Ref: r.Item})
				if err != nil || done.Outcome != journal.Changed {
					w.t.Errorf("%s cannot be taken back: %+v, %v", r.Item, done, err)
				}
			}
		}
	}
	w.must(w.does(w.person, "cascadeBeliefs", `{"space":"acme/s"}`))
}

// heads are how much the world holds, by which an act that changes nothing is known.
func (w *world) head() dag.Seq {
	h, err := w.store.Head(w.person, w.tenant)
	w.must(err)
	return h
}

// compare does some acts in a world of its own, and compares it with one without them, before and after a person goes on.
func (p *powers) compare(acts []act, before, after *power) (changed bool) {
	p.t.Helper()
	w := p.newWorld()
	defer w.close()
	head, renames := w.head(), false
	for _, a := range acts {
		_ = a.do(w) // most are refused
		renames = renames || a.renames
	}
	changed = w.head() != head
	if d := w.seen().differs(before); d != "" {
		p.t.Fatalf("%v: %s", acts, d)
	}
	if renames {
		return changed
	}
	w.goesOn()
	if d := w.seen().differs(after); d != "" {
		p.t.Fatalf("%v, and a person goes on: %s", acts, d)
	}
	return changed
}

// without is what there is where no agent does anything.
func (p *powers) without() (before, after *power) {
	w := p.newWorld()
	before = w.seen()
	w.goesOn()
	return before, w.seen()
}

// TestPowerOfTwo does everything that an agent may do, and every two things that change something, one after another.
func TestPowerOfTwo(t *testing.T) {
	if race.Enabled {
		t.Skip("one thing after another: nothing for the race detector")
	}
	p := newPowers(t)
	before, after := p.without()
	if len(before.constraints) != 3 || len(after.constraints) != 5 || len(before.contexts) != 12 || len(before.orders) == 0 {
		t.Fatalf("%+v, %+v", before, after)
	}
	acts := actsOf(t)
	var changing []act
	for _, a := range acts {
		if p.compare([]act{a}, before, after) || a.keeps {
			changing = append(changing, a)
		}
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	share := 1
	if testing.Short() {
		share = 40
	}
	t.Logf("seed %d: %d acts, %d of them change something; one pair in %d", seed, len(acts), len(changing), share)
	if len(acts) < 120 || len(changing) < 40 {
		t.Fatal("too few to tell")
	}
	var pairs [][]act
	for _, one := range changing {
		for _, two := range acts { // an act that changes nothing by itself may do so after another
			if r.IntN(share) == 0 {
				pairs = append(pairs, []act{one, two})
			}
		}
	}
	if len(pairs) < len(changing)*len(acts)/share/2 {
		t.Errorf("%d pairs of %d", len(pairs), len(changing)*len(acts))
	}
	t.Logf("%d pairs", len(pairs))
	inBatches(t, len(pairs), func(p *powers, n int) { p.compare(pairs[n], before, after) })
}

// inBatches calls do for each number below a count, a few hundred on one kernel.
func inBatches(t *testing.T, count int, do func(p *powers, n int)) {
	t.Helper()
	const each = 200
	for from := 0; from < count; from += each {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			p := newPowers(t)
			for n := from; n < min(from+each, count); n++ {
				do(p, n)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// TestPowerOfFive does five things at random, 100 000 times.
func TestPowerOfFive(t *testing.T) {
	if race.Enabled {
		t.Skip("one thing after another: nothing for the race detector")
	}
	p := newPowers(t)
	before, after := p.without()
	acts := actsOf(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	runs := 100_000
	if testing.Short() {
		runs = 200
	}
	t.Logf("seed %d", seed)
	changed := 0
	inBatches(t, runs, func(p *powers, _ int) {
		var five []act
		for range 5 {
			five = append(five, acts[r.IntN(len(acts))])
		}
		if p.compare(five, before, after) {
			changed++
		}
	})
	if changed < runs/2 {
		t.Errorf("%d of %d runs changed something", changed, runs)
	}
}
