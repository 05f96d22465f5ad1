package standing_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/standing"
)

// plainly names authors and credentials by their texts.
type plainly struct{}

func (plainly) Author(name string) dag.Thing     { return thing("a:" + name) }
func (plainly) Credential(name string) dag.Thing { return thing("c:" + name) }

func thing(name string) (t dag.Thing) {
	copy(t[:], name)
	return t
}

var (
	lead     = plainly{}.Author("lead")
	reviewer = plainly{}.Author("reviewer")
	key      = plainly{}.Credential("0123456789abcdef")
)

func decider(rules ...standing.Rule) *standing.Decider {
	return standing.NewDecider(standing.NewPolicy(rules...), plainly{})
}

// people is a conversation whose first person is lead, in turn 5, with an agent in turn 6 or without.
func people(agent bool) *standing.Conversation {
	turns := []standing.Turn{{Role: dag.RoleUser, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: dag.ChannelLines, Author: lead}, Seq: 5}}
	if agent {
		turns = append(turns, standing.Turn{Role: dag.RoleAssistant, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: dag.ChannelLines}, Seq: 6})
	}
	return conversation(turns...)
}

func conversation(turns ...standing.Turn) *standing.Conversation {
	var c standing.Conversation
	for i := range turns {
		c.Add(&turns[i])
	}
	return &c
}

// byKey is a turn that a key brought: lead's prompt, or whatever stands in the place of one.
func byKey(seq dag.Seq, voice dag.Voice, channel dag.Channel) standing.Turn {
	return standing.Turn{Role: dag.RoleUser, Voice: voice, Origin: dag.Origin{Channel: channel, Grant: dag.GrantRefused, Author: lead, Key: key}, Seq: seq}
}

// said is a person's turn of the project's own lines.
func said(seq dag.Seq, author dag.Thing) standing.Turn {
	return standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: dag.ChannelLines, Author: author}, Seq: seq}
}

