package turns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A contextFlags says which context is asked for.
type contextFlags struct {
	anchor, find, policy, format, out string
	budget                            int
	asOf                              uint64
	spaces                            []string
}

func contextCommand(a *cli.App) *cobra.Command {
	var f contextFlags
	c := &cobra.Command{
		Use:   "context TASK...",
		Short: "Assemble what an agent should know for a task",
		Long: `Chooses turns, facts and beliefs for a task, under a policy and a budget of tokens, and prints them as a prompt:
turns that fit the words of the task, the slice around the anchor, turns by persons and the last turns of the
anchor's conversation, facts about the names in the task, and beliefs. The choice is signed, and a record says that it was shown.

What binds comes first and is never cut: the operator's words in the anchor's conversation, hard rules, and other
beliefs of kinds that every context contains. A budget that is too small for them is an error that names them. They
are those of the present; with --as-of those as of that number, and the prompt says so. --space limits the spaces that
beliefs come from (default: all). Every text says whose it is, by whose words count (graphkernel standing), and what
guests and tools said stands in one block at the end, as data.

The budget bounds the whole prompt, as UTF-8 bytes divided by four.

Formats: markdown, xml and text are prompts; openai and anthropic are members of a request to these APIs; json is
for programs; bundle is the evidence, canonical JSON, to be handed on and verified. From a bundle anyone can
compute the choice again, and the prompt byte for byte, without the store.

With --output json and -o, the result on standard output is:

  {"context_id","file","format","turns","facts","beliefs","candidates","cost","sufficiency_ppm","missing",
   "as_of","policy_id","key_id","bundle_sha256"}`,
		Example: "  graphkernel context mend the migration that deleted the table\n" +
			"  graphkernel context 'which flags does the export take' --anchor 079a02ab --budget 2000 --format bundle -o context.json",
		Args: func(c *cobra.Command, args []string) error {
			if f.anchor != "" && f.find != "" {
				return cli.Usagef("--anchor names the turn, and --find looks for it; give one or the other")
			}
			if len(args) == 0 && f.anchor == "" && f.find == "" {
				return cli.Usagef("%s takes the TASK in words, --anchor or --find, got none", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return assembleContext(a, c, strings.Join(args, " "), &f)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringVar(&f.anchor, "anchor", "", "the turn from which the agent goes on: its id, at least 4 characters that begin it, or its external_id")
	cli.FindFlag(c, &f.find)
	flags.IntVar(&f.budget, "budget", 0, "the most tokens of text (default: those of the policy, which are also the limit)")
	flags.StringVar(&f.policy, "policy", string(contexts.DefaultID), "the policy that chooses the content")
	flags.Uint64Var(&f.asOf, "as-of", 0, "choose from the graph as of this sequence number; 0 is the anchor's own, or the present without an anchor")
	flags.StringVar(&f.format, "format", string(contexts.Markdown), strings.Join(contextFormats(), ", "))
	flags.StringSliceVar(&f.spaces, "space", nil, "a space of beliefs to include; may be repeated (default: all)")
	flags.StringVarP(&f.out, "out", "o", "", "the file to write (default: standard output)")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(contextFormats(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("policy", a.Stores.CompletePolicies(contexts.PolicyTypes...))                           // the flag exists
	spaces := a.Stores.CompleteSpaces()
	_ = c.RegisterFlagCompletionFunc("space", func(c *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) { // the flag exists
		return spaces(c, nil, begin)
	})
	cli.NoFiles(c, "anchor", "budget", "as-of")
	return c
}

const formatBundle = "bundle"

func contextFormats() []string {
	names := []string{formatBundle}
	for _, f := range contexts.Formats() {
		names = append(names, string(f))
	}
	return names
}

// A contextJSON describes evidence that was written to a file.
type contextJSON struct {
	ContextID   string   `json:"context_id"`
	File        string   `json:"file"`
	Format      string   `json:"format"`
	Turns       int      `json:"turns"`
	Facts       int      `json:"facts"`
	Beliefs     int      `json:"beliefs"`
	Candidates  int      `json:"candidates"`
	Cost        int      `json:"cost"`
	Sufficiency int      `json:"sufficiency_ppm"`
	Missing     []string `json:"missing"`
	AsOf        uint64   `json:"as_of"`
	PolicyID    string   `json:"policy_id"`
	KeyID       string   `json:"key_id"`
	Bundle      string   `json:"bundle_sha256"`
}

func assembleContext(a *cli.App, c *cobra.Command, task string, f *contextFlags) error {
	if !slices.Contains(contextFormats(), f.format) {
		return cli.Usagef("--format is %q, want %s", f.format, strings.Join(contextFormats(), ", "))
	}
	if slices.Contains([]string{formatBundle, string(contexts.OpenAI), string(contexts.Anthropic), string(contexts.JSON)}, f.format) {
		if err := a.IO.ForPrograms(f.out, "the format "+f.format); err != nil {
			return err
		}
	}
	r := api.ContextRequest{Task: task, Budget: f.budget, Policy: policy.ID(f.policy), AsOf: dag.Seq(f.asOf)}
	for _, name := range f.spaces {
		space, err := belief.ParseSpace(name)
		if err != nil {
			return cli.Usage(fmt.Errorf("--space: %w", err))
		}
		r.Spaces = append(r.Spaces, space)
	}
	if f.format != formatBundle {
		r.Format = f.format
	}
	var issued client.Context
	err := a.Issue(c.Context(), f.out, func(s *cli.Session) (_ []byte, err error) {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return nil, err
		}
		if r.Spaces == nil {
			if r.Spaces, err = s.SpacesAround(c.Context(), cli.ProjectHere); err != nil {
				return nil, err
			}
		}
		if f.anchor != "" || f.find != "" {
			id, err := cli.Named(a, c, s, f.anchor, f.find, f.asOf)
			if err != nil {
				return nil, err
			}
			r.Anchor = id.String()
		}
		if _, err := cli.PolicyFor[contexts.Policy](c.Context(), s, f.policy, contexts.PolicyTypes...); err != nil {
			return nil, err
		}
		if issued, err = s.Contexts.Assemble(c.Context(), r); err != nil {
			return nil, cli.UnknownPolicy(err)
		}
		return written(&issued, f), nil
	})
	if err != nil {
		return err
	}
	b := issued.Claim
	p, enough := &b.Provenance, b.Sufficiency()
	a.IO.Note("context %s: %s, %s and %s of %s, %d of %s, as of %d, key %s", p.SliceID, cli.Count(len(b.Turns), "turn"), cli.Count(len(b.Facts), "fact"), cli.Count(len(b.Beliefs), "belief"),
		cli.Count(len(b.Candidates), "candidate"), b.Spent(), cli.Count(b.Request.Budget, "token"), b.AsOf, b.Seal.KeyID)
	if len(enough.Missing) > 0 {
		a.IO.Note("words of the task that no chosen text has: %s", render.OneLine(render.Visible(strings.Join(enough.Missing, ", ")), 200))
	}
	if a.IO.Output != "json" || cli.ToStdout(f.out) {
		return nil
	}
	return a.IO.PrintJSON(contextJSON{
		ContextID: string(p.SliceID), File: f.out, Format: f.format, Turns: len(b.Turns), Facts: len(b.Facts), Beliefs: len(b.Beliefs), Candidates: len(b.Candidates), Cost: b.Prompt.Cost,
		Sufficiency: int(enough.Share), Missing: append([]string{}, enough.Missing...), AsOf: uint64(b.AsOf), PolicyID: string(p.PolicyID), KeyID: b.Seal.KeyID, Bundle: fmt.Sprint(issued.SHA256),
	})
}

// written returns the requested output: the evidence, or the prompt.
func written(issued *client.Context, f *contextFlags) []byte {
	switch f.format {
	case formatBundle:
		return issued.Bytes
	case string(contexts.OpenAI), string(contexts.Anthropic), string(contexts.JSON):
		return append(render.EscapeJSON(issued.Claim.Render()), '\n')
	}
	return issued.Claim.Render()
}
