package find_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

// A line is a turn of a random conversation, as its reference sees it.
type line struct {
	dag.Draft
	seq     dag.Seq
	prompt  bool
	words   bool // it is the agent's, and says something
	gone    bool // it has no text
	parents []*line
}

// asked returns the prompt before a line: of the first prompts on all paths, the newest.
func (l *line) asked() (newest *line) {
	for _, p := range l.parents {
		if !p.prompt {
			p = p.asked()
		}
		if p != nil && (newest == nil || p.seq > newest.seq) {
			newest = p
		}
	}
	return newest
}

// shown returns what a counterpart shows of a line; "" for none.
func (l *line) shown() string {
	if l == nil || l.gone {
		return ""
	}
	return fmt.Sprint(l.ID, " ", l.Author, " ", strings.TrimSpace(l.Content))
}

func shown(c *api.Counterpart) string {
	if c == nil {
		return ""
	}
	return fmt.Sprint(c.Turn, " ", c.Author, " ", c.Content)
}

// drawLine draws the next turn of a conversation, and admits it.
func drawLine(t *testing.T, k *kernel.Kernel, r *rand.Rand, before []*line) *line {
	t.Helper()
	n := len(before)
	l := &line{Draft: dag.Draft{ID: dag.ExternalTurnID("exchange", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("exchange", fmt.Sprint(r.IntN(8)/7)), CreatedAt: dag.Time(n), Content: fmt.Sprintf(" word %d\n", n)}}
	who := access.Identity{}
	switch r.IntN(10) {
	case 0, 1:
		l.Role, l.Author, l.prompt = dag.RoleUser, []string{"human:lead", "human:reviewer", "human:visitor"}[r.IntN(3)], true
	case 2:
		l.Role, l.Author, l.prompt = dag.RoleUser, "agent:caller", true
	case 3: // a key brings it in the name of a person for whom it does not speak
		l.Role, l.Author, who = dag.RoleUser, "human:lead", bringers[3]
	case 4:
		l.Role, l.Author = dag.RoleTool, "tool:bash"
	case 5:
		l.Role, l.Author, l.Attrs = dag.RoleAssistant, "agent:claude", map[string]string{"blocks": []string{"tool_use", "thinking", "thinking,tool_use"}[r.IntN(3)]}
	case 6:
		l.Role, l.Author, l.Attrs, l.words = dag.RoleAssistant, "agent:claude", map[string]string{"blocks": "text,tool_use"}, true
	default:
		l.Role, l.Author, l.words = dag.RoleAssistant, "agent:claude", true
	}
	if r.IntN(12) == 0 {
		l.Author, l.Content, l.Attrs, l.Redacted, l.BodyDigest, l.gone, who = "", "", nil, true, dag.Digest{byte(n + 1)}, true, access.Identity{}
		l.Phase, l.HasSalience = dag.Planning, true
		l.prompt = l.Role == dag.RoleUser // nobody knows any more who said it
	}
	for range min(n, []int{0, 1, 1, 1, 1, 2}[r.IntN(6)]) {
		p := before[max(0, n-1-r.IntN(3))]
		if slices.ContainsFunc(l.Parents, func(known dag.Parent) bool { return known.ID == p.ID }) {
			continue
		}
		l.Parents = append(l.Parents, dag.Parent{ID: p.ID, Kind: dag.Reply})
		if p.Conversation == l.Conversation {
			l.parents = append(l.parents, p)
		}
	}
	must(k.Turns().AdmitWith(access.As(t.Context(), who), tenant, who.Credential(), []dag.Draft{l.Draft}))
	l.seq = must(k.Turns().Head(t.Context(), tenant))
	return l
}

// exchanges searches for the word that every turn has, with exchanges.
func exchanges(t testing.TB, k *kernel.Kernel, asOf dag.Seq, within *token.Boundary) find.Found {
	t.Helper()
	return must(k.Turns().Search(t.Context(), tenant, find.Request{Exchanges: true, Within: within, Query: retrieval.Query{Text: "word", Limit: 1000, AsOf: asOf}}))
}

// TestExchanges searches random conversations in which turns are erased and withheld, as of random numbers and within slices. Hits and scores are those of a search
// without exchanges, and each question and answer is what a walk along the turns as they were drawn comes to.
func TestExchanges(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		near := policy.DefaultV1()
		near.MaxRadius, near.IncludeSiblings, near.MaxSiblings = 1, false, 0
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("near@1", near))); err != nil {
			t.Fatal(err)
		}
		low := standing.NewPolicy(standing.Rule{Author: "human:lead", Channel: "program", Standing: standing.Guest}, standing.Rule{Role: dag.RoleAssistant, Standing: standing.Outside})
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("low@1", low))); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 8))
		var lines []*line
		questions, answers, none, erased, hidden := 0, 0, 0, 0, 0
		check := func(found find.Found, sees func(*line) bool) {
			t.Helper()
			byID := map[dag.TurnID]*line{}
			last := map[*line]*line{} // by prompt: the last words
			for _, l := range lines {
				byID[l.ID] = l
				if p := l.asked(); l.seq <= found.AsOf && l.words && !l.gone && sees(l) && p != nil {
					last[p] = l
				}
			}
			for _, h := range found.Hits {
				l, question, answer := byID[h.Turn.ID], "", ""
				switch p := l.asked(); {
				case l.prompt:
					answer = last[l].shown()
				case p != nil && sees(p):
					question = p.shown()
				case p != nil:
					hidden++
				}
				if shown(h.Question) != question || shown(h.Answer) != answer {
					t.Fatalf("turn %d of role %s as of %d has the question %q and the answer %q, want %q and %q", l.seq, l.Role, found.AsOf, shown(h.Question), shown(h.Answer), question, answer)
				}
				for _, c := range []*api.Counterpart{h.Question, h.Answer} {
					if c == nil {
						continue
					}
					if want := must(k.Standings().List(t.Context(), tenant, api.StandingsQuery{Turn: &c.Turn, StandingQuery: api.StandingQuery{AsOf: found.AsOf}})).Turns[0]; c.Standing != want.Standing || c.Seq != want.Seq {
						t.Fatalf("turn %d as of %d: a counterpart %+v, want %+v", l.seq, found.AsOf, c, want)
					}
				}
				switch {
				case question != "":
					questions++
				case answer != "":
					answers++
				default:
					none++
				}
			}
			for _, s := range found.Sessions {
				var first, began *line
				for _, l := range lines {
					if l.Conversation != s.Conversation || l.seq > found.AsOf || !sees(l) {
						continue
					}
					if began == nil {
						began = l
					}
					if first == nil && l.prompt {
						first = l
					}
				}
				if shown(s.Begins) != first.shown() || s.FirstAt != began.CreatedAt {
					t.Fatalf("as of %d: the session %+v, want one that began at %s with %q", found.AsOf, s, began.CreatedAt, first.shown())
				}
			}
		}
		all := func(*line) bool { return true }
		for n := range 150 {
			lines = append(lines, drawLine(t, k, r, lines))
			if gone := lines[r.IntN(len(lines))]; r.IntN(14) == 0 && !gone.gone {
				erase(t, k, gone.ID)
				gone.gone = true
				erased++
			}
			if r.IntN(15) == 0 {
				put(t, k, []policy.ID{standing.DefaultID, standing.TeamID, standing.ServiceID, "low@1"}[r.IntN(4)], r.IntN(2) == 0)
			}
			if n%6 != 5 {
				continue
			}
			for _, asOf := range []dag.Seq{0, lines[r.IntN(len(lines))].seq} {
				found := exchanges(t, k, asOf, nil)
				if plain := words(t, k, 1000, asOf, 0); !slices.Equal(idsOf(found.Hits), idsOf(plain.Hits)) || plain.Sessions != nil {
					t.Fatalf("as of %d: the hits %v, without exchanges %v and the sessions %v", asOf, idsOf(found.Hits), idsOf(plain.Hits), plain.Sessions)
				}
				check(found, all)
			}
			anchor := lines[r.IntN(len(lines))].ID
			b := must(k.Slices().Boundary(tenant, must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: anchor, Policy: "near@1"})).Bundle))
			check(exchanges(t, k, 0, b), func(l *line) bool { return slices.Contains(b.Turns(), l.ID) })
		}
		if questions < 200 || answers < 50 || none < 100 || erased < 4 || hidden < 1 {
			t.Errorf("%d questions, %d answers, %d hits without either, %d erased turns, %d questions outside a slice: too few to show anything", questions, answers, none, erased, hidden)
		}
	})
}