// TestOrdinary has a turn for every reason that follows from facts alone.
func TestOrdinary(t *testing.T) {
	person := func(channel dag.Channel, grant dag.Grant, author dag.Thing) standing.Turn {
		return standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: channel, Grant: grant, Author: author}}
	}
	system := func(channel dag.Channel, grant dag.Grant, cost uint32, root bool) standing.Turn {
		return standing.Turn{Role: dag.RoleSystem, Voice: dag.VoiceHarness, Cost: cost, Root: root, Origin: dag.Origin{Channel: channel, Grant: grant}, Seq: 4}
	}
	later := func(s standing.Turn) standing.Turn {
		s.Seq = 9
		return s
	}
	answered := standing.Turn{Role: dag.RoleAssistant, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: dag.ChannelLines}, Seq: 7}
	taken := conversation(byKey(3, dag.VoicePerson, dag.ChannelAPI), said(5, reviewer), answered)
	seen := map[standing.Reason]bool{}
	for _, tc := range []struct {
		turn   standing.Turn
		in     *standing.Conversation
		want   standing.Standing
		reason standing.Reason
	}{
		{person(dag.ChannelHarness, 0, lead), people(true), standing.Owner, standing.Typed},
		{person(dag.ChannelHarness, 0, reviewer), people(true), standing.Owner, standing.Typed},
		{person(dag.ChannelLines, 0, lead), people(true), standing.Owner, standing.FirstPerson},
		{person(dag.ChannelLines, 0, reviewer), people(true), standing.Guest, standing.AnotherPerson},
		{person(dag.ChannelLines, 0, reviewer), people(false), standing.Member, standing.OnlyPeople},
		{person(dag.ChannelChat, 0, lead), people(true), standing.Owner, standing.FirstPerson},
		{person(dag.ChannelTrace, 0, reviewer), people(true), standing.Guest, standing.AnotherPerson},
		{person(dag.ChannelProgram, 0, lead), people(true), standing.Owner, standing.FirstPerson},
		{person(dag.ChannelCommand, 0, reviewer), people(true), standing.Guest, standing.AnotherPerson},
		{person(dag.ChannelLines, 0, dag.Thing{}), &standing.Conversation{}, standing.Guest, standing.NoAuthor},
		{person(dag.ChannelCommits, 0, lead), people(false), standing.Guest, standing.Committed},
		{person(dag.ChannelAPI, dag.GrantOwner, reviewer), people(true), standing.Owner, standing.GrantedOwner},
		{person(dag.ChannelAPI, dag.GrantMember, reviewer), people(true), standing.Member, standing.GrantedMember},
		{person(dag.ChannelAPI, dag.GrantSpeaks, lead), people(true), standing.Guest, standing.NothingGranted},
		{person(dag.ChannelAPI, 0, lead), people(true), standing.Guest, standing.NothingGranted},
		{person(dag.ChannelAgent, dag.GrantOwner, lead), people(true), standing.Guest, standing.ThroughTool},
		{standing.Turn{Role: dag.RoleUser, Voice: dag.VoiceTool, Origin: dag.Origin{Channel: dag.ChannelAPI, Grant: dag.GrantRefused, Author: lead}}, people(true), standing.Guest, standing.NotSpokenFor},
		{standing.Turn{Role: dag.RoleTool, Voice: dag.VoiceTool, Origin: dag.Origin{Channel: dag.ChannelHarness}}, people(true), standing.Outside, standing.ToolsData},
		{standing.Turn{Role: dag.RoleAssistant, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: dag.ChannelAPI}}, people(true), standing.Agent, standing.OwnWords},
		{standing.Turn{Role: dag.RoleUser, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: dag.ChannelHarness}}, people(true), standing.Agent, standing.OwnWords},
		{system(dag.ChannelLines, 0, standing.MaxSystem, true), people(true), standing.System, standing.OperatorOwner},
		{system(dag.ChannelLines, 0, standing.MaxSystem+1, true), people(true), standing.Outside, standing.TooLong},
		{system(dag.ChannelLines, 0, 1, false), people(true), standing.Outside, standing.PutInBetween},
		{system(dag.ChannelHarness, 0, 1, true), people(true), standing.Outside, standing.PutInBetween},
		{system(dag.ChannelAPI, dag.GrantOperator, 1, true), people(true), standing.System, standing.OperatorKey},
		{system(dag.ChannelAPI, 0, 1, true), people(true), standing.Outside, standing.PutInBetween},
		{system(dag.ChannelAPI, dag.GrantOperator, 1, false), people(true), standing.Outside, standing.PutInBetween},
		{later(system(dag.ChannelLines, 0, 1, true)), people(true), standing.Outside, standing.PutInBetween},
		{later(system(dag.ChannelLines, 0, 1, true)), conversation(system(dag.ChannelLines, 0, 1, true), system(dag.ChannelTrace, 0, 1, true)), standing.System, standing.OperatorOwner},
		{later(system(dag.ChannelLines, 0, 1, true)), conversation(byKey(3, dag.VoiceAgent, dag.ChannelAPI)), standing.Outside, standing.PutInBetween},
		{later(system(dag.ChannelAPI, dag.GrantOperator, 1, true)), conversation(byKey(3, dag.VoiceAgent, dag.ChannelAPI)), standing.Outside, standing.PutInBetween},
		{said(5, reviewer), taken, standing.Guest, standing.AfterKey},
		{said(8, lead), taken, standing.Guest, standing.AfterKey},
		{said(8, lead), conversation(byKey(3, dag.VoiceTool, dag.ChannelAgent), said(5, reviewer)), standing.Guest, standing.AfterKey},
		{said(5, reviewer), conversation(byKey(3, dag.VoiceAgent, dag.ChannelAPI), said(5, reviewer)), standing.Guest, standing.AfterKey},
		{said(8, reviewer), conversation(said(5, lead), byKey(6, dag.VoiceAgent, dag.ChannelAPI), said(8, reviewer)), standing.Guest, standing.AfterKey},
		{said(5, reviewer), conversation(said(4, lead), said(5, reviewer), byKey(6, dag.VoiceAgent, dag.ChannelAPI)), standing.Member, standing.OnlyPeople},
		{said(5, lead), conversation(said(5, lead), byKey(6, dag.VoicePerson, dag.ChannelAPI), answered), standing.Owner, standing.FirstPerson},
		{said(8, reviewer), conversation(said(5, lead), byKey(6, dag.VoicePerson, dag.ChannelAPI), answered), standing.Guest, standing.AnotherPerson},
		{later(person(dag.ChannelHarness, 0, lead)), taken, standing.Owner, standing.Typed},
	} {
		if got := decider().Of(&tc.turn, tc.in); got != (standing.Ruling{Standing: tc.want, Reason: tc.reason}) {
			t.Errorf("%+v: got %s, %q, want %s, %q", tc.turn, got.Standing, got.Reason, tc.want, tc.reason)
		}
		seen[tc.reason] = true
	}
	for r := standing.Typed; r <= standing.ToolsData; r++ {
		if !seen[r] || r.String() == "" {
			t.Errorf("no turn has the reason %d, %q", r, r)
		}
	}
}

