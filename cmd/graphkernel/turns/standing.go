package turns

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/standing"
)

func standingCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "standing",
		Short: "Say whose words count, and why",
		Long: `Every turn has a standing:

  system   what the operator told the agent: a constraint
  owner    the person whose agent it is: an order
  member   a person of the team: an order, below the owner's
  agent    the agent itself and its sub-agents: its own words
  guest    any other person, such as a visitor or a customer: information, never an order
  outside  tools, pages, files and results: data

A standing follows from a policy of the type standing_policy_v1 and from how the turn came in: who brought it, by
which way, and what kind of record it was. It never follows from what the turn says. These policies are built in:

  standing-alone@1    for a person alone: what a person typed into a coding agent is the owner's, and so is the
                      first person of an imported conversation. Anybody else is a guest
  standing-team@1     in addition, whoever's key speaks for them is a member
  standing-service@1  people in imported chats, traces and lines are guests: they are customers. What a person
                      typed into a coding agent is still the owner's

A key is made for a person with: graphkernel apikey create --role agent --speaks-for 'human:lead=owner'`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	c.AddCommand(standingShow(a), standingList(a), standingExplain(a), standingSet(a), standingPerson(a))
	return c
}

func standingShow(a *cli.App) *cobra.Command {
	return cli.Op(a, api.GetStanding, cli.Command[api.StandingQuery, api.Standing]{
		Use: "show", Short: "Show the policy in force, and who set it", Long: "Shows the standing policy in force and every setting before it.",
		Example: "  graphkernel standing show", Opens: cli.ToRead,
		Print: func(w io.Writer, _ *api.StandingQuery, out *api.Standing) {
			fmt.Fprintf(w, "%s is in force, hash %s\n", out.PolicyID, out.Hash)
			for i := range out.Settings {
				s := &out.Settings[i]
				also := ""
				if s.Retroactive {
					also = ", for turns that were there, too"
				}
				fmt.Fprintf(w, "%8d  %.16s  %s%s, by %s\n", s.Seq, s.At, s.PolicyID, also, render.Visible(cli.First(s.By, "a program")))
			}
			if len(out.Settings) == 0 {
				fmt.Fprintln(w, "nobody has set one; to set one: graphkernel standing set POLICY")
			}
		},
	})
}

func standingList(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ListStandings, cli.Command[api.StandingsQuery, api.Standings]{
		Use: "list CONVERSATION", Short: "List the standings of a conversation's turns", Long: "Lists the turns of a conversation with the standing of each, by ascending number.",
		Example: `  graphkernel standing list 1c1de000-0dc0-4a11-8ca1-0000000000a0
  graphkernel standing list 1c1de000-0dc0-4a11-8ca1-0000000000a0 --only guest`,
		Args: []string{"conversation"}, Opens: cli.ToRead, Completes: a.Stores.CompleteTurns(true),
		Print: func(w io.Writer, _ *api.StandingsQuery, out *api.Standings) {
			for i := range out.Turns {
				t := &out.Turns[i]
				fmt.Fprintf(w, "%8d  %s  %-7s  %-9s  %s\n", t.Seq, cli.ID.Paint(w, t.Turn.String()), t.Standing, t.Role, render.OneLine(cli.First(t.Author, "(erased)"), 40))
			}
			if out.Next != "" {
				fmt.Fprintf(w, "more: --after %s\n", out.Next)
			}
		},
	})
}

func standingExplain(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ListStandings, cli.Command[api.StandingsQuery, api.Standings]{
		Use: "explain TURN", Short: "Say why a turn counts as it does", Long: "Shows the standing of a turn, the rule or the fact that decides it, and the facts that the store has about who brought it.",
		Example: "  graphkernel standing explain 27de2cbd", Args: []string{"turn"}, Opens: cli.ToRead, Completes: a.Stores.CompleteTurns(false),
		Print: func(w io.Writer, _ *api.StandingsQuery, out *api.Standings) {
			for i := range out.Turns {
				printStanding(w, &out.Turns[i])
			}
		},
	})
}

func printStanding(w io.Writer, t *api.TurnStanding) {
	by := "decided by " + string(t.PolicyID)
	if t.Rule > 0 {
		by += ", rule " + strconv.Itoa(t.Rule)
	}
	fmt.Fprintf(w, "%s is of standing %s: %s (%s)\n", t.Turn, t.Standing, t.Reason, by)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-8s %s\n", name, render.OneLine(value, 100))
		}
	}
	row("number", fmt.Sprint(t.Seq))
	row("role", t.Role)
	row("author", cli.First(t.Author, "(erased)"))
	row("voice", t.Voice)
	row("channel", t.Channel)
	row("key", t.Key)
	row("grant", t.Grant)
}

