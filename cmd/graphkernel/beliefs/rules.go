package beliefs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

// do carries out an operation that may write, and prints its answer.
func do[In, Out any](a *cli.App, c *cobra.Command, op api.Operation[In, Out], in In, hint string, text func(io.Writer, *Out), refused func(*Out) bool) error {
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		out, err := cli.Do(c.Context(), s, op, in)
		if err != nil {
			return hinted(err, hint)
		}
		if err := a.IO.Print(out, func(w io.Writer) { text(w, &out) }); err != nil {
			return err
		}
		if refused != nil && refused(&out) {
			return cli.Finish(refusedExit)
		}
		return nil
	})
}

func promoteCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.PromoteBeliefs, cli.Command[api.PromotionRequest, api.Promotions]{
		Use:   "promote SPACE",
		Short: "Promote items that were found repeatedly",
		Long: `Applies the steps of a promotion policy: an item that enough independent sources support becomes a new item of
the step's kind, as a proposal with the reason, or gets the step's tag. The sources stay, with links
promoted_to. An item that was promoted before is not promoted again.`,
		Example: `  graphkernel belief promote acme/support --dry-run`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(), Opens: cli.ToWrite,
		Hint: func(in *api.PromotionRequest) string { return spaceHint(string(in.Space), 0) },
		Print: func(w io.Writer, in *api.PromotionRequest, out *api.Promotions) {
			for i := range out.Promotions {
				p := &out.Promotions[i]
				to := p.To
				if p.Tag != "" {
					to = belief.Item("the tag " + p.Tag)
				}
				fmt.Fprintf(w, "%s -> %s\n    %s: %s\n", oneLine(p.From, len(p.From)), oneLine(string(to), len(to)), would(in.DryRun, p.Outcome, "would be promoted"), oneLine(p.Reason, len(p.Reason)))
			}
			fmt.Fprintln(w, cli.Count(len(out.Promotions), "promotion"))
		},
	})
}

func cascadeCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.CascadeBeliefs, cli.Command[api.CascadeRequest, api.Cascade]{
		Use:   "cascade SPACE",
		Short: "Lower the confidence of beliefs whose evidence fell",
		Long: `Recomputes the confidence of each belief whose evidence fell, from the evidence that is left. If it is below
0.3, the revision's statements end now. Nothing is deleted, and published revisions keep their confidence.`,
		Example: `  graphkernel belief cascade acme/support --dry-run`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(), Opens: cli.ToWrite,
		Hint: func(in *api.CascadeRequest) string { return spaceHint(string(in.Space), 0) },
		Print: func(w io.Writer, in *api.CascadeRequest, out *api.Cascade) {
			for i := range out.Lowered {
				l := &out.Lowered[i]
				fmt.Fprintf(w, "%s  %s%s\n    %s\n", oneLine(l.Ref, len(l.Ref)), would(in.DryRun, "lowered", "would be lowered"), would(l.Invalid, "", ", and ends"), oneLine(l.Reason, len(l.Reason)))
			}
			printExcepted(w, out.Excepted)
			fmt.Fprintln(w, cli.Count(len(out.Lowered), "belief")+" lowered")
		},
	})
}

func printExcepted(w io.Writer, refs []string) {
	for _, ref := range refs {
		fmt.Fprintf(w, "%s  published, so it keeps its confidence\n", oneLine(ref, len(ref)))
	}
}

func resolveCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ResolveConflict, cli.Command[api.ConflictResolution, api.ResolvedConflict]{
		Use:   "resolve SPACE CONFLICT taken|dropped|deferred",
		Short: "Decide a conflict that waits",
		Long: `Decides the conflict with a number that graphkernel belief conflicts lists. taken revises with the proposal, and
beliefs that contradict it give way; if that is refused (exit code ` + strconv.Itoa(refusedExit) + `) the conflict keeps waiting.
"advice" is what the rules recommend: they look at the agents, at confidence and at recency.`,
		Example: `  graphkernel belief resolve acme/support 812 taken --reason "she called again"
  graphkernel belief resolve acme/support 813 dropped`,
		Args: []string{"space", "conflict", "how"}, Completes: a.Stores.CompleteSpaces(), Opens: cli.ToWrite,
		Check: func(in *api.ConflictResolution) error {
			if in.Conflict == 0 {
				return cli.Usagef("CONFLICT is 0, want its number; see: graphkernel belief conflicts %s", in.Space)
			}
			return nil
		},
		Hint: func(in *api.ConflictResolution) string {
			return string("; see: graphkernel belief conflicts " + in.Space)
		},
		Print: printResolved,
		Exit: func(out *api.ResolvedConflict) int {
			if out.Outcome == nil {
				return api.ExitOK
			}
			return exitOf(out.Outcome.Outcome)
		},
	})
}

