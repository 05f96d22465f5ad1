package turns

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
)

// A cutFlags says which slice is cut.
type cutFlags struct {
	policy string
	asOf   uint64
	find   string // words instead of a name
}

func (f *cutFlags) register(a *cli.App, c *cobra.Command) {
	c.Flags().StringVar(&f.policy, "policy", string(policy.DefaultID), "the policy under which the slice is cut")
	c.Flags().Uint64Var(&f.asOf, "as-of", 0, "cut from the graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present")
	_ = c.RegisterFlagCompletionFunc("policy", a.Stores.CompletePolicies(policy.Type, policy.TypeV2, policy.TypeV3)) // the flag exists
	cli.NoFiles(c, "as-of")
}

// request returns the request for a slice around the anchor that a person names.
func (f *cutFlags) request(a *cli.App, c *cobra.Command, s *cli.Session, anchor string) (client.Request, error) {
	id, err := cli.Named(a, c, s, anchor, f.find, f.asOf)
	if err != nil {
		return client.Request{}, err
	}
	if _, err := cli.PolicyFor[policy.SlicePolicy](c.Context(), s, f.policy, policy.SliceTypes); err != nil {
		return client.Request{}, err
	}
	return client.Request{Anchor: id, Policy: policy.ID(f.policy), AsOf: dag.Seq(f.asOf)}, nil
}

// cutting is like request, for commands that issue nothing.
func (f *cutFlags) cutting(a *cli.App, c *cobra.Command, s *cli.Session, anchor string) (api.Cutting, error) {
	r, err := f.request(a, c, s, anchor)
	return api.Cutting{Anchor: r.Anchor.String(), Policy: r.Policy, AsOf: r.AsOf}, err
}

func sliceCommand(a *cli.App) *cobra.Command {
	var flags cutFlags
	var format, out string
	var many batchFlags
	c := &cobra.Command{
		Use:   "slice [ANCHOR]",
		Short: "Cut and sign the turns that may influence an anchor",
		Long: `Selects the turns around the anchor under a policy, signs them, records that they were handed out, and writes the
bundle.

` + cli.AnchorHelp + `

Formats: bundle is the evidence, canonical JSON, to be handed on and verified; markdown and messages (OpenAI chat
form, {"messages":[…]}) are for people and prompts and carry no proof. In markdown, control characters are replaced
by visible signs. In messages, a turn that is no order is a user message that quotes it, and says so.

With --batch, cuts a slice for each line of a file, which names an anchor, as many at once as --workers says, and
writes their bundles, one a line in the order of the anchors. All are cut as of one number: that of --as-of, or the
number that is present at the beginning. Under a policy with direction past and without --as-of, each is cut as of
its anchor's own number, or that of the newest setting of the standing policy. The bytes do not depend on the
number of workers.

If an anchor cannot be cut, the command ends at the first one, and does not write the file that -o names. The slices
that were cut until then were handed out, and are on record.

With --output json and -o, the result on standard output is {"slices","file","as_of"} for a batch, otherwise:

  {"slice_id","file","format","turns","edges","as_of","policy_id","key_id","token","bundle_sha256"}`,
		Example: `  graphkernel slice 079a02ab -o slice.json
  graphkernel slice 079a02ab --policy narrow@1 --as-of 120 --format markdown
  graphkernel slice --find "why was the table deleted" --format markdown
  graphkernel slice --batch anchors.txt -o slices.jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if many.file != "" {
				return many.check(c, len(args), &flags, format)
			}
			if c.Flags().Changed("workers") {
				return cli.Usagef("--workers is for --batch")
			}
			if len(args) > 1 || (len(args) == 1) == (flags.find != "") {
				return cli.Usagef("%s takes one ANCHOR, or words with --find, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if many.file != "" {
				return many.cut(a, c, flags, out)
			}
			return cutSlice(a, c, strings.Join(args, ""), flags, format, out)
		},

		ValidArgsFunction: a.Stores.CompleteTurns(false),
	}
	flags.register(a, c)
	cli.FindFlag(c, &flags.find)
	c.Flags().StringVar(&format, "format", "bundle", "bundle, markdown or messages")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	c.Flags().StringVar(&many.file, "batch", "", "a file of anchors, one a line; - for standard input")
	c.Flags().IntVar(&many.workers, "workers", 0, "with --batch: the number of slices that are cut at once; 0 is the number of processors")
	cli.NoFiles(c, "workers")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func cutSlice(a *cli.App, c *cobra.Command, anchor string, flags cutFlags, format, out string) error {
	if !slices.Contains(formats, format) {
		return cli.Usagef("--format is %q, want bundle, markdown or messages", format)
	}
	if format != "markdown" {
		if err := a.IO.ForPrograms(out, "the format "+format); err != nil {
			return err
		}
	}
	var issued client.Bundle
	err := a.Issue(c.Context(), out, func(s *cli.Session) ([]byte, error) {
		request, err := flags.request(a, c, s, anchor)
		if err != nil {
			return nil, err
		}
		if issued, err = s.Slices.Cut(c.Context(), request); err != nil {
			return nil, cli.UnknownPolicy(err)
		}
		if format != "bundle" {
			return rendered(a, &issued, format, cli.ToStdout(out))
		}
		return issued.Bytes, nil
	})
	if err != nil {
		return err
	}
	b := issued.Claim
	p := &b.Provenance
	a.IO.Note("slice %s: %s, %s, as of %d, key %s", p.SliceID, cli.Count(len(b.Turns), "turn"), cli.Count(len(b.Edges), "edge"), b.AsOf, b.Seal.KeyID)
	if a.IO.Output != "json" || cli.ToStdout(out) {
		return nil
	}
	return a.IO.PrintJSON(writtenJSON{
		SliceID: string(p.SliceID), File: out, Format: format, Turns: len(b.Turns), Edges: len(b.Edges),
		AsOf: uint64(b.AsOf), PolicyID: string(p.PolicyID), KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: issued.SHA256.String(),
	})
}

// formats lists the output formats of a slice.
var formats = []string{"bundle", "markdown", "messages"}

// A writtenJSON describes evidence that was written to a file.
type writtenJSON struct {
	SliceID  string `json:"slice_id"`
	File     string `json:"file"`
	Format   string `json:"format"`
	Turns    int    `json:"turns"`
	Edges    int    `json:"edges"`
	AsOf     uint64 `json:"as_of"`
	PolicyID string `json:"policy_id"`
	KeyID    string `json:"key_id"`
	Token    string `json:"token"`
	Bundle   string `json:"bundle_sha256"`
}

// rendered returns a slice in a format for people or prompts.
func rendered(a *cli.App, issued *client.Bundle, format string, stdout bool) ([]byte, error) {
	b := issued.Claim
	if format == "messages" {
		return render.Messages(b)
	}
	result := render.Markdown(b)
	if a.IO.Output != "json" || !stdout {
		return result, nil
	}
	return json.Marshal(map[string]string{"markdown": string(result), "slice_id": string(b.Provenance.SliceID)})
}