// TestDoorsOfOrders has a person's turn and a system turn by every channel and with every grant: which of them are an owner's, a member's and the operator's words.
func TestDoorsOfOrders(t *testing.T) {
	for _, c := range dag.Channels {
		for grant := range dag.GrantOperator + 1 {
			person := standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: c, Grant: grant, Author: lead}, Seq: 5}
			want := standing.Owner // the first person
			switch {
			case c == dag.ChannelCommits || c == dag.ChannelAgent:
				want = standing.Guest
			case c == dag.ChannelAPI:
				want = map[dag.Grant]standing.Standing{dag.GrantMember: standing.Member, dag.GrantOwner: standing.Owner}[grant]
				want = max(want, standing.Guest)
			}
			if got := decider().Of(&person, people(true)); got.Standing != want {
				t.Errorf("a person by %s, granted %q: got %+v, want %s", c, grant, got, want)
			}
			system := standing.Turn{Role: dag.RoleSystem, Voice: dag.VoiceHarness, Root: true, Origin: dag.Origin{Channel: c, Grant: grant}, Seq: 4}
			want = standing.Outside
			switch c {
			case dag.ChannelProgram, dag.ChannelCommand, dag.ChannelChat, dag.ChannelTrace, dag.ChannelLines:
				want = standing.System
			case dag.ChannelAPI:
				if grant == dag.GrantOperator {
					want = standing.System
				}
			}
			if grant == dag.GrantRefused {
				want = standing.Outside
			}
			if got := decider().Of(&system, people(true)); got.Standing != want {
				t.Errorf("a system turn by %s, granted %q: got %+v, want %s", c, grant, got, want)
			}
		}
	}
}

// TestBuiltIn has a turn for every rule of the built-in policies, and turns that none of their rules is about.
func TestBuiltIn(t *testing.T) {
	person := func(c dag.Channel, grant dag.Grant) standing.Turn {
		return standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: c, Grant: grant, Author: lead}, Seq: 5}
	}
	agent := func(c dag.Channel) standing.Turn {
		return standing.Turn{Role: dag.RoleUser, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: c}, Seq: 6}
	}
	answer := func(c dag.Channel) standing.Turn { // in the place of a tool's result
		return standing.Turn{Role: dag.RoleTool, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: c, Author: lead}, Seq: 7}
	}
	ruled := map[string]map[int]bool{}
	for _, c := range []struct {
		turn                 standing.Turn
		alone, team, service standing.Standing
	}{
		{person(dag.ChannelAPI, dag.GrantSpeaks), standing.Guest, standing.Member, standing.Guest},
		{person(dag.ChannelAPI, dag.GrantOwner), standing.Owner, standing.Owner, standing.Owner},
		{person(dag.ChannelAPI, dag.GrantMember), standing.Member, standing.Member, standing.Member},
		{person(dag.ChannelAPI, 0), standing.Guest, standing.Guest, standing.Guest},
		{person(dag.ChannelAgent, dag.GrantSpeaks), standing.Guest, standing.Guest, standing.Guest},
		{person(dag.ChannelHarness, 0), standing.Owner, standing.Owner, standing.Owner},
		{person(dag.ChannelCommand, 0), standing.Owner, standing.Owner, standing.Owner},
		{person(dag.ChannelChat, 0), standing.Owner, standing.Owner, standing.Guest},
		{person(dag.ChannelLines, 0), standing.Owner, standing.Owner, standing.Guest},
		{person(dag.ChannelTrace, 0), standing.Owner, standing.Owner, standing.Guest},
		{person(dag.ChannelProgram, 0), standing.Owner, standing.Owner, standing.Guest},
		{answer(dag.ChannelChat), standing.Owner, standing.Owner, standing.Guest},
		{agent(dag.ChannelLines), standing.Agent, standing.Agent, standing.Agent},
		{agent(dag.ChannelAPI), standing.Agent, standing.Agent, standing.Agent},
	} {
		for name, of := range map[string]struct {
			policy standing.Policy
			want   standing.Standing
		}{"alone": {standing.Alone(), c.alone}, "team": {standing.Team(), c.team}, "service": {standing.Service(), c.service}} {
			got := standing.NewDecider(of.policy, plainly{}).Of(&c.turn, people(true))
			if got.Standing != of.want {
				t.Errorf("%s: %+v: got %+v, want %s", name, c.turn, got, of.want)
			}
			if ruled[name] == nil {
				ruled[name] = map[int]bool{}
			}
			ruled[name][got.Rule] = true
		}
	}
	for name, p := range map[string]standing.Policy{"alone": standing.Alone(), "team": standing.Team(), "service": standing.Service()} {
		for n := range p.Rules() {
			if !ruled[name][n+1] {
				t.Errorf("no turn shows rule %d of %s", n+1, name)
			}
		}
	}
}

