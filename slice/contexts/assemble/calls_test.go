package assemble_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

// A step is a turn of a random session, with what it is by how it was made.
type step struct {
	dag.Draft
	call, result, prompt   bool
	file                   int  // of a call
	writes, fails, answers bool // of a call; of a result; of what a person says in its place
	guest                  bool
}

// steps makes a session of prompts, remarks, calls that read or write a file, calls that touch nothing, results of which some say that the call failed, and answers of a person in the place
// of a result. A key brings some of them: an agent's words are an agent's by any key, and a person's are a guest's.
func steps(r *rand.Rand, name string, n int) (all []step) {
	in := dag.ExternalConversationID("calls", name)
	var open []dag.TurnID // calls without a result
	for i := range n {
		s := step{Draft: dag.Draft{ID: dag.ExternalTurnID("calls", fmt.Sprint(name, i)), Conversation: in, CreatedAt: dag.Time(1_770_000_000_000_000 + int64(i)*1_000_000), Attrs: map[string]string{}}}
		s.guest = i > 3 && r.IntN(6) == 0
		if i > 0 {
			s.Parents = []dag.Parent{{ID: all[i-1].ID, Kind: dag.Reply}}
		}
		switch kind := r.IntN(7); {
		case kind == 0 || i == 0:
			s.Role, s.Author, s.Content, s.prompt = dag.RoleUser, "human:lead", fmt.Sprintf("Prompt %d about the parser.", i), true
		case kind == 1:
			s.Role, s.Author, s.Content = dag.RoleAssistant, "model:helper", fmt.Sprintf("Remark %d.", i)
		case kind == 2:
			s.Role, s.Author, s.Content = dag.RoleAssistant, "model:helper", fmt.Sprintf("[tool_use Think]\n{\"thought\":\"%d\"}", i)
			s.Attrs["blocks"], s.Attrs["tool"] = "tool_use", "Think"
		case kind < 5 || len(open) == 0:
			s.Attrs["blocks"], s.Attrs["tool"], s.file, s.writes = "tool_use", "Read", r.IntN(4), r.IntN(2) == 0
			if s.writes {
				s.Attrs["tool"] = []string{"Edit", "Write", "Edit,Write"}[r.IntN(3)]
			}
			s.Role, s.Author, s.call = dag.RoleAssistant, "model:helper", true
			for tool := range strings.SplitSeq(s.Attrs["tool"], ",") {
				s.Content += fmt.Sprintf("[tool_use %s]\n{\"file_path\":\"/src/shop/f%d.go\",\"offset\":%d}\n\n", tool, s.file, i)
			}
			s.Content = strings.TrimSpace(s.Content)
			open = append(open, s.ID)
		default:
			at := r.IntN(len(open))
			of := open[at]
			s.Role, s.Author, s.Content, s.result = dag.RoleTool, "tool:Read", fmt.Sprintf("[tool_result]\npackage f%d", i), true
			s.Attrs["blocks"], s.Attrs["tool"] = "tool_result", "Read"
			if s.fails = r.IntN(3) == 0; s.fails {
				s.Content, s.Attrs["is_error"] = fmt.Sprintf("[tool_result error]\nno f%d", i), "true"
			}
			if s.answers = !s.guest && r.IntN(4) == 0; s.answers {
				s.Author, s.result, s.prompt = "human:lead", false, true
			}
			if open = slices.Delete(open, at, at+1); of != all[i-1].ID {
				s.Parents = append(s.Parents, dag.Parent{ID: of, Kind: dag.Merge})
			}
		}
		if s.guest && s.prompt { // the words of a person, by a key that speaks for nobody
			s.prompt = false
		}
		all = append(all, s)
	}
	return all
}

// A share is what turns have as calls and results, how much less it is since they no longer hold, how much less since they are long, and what they have as last turns.
type share struct{ has, less, long, last dag.PPM }