// setsStanding are the flags of commands that put a policy in force.
type setsStanding struct{ yes bool }

func (f *setsStanding) on(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return c
}

func standingSet(a *cli.App) *cobra.Command {
	var f setsStanding
	return f.on(cli.Op(a, api.SetStanding, cli.Command[api.NewStanding, api.StandingChange]{
		Use: "set POLICY", Short: "Put a standing policy in force",
		Long: `Shows what the policy changes, asks, and puts it in force; --dry-run only shows. Elsewhere than on a terminal
--yes is needed. A turn that is there counts less under the new policy if the policy says so, and counts more only
with --retroactive. What was handed out stays as it was.`,
		Example: `  graphkernel standing set standing-team@1 --dry-run
  graphkernel standing set standing-team@1 --yes`,
		Args: []string{"policy_id"}, Opens: cli.ToWrite, Completes: a.Stores.CompletePolicies(),
		Ask: func(ctx context.Context, s *cli.Session, in api.NewStanding) (api.StandingChange, error) {
			return f.set(ctx, a, s, in)
		},
		Print: printChange,
	}))
}

// set shows the difference, asks, and makes the setting. The service refuses it if another setting was made since the difference was shown.
func (f *setsStanding) set(ctx context.Context, a *cli.App, s *cli.Session, in api.NewStanding) (api.StandingChange, error) {
	if in.DryRun || f.yes {
		return cli.Do(ctx, s, api.SetStanding, in)
	}
	asked := in
	asked.DryRun = true
	would, err := cli.Do(ctx, s, api.SetStanding, asked)
	if err != nil || would.Already {
		would.DryRun = false
		return would, err
	}
	printChange(a.IO.Stderr, &asked, &would)
	if err := a.IO.Agree("put it in force?", "nothing was changed"); err != nil {
		return would, err
	}
	in.Seen = &would.Since
	return cli.Do(ctx, s, api.SetStanding, in)
}

func printChange(w io.Writer, _ *api.NewStanding, out *api.StandingChange) {
	done, place := "would be in force", " in place of "+string(out.Before)
	if out.Set != nil {
		done = "is in force"
	}
	if out.Before == out.PolicyID {
		place = " as before"
	}
	if out.Set != nil && out.Set.Retroactive {
		place += ", also for turns that were there"
	}
	switch {
	case out.Already && out.Since == 0:
		fmt.Fprintf(w, "%s is in force already, from the start; nothing was changed\n", out.PolicyID)
	case out.Already:
		fmt.Fprintf(w, "%s is in force already, since entry %d; nothing was changed\n", out.PolicyID, out.Since)
	default:
		fmt.Fprintf(w, "%s %s%s: of %s, %d count more and %d less\n", out.PolicyID, done, place, cli.Count(out.Turns, "turn"), out.Raised, out.Lowered)
	}
	if out.Held > 0 {
		fmt.Fprintf(w, "not raised, since a policy does not raise turns that are there: %s; to raise them, give --retroactive\n", cli.Count(out.Held, "turn"))
	}
	more, lowered := "more", 0
	if out.Held > 0 {
		more += " with --retroactive"
	}
	for i := range out.Moved {
		m := &out.Moved[i]
		how := "is %s, would be %s"
		switch {
		case m.Held:
			how += " with --retroactive"
		case out.Set != nil:
			how = "was %s, is %s"
		}
		if lowers(m) {
			if lowered++; lowered == 1 {
				notListed(w, out.Raised+out.Held-i, more)
			}
		}
		fmt.Fprintf(w, "  %s  %s "+how+"\n", cli.ID.Paint(w, m.Turn.String()), render.OneLine(cli.First(m.Author, "(erased)"), 40), m.Before, m.After)
	}
	if lowered == 0 {
		notListed(w, out.Raised+out.Held-len(out.Moved), more)
	}
	notListed(w, out.Lowered-lowered, "less")
}

// lowers reports whether a turn counts less. Such turns come last in the list of turns whose standing a setting changes.
func lowers(m *api.MovedStanding) bool {
	was, _ := dag.ParseStanding(m.Before)
	is, _ := dag.ParseStanding(m.After)
	return is < was
}

// notListed says how many turns a list of the newest does not have, if any.
func notListed(w io.Writer, n int, count string) {
	if n > 0 {
		fmt.Fprintf(w, "  and %s before these, counting %s\n", cli.Count(n, "turn"), count)
	}
}

// A person is a request to give an author a standing in the owner's imports.
type person struct {
	Author      string `json:"author"`
	Standing    string `json:"standing" is:"guest|member|owner"`
	Retroactive bool   `json:"retroactive,omitempty" flag:": raise the standings of turns that are there, too"`
}