// erase erases the text of a turn.
func erase(t testing.TB, k *kernel.Kernel, id dag.TurnID) {
	t.Helper()
	must(k.Turns().Erase(t.Context(), tenant, id, "a test"))
}

// TestCounterpart holds the bound of a counterpart's text, which ends between two characters, and the bounds of what is read for it.
func TestCounterpart(t *testing.T) {
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	conversation := dag.ExternalConversationID("exchange", "long")
	n := 0
	admit := func(role dag.Role, content string, attrs map[string]string) dag.TurnID {
		d := dag.Draft{ID: dag.ExternalTurnID("long", fmt.Sprint(n)), Conversation: conversation, Role: role, CreatedAt: dag.Time(n), Author: "human:lead", Content: content, Attrs: attrs}
		if role != dag.RoleUser {
			d.Author = "agent:claude"
		}
		if n > 0 {
			d.Parents = []dag.Parent{{ID: dag.ExternalTurnID("long", fmt.Sprint(n-1)), Kind: dag.Reply}}
		}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
		n++
		return d.ID
	}
	hit := func(content string) find.FoundTurn {
		t.Helper()
		for _, h := range must(k.Turns().Search(t.Context(), tenant, find.Request{Exchanges: true, Query: retrieval.Query{Text: content, Limit: 1000}})).Hits {
			if strings.Contains(h.Content, content) {
				return h
			}
		}
		t.Fatalf("%q is not found", content)
		return find.FoundTurn{}
	}
	for extra := range 4 {
		long := strings.Repeat("x", 397+extra) + "界界"
		admit(dag.RoleUser, long, nil)
		admit(dag.RoleAssistant, fmt.Sprintf("reply%d", extra), nil)
		c := hit(fmt.Sprintf("reply%d", extra)).Question
		if c == nil || !c.Shortened || !utf8.ValidString(c.Content) || !strings.HasPrefix(long, c.Content) || len(c.Content) > find.MaxCounterpart || len(c.Content) <= find.MaxCounterpart-3 {
			t.Errorf("%d bytes before the last two characters: %+v", 397+extra, c)
		}
	}
	admit(dag.RoleUser, "\n"+strings.Repeat("y", find.MaxCounterpart)+"\n", nil)
	admit(dag.RoleAssistant, "whole", nil)
	if c := hit("whole").Question; c == nil || c.Shortened || len(c.Content) != find.MaxCounterpart {
		t.Errorf("a text of the greatest size: %+v", c)
	}
	call := map[string]string{"blocks": "tool_use"}
	for _, calls := range []int{3, 4, 23, 24} {
		prompt := fmt.Sprintf("prompt%d", calls)
		admit(dag.RoleUser, prompt, nil)
		words := admit(dag.RoleAssistant, "I look.", nil)
		for range calls {
			admit(dag.RoleAssistant, "[tool_use Bash]\n{}", call)
		}
		if c := hit(prompt).Answer; (c != nil && c.Turn == words) != (calls < 24) {
			t.Errorf("after %d calls the answer is %+v", calls, c)
		}
	}
}

