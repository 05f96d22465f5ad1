package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
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
marks that have its id: at the start, what was said last in the project; for a prompt, what fits it.

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
			return tell(c.Context(), a, e, policy.ID(f.context))
		},
	}
	c.Flags().StringVar(&f.context, "context", "", "answer with a context that is chosen by this policy")
	c.Flags().StringVar(&f.guard, "guard", "", "refuse the calls that this policy denies")
	c.MarkFlagsMutuallyExclusive("context", "guard")
	_ = c.RegisterFlagCompletionFunc("context", a.Stores.CompletePolicies(contexts.PolicyType)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("guard", a.Stores.CompletePolicies(guard.RulesType))       // the flag exists
	return c
}

// printAnswer prints what an agent reads of a hook.
func printAnswer(a *cli.App, answer []byte, err error) error {
	if err == nil {
		_, err = a.IO.Stdout.Write(answer)
	}
	return err
}

// judge answers PreToolUse. An error, whatever it is, blocks the call.
func judge(ctx context.Context, a *cli.App, agent capture.Agent, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, guardDeadline)
	defer cancel()
	var e *capture.Event
	var matches []guard.Match
	done := make(chan error, 1) // a disk that does not answer heeds no context
	judge := func() (err error) {
		if e, err = capture.ReadEvent(agent, a.IO.Stdin); err != nil {
			return err
		}
		if e.Name != capture.PreToolUse {
			return fmt.Errorf("the event is %.80q, and a guard judges %s", e.Name, capture.PreToolUse)
		}
		return a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) error {
			p, err := s.Policies.Get(ctx, id)
			if err != nil {
				return err
			}
			rules, err := guard.RulesOf(p)
			if err == nil {
				matches, err = rules.Decide(guard.Call{Tool: e.Tool, Arguments: e.ToolInput})
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
	answer, err := e.Denial(denial(id, matches))
	return printAnswer(a, answer, err)
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

// tell answers an event with a context. An agent that gets none goes on without.
func tell(ctx context.Context, a *cli.App, e *capture.Event, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, contextDeadline)
	defer cancel()
	if e.Name != capture.SessionStart && e.Name != capture.UserPromptSubmit {
		return nil
	}
	quiet := a.IO.Quiet
	a.IO.Quiet = true // some agents show what a hook says beside its answer
	text, err := contextFor(ctx, a, e, id)
	a.IO.Quiet = quiet
	if err != nil {
		a.IO.Note("graphkernel: the session goes on without a context: %v", err)
		return nil
	}
	if text == "" {
		return nil
	}
	answer, err := e.Context(text)
	return printAnswer(a, answer, err)
}

// MaxContext bounds what an agent is told, in bytes, and so in characters. More than 10 000 characters Claude Code would put into a file.
const MaxContext = 8_000

// contextFor assembles a context, "" if there is nothing to choose from.
func contextFor(ctx context.Context, a *cli.App, e *capture.Event, id policy.ID) (text string, err error) {
	ring, err := a.Signing.RingToSign()
	if err != nil {
		return "", err
	}
	err = a.Stores.WithKernel(ctx, ring, func(s *cli.Session) error {
		r := client.ContextRequest{Task: e.Prompt, Policy: id, Format: contexts.Markdown}
		newest, about, err := lately(ctx, s, e)
		if err != nil {
			return err
		}
		if e.Name == capture.SessionStart {
			r.Task = about
		}
		if newest == nil && e.Name == capture.SessionStart {
			return nil // nothing was said in this project
		}
		r.Anchor = newest
		for budget := MaxContext / 5; ; budget = budget * 2 / 3 { // tokens of 4 bytes; headings come on top
			r.Budget = budget
			issued, err := s.Contexts.Assemble(ctx, r)
			if err != nil {
				return err
			}
			if b := issued.Claim; len(b.Turns)+len(b.Facts) == 0 && b.Policy.Rules == "" {
				return nil
			}
			if text = framed(issued.Claim); len(text) < MaxContext {
				return nil
			}
			if budget < 100 {
				return fmt.Errorf("the rules of %s alone are %d bytes, more than an agent is told", id, len(text))
			}
		}
	})
	if errors.Is(err, cli.ErrNoStore) {
		return "", nil
	}
	return text, err
}

// framed puts a context between marks. No text in it can end it, since none can name the id of a context that it is in.
func framed(b *contexts.Bundle) string {
	p := &b.Provenance
	return fmt.Sprintf("<graphkernel-context %s policy=%s as_of=%d>\n%s\n</graphkernel-context %s>", p.SliceID, p.PolicyID, b.AsOf, bytes.TrimSuffix(b.Render(), []byte("\n")), p.SliceID)
}

// recentSessions bounds how many conversations are looked at for one of the same project.
const recentSessions = 50

// aboutSessions is how many of a project's last sessions say what a new one may be about.
const aboutSessions = 5

// lately returns the last turn of the session, or else of the newest one in the same folder, nil if there is none, and the first prompts of the last sessions
// there. A session that begins anew has said nothing yet that is worth telling it.
func lately(ctx context.Context, s *cli.Session, e *capture.Event) (last *dag.TurnID, about string, err error) {
	list, err := s.Conversations(ctx)
	if err != nil {
		return nil, "", err
	}
	goesOn := e.Name != capture.SessionStart || e.Source == "resume" || e.Source == "compact"
	cli.ByLast(list)
	var prompts []string
	for i, c := range list[:min(len(list), recentSessions)] {
		if !goesOn && strings.EqualFold(c.ID, e.Session) {
			continue
		}
		first, err := s.TurnAfter(ctx, c.ID, 0, "")
		if err != nil {
			return nil, "", err
		}
		if first == nil || !ingest.WorksIn(first.Attrs, filepath.Clean(e.Folder)) {
			continue
		}
		if last == nil {
			newest, err := s.TurnAfter(ctx, c.ID, dag.Seq(list[i].Last)-1, "")
			if err != nil || newest == nil {
				return nil, "", err
			}
			last = &newest.ID
		}
		if e.Name != capture.SessionStart {
			break
		}
		prompt, err := cli.FirstPrompt(ctx, s, c.ID)
		if err != nil {
			return nil, "", err
		}
		if prompt != "" && prompt != render.NoText {
			prompts = append(prompts, prompt)
		}
		if len(prompts) == aboutSessions {
			break
		}
	}
	return last, strings.Join(prompts, "\n"), nil
}