// TestMatches has a rule that names everything about a turn, and the turn with each of these changed: it matches the one turn alone, and without the name of what
// was changed it matches that one, too.
func TestMatches(t *testing.T) {
	in := dag.ConversationID{1}
	id := "0123456789abcdef"
	turn := standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Conversation: in, Origin: dag.Origin{Channel: dag.ChannelAPI, Grant: dag.GrantSpeaks, Author: lead, Key: key}, Seq: 9}
	all := standing.Rule{Key: id, Channel: "api", Author: "lead", Role: dag.RoleUser, Grant: dag.GrantSpeaks, Conversation: &in, Standing: standing.Outside}
	matches := func(r standing.Rule, turn standing.Turn) bool { return decider(r).Of(&turn, people(true)).Rule == 1 }
	if !matches(all, turn) || !matches(standing.Rule{Standing: standing.Outside}, turn) {
		t.Error("the turn itself does not match")
	}
	for name, c := range map[string]struct {
		other  func(*standing.Turn)
		except func(*standing.Rule)
	}{
		"key":          {func(t *standing.Turn) { t.Origin.Key = plainly{}.Credential("another") }, func(r *standing.Rule) { r.Key = "" }},
		"no key":       {func(t *standing.Turn) { t.Origin.Key = dag.Thing{} }, func(r *standing.Rule) { r.Key = "" }},
		"channel":      {func(t *standing.Turn) { t.Origin.Channel = dag.ChannelAgent }, func(r *standing.Rule) { r.Channel = "" }},
		"author":       {func(t *standing.Turn) { t.Origin.Author = reviewer }, func(r *standing.Rule) { r.Author = "" }},
		"no author":    {func(t *standing.Turn) { t.Origin.Author = dag.Thing{} }, func(r *standing.Rule) { r.Author = "" }},
		"role":         {func(t *standing.Turn) { t.Role = dag.RoleTool }, func(r *standing.Rule) { r.Role = 0 }},
		"grant":        {func(t *standing.Turn) { t.Origin.Grant = dag.GrantMember }, func(r *standing.Rule) { r.Grant = 0 }},
		"no grant":     {func(t *standing.Turn) { t.Origin.Grant = 0 }, func(r *standing.Rule) { r.Grant = 0 }},
		"conversation": {func(t *standing.Turn) { t.Conversation = dag.ConversationID{2} }, func(r *standing.Rule) { r.Conversation = nil }},
	} {
		other, wider := turn, all
		c.other(&other)
		c.except(&wider)
		if matches(all, other) || !matches(wider, other) || !matches(wider, turn) {
			t.Errorf("another %s: it matches %v, and without it %v", name, matches(all, other), matches(wider, other))
		}
	}
	for _, s := range dag.Standings[:5] { // rules about people, and a turn that is not in a person's name
		agents := standing.Turn{Role: dag.RoleUser, Voice: dag.VoiceAgent, Origin: dag.Origin{Channel: dag.ChannelLines}}
		if of := s == standing.Outside || s == standing.Agent; matches(standing.Rule{Channel: "lines", Standing: s}, agents) != of {
			t.Errorf("a rule of %s about an agent's turn: want it matched %v", s, of)
		}
	}
	for _, c := range dag.Channels {
		by := turn
		by.Origin = dag.Origin{Channel: c, Author: lead}
		imported := c == dag.ChannelHarness || c == dag.ChannelChat || c == dag.ChannelTrace || c == dag.ChannelLines
		if matches(standing.Rule{Channel: standing.Import, Standing: standing.Guest}, by) != imported {
			t.Errorf("a rule about imports and a turn by %s: want it matched %v", c, imported)
		}
	}
}