// TestExchangedHits finds more hits than may have counterparts, in two tenants whose turns have the same ids: the best have theirs, from their own tenant.
func TestExchangedHits(t *testing.T) {
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	const pairs = api.MaxExchanged/2 + 3
	for _, of := range []dag.Tenant{"one", "two"} {
		var drafts []dag.Draft
		for n := range pairs {
			prompt := dag.Draft{ID: dag.ExternalTurnID("prompt", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("pair", fmt.Sprint(n)), Role: dag.RoleUser, Author: "human:lead", CreatedAt: 1, Content: "word asked in " + string(of)}
			reply := prompt
			reply.ID, reply.Role, reply.Author, reply.Content = dag.ExternalTurnID("reply", fmt.Sprint(n)), dag.RoleAssistant, "agent:claude", "word said in "+string(of)
			reply.Parents = []dag.Parent{{ID: prompt.ID, Kind: dag.Reply}}
			drafts = append(drafts, prompt, reply)
		}
		must(k.Turns().Admit(t.Context(), of, drafts))
	}
	for _, of := range []dag.Tenant{"one", "two"} {
		found := must(k.Turns().Search(t.Context(), of, find.Request{Exchanges: true, Query: retrieval.Query{Text: "word", Limit: 1000}}))
		if len(found.Hits) != 2*pairs {
			t.Fatalf("%d hits, want %d", len(found.Hits), 2*pairs)
		}
		for i, h := range found.Hits {
			c, want := h.Answer, "word said in "+string(of)
			if h.Turn.Role != dag.RoleUser {
				c, want = h.Question, "word asked in "+string(of)
			}
			if i >= api.MaxExchanged {
				want = ""
			}
			if got := shown(c); (want == "") != (got == "") || !strings.HasSuffix(got, want) {
				t.Fatalf("hit %d in tenant %s has the counterpart %q, want %q", i+1, of, got, want)
			}
		}
	}
}
