package assemble_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

var (
	storiesFolder = flag.String("stories", "", "the folder to which TestStories writes its prompts and questions, for readers")
	answersFolder = flag.String("answers", "", "the folder to which it writes the answers; readers must not see it")
)

// A story is a conversation with rules, and what each of its sentences counts for. testdata/stories.json has forty.
type story struct {
	Name, Task string
	Policy     policy.ID       // for contexts
	Format     contexts.Format // of the prompt
	Standing   policy.ID       // a standing policy that ships; "": that of a tenant for which none was set
	Rules      []storyRule     `json:"standing_rules"` // a standing policy of its own
	Turns      []storyTurn
	Beliefs    []storyBelief
}

type storyRule struct{ Author, Channel, Standing string }

// A storyTurn is a turn, with the door by which it came. Counts is "binds", a standing below system, or "absent".
type storyTurn struct{ Door, Role, By, Says, Counts string }

// A storyBelief is a belief of the lead or a reviewer, or a proposal of an agent. A later one of the same item takes the place of an earlier one.
type storyBelief struct {
	By, Kind, Item, Says, Counts string
	States                       [3]string
	Withdrawn, Contested         bool
}

// A door is one by which turns come in.
type door struct {
	who     access.Identity
	channel dag.Channel // 0: that of the caller
}

var doors = map[string]door{
	"operator":            {channel: dag.ChannelLines},
	"typed":               {channel: dag.ChannelHarness},
	"first":               {channel: dag.ChannelLines},
	"second":              {channel: dag.ChannelLines},
	"in between":          {channel: dag.ChannelLines},
	"agent":               {channel: dag.ChannelLines},
	"sub-agent":           {channel: dag.ChannelLines},
	"tool":                {channel: dag.ChannelLines},
	"page":                {channel: dag.ChannelLines},
	"mail":                {channel: dag.ChannelLines},
	"file":                {channel: dag.ChannelLines},
	"commit":              {channel: dag.ChannelCommits},
	"owner's key":         {who: access.Identity{Tenant: tenant, Subject: "00000000000000b1", Role: access.Agent, Admits: access.Scope{SpeaksFor: "human:lead=owner"}}},
	"member's key":        {who: access.Identity{Tenant: tenant, Subject: "00000000000000b2", Role: access.Agent, Admits: access.Scope{SpeaksFor: "human:reviewer=member"}}},
	"key for people":      {who: namesKey},
	"key without a grant": {who: bareKey},
	"model":               {who: lentKey},
}

// tell brings a story into a new kernel, and returns its prompt.
func (s *story) tell(t *testing.T) (prompt []byte) {
	t.Helper()
	ctx := access.As(t.Context(), local)
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	if len(s.Rules) > 0 {
		var rules []standing.Rule
		for _, r := range s.Rules {
			rules = append(rules, standing.Rule{Author: r.Author, Channel: r.Channel, Standing: must(dag.ParseStanding(r.Standing))})
		}
		s.Standing = "story@1"
		must(0, k.Policies().Register(ctx, tenant, must(policy.Bind(s.Standing, standing.NewPolicy(rules...)))))
	}
	if s.Standing != "" {
		must(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: s.Standing}))
	}
	believing(t, k, "asks", "limit", "starts-at", "uses")
	for i := range s.Beliefs {
		s.believe(t, k, &s.Beliefs[i])
	}
	anchor := s.speak(t, k)
	made := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: s.Task, Anchor: anchor.String(), Policy: s.Policy, Format: string(s.Format), Budget: 3000}))
	if _, verdict := k.Contexts().VerifyFor(tenant, made.Bundle); verdict.Outcome != token.Verified {
		t.Errorf("%s: %+v", s.Name, verdict)
	}
	return made.Prompt
}

// speak admits the turns one after the other, and returns the last one of the main conversation.
func (s *story) speak(t *testing.T, k *kernel.Kernel) (last dag.TurnID) {
	t.Helper()
	for i, x := range s.Turns {
		from, known := doors[x.Door]
		if !known {
			t.Fatalf("%s: no door %q", s.Name, x.Door)
		}
		d := dag.Draft{
			ID: dag.ExternalTurnID("story", fmt.Sprint(s.Name, i)), Conversation: dag.ExternalConversationID("story", s.Name), Role: must(dag.ParseRole(x.Role)), Author: x.By,
			Content: x.Says, CreatedAt: dag.Time(1_790_000_000_000_000 + int64(i)*90_000_000), Channel: from.channel,
		}
		if i > 0 {
			d.Parents = []dag.Parent{{ID: last, Kind: dag.Reply}}
		}
		if x.Door == "sub-agent" {
			d.Conversation, d.Parents[0].Kind = dag.ExternalConversationID("story", s.Name+", spawned"), dag.Spawn
		} else {
			last = d.ID
		}
		must(k.Turns().AdmitWith(access.As(t.Context(), from.who), tenant, from.who.Credential(), []dag.Draft{d}))
	}
	return last
}

// believe states or proposes a belief. One that is withdrawn is given up afterwards.
func (s *story) believe(t *testing.T, k *kernel.Kernel, b *storyBelief) {
	t.Helper()
	who, op := map[string]access.Identity{"lead": local, "reviewer": adminKey, "agent": bareKey}[b.By], journal.Revise
	if b.By == "agent" {
		op = journal.Propose
	}
	ctx := access.As(t.Context(), who)
	r := asking(op, b.States[0], b.States[1], b.States[2])
	r.Kind, r.Summary = b.Kind, b.Says
	if b.Item != "" {
		r.Item = belief.Item("kref://acme/desk/" + b.Item + "." + b.Kind)
	}
	o := must(k.Beliefs().Operate(ctx, tenant, r))
	if waits := op == journal.Propose && b.Counts == "absent"; waits != (o.Result == journal.Refused) {
		t.Fatalf("%s: %q was %s", s.Name, b.Says, o.Result)
	}
	if b.Withdrawn {
		must(k.Beliefs().Operate(ctx, tenant, asking(journal.Contract, b.States[0], b.States[1], b.States[2])))
	}
}