// everyTurn calls fn with every combination of the facts about a turn.
func everyTurn(fn func(standing.Turn)) {
	for _, role := range []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem} {
		for _, voice := range dag.Voices {
			for _, channel := range dag.Channels {
				for grant := range dag.GrantOperator + 1 {
					for _, author := range []dag.Thing{{}, lead, reviewer} {
						for _, by := range []dag.Thing{{}, key} {
							for _, cost := range []uint32{1, standing.MaxSystem + 1} {
								for _, root := range []bool{false, true} {
									for _, seq := range []dag.Seq{4, 9} {
										fn(standing.Turn{Role: role, Voice: voice, Cost: cost, Root: root, Origin: dag.Origin{Channel: channel, Grant: grant, Author: author, Key: by}, Seq: seq})
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// everyRule lists every rule that a policy may have, over a few values of each field.
func everyRule() (rules []standing.Rule) {
	for _, keyed := range []string{"", "0123456789abcdef"} {
		for _, channel := range []string{"", standing.Import, "lines", "harness", "api", "agent"} {
			for _, author := range []string{"", "lead", "reviewer"} {
				for _, role := range []dag.Role{0, dag.RoleUser, dag.RoleTool} {
					for _, s := range dag.Standings {
						r := standing.Rule{Key: keyed, Channel: channel, Author: author, Role: role, Standing: s}
						if standing.NewPolicy(r).Check() == nil {
							rules = append(rules, r)
						}
					}
				}
			}
		}
	}
	return rules
}

// TestNothingRaises goes through every turn, in every conversation, under every policy of one rule: an order is a person's word, which the
// channel or the credential can vouch for.
func TestNothingRaises(t *testing.T) {
	taken := conversation(byKey(3, dag.VoicePerson, dag.ChannelAPI), said(5, lead))
	conversations := []*standing.Conversation{{}, people(false), people(true), taken}
	cases, orders, capped := 0, 0, 0
	for _, r := range append(everyRule(), standing.Rule{Author: "nobody", Standing: standing.Guest}) {
		d := decider(r)
		everyTurn(func(turn standing.Turn) {
			for _, in := range conversations {
				got := d.Of(&turn, in)
				cases++
				if got.Standing == 0 || got.Reason == 0 || (got.Rule > 0) != (got.Reason == standing.ByRule || got.Reason == standing.Capped) {
					t.Fatalf("%+v under %+v: got %+v", turn, r, got)
				}
				if got.Reason == standing.Capped {
					capped++
				}
				o := turn.Origin
				switch {
				case got.Standing == standing.System:
					if turn.Role != dag.RoleSystem || turn.Voice != dag.VoiceHarness || !turn.Root || turn.Cost > standing.MaxSystem || o.Channel == dag.ChannelHarness || o.Channel == dag.ChannelAPI && o.Grant != dag.GrantOperator || turn.Seq > 5 && in != conversations[0] || in == taken {
						t.Fatalf("%+v under %+v is the operator's word", turn, r)
					}
				case got.Standing.Orders():
					orders++
					vouched := !o.Channel.Credentialed() || o.Channel == dag.ChannelAPI && (o.Grant >= dag.GrantSpeaks || r.Key != "")
					byPlace := got.Rule == 0 && o.Channel != dag.ChannelAPI && o.Channel != dag.ChannelHarness
					if turn.Voice != dag.VoicePerson || !vouched || o.Channel == dag.ChannelCommits || in == taken && byPlace {
						t.Fatalf("%+v under %+v is an order", turn, r)
					}
				}
			}
		})
	}
	if cases < 1_000_000 || orders == 0 || capped == 0 {
		t.Errorf("%d cases, %d orders, %d capped", cases, orders, capped)
	}
}

// drawn returns a random turn of a conversation.
func drawn(r *rand.Rand) standing.Turn {
	turn := standing.Turn{
		Role: []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem}[r.IntN(4)], Voice: dag.Voices[r.IntN(len(dag.Voices))], Root: r.IntN(3) == 0,
		Origin: dag.Origin{Channel: dag.Channels[r.IntN(len(dag.Channels))], Grant: dag.Grant(r.IntN(int(dag.GrantOperator) + 1))},
	}
	if turn.Voice == dag.VoicePerson {
		turn.Origin.Author = []dag.Thing{{}, lead, reviewer}[r.IntN(3)]
	}
	return turn
}

// TestConversationsLower adds turns to conversations: the standing of a turn that is there never rises, and what came in under a credential changes none. Nor does
// it raise a turn that comes later: without what keys brought, each counts as much or more.
func TestConversationsLower(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lowered, kept := 0, 0
	for range 2_000 {
		var in, without standing.Conversation
		var there []standing.Turn
		had := map[int]standing.Standing{}
		d := decider()
		for n := range 12 {
			turn := drawn(r)
			turn.Seq = dag.Seq(n + 1)
			in.Add(&turn)
			byKey := turn.Origin.Channel.Credentialed()
			if !byKey {
				without.Add(&turn)
			}
			there = append(there, turn)
			for i := range there {
				now := d.Of(&there[i], &in).Standing
				if was, known := had[i]; known && (now > was || byKey && now != was) {
					t.Fatalf("%+v was %s, and is %s after %+v", there[i], was, now, turn)
				} else if known && now < was {
					lowered++
				}
				had[i] = now
				if alone := d.Of(&there[i], &without).Standing; !there[i].Origin.Channel.Credentialed() && now > alone {
					t.Fatalf("%+v is %s, and %s without what keys brought", there[i], now, alone)
				} else if now < alone {
					kept++
				}
			}
		}
	}
	if lowered == 0 || kept == 0 {
		t.Errorf("%d were lowered, %d by what keys brought before", lowered, kept)
	}
}

// TestCourse compares the standing under random settings with a reference that goes through them one by one.
func TestCourse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rules := everyRule()
	moved := [3]int{}
	for range 20_000 {
		course := standing.Course{{Decider: decider()}}
		turn, seq, in := drawn(r), dag.Seq(1+r.IntN(20)), people(r.IntN(2) == 0)
		at := dag.Seq(0)
		want, wantFrom := course[0].Decider.Of(&turn, in), 0
		for range r.IntN(5) {
			at += dag.Seq(1 + r.IntN(6))
			s := standing.Setting{After: at, Decider: decider(rules[r.IntN(len(rules))], rules[r.IntN(len(rules))]), Retroactive: r.IntN(3) == 0}
			course = append(course, s)
			before, _ := course[:len(course)-1].Of(seq, &turn, in)
			next := s.Decider.Of(&turn, in)
			if at < seq || s.Retroactive || next.Standing < want.Standing {
				want, wantFrom = next, len(course)-1
			}
			after, from := course.Of(seq, &turn, in)
			if after != want || from != wantFrom {
				t.Fatalf("turn %d: got %+v by setting %d, want %+v by setting %d", seq, after, from, want, wantFrom)
			}
			switch {
			case at > seq && !s.Retroactive && after.Standing > before.Standing:
				t.Fatalf("a setting after turn %d raised it from %s to %s", seq, before.Standing, after.Standing)
			case after.Standing > before.Standing:
				moved[0]++
			case after.Standing < before.Standing:
				moved[1]++
			case next.Standing > after.Standing:
				moved[2]++
			}
		}
	}
	if slices.Contains(moved[:], 0) {
		t.Errorf("raised, lowered, held: %v", moved)
	}
}

// TestRequests goes through every role, door and kind of credential.
func TestRequests(t *testing.T) {
	id := "0123456789abcdef"
	owner := access.Scope{SpeaksFor: "human:lead=owner"}
	for _, tc := range []struct {
		who  access.Identity
		want standing.Standing
	}{
		{access.Identity{}, standing.Owner},
		{access.Identity{Subject: access.Local, Role: access.Admin}, standing.Owner},
		{access.Identity{Subject: access.Stdio, Role: access.Admin}, standing.Agent},
		{access.Identity{Subject: id, Role: access.Admin}, standing.Member},
		{access.Identity{Subject: id, Role: access.Admin, Admits: owner}, standing.Owner},
		{access.Identity{Subject: id, Role: access.Admin, Admits: owner, Model: true}, standing.Agent},
		{access.Identity{Subject: id, Role: access.Agent, Admits: owner}, standing.Agent},
		{access.Identity{Subject: "jwt:lead", Role: access.Admin}, standing.Member},
		{access.Identity{Subject: id, Role: access.Auditor}, standing.Guest},
		{access.Identity{Subject: id, Role: access.Verifier}, standing.Guest},
	} {
		if got := decider().OfRequest(tc.who); got.Standing != tc.want || got.Reason == 0 {
			t.Errorf("%+v: got %+v, want %s", tc.who, got, tc.want)
		}
		for _, s := range dag.Standings[:5] {
			ofPeople := s == standing.Guest || s == standing.Member || s == standing.Owner
			applies := tc.who.Subject == id && !(ofPeople && tc.want == standing.Agent)
			is := func(r standing.Rule, applies bool) {
				t.Helper()
				r.Standing = s
				want := standing.Ruling{Standing: min(tc.want, s), Reason: standing.ByRule, Rule: 1}
				if s > tc.want {
					want.Reason = standing.Capped
				}
				if !applies {
					want = decider().OfRequest(tc.who)
				}
				if got := decider(r).OfRequest(tc.who); got != want {
					t.Errorf("%+v under the rule %+v: got %+v, want %+v", tc.who, r, got, want)
				}
			}
			is(standing.Rule{Key: id}, applies)
			for _, c := range dag.Channels {
				is(standing.Rule{Key: id, Channel: c.String()}, applies && c == tc.who.Channel())
			}
			is(standing.Rule{Key: id, Channel: standing.Import}, false)
			is(standing.Rule{Key: "abcdef0123456789"}, false)
			is(standing.Rule{Channel: "api"}, false)
			is(standing.Rule{Key: id, Author: "lead"}, false)
			is(standing.Rule{Key: id, Role: dag.RoleUser}, false)
			is(standing.Rule{Key: id, Grant: dag.GrantSpeaks}, false)
			is(standing.Rule{Key: id, Conversation: &dag.ConversationID{1}}, false)
		}
		if got := decider().OfBelief(tc.who.Caller(), false); got.Standing > standing.Agent {
			t.Errorf("%+v: what nobody vouched for is %s", tc.who, got.Standing)
		}
	}
	for by, want := range map[string]standing.Standing{"": standing.Owner, access.Local: standing.Owner, access.Stdio: standing.Agent, id: standing.Member, "jwt:lead": standing.Member} {
		if got := decider().OfBelief(by, true); got.Standing != want {
			t.Errorf("%q: what was vouched for is %s, want %s", by, got.Standing, want)
		}
	}
	lowers := standing.Rule{Key: id, Standing: standing.Guest}
	if got := decider(lowers).OfBelief(id, true); got.Standing != standing.Guest || got.Rule != 1 {
		t.Errorf("what a key states that a rule makes a guest: %+v", got)
	}
}

func TestNames(t *testing.T) {
	for _, s := range dag.Standings {
		if got, err := dag.ParseStanding(s.String()); err != nil || got != s {
			t.Errorf("%d is written %q, which is read as %d, %v", s, s, got, err)
		}
	}
	for _, name := range []string{"", "Owner", "root", "owner "} {
		if s, err := dag.ParseStanding(name); err == nil || s != 0 {
			t.Errorf("%q is read as %s", name, s)
		}
	}
	if got := fmt.Sprint(standing.Standing(9), standing.Reason(99)); got != " " {
		t.Errorf("unknown numbers are written %q", got)
	}
}