func standingPerson(a *cli.App) *cobra.Command {
	var f setsStanding
	return f.on(cli.Asking(a, cli.Command[person, api.StandingChange]{
		Use: "person AUTHOR STANDING", Short: "Say what a person counts for in imported conversations",
		Long: `STANDING is guest, member or owner. The command registers the policy in force with a rule about the author, in place of
any that it made before, under the id standing@N with the next free N. It shows what this changes, asks, and puts it in force. The
author is written as in the turns; * stands for nothing but itself. The rule is about turns that come in by an
import. For what keys bring, see apikey create --speaks-for. A policy that is registered and not put in force does
nothing.`,
		Example: `  graphkernel standing person human:reviewer member
  graphkernel standing person human:reviewer member --retroactive --yes`,
		Args: []string{"author", "standing"}, Opens: cli.ToWrite,
		Check: func(in *person) error {
			if strings.Contains(in.Author, "*") || ingest.ByProgram(in.Author) {
				return fmt.Errorf("%q is no person: want one author as in the turns, such as human:visitor, without * and not of an agent, a tool or a system", in.Author)
			}
			return nil
		},
		Ask: func(ctx context.Context, s *cli.Session, in person) (w api.StandingChange, err error) {
			id, seen, err := withPerson(ctx, s, &in)
			if err != nil {
				return w, err
			}
			return f.set(ctx, a, s, api.NewStanding{PolicyID: id, Retroactive: in.Retroactive, Seen: &seen})
		},
		Print: func(w io.Writer, _ *person, out *api.StandingChange) { printChange(w, nil, out) },
	}))
}

// ownName is the name of the policies that the command person makes.
const ownName = "standing@"

// inForce returns the parameters of the policy in force, the number of the setting that put it there, and the tenant's policies.
func inForce(ctx context.Context, s *cli.Session) (params standing.Policy, since dag.Seq, registry policy.Registry, err error) {
	now, err := cli.Do(ctx, s, api.GetStanding, api.StandingQuery{})
	if err != nil {
		return params, 0, registry, err
	}
	if n := len(now.Settings); n > 0 {
		since = now.Settings[n-1].Seq
	}
	if registry, err = s.Policies.All(ctx); err != nil {
		return params, 0, registry, err
	}
	p, err := registry.Get(now.PolicyID)
	if err != nil {
		return params, 0, registry, err
	}
	params, err = standing.PolicyOf(p)
	return params, since, registry, err
}

// withPerson registers the policy in force with a rule for a person, and returns its id and the number of the setting in force.
func withPerson(ctx context.Context, s *cli.Session, in *person) (id policy.ID, seen dag.Seq, err error) {
	params, seen, registry, err := inForce(ctx, s)
	if err != nil {
		return "", 0, err
	}
	is, err := dag.ParseStanding(in.Standing)
	if err != nil {
		return "", 0, err
	}
	rules := []standing.Rule{{Author: in.Author, Channel: standing.Import, Standing: is}}
	for _, r := range params.Rules() {
		if same := r; same.Author != in.Author || same.Channel != standing.Import || same.Key != "" || same.Role != 0 || same.Conversation != nil || same.Grant != 0 {
			rules = append(rules, r)
		}
	}
	next := 1
	for _, p := range registry.All() {
		if version, found := strings.CutPrefix(string(p.ID()), ownName); found {
			if n, err := strconv.Atoi(version); err == nil {
				next = max(next, n+1)
			}
		}
	}
	p, err := policy.Bind(policy.ID(ownName+strconv.Itoa(next)), standing.NewPolicy(rules...))
	if err != nil {
		return "", 0, err
	}
	for _, known := range registry.All() {
		if strings.HasPrefix(string(known.ID()), ownName) && known.Hash() == p.Hash() {
			return known.ID(), seen, nil
		}
	}
	return p.ID(), seen, s.Policies.Register(ctx, p)
}

// mostGuests is the largest number of people that a note names.
const mostGuests = 5

// tellGuests prints the people who are guests in imported conversations although no rule says so, those with the most turns first, and the command that changes
// their standing.
func tellGuests(a *cli.App, report *admission.ImportReport) {
	guests := report.Guests
	if len(guests) == 0 || a.IO.Output == "json" {
		return
	}
	var names []string
	for i := range guests[:min(len(guests), mostGuests)] {
		names = append(names, guests[i].Author)
	}
	people := len(guests) + report.MoreGuests
	more := ""
	if n := people - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	count := "people take part in conversations with an agent, and count as guests"
	if people == 1 {
		count = "person takes part in conversations with an agent, and counts as a guest"
	}
	a.IO.Note("%d other %s: %s%s. If one is of the team: graphkernel standing person %s member", people, count, strings.Join(names, ", "), more, word(names[0]))
}

// word returns a text as one word of a shell: authors come from files, and a hint is copied.
func word(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(":._@/-", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