// A sentence is a sentence of a story, with its standing under the policy.
type sentence struct {
	says, counts string
	contested    bool
}

func (s *story) sentences() (all []sentence) {
	for _, x := range s.Turns {
		all = append(all, sentence{says: x.Says, counts: x.Counts})
	}
	for _, b := range s.Beliefs {
		all = append(all, sentence{b.Says, b.Counts, b.Contested})
	}
	return all
}

// fits reports whether a sentence is where its standing puts it.
func (x *sentence) fits(at *place) bool {
	switch x.counts {
	case "binds":
		return at.section == inConstraints && (at.standing == "system" || at.standing == "owner" || at.standing == "member")
	case "owner", "member", "agent":
		return (at.section == inConversation || at.section == inBeliefs) && at.standing == x.counts && strings.Contains(at.head, "contested") == x.contested
	case "guest", "outside":
		return at.section == inData && at.standing == x.counts
	}
	return false
}

// TestStories makes the prompts of forty stories: each sentence is there once, where what it counts for puts it, or absent if it holds no more. With -stories and
// -answers it writes what readers need who know nothing of the policy, and what they should find.
func TestStories(t *testing.T) {
	var list []story
	must(0, json.Unmarshal(must(os.ReadFile(filepath.Join("testdata", "stories.json"))), &list))
	if len(list) != 40 {
		t.Fatalf("%d stories, want 40", len(list))
	}
	var questions, answers strings.Builder
	counts, formats, policies, through := map[string]int{}, map[contexts.Format]int{}, map[policy.ID]int{}, map[string]int{}
	r := rand.New(rand.NewPCG(40, 1))
	questions.WriteString(readersTask)
	for n := range list {
		s := &list[n]
		prompt := s.tell(t)
		places, err := placesOf(s.Format, prompt)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.Name, err, prompt)
		}
		formats[s.Format]++
		policies[s.Policy]++
		for _, x := range s.Turns {
			through[x.Door]++
		}
		all := s.sentences()
		for _, x := range all {
			counts[x.counts]++
			var found []place
			for _, at := range places {
				if strings.Contains(at.text, x.says) {
					found = append(found, at)
				}
			}
			if x.counts == "absent" && strings.Contains(string(prompt), x.says) || x.counts != "absent" && (len(found) != 1 || !x.fits(&found[0])) {
				t.Errorf("%s, %s, %s: %q counts for %s, and is here: %+v\n%s", s.Name, s.Policy, s.Format, x.says, x.counts, found, prompt)
			}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		fmt.Fprintf(&questions, "\nPrompt %02d. The agent's task: %s\n", n+1, s.Task)
		fmt.Fprintf(&answers, "\nPrompt %02d\n", n+1)
		for i, x := range all {
			fmt.Fprintf(&questions, "  %02d.%d  %s\n", n+1, i+1, x.says)
			fmt.Fprintf(&answers, "  %02d.%d  %s  %s\n", n+1, i+1, letters[x.counts], x.says)
		}
		if *storiesFolder != "" {
			keep(t, *storiesFolder, fmt.Sprintf("%02d.txt", n+1), prompt)
		}
	}
	t.Logf("%d stories, sentences by what they count for %v, formats %v, policies %v, doors %v", len(list), counts, formats, policies, through)
	for counted := range letters {
		if counts[counted] == 0 {
			t.Errorf("no sentence counts for %s", counted)
		}
	}
	if len(formats) != len(contexts.Formats()) || len(policies) != len(shipped()) || len(through) != len(doors) {
		t.Errorf("%d formats, %d policies, %d of %d doors", len(formats), len(policies), len(through), len(doors))
	}
	if *storiesFolder != "" {
		keep(t, *storiesFolder, "questions.txt", []byte(questions.String()))
	}
	if *answersFolder != "" {
		keep(t, *answersFolder, "answers.txt", []byte(answers.String()))
	}
}

// letters are the answers that readers choose from.
var letters = map[string]string{"binds": "A", "owner": "B", "member": "C", "agent": "D", "guest": "E", "outside": "F", "absent": "G"}

const readersTask = `Each prompt NN.txt is what an agent is given before it goes on with a task. Read it as that agent would. For each sentence below, say what it counts for
according to the prompt:

  A  it binds: a rule or a constraint, whatever else is said
  B  it is the word of the owner, the person whose agent it is
  C  it is the word of a member of the team: an order, below the owner's
  D  it is the word of the agent itself or of another agent, and orders nothing
  E  it is the word of somebody else: information and never an order
  F  it came from a tool, a page, a file or a program: data and never an order
  G  it is not in the prompt

Answer with the number and the letter, such as 07.3 B. After the sentences of a prompt, say in one line who may tell the agent what to do, and what it must not do.
`

// keep writes a file for readers.
func keep(t *testing.T, folder, name string, text []byte) {
	t.Helper()
	must(0, os.MkdirAll(folder, 0o755))
	must(0, os.WriteFile(filepath.Join(folder, name), text, 0o644))
}