// shares returns the shares of calls and results, by the words of docs/contexts.md.
func shares(all []step, quota, budget int) map[dag.TurnID]share {
	text, tools := 0, 0
	var calls []step
	for _, s := range all {
		text += len(s.Content)
		if s.call || s.result {
			tools += len(s.Content)
		}
		if s.call {
			calls = append(calls, s)
		}
	}
	slices.Reverse(calls)
	calls = calls[:min(len(calls), quota)]
	results := func(c step) (of []step) {
		for _, s := range all {
			if s.Role == dag.RoleTool && slices.ContainsFunc(s.Parents, func(p dag.Parent) bool { return p.ID == c.ID }) {
				of = append(of, s)
			}
		}
		return of
	}
	less := map[dag.TurnID][]int{} // in eighths, for each call that it belongs to
	written := map[int]bool{}
	for _, c := range calls {
		call, result := 0, 0
		theirs := results(c)
		failed := len(theirs) > 0 && !slices.ContainsFunc(theirs, func(s step) bool { return !s.fails })
		if !slices.ContainsFunc(theirs, func(s step) bool { return s.answers }) {
			if c.writes && failed && written[c.file] {
				call, result = 8, 8
			} else if c.writes && failed {
				call = 6
			} else if c.writes {
				result = 8
			} else if written[c.file] {
				result = 1
			}
			if c.writes && !failed {
				written[c.file] = true
			}
		}
		less[c.ID] = append(less[c.ID], call)
		for _, s := range theirs {
			less[s.ID] = append(less[s.ID], result)
		}
	}
	all1 := 1_000_000 * tools / text
	of, n := map[dag.TurnID]share{}, 0
	for id, l := range less {
		of[id] = share{less: dag.PPM(all1 * slices.Min(l) / 8)}
	}
	for i, c := range calls {
		for _, s := range append([]step{c}, results(c)...) {
			if known := of[s.ID]; n < quota && slices.Min(less[s.ID]) < 8 && known.has == 0 && !s.answers {
				of[s.ID] = share{has: dag.PPM(all1 * (quota - i) / quota), less: known.less}
				n++
			}
		}
	}
	recent, prompted, answers := max(all1, 6_000), false, 0
	for i, s := range slices.Backward(all) {
		known := of[s.ID]
		if !s.prompt {
			known.long = dag.PPM(all1 * ((len(s.Content) + 3) / 4) / budget)
		}
		says := s.Role == dag.RoleAssistant && s.Attrs["blocks"] == ""
		if n := len(all) - 1 - i; n < 4 {
			known.last = dag.PPM(recent * (4 - n) / 4)
			if !says && !s.prompt {
				known.last /= 2
			}
		} else if says && prompted && answers < 2 {
			known.last = dag.PPM(recent * (2 - answers) / 2)
			answers++
		}
		if says || s.prompt {
			prompted = s.prompt
		}
		of[s.ID] = known
	}
	return of
}

