package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// A fetchFlags names the slice to fetch, and the keys and figures that are trusted without proof.
type fetchFlags struct {
	trust, policy, state, out string
	asOf                      uint64
	maxAge                    time.Duration
	full                      bool
}

func fetchCommand(a *cli.App) *cobra.Command {
	var flags fetchFlags
	c := &cobra.Command{
		Use:   "fetch URL TURN --trust FILE -o FOLDER",
		Short: "Fetch a slice from a service, and accept nothing of it without proof",
		Long: `Has the service at URL cut a slice, and writes it as a folder of evidence once everything is proved: the
slice is for the turn, the tenant and the policy that were asked for, a trusted signer attested its bytes,
it is in the tenant's ledger, and the ledger continues the checkpoint that this machine saw before
(graphkernel log monitor keeps that in the same place).

GRAPHKERNEL_KEY holds the API key, of the role agent. TURN is the whole id of a turn. The policy is
default@3 with the parameters that this program knows, or the one in --policy FILE, in the form that
graphkernel policy add takes.

Exit codes: 0 proved, 10 tampered or not what was asked for, 11 key unknown, 12 key
retired, 13 not in the log or no evidence, 14 log inconsistent, 15 quorum not met, 16 text
is missing, 20 malformed, 21 unknown version; 1 not reachable, 2 usage.`,
		Example: "  GRAPHKERNEL_KEY=gk1.… graphkernel fetch https://kernel.example 079a02ab-… --trust trust.policy -o evidence",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s takes URL and TURN, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE:              func(c *cobra.Command, args []string) error { return fetch(a, c.Context(), args[0], args[1], &flags) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&flags.trust, "trust", "", "the trust file, which says whose signatures count")
	c.Flags().StringVar(&flags.policy, "policy", "", "a file with the policy to ask for and the parameters that it must have (default: default@3)")
	c.Flags().Uint64Var(&flags.asOf, "as-of", 0, "cut from the graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present")
	c.Flags().StringVar(&flags.state, "state", "", "the folder of the checkpoint that is kept (default "+a.Settings.Abbreviate(monitorFolder(a))+")")
	c.Flags().DurationVar(&flags.maxAge, "max-age", 0, "the oldest age at which cosignatures of the quorum are accepted, such as 1h; 0 is any age")
	c.Flags().BoolVar(&flags.full, "require-full", false, "do not accept a slice from which texts were left out")
	c.Flags().StringVarP(&flags.out, "out", "o", "", "the folder to write; it is made if there is none")
	_ = c.MarkFlagDirname("state") // the flags exist
	_ = c.MarkFlagDirname("out")
	cli.NoFiles(c, "as-of", "max-age")
	return c
}

func fetch(a *cli.App, ctx context.Context, url, turn string, flags *fetchFlags) error {
	if flags.trust == "" || flags.out == "" {
		return cli.Usagef("fetch needs --trust FILE and -o FOLDER")
	}
	anchor, err := dag.AnyCase(dag.ParseTurnID)(turn)
	if err != nil {
		return cli.Usage(err)
	}
	expect, file, err := expectation(a, ctx, flags)
	if err != nil {
		return err
	}
	key := a.Settings.Getenv("GRAPHKERNEL_KEY")
	if key == "" {
		return cli.Usagef("fetch needs an API key in GRAPHKERNEL_KEY; graphkernel apikey create makes one")
	}
	c, err := client.New(url, key, client.Options{})
	if err != nil {
		return cli.Usage(err)
	}
	t, err := client.NewTrusted(c, *expect)
	if err != nil {
		return cli.Usage(err)
	}
	var proven client.Proven
	for moves := 0; moves <= mostMoves; moves++ { // repeated if another program kept a checkpoint first
		proven, err = t.Slice(ctx, client.Request{Anchor: anchor, Policy: expect.Policies[0].ID(), AsOf: dag.Seq(flags.asOf)})
		if !errors.Is(err, errKeptMoved) {
			break
		}
	}
	if errors.Is(err, policy.ErrConflict) || errors.Is(err, client.ErrAnswer) && !errors.Is(err, client.ErrNoEvidence) {
		return fmt.Errorf("%w: %w", cli.ErrTampered, err)
	}
	if err != nil {
		return shout(a, file.path, err)
	}
	e := proven.Evidence()
	if err := cli.WriteFolder(flags.out, map[string][]byte{
		evidence.FileBundle: proven.Bytes(), evidence.FileAttestation: e.Attestation, evidence.FileProof: e.Proof,
	}); err != nil {
		return err
	}
	at := proven.Inclusion()
	return a.IO.Print(map[string]any{
		"folder": flags.out, "slice_id": proven.Provenance().SliceID, "origin": at.Origin, "index": at.Index, "size": at.Size, "bundle_sha256": e.SHA256.String(),
	}, func(w io.Writer) {
		fmt.Fprintf(w, "slice %s is leaf %d of %s, and all of it is proved; the evidence is in %s\n", proven.Provenance().SliceID, at.Index, at.Origin, flags.out)
	})
}

// expectation returns the facts that are trusted without proof, and the folder of the checkpoint.
func expectation(a *cli.App, ctx context.Context, flags *fetchFlags) (*client.Expect, keptCheckpoint, error) {
	var file keptCheckpoint
	trust, err := a.IO.ReadTrust(ctx, flags.trust)
	if err != nil {
		return nil, file, err
	}
	if len(trust.Logs) == 0 {
		return nil, file, cli.Usagef("%s names no log", flags.trust)
	}
	if err := checkMaxAge(flags.maxAge, trust); err != nil {
		return nil, file, err
	}
	tenant, err := a.Settings.Tenant()
	if err != nil {
		return nil, file, err
	}
	p := policy.Default()
	if flags.policy != "" {
		data, err := a.IO.ReadFile(ctx, flags.policy, longestText)
		if err != nil {
			return nil, file, err
		}
		if p, err = standard.Forms().ParseRegistration(data); err != nil {
			return nil, file, err
		}
	}
	folder := keptFolder(a, flags.state)
	if folder == "" {
		return nil, file, cli.Usagef("no home folder to keep the checkpoint in; give --state")
	}
	// A slice of the tenant is in a log of the tenant, and the file is that log's.
	var own []ledger.TrustedLog
	for _, l := range trust.Logs {
		if ledger.Origin(l.Name).Tenant() == tenant {
			own = append(own, l)
		}
	}
	if len(own) != 1 {
		return nil, file, cli.Usagef("%s names %d logs of tenant %s, want one", flags.trust, len(own), tenant)
	}
	file = keptIn(folder, own[0].Name)
	var loaded []byte
	return &client.Expect{
		Trust: trust, Tenant: tenant, Policies: []policy.Registered{p}, RequireFull: flags.full, MaxAge: flags.maxAge, Clock: a.Clock,
		Load: func(context.Context) (_ []byte, err error) {
			loaded, err = file.load()
			return loaded, err
		},
		Save: func(_ context.Context, note []byte) error { return file.replace(loaded, note) },
	}, file, nil
}
