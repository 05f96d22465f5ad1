package capture

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/hook"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// The longest times of a hook. If a hook takes longer than the agent's settings allow, the agent goes on without it, so these times are shorter than
// capture.HookTimeout.
const (
	guardDeadline   = 3 * time.Second
	contextDeadline = 2 * time.Second
)

// ContextPolicy reads the value of --context.
func ContextPolicy(value string) policy.ID {
	if value == hook.DefaultPolicy {
		return ""
	}
	return policy.ID(value)
}

// A hookFlags says what a hook does in addition to leaving a mark.
type hookFlags struct {
	context, guard string // ids of policies; "" means no context, or no guard
}

func hookCommand(a *cli.App) *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use:   "hook AGENT [SPOOL]",
		Short: "Answer a hook that an agent calls",
		Long: `An agent calls this command with an event on standard input, as graphkernel setup arranges. The command
notes in a spool that the session's transcript has grown, and ends; the next command that opens the store,
or a running service, imports the turns. Errors are written to standard error, and the exit code is 0, so
that the agent goes on. The default SPOOL is that of the store or the service that the flags and the
environment name.

With --context, the events SessionStart and UserPromptSubmit are answered with a context, between marks that
have its id: at the start of a session with the brief of the project, for a prompt with turns of other
sessions of the project that fit the prompt. A context has nothing from sessions that were held in another folder. The record
of the context names the agent, the session and the event, and says so if the answer could not be written:
see graphkernel contexts.

With --guard, the event PreToolUse is answered with a refusal if a rule of that policy (deny_rules_v1) denies
the call, and otherwise with nothing: the agent's own questions are asked as before. If the call cannot be
judged, the exit code is 2, which blocks it.`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: cobra.FixedCompletions(agentNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := agentOf(args[0])
			if err != nil {
				return err
			}
			var spool *capture.Spool
			if len(args) == 2 {
				spool = capture.At(args[1])
			} else if spool, err = a.Settings.Spool(); err != nil && f.guard == "" {
				return err
			}
			if f.guard != "" {
				return judge(c.Context(), a, spool, agent, policy.ID(f.guard)) // without a home folder nothing is stored
			}
			e := capture.Receive(spool, agent, a.IO.Stdin, a.IO.Stderr, a.Clock())
			if e == nil || f.context == "" {
				return a.IO.Print(struct{}{}, func(io.Writer) {}) // the agent gets no text
			}
			return tell(c.Context(), a, spool, e, ContextPolicy(f.context))
		},
	}
	c.Flags().StringVar(&f.context, "context", "", "answer with a brief or a context; what fits a prompt is chosen by this policy; default is the kernel's")
	c.Flags().StringVar(&f.guard, "guard", "", "refuse the calls that this policy denies")
	c.MarkFlagsMutuallyExclusive("context", "guard")
	c.AddCommand(residentCommand(a))
	_ = c.RegisterFlagCompletionFunc("context", a.Stores.CompletePolicies(contexts.PolicyTypes...)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("guard", a.Stores.CompletePolicies(guard.RulesType))           // the flag exists
	return c
}

// judge answers PreToolUse. Any error blocks the call.
func judge(ctx context.Context, a *cli.App, spool *capture.Spool, agent capture.Agent, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, guardDeadline)
	defer cancel()
	done := make(chan int, 1) // a disk that does not respond ignores the context's deadline
	v := hook.Verdict{Spool: spool, Policy: string(id), Stdout: answers{a.IO}, Stderr: a.IO.Stderr, Now: a.Clock}
	go func() {
		event, err := io.ReadAll(io.LimitReader(a.IO.Stdin, capture.MaxEvent+1))
		done <- v.Give(agent, event, func() (rules guard.DenyRules, _ error) {
			if err != nil {
				return rules, err
			}
			err := a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) error {
				p, err := s.Policies.Get(ctx, id)
				if err == nil {
					rules, err = guard.RulesOf(p)
				}
				return err
			})
			if err == nil && spool != nil {
				if failed := hook.KeepRules(spool, string(id), rules); failed != nil {
					a.IO.Warn("graphkernel: %v", failed)
				}
			}
			return rules, err
		})
	}()
	select {
	case code := <-done:
		if code != 0 {
			return cli.Finish(code)
		}
		return nil
	case <-ctx.Done():
		a.IO.Warn("graphkernel: this call is blocked, since it could not be judged by %s: no decision within %s", id, guardDeadline)
		return cli.Finish(hook.Blocked)
	}
}

// answers writes answers to an agent.
type answers struct{ io *cli.Streams }

func (w answers) Write(answer []byte) (int, error) {
	if err := w.io.Answer(answer); err != nil {
		return 0, err
	}
	return len(answer), nil
}