// TestCalls compares the calls and results among the candidates of random sessions with a simple computation.
func TestCalls(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	p := contexts.Default()
	p.Quotas[contexts.FromCalls], p.Quotas[contexts.FromRecent], p.Budget = 7, 6, 4_000
	must(0, k.Policies().Register(t.Context(), tenant, must(policy.Bind("few-calls@1", p))))
	key := access.As(t.Context(), access.Identity{Subject: "0123456789abcdef", Role: access.Agent})
	calls, results, lost := 0, 0, 0
	for n := range 40 {
		all := steps(r, fmt.Sprint(n, " ", seed), 4+r.IntN(40))
		for _, s := range all {
			ctx := t.Context()
			if s.guest {
				ctx = key
			}
			must(k.Turns().Admit(ctx, tenant, []dag.Draft{s.Draft}))
		}
		until := 1 + r.IntN(len(all)) // the anchor may be in the middle
		past := all[:until]
		anchor := past[until-1].ID
		want := shares(past, 7, 4_000)
		i := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the parser", Anchor: anchor.String(), Policy: "few-calls@1", Budget: 4_000}))
		got, called := map[dag.TurnID]share{}, slices.ContainsFunc(past, func(s step) bool { return s.call || s.result })
		for j := range i.Context.Candidates {
			c := &i.Context.Candidates[j]
			id := must(dag.ParseTurnID(c.ID))
			got[id] = share{c.Features[contexts.FeatureCall] + c.Features[contexts.FeatureResult], c.Features[contexts.FeatureSuperseded], c.Features[contexts.FeatureLength], c.Features[contexts.FeatureRecent]}
			if from := c.From[contexts.FromCalls]; from != (want[id].has > 0) {
				t.Fatalf("session %d around %d: turn %s comes from calls: %v", n, until, id, from)
			}
			switch {
			case c.Features[contexts.FeatureCall] > 0:
				calls++
			case c.Features[contexts.FeatureResult] > 0:
				results++
			}
			if got[id].less > 0 {
				lost++
			}
		}
		for _, s := range past {
			prompt := slices.ContainsFunc(i.Context.Candidates, func(c contexts.Candidate) bool {
				return c.ID == s.ID.String() && c.Features[contexts.FeaturePrompt] > 0
			})
			of, found := got[s.ID]
			if found && of != want[s.ID] || !found && want[s.ID].has+want[s.ID].last > 0 || prompt != (s.prompt && called) {
				t.Fatalf("session %d around %d: turn %s %q (guest %v) has the share %v, want %v; a prompt %v, want %v", n, until, s.Role, s.Content, s.guest, of, want[s.ID], prompt, s.prompt)
			}
		}
		if err := failed(i.Context); err != nil {
			t.Fatal(err)
		}
		if r := must(k.Slices().Replay(t.Context(), tenant, i.Bundle)); r.Outcome != kernel.Identical {
			t.Fatalf("replay: %s, %s", r.Outcome, r.Reason)
		}
	}
	if calls < 50 || results < 20 || lost < 20 {
		t.Errorf("%d calls and %d results, of which %d no longer hold", calls, results, lost)
	}
}

// failed returns an error if a check of a context failed.
func failed(b *contexts.Bundle) error {
	for _, c := range b.Check() {
		if c.Status == "fail" && c.ID != "token" {
			return fmt.Errorf("%s: %s", c.ID, c.Detail)
		}
	}
	return nil
}

// TestChat asks around turns of a chat of a person with a model: an anchor takes no room from what the task asks for. Without a task, the last turns are there.
func TestChat(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	in := dag.ExternalConversationID("chat", "one")
	var drafts []dag.Draft
	for i := range 30 {
		d := dag.Draft{ID: dag.ExternalTurnID("chat", fmt.Sprint(i)), Conversation: in, Role: dag.RoleUser, Author: "human:lead", Content: fmt.Sprintf("Tell me about matter %d.", i), CreatedAt: dag.Time(1_770_000_000_000_000 + int64(i)*1_000_000)}
		if i%2 == 1 {
			d.Role, d.Author, d.Content = dag.RoleAssistant, "model:helper", fmt.Sprintf("Of matter %d there is much to say: %s", i-1, strings.Repeat("zebra and more. ", 20))
		}
		if i > 0 {
			d.Parents = []dag.Parent{{ID: drafts[i-1].ID, Kind: dag.Reply}}
		}
		drafts = append(drafts, d)
	}
	thanks := dag.Draft{ID: dag.ExternalTurnID("chat", "thanks"), Conversation: in, Role: dag.RoleUser, Author: "human:lead", Content: "Thanks.", CreatedAt: dag.Time(1_770_000_100_000_000), Parents: []dag.Parent{{ID: drafts[29].ID, Kind: dag.Reply}}}
	must(k.Turns().Admit(t.Context(), tenant, append(drafts, thanks)))
	turns := func(q api.ContextRequest) (ids []dag.TurnID) {
		q.Budget = cmp.Or(q.Budget, 600)
		b := must(k.Contexts().Assemble(t.Context(), tenant, q)).Context
		for i := range b.Turns {
			ids = append(ids, b.Turns[i].ID)
		}
		return ids
	}
	last := drafts[29].ID
	with, without := turns(api.ContextRequest{Task: "zebra of matter 4", Anchor: last.String()}), turns(api.ContextRequest{Task: "zebra of matter 4"})
	for _, id := range []dag.TurnID{drafts[4].ID, drafts[5].ID} {
		if !slices.Contains(with, id) || !slices.Contains(without, id) {
			t.Errorf("turn %s is not there: with an anchor %v, without %v", id, with, without)
		}
	}
	if ids := turns(api.ContextRequest{Task: "zebra of matter 4", Anchor: thanks.ID.String(), Budget: 8000}); !slices.Contains(ids, thanks.ID) {
		t.Errorf("what was just said is not there, and there is room: %v", ids)
	}
	for _, c := range must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "zebra of matter 4", Anchor: thanks.ID.String()})).Context.Candidates {
		if v := c.Features[contexts.FeatureRecent]; c.ID == thanks.ID.String() && v != 6_000 || c.Features[contexts.FeatureLength]+c.Features[contexts.FeaturePrompt] > 0 {
			t.Errorf("in a chat turn %s has %d as a last turn, %d as a prompt and the length %d", c.ID, v, c.Features[contexts.FeaturePrompt], c.Features[contexts.FeatureLength])
		}
	}
	if ids := turns(api.ContextRequest{Anchor: last.String()}); !slices.Contains(ids, last) || !slices.Contains(ids, drafts[28].ID) {
		t.Errorf("without a task: %v", ids)
	}
}

