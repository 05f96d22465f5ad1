package capture

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// How long a hook takes at most. An agent goes on without one that takes longer than the agent's settings say, so these are
// shorter than capture.HookTimeout.
const (
	guardDeadline   = 3 * time.Second
	contextDeadline = 6 * time.Second
)

// A hookFlags says what a hook does beside leaving a mark.
type hookFlags struct {
	context, guard string // ids of policies; "": no context, no guard
}

func hookCommand(a *cli.App) *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use:   "hook AGENT [SPOOL]",
		Short: "Answer an agent that calls a hook",
		Long: `An agent calls this with an event on standard input, as setup tells it to. It notes in a spool
that the session's transcript has more, and ends: the next command that opens the store, or a
running service, takes that in. Whatever goes wrong is a line on standard error, and the exit
code is 0, so that the agent goes on. Without SPOOL, it is that of the store or the service which
the flags and the environment name.

With --context, the events SessionStart and UserPromptSubmit are answered with a context, between
marks that have its id: at the start, what was said last in the project; for a prompt, what fits it
of what other sessions said there. Nothing of a session that was held in another folder is in it. The record of the
context names agent, session and event, and says so if the answer could not be written: graphkernel contexts.

With --guard, the event PreToolUse is answered with a refusal if a rule of that policy
(deny_rules_v1) denies the call, and with nothing if none does: the agent's own questions are
asked as before. If the call cannot be judged, the exit code is 2, which blocks it.`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: cobra.FixedCompletions(agentNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := agentOf(args[0])
			if err != nil {
				return err
			}
			if f.guard != "" {
				return judge(c.Context(), a, agent, policy.ID(f.guard))
			}
			var spool *capture.Spool
			if len(args) == 2 {
				spool = capture.At(args[1])
			} else if spool, err = a.Settings.Spool(); err != nil {
				return err
			}
			e := capture.Receive(spool, agent, a.IO.Stdin, a.IO.Stderr, a.Clock())
			if e == nil || f.context == "" {
				return a.IO.Print(struct{}{}, func(io.Writer) {}) // the agent is told nothing
			}
			return tell(c.Context(), a, spool, e, policy.ID(f.context))
		},
	}
	c.Flags().StringVar(&f.context, "context", "", "answer with a context that is chosen by this policy")
	c.Flags().StringVar(&f.guard, "guard", "", "refuse the calls that this policy denies")
	c.MarkFlagsMutuallyExclusive("context", "guard")
	_ = c.RegisterFlagCompletionFunc("context", a.Stores.CompletePolicies(contexts.PolicyType)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("guard", a.Stores.CompletePolicies(guard.RulesType))       // the flag exists
	return c
}

// judge answers PreToolUse. An error, whatever it is, blocks the call.
func judge(ctx context.Context, a *cli.App, agent capture.Agent, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, guardDeadline)
	defer cancel()
	var call *capture.Call
	var matches []guard.Match
	done := make(chan error, 1) // a disk that does not answer heeds no context
	judge := func() (err error) {
		call, err = capture.ReadCall(agent, a.IO.Stdin)
		if spool, failed := a.Settings.Spool(); failed == nil { // without a home folder nothing is kept
			if failed = spool.DidRead(agent, capture.HookGuard, err, a.Clock()); failed != nil {
				a.IO.Warn("graphkernel: %v", failed)
			}
		}
		if err != nil {
			return err
		}
		return a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) error {
			p, err := s.Policies.Get(ctx, id)
			if err != nil {
				return err
			}
			rules, err := guard.RulesOf(p)
			if err == nil {
				matches, err = rules.Decide(guard.Call{Tool: call.Tool, Arguments: call.Input})
			}
			return err
		})
	}
	go func() { done <- judge() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("no decision within %s", guardDeadline)
	}
	if err != nil {
		a.IO.Warn("graphkernel: this call is blocked, since it could not be judged by %s: %v", id, err)
		return cli.Finish(api.ExitUsage) // 2, which blocks; any other code does not
	}
	if len(matches) == 0 {
		return nil
	}
	answer, err := call.Denial(denial(id, matches))
	if err == nil {
		err = a.IO.Answer(answer)
	}
	if err != nil { // a refusal that the agent cannot read would let the call go on
		a.IO.Warn("graphkernel: this call is blocked: %s; and the agent could not be told so: %v", denial(id, matches), err)
		return cli.Finish(api.ExitUsage)
	}
	return nil
}

func denial(id policy.ID, matches []guard.Match) string {
	var b strings.Builder
	for i, m := range matches {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (rule %d of %s", m.Reason, m.Rule, id)
		if m.Where != "" {
			fmt.Fprintf(&b, ", at %.200s", m.Where)
		}
		b.WriteString(")")
	}
	return b.String()
}
