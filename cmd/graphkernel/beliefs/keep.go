package beliefs

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
)

func decayCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.DecayBeliefs, cli.Command[api.DecayRequest, api.Decay]{
		Use:   "decay SPACE",
		Short: "Lower the confidence of old beliefs",
		Long: `Lowers the confidence of beliefs by the half-lives of their kinds. Nothing ends, and nothing is deleted. The
confidence is computed from the last revision that decay did not make, so it does not depend on how often
this command runs, and a second run at the same time changes nothing. Published revisions keep their
confidence.`,
		Example: `  graphkernel belief decay acme/support --dry-run`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(), Opens: cli.ToWrite,
		Hint: func(in *api.DecayRequest) string { return spaceHint(string(in.Space), 0) },
		Print: func(w io.Writer, in *api.DecayRequest, out *api.Decay) {
			for i := range out.Lowered {
				l := &out.Lowered[i]
				fmt.Fprintf(w, "%s  %s from %s to %s\n    %s\n", oneLine(l.Ref, len(l.Ref)), would(in.DryRun, "lowered", "would be lowered"), l.Before, l.After, oneLine(l.Reason, len(l.Reason)))
			}
			printExcepted(w, out.Excepted)
			fmt.Fprintf(w, "%s %s\n", cli.Count(len(out.Lowered), "belief"), would(in.DryRun, "lowered", "would be lowered"))
		},
	})
}

// ppmOf reads the value of a flag, a number from 0 to 1; nil if the flag is empty.
func ppmOf(flag, text string) (*dag.PPM, error) {
	if text == "" {
		return nil, nil
	}
	n, err := dag.ParsePPM(text)
	if err != nil {
		return nil, cli.Usagef("--%s: %w", flag, err)
	}
	return &n, nil
}

func abstractCommand(a *cli.App) *cobra.Command {
	var in api.AbstractionRequest
	var specificity, confidence string
	var not bool
	c := &cobra.Command{
		Use:   "abstract SPACE SUBJECT PREDICATE OBJECT…",
		Short: "State something more general than the beliefs it is drawn from",
		Long: `Proposes statements that are more general than those of the items that --from names, and links these to them
as abstracted_to. The new revision rests on the turns of these items, and is as certain as the least certain
of them unless --confidence is given. With a specificity of 0.7 or more it replaces them: they are deprecated
in the same change. Statements that contradict an original are refused. If they contradict something more
entrenched, the proposal waits as a conflict, and the exit code is ` + fmt.Sprint(refusedExit) + `.

` + namesHelp + ` More than
three names are several statements, three names each. The result, as JSON, with the outcome of graphkernel
belief propose:

  {"outcome":{…},"from":[ADDRESS],"kept"}

` + refHelp,
		Example: `  graphkernel belief abstract acme/support customers like answers --specificity 0.4 \
    --from kref://acme/support/a.observation --from kref://acme/support/b.observation`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes SPACE and statements, got no argument", c.CommandPath())
			}
			return spaceOf(args[0])
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			in.Space = belief.Space(args[0])
			if in.Statements, err = statementsOf(c, args[1:], not); err != nil {
				return err
			}
			if len(in.From) == 0 || specificity == "" {
				return cli.Usagef("give the originals with --from, and with --specificity how much of their content the statements keep, from 0 to 1")
			}
			for _, ref := range in.From {
				if _, err := addressOf("--from", ref); err != nil {
					return err
				}
			}
			n, err := ppmOf("specificity", specificity)
			if err != nil {
				return err
			}
			in.Specificity = *n
			if in.Confidence, err = ppmOf("confidence", confidence); err != nil {
				return err
			}
			return do(a, c, api.AbstractBeliefs, in, "", func(w io.Writer, out *api.Abstraction) { printAbstraction(w, &in, out) },
				func(out *api.Abstraction) bool { return out.Outcome.Outcome == "refused" })
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	flags := c.Flags()
	flags.BoolVar(&not, "not", false, "deny the statements")
	flags.StringArrayVar(&in.From, "from", nil, "the address of an original; may be repeated")
	flags.StringVar(&specificity, "specificity", "", "how much of the content of the originals it states, from 0 to 1")
	flags.StringVar(&confidence, "confidence", "", "how certain they are, from 0 to 1 (default: the least confidence of the originals)")
	flags.StringVar((*string)(&in.Item), "item", "", "the item whose revision this becomes (default: the one that states the same, or a new one)")
	flags.StringVar(&in.Kind, "kind", "fact", "the kind of a new item")
	flags.StringVar(&in.Title, "title", "", "the title of the revision")
	flags.StringVar(&in.Reason, "reason", "", "the reason, for the record")
	flags.StringVar(&in.Key, "key", "", "a name for the request: a request with the same key is carried out once")
	flags.BoolVar(&in.DryRun, "dry-run", false, "change nothing; show what would happen")
	cli.NoFiles(c, "from", "specificity", "confidence", "item", "title", "reason", "key")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(usualKinds(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

// proposing returns the operator that states an abstraction.
func proposing() *operator {
	for i := range operators {
		if operators[i].name == "propose" {
			return &operators[i]
		}
	}
	panic("beliefs: no operator proposes")
}

func printAbstraction(w io.Writer, in *api.AbstractionRequest, out *api.Abstraction) {
	printOutcome(w, proposing(), &api.BeliefRequest{Space: in.Space, Item: in.Item, DryRun: in.DryRun}, &out.Outcome)
	if out.Outcome.Outcome != "changed" || out.Outcome.Repeated {
		return
	}
	for _, ref := range out.From {
		did := would(in.DryRun, "abstracted, and stays", "would stay")
		if !out.Kept {
			did = would(in.DryRun, "deprecated", "would be deprecated")
		}
		fmt.Fprintf(w, "  %-14s %s\n", did, oneLine(ref, len(ref)))
	}
}