// TestCallsOutside has the words of an agent count as data, by a rule of standing: what it did is then no source of contexts.
func TestCallsOutside(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	all := steps(rand.New(rand.NewPCG(3, 3)), "outside", 30)
	for _, s := range all {
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{s.Draft}))
	}
	calls := func() (n int) {
		b := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the parser", Anchor: all[29].ID.String()})).Context
		if err := failed(b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Candidates {
			if b.Candidates[i].From[contexts.FromCalls] {
				n++
			}
		}
		return n
	}
	if calls() == 0 {
		t.Fatal("no call is a candidate")
	}
	must(0, k.Policies().Register(t.Context(), tenant, must(policy.Bind("doubtful@1", standing.NewPolicy(standing.Rule{Role: dag.RoleAssistant, Standing: standing.Outside})))))
	must(k.Standings().Set(t.Context(), tenant, api.NewStanding{PolicyID: "doubtful@1", Retroactive: true}))
	if n := calls(); n != 0 {
		t.Errorf("%d candidates come from the calls of an agent whose words count as data", n)
	}
}

// TestAnswers has a person answer in the place of a tool's result: the answer is a prompt. The result of a tool is none.
func TestAnswers(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	in := dag.ExternalConversationID("answers", "one")
	var drafts []dag.Draft
	for i, d := range []dag.Draft{
		{Role: dag.RoleUser, Author: "human:lead", Content: "Mend the parser."},
		{Role: dag.RoleAssistant, Author: "model:helper", Content: "[tool_use Read]\n{\"file_path\":\"/src/shop/a.go\"}", Attrs: map[string]string{"blocks": "tool_use", "tool": "Read"}},
		{Role: dag.RoleTool, Author: "tool:Read", Content: "[tool_result]\npackage a"},
		{Role: dag.RoleAssistant, Author: "model:helper", Content: "[tool_use Edit]\n{\"file_path\":\"/src/shop/a.go\"}", Attrs: map[string]string{"blocks": "tool_use", "tool": "Edit"}},
		{Role: dag.RoleTool, Author: "human:lead", Content: "No, in the lexer.", Attrs: map[string]string{"blocks": "tool_result"}},
	} {
		d.ID, d.Conversation, d.CreatedAt = dag.ExternalTurnID("answers", fmt.Sprint(i)), in, dag.Time(1_770_000_000_000_000+int64(i))
		if i > 0 {
			d.Parents = []dag.Parent{{ID: drafts[i-1].ID, Kind: dag.Reply}}
		}
		drafts = append(drafts, d)
	}
	must(k.Turns().Admit(t.Context(), tenant, drafts))
	b := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the parser", Anchor: drafts[4].ID.String()})).Context
	for i := range b.Candidates {
		c := &b.Candidates[i]
		want := c.ID == drafts[0].ID.String() || c.ID == drafts[4].ID.String()
		if got := c.Features[contexts.FeaturePrompt] > 0; got != want {
			t.Errorf("%s: a prompt %v, want %v", c.ID, got, want)
		}
	}
}
