package facts

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// A factsWrittenJSON describes evidence that was written to a file.
type factsWrittenJSON struct {
	SliceID  string `json:"slice_id"`
	File     string `json:"file"`
	Entities int    `json:"entities"`
	Facts    int    `json:"facts"`
	Turns    int    `json:"turns"`
	Cut      string `json:"cut,omitempty"`
	AsOf     uint64 `json:"as_of"`
	PolicyID string `json:"policy_id"`
	KeyID    string `json:"key_id"`
	Token    string `json:"token"`
	Bundle   string `json:"bundle_sha256"`
}

func knowledgeSliceCommand(a *cli.App) *cobra.Command {
	var id, validAt, out string
	var asOf uint64
	c := &cobra.Command{
		Use:   "slice ENTITY…",
		Short: "Cut and sign the facts around entities",
		Long: `Collects the facts that can be reached from one or more entities under a policy of the type fact_policy_v1,
signs them, records that they were handed out, and writes the bundle: the paths, the assertions that they rest
on, and the leaf hash of every turn that is named as evidence. The bundle is canonical JSON. Hand it on
unchanged; graphkernel verify checks it, and graphkernel replay cuts it again, given the file or the slice id.

The policy decides which facts count: facts@1 follows all facts for three hops, in both directions, to 100
entities. graphkernel policy add registers other policies.

` + namesHelp + `

With --output json and -o, the result on standard output is:

  {"slice_id","file","entities","facts","turns","cut","as_of","policy_id","key_id","token",
   "bundle_sha256"}

"cut" is "results" if more entities can be reached than the policy allows, "work" if the search stopped after
too many facts, and absent if these are all.`,
		Example: `  graphkernel knowledge slice "Ada Lovelace" -o facts.json && graphkernel verify facts.json
  graphkernel knowledge slice src/redact.go --policy owners@1 --as-of 120`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes one ENTITY or more, got none", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			r := api.FactSliceRequest{Start: args, Policy: policy.ID(id), AsOf: dag.Seq(asOf)}
			if _, err := policy.ParseID(id); err != nil {
				return cli.Usage(err)
			}
			for _, name := range args {
				if err := isName("ENTITY", name); err != nil {
					return err
				}
			}
			if validAt != "" {
				at, err := knowledge.ReadTime(validAt)
				if err != nil {
					return cli.Usagef("--valid-at: %w", err)
				}
				r.ValidAt = &at
			}
			return sliceFacts(a, c, r, out)
		},

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&id, "policy", string(facts.PolicyID), "the policy to gather facts under")
	c.Flags().StringVar(&validAt, "valid-at", "", "facts that hold at this date or time (default: facts that hold at any time)")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	asOfFlag(c, &asOf)
	cli.NoFiles(c, "valid-at")
	_ = c.RegisterFlagCompletionFunc("policy", a.Stores.CompletePolicies(facts.PolicyType)) // the flag exists
	return c
}

func sliceFacts(a *cli.App, c *cobra.Command, r api.FactSliceRequest, out string) error {
	if err := a.IO.ForPrograms(out, "a bundle"); err != nil {
		return err
	}
	var issued client.FactBundle
	err := a.Issue(c.Context(), out, func(s *cli.Session) (_ []byte, err error) {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return nil, err
		}
		if _, err := cli.PolicyFor[facts.Policy](c.Context(), s, string(r.Policy), facts.PolicyType); err != nil {
			return nil, err
		}
		if issued, err = s.Facts.Slice(c.Context(), r); err != nil {
			return nil, cli.UnknownPolicy(err)
		}
		if len(issued.Claim.Reached) == 0 {
			_, err = noteUnknown(a, c.Context(), s, uint64(issued.Claim.AsOf), r.Start...)
		}
		return issued.Bytes, err
	})
	if err != nil {
		return err
	}
	b := issued.Claim
	p := &b.Provenance
	a.IO.Note("slice %s: %s, %s, %s of evidence, as of %d, key %s", p.SliceID, cli.Count(len(b.Reached), "entity"), cli.Count(len(b.Facts), "fact"), cli.Count(len(b.Evidence), "turn"), b.AsOf, b.Seal.KeyID)
	if a.IO.Output != "json" || cli.ToStdout(out) {
		return nil
	}
	return a.IO.PrintJSON(factsWrittenJSON{
		SliceID: string(p.SliceID), File: out, Entities: len(b.Reached), Facts: len(b.Facts), Turns: len(b.Evidence), Cut: string(b.Cut),
		AsOf: uint64(b.AsOf), PolicyID: string(p.PolicyID), KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: issued.SHA256.String(),
	})
}
