package beliefs

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// do asks for an operation that may write, and prints its answer.
func do[In, Out any](a *cli.App, c *cobra.Command, op view.Operation[In, Out], in In, hint string, text func(io.Writer, *Out), refused func(*Out) bool) error {
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
	var in api.PromotionRequest
	c := &cobra.Command{
		Use:   "promote SPACE",
		Short: "Promote what is found again and again",
		Long: `Goes through the steps of a policy of promotion: what enough independent sources support becomes a
new item of the step's kind, as a proposal with the reason, or gets the step's tag. The sources stay,
with links promoted_to. What was promoted before is not promoted again. The result, as JSON:

  {"promotions":[{"from","to","tag","support_ppm","threshold","sources":[ITEM],"reason","outcome","seq"}]}`,
		Example: `  graphkernel belief promote acme/support --dry-run`,
		Args:    spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			in.Space = args[0]
			return do(a, c, view.PromoteBeliefs, in, spaceHint(args[0], 0), func(w io.Writer, out *api.Promotions) {
				for i := range out.Promotions {
					p := &out.Promotions[i]
					to := p.To
					if p.Tag != "" {
						to = "the tag " + p.Tag
					}
					fmt.Fprintf(w, "%s -> %s\n    %s: %s\n", oneLine(p.From, len(p.From)), oneLine(to, len(to)), would(in.DryRun, p.Outcome, "would be promoted"), oneLine(p.Reason, len(p.Reason)))
				}
				fmt.Fprintln(w, cli.Count(len(out.Promotions), "promotion"))
			}, nil)
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().StringVar(&in.Policy, "policy", "", "a policy of the type promotion_policy_v1 (default: promotion@2)")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "change nothing; show what would happen")
	cli.NoFiles(c, "policy")
	return c
}

func cascadeCommand(a *cli.App) *cobra.Command {
	var in api.CascadeRequest
	c := &cobra.Command{
		Use:   "cascade SPACE",
		Short: "Lower what rests on evidence that fell",
		Long: `Computes the confidence of each belief whose evidence fell anew, from the evidence that is left. Below
0.3 what it states ends now. Nothing is deleted, and what is published keeps its confidence. The
result, as JSON:

  {"seq","lowered":[{"ref","before","after","invalid","fell":[ADDRESS],"reason"}],"excepted":[ADDRESS]}`,
		Example: `  graphkernel belief cascade acme/support --dry-run`,
		Args:    spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			in.Space = args[0]
			return do(a, c, view.CascadeBeliefs, in, spaceHint(args[0], 0), func(w io.Writer, out *api.Cascade) {
				for i := range out.Lowered {
					l := &out.Lowered[i]
					fmt.Fprintf(w, "%s  %s%s\n    %s\n", oneLine(l.Ref, len(l.Ref)), would(in.DryRun, "lowered", "would be lowered"), would(l.Invalid, "", ", and ends"), oneLine(l.Reason, len(l.Reason)))
				}
				for _, ref := range out.Excepted {
					fmt.Fprintf(w, "%s  published, so it keeps its confidence\n", oneLine(ref, len(ref)))
				}
				fmt.Fprintln(w, cli.Count(len(out.Lowered), "belief")+" lowered")
			}, nil)
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "change nothing; show what would happen")
	return c
}