func printResolved(w io.Writer, in *api.ConflictResolution, out *api.ResolvedConflict) {
	switch {
	case out.Outcome != nil && out.Outcome.Outcome == "refused":
		fmt.Fprintf(w, "refused; conflict %d keeps waiting\n", out.Conflict)
	case in.DryRun:
		fmt.Fprintf(w, "conflict %d would be %s\n", out.Conflict, out.How)
	default:
		fmt.Fprintf(w, "conflict %d is %s: number %d\n", out.Conflict, out.How, out.Seq)
	}
	if out.Outcome != nil {
		for i := range out.Outcome.GaveWay {
			l := &out.Outcome.GaveWay[i]
			fmt.Fprintf(w, "    %s %s\n", would(in.DryRun || out.Seq == 0, "gave way", "would give way"), said(l.Statement))
		}
	}
	for _, v := range out.Advice {
		fmt.Fprintf(w, "    advice: %s, %s\n", v.Advice, oneLine(v.Reason, len(v.Reason)))
	}
}

func rulesCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.BeliefRules, cli.Command[api.RulesQuery, api.BeliefBase]{
		Use:   "rules SPACE",
		Short: "List all rules of a space",
		Long: `Lists all statements of the constraints of a space: statements of the owner and members, of the kinds that the
space's policy marks hard or always (graphkernel standing says whose words count). The list is never shortened.`,
		Example: `  graphkernel belief rules acme/support`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(),
		Hint: func(in *api.RulesQuery) string { return spaceHint(string(in.Space), 0) },
		Print: func(w io.Writer, _ *api.RulesQuery, out *api.BeliefBase) {
			for i := range out.Statements {
				s := &out.Statements[i]
				fmt.Fprintf(w, "%s\n", whole(s.WrittenStatement, ""))
				for _, text := range []string{s.Title, s.Summary} {
					if text != "" {
						fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(render.Visible(text), "\n", "\n    "))
					}
				}
				fmt.Fprintf(w, "    %s's, %s\n", s.Standing, address(string(s.Item), s.Revision))
			}
			fmt.Fprintf(w, "%s, as of %d, under %s\n", cli.Count(len(out.Statements), "rule"), out.AsOf, out.Policy)
		},
	})
}

// A use is an api.BeliefUse with the flags of the command line.
type use struct {
	Ref    string `json:"ref" is:"Kref"`
	Failed bool   `json:"failed,omitempty" doc:"The procedure did not succeed."`
}

func usedCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[use, api.UseRecord]{
		Use:   "used ADDRESS",
		Short: "Record that a procedure was used, and whether it succeeded",
		Long: `Records a use of the revision that an address names, and shows how often its item was used.

` + addressHelp,
		Example: `  graphkernel belief used kref://acme/support/4f1c0a.procedure
  graphkernel belief used kref://acme/support/4f1c0a.procedure --failed`,
		Args: inRef, Completes: completeItems(a), Opens: cli.ToWrite,
		Hint: func(in *use) string { return refHint(in.Ref) },
		Ask: func(ctx context.Context, s *cli.Session, in use) (api.UseRecord, error) {
			return cli.Do(ctx, s, api.UseBelief, api.BeliefUse{Ref: in.Ref, Success: !in.Failed})
		},
		Print: func(w io.Writer, _ *use, out *api.UseRecord) {
			fmt.Fprintf(w, "%s was used %s, %d successful: %s\n", oneLine(out.Ref, len(out.Ref)), cli.Count(out.Uses, "time"), out.Successes, out.Rate)
		},
	})
}
