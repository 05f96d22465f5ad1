package assemble_test

import (
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
	"github.com/graphkernel/graphkernel/token"
)

// A step is a turn of a random session, with what it is by how it was made.
type step struct {
	dag.Draft
	call, result, prompt bool
	of                   dag.TurnID // of a result: its call
	guest                bool
}

// steps makes a session of prompts, remarks, calls that touch a file, calls that touch nothing, and results. A key brings some of them: an agent's words are an agent's by any key, and a person's are a guest's.
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
			s.Role, s.Author, s.Content, s.call = dag.RoleAssistant, "model:helper", fmt.Sprintf("[tool_use Read]\n{\"file_path\":\"/src/shop/f%d.go\",\"offset\":%d}", r.IntN(4), i), true
			s.Attrs["blocks"], s.Attrs["tool"] = "tool_use", "Read"
			open = append(open, s.ID)
		default:
			at := r.IntN(len(open))
			s.Role, s.Author, s.Content, s.result, s.of = dag.RoleTool, "tool:Read", fmt.Sprintf("[tool_result]\npackage f%d", i), true, open[at]
			s.Attrs["blocks"], s.Attrs["tool"] = "tool_result", "Read"
			if open = slices.Delete(open, at, at+1); s.of != all[i-1].ID {
				s.Parents = append(s.Parents, dag.Parent{ID: s.of, Kind: dag.Merge})
			}
		}
		if s.guest && s.prompt { // the words of a person, by a key that speaks for nobody
			s.prompt = false
		}
		all = append(all, s)
	}
	return all
}

// shares returns the features that turns have as calls and results, by the words of docs/contexts.md.
func shares(all []step, quota int) map[dag.TurnID]dag.PPM {
	of, text, tools := map[dag.TurnID]dag.PPM{}, 0, 0
	var calls []step
	for _, s := range all {
		text += len(s.Content)
		if s.call || s.Role == dag.RoleTool {
			tools += len(s.Content)
		}
		if s.call {
			calls = append(calls, s)
		}
	}
	slices.Reverse(calls)
	share := 1_000_000 * tools / text
	for n := 0; n < len(calls) && len(of) < quota; n++ {
		c, v := calls[n], dag.PPM(share*(quota-n)/quota)
		of[c.ID] = v
		for _, s := range all {
			if len(of) < quota && s.result && slices.ContainsFunc(s.Parents, func(p dag.Parent) bool { return p.ID == c.ID }) {
				of[s.ID] = max(of[s.ID], v)
			}
		}
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
	p.Quotas[contexts.FromCalls], p.Budget = 7, 100_000
	must(0, k.Policies().Register(t.Context(), tenant, must(policy.Bind("few-calls@1", p))))
	key := access.As(t.Context(), access.Identity{Subject: "0123456789abcdef", Role: access.Agent})
	calls, results := 0, 0
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
		want := shares(past, 7)
		i := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "the parser", Anchor: anchor.String(), Policy: "few-calls@1", Budget: 100_000}))
		got := map[dag.TurnID]dag.PPM{}
		for j := range i.Context.Candidates {
			c := &i.Context.Candidates[j]
			if !c.From[contexts.FromCalls] {
				continue
			}
			got[must(dag.ParseTurnID(c.ID))] = c.Features[contexts.FeatureCall] + c.Features[contexts.FeatureResult]
			if c.Features[contexts.FeatureCall] > 0 {
				calls++
			} else {
				results++
			}
		}
		for _, s := range past {
			prompt := slices.ContainsFunc(i.Context.Candidates, func(c contexts.Candidate) bool {
				return c.ID == s.ID.String() && c.Features[contexts.FeaturePrompt] > 0
			})
			if got[s.ID] != want[s.ID] || prompt != (s.prompt && len(want) > 0) {
				t.Fatalf("session %d around %d: turn %s %q (guest %v) has the share %d, want %d; a prompt %v, want %v", n, until, s.Role, s.Content, s.guest, got[s.ID], want[s.ID], prompt, s.prompt)
			}
		}
		if err := failed(i.Context); err != nil {
			t.Fatal(err)
		}
		if r := must(k.Slices().Replay(t.Context(), tenant, i.Bundle)); r.Outcome != kernel.Identical {
			t.Fatalf("replay: %s, %s", r.Outcome, r.Reason)
		}
	}
	if calls < 50 || results < 20 {
		t.Errorf("%d calls and %d results", calls, results)
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
	must(k.Turns().Admit(t.Context(), tenant, drafts))
	turns := func(q api.ContextRequest) (ids []dag.TurnID) {
		q.Budget = 600
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
	if ids := turns(api.ContextRequest{Anchor: last.String()}); !slices.Contains(ids, last) || !slices.Contains(ids, drafts[28].ID) {
		t.Errorf("without a task: %v", ids)
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