func resolveCommand(a *cli.App) *cobra.Command {
	var in api.ConflictResolution
	c := &cobra.Command{
		Use:   "resolve SPACE CONFLICT taken|dropped|deferred",
		Short: "End a conflict that waits",
		Long: `Ends the conflict of a number that graphkernel belief conflicts lists. taken revises with what was
proposed, and what contradicts it gives way; where that is refused (exit code ` + strconv.Itoa(refusedExit) + `) the conflict goes on
waiting. advice is what the rules say: they look at the agents, at confidence and at recency. The
result, as JSON, with the outcome of graphkernel belief revise:

  {"seq","conflict","how","outcome":{…},"advice":[{"advice","proposed","believed","reason"}]}`,
		Example: `  graphkernel belief resolve acme/support 812 taken --reason "she called again"
  graphkernel belief resolve acme/support 813 dropped`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 3 {
				return cli.Usagef("%s takes SPACE CONFLICT and taken, dropped or deferred, got %d arguments", c.CommandPath(), len(args))
			}
			return spaceOf(args[0])
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if in.Conflict, err = strconv.ParseUint(args[1], 10, 53); err != nil || in.Conflict == 0 {
				return cli.Usagef("CONFLICT is %.40q, want its number; see: graphkernel belief conflicts %s", args[1], args[0])
			}
			if in.How = args[2]; in.How != "taken" && in.How != "dropped" && in.How != "deferred" {
				return cli.Usagef("%.40q: want taken, dropped or deferred", args[2])
			}
			in.Space = args[0]
			return do(a, c, view.ResolveConflict, in, "; see: graphkernel belief conflicts "+args[0], func(w io.Writer, out *api.ResolvedConflict) { printResolved(w, &in, out) },
				func(out *api.ResolvedConflict) bool { return out.Outcome != nil && out.Outcome.Outcome == "refused" })
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().StringVar(&in.Reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "change nothing; show what would happen")
	cli.NoFiles(c, "reason")
	return c
}

func printResolved(w io.Writer, in *api.ConflictResolution, out *api.ResolvedConflict) {
	switch {
	case out.Outcome != nil && out.Outcome.Outcome == "refused":
		fmt.Fprintf(w, "refused, and conflict %d goes on waiting\n", out.Conflict)
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
	var in api.RulesQuery
	c := &cobra.Command{
		Use:   "rules SPACE",
		Short: "List all rules of a space",
		Long: `Lists all statements of the constraints of a space: what persons state of the kinds that its policy
marks hard or always. Nothing shortens the list. The result, as JSON, is that of
graphkernel belief base.`,
		Example: `  graphkernel belief rules acme/support`,
		Args:    spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			in.Space = args[0]
			return ask(a, c, view.BeliefRules, in, spaceHint(args[0], 0), func(w io.Writer, out *api.BeliefBase) {
				for i := range out.Statements {
					s := &out.Statements[i]
					fmt.Fprintf(w, "%s\n    %s\n", whole(s.WrittenStatement, ""), address(s.Item, s.Revision))
				}
				fmt.Fprintf(w, "%s, as of %d, under %s\n", cli.Count(len(out.Statements), "rule"), out.AsOf, out.Policy)
			})
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().Uint64Var(&in.AsOf, "as-of", 0, "what were the rules as of this number (default: now)")
	cli.NoFiles(c, "as-of")
	return c
}

func usedCommand(a *cli.App) *cobra.Command {
	var failed bool
	c := &cobra.Command{
		Use:   "used ADDRESS",
		Short: "Record that a procedure was used, and whether it succeeded",
		Long: `Records a use of the revision that an address leads to, and shows how often its item was used. The
result, as JSON:

  {"seq","ref","uses","successes","rate"}

` + addressHelp,
		Example: `  graphkernel belief used kref://acme/support/4f1c0a.procedure
  graphkernel belief used kref://acme/support/4f1c0a.procedure --failed`,
		Args: cli.OneArg("ADDRESS"),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := addressOf("ADDRESS", args[0])
			if err != nil {
				return err
			}
			return do(a, c, view.UseBelief, api.BeliefUse{Ref: args[0], Success: !failed}, itemHint(ref.Item), func(w io.Writer, out *api.UseRecord) {
				fmt.Fprintf(w, "%s was used %s, %d successful: %s\n", oneLine(out.Ref, len(out.Ref)), cli.Count(out.Uses, "time"), out.Successes, out.Rate)
			}, nil)
		},
		ValidArgsFunction: completeItems(a),
	}
	c.Flags().BoolVar(&failed, "failed", false, "it did not succeed")
	return c
}
