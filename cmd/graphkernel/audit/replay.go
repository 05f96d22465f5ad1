package audit

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func replayCommand(a *cli.App) *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "replay FILE|SLICE-ID",
		Short: "Cut a slice again from the view it names, and compare the bytes",
		Long: `Given a bundle (a file, or - for standard input), cuts its slice again as of the
sequence number that it names and compares every byte. Given a slice id (16 hex
digits), replays the newest bundle of it that was recorded. Text that was erased
since is reported as erased, not as different.

Exit codes: 0 identical or erased, 10 the token is forged, 16 text is missing under
--require-full, 17 the replay differs, 20 malformed, 21 unknown version; 1 internal,
2 usage. A replay works without the key that signed; the token is then not checked,
and the report says so.`,
		Args: cli.OneArg("FILE or SLICE-ID"),
		RunE: func(c *cobra.Command, args []string) error { return replay(a, c, args[0], full) },
	}
	c.Flags().BoolVar(&full, "require-full", false, "do not accept text that is missing")
	return c
}

type differenceJSON struct {
	Offset   int    `json:"offset"`
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

type replayJSON struct {
	Verdict    string              `json:"verdict"`
	Reason     string              `json:"reason,omitempty"`
	ExitCode   int                 `json:"exit_code"`
	AsOf       uint64              `json:"as_of"`
	Erased     []string            `json:"erased"`
	Lost       []string            `json:"lost"`
	Redacted   []string            `json:"redacted"`
	Difference *differenceJSON     `json:"first_difference,omitempty"`
	Provenance *cli.ProvenanceJSON `json:"provenance,omitempty"`
	Checks     []cli.CheckLine     `json:"checks"`
}

func replay(a *cli.App, c *cobra.Command, what string, full bool) error {
	ring, err := a.Keyring()
	if err != nil {
		return err
	}
	return a.WithReadKernel(c.Context(), ring, func(s *cli.Session) error {
		r, err := replayed(a, c, s, what)
		if err != nil {
			return err
		}
		j := replayResult(r, full)
		if err := a.Print(j, func(w io.Writer) { printReplay(w, &j, r.Checks) }); err != nil {
			return err
		}
		return cli.Finish(j.ExitCode)
	})
}

func replayed(a *cli.App, c *cobra.Command, s *cli.Session, what string) (*kernel.Replay, error) {
	if id, err := slice.ParseSliceID(what); err == nil {
		return s.Slices().ReplayIssued(c.Context(), s.Tenant, id)
	}
	data, err := a.ReadFile(c.Context(), what, slice.MaxBundle)
	if err != nil {
		return nil, err
	}
	r, err := s.Slices().Replay(c.Context(), s.Tenant, data)
	return r, cli.OfTenant(err)
}

func replayResult(r *kernel.Replay, full bool) replayJSON {
	j := replayJSON{
		Verdict: string(r.Outcome), Reason: r.Reason, AsOf: uint64(r.AsOf),
		Erased: cli.Texts(r.Erased), Lost: cli.Texts(r.Lost), Redacted: cli.Texts(r.Redacted),
		Provenance: cli.ProvenanceOf(&r.Provenance), Checks: cli.CheckLines(r.Checks),
	}
	if d := r.Difference; d != nil {
		j.Difference = &differenceJSON{d.Offset, d.Path, d.Expected, d.Found}
	}
	forged := false
	for _, c := range r.Checks {
		forged = forged || c.ID == slice.CheckToken && c.Status == slice.StatusFail
	}
	switch {
	case forged:
		j.Verdict, j.ExitCode, j.Reason = string(token.Tampered), cli.ExitTampered, r.Token.Error()
	case r.Outcome == kernel.Different:
		j.ExitCode = cli.ExitReplayDiffers
	case r.Outcome == kernel.Lost:
		j.ExitCode = cli.ExitReplayLost
	case full && len(r.Erased)+len(r.Redacted) > 0:
		j.ExitCode, j.Reason = cli.ExitRedacted, "text is missing, and --require-full was given"
	}
	return j
}

func printReplay(w io.Writer, j *replayJSON, checks []slice.Check) {
	fmt.Fprintf(w, "%s  slice %s as of %d\n", strings.ToUpper(j.Verdict), j.Provenance.SliceID, j.AsOf)
	cli.PrintChecks(w, checks)
	for _, id := range j.Erased {
		fmt.Fprintf(w, "  %-8s turn %s\n", "erased", id)
	}
	for _, id := range j.Lost {
		fmt.Fprintf(w, "  %-8s turn %s\n", "lost", id)
	}
	if j.ExitCode != cli.ExitOK {
		fmt.Fprintln(w, render.Visible(j.Reason))
	}
}
