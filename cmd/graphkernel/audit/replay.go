package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func replayCommand(a *cli.App) *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "replay FILE|SLICE-ID",
		Short: "Cut a slice again from the view that it names, and compare the bytes",
		Long: `Given a bundle (a file, or - for standard input), cuts its slice again as of the sequence number that it
names and compares every byte. Given a slice id (16 hex digits, or a beginning of at least 4 that no other
id shares), replays the newest recorded bundle with this id. Text that was erased afterwards is reported as
erased, not as different.

Exit codes: 0 identical or erased, 10 the token is forged, 16 text is missing under
--require-full, 17 the replay differs, 20 malformed, 21 unknown version; 1 internal,
2 usage. A replay works without the key that signed; then the token is not checked,
and the report says so.`,
		Args: cli.OneArg("FILE or SLICE-ID"),
		RunE: func(c *cobra.Command, args []string) error { return replay(a, c, args[0], full) },
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		ids, _ := a.Stores.CompleteIssued("")(c, args, begin)
		return ids, cobra.ShellCompDirectiveDefault // or a file
	}
	c.Flags().BoolVar(&full, "require-full", false, "do not accept a slice from which texts are missing")
	return c
}

// A replayJSON is a replay with its verdict.
type replayJSON struct {
	Verdict  string `json:"verdict"`
	ExitCode int    `json:"exit_code"`
	api.Replay
}

func replay(a *cli.App, c *cobra.Command, what string, full bool) error {
	ring, err := a.Signing.RingToSign()
	if errors.Is(err, cli.ErrNoSecret) { // the selection does not depend on the key: without one, the signature is not checked
		ring, err = token.Keyring{}, nil
	}
	if err != nil {
		return err
	}
	return a.Stores.WithReadKernel(c.Context(), ring, func(s *cli.Session) error {
		r, err := replayed(a, c, s, what)
		if err != nil {
			return err
		}
		j := replayResult(r, full)
		if err := a.IO.Print(j, func(w io.Writer) { printReplay(w, &j) }); err != nil {
			return err
		}
		return cli.Finish(j.ExitCode)
	})
}

func replayed(a *cli.App, c *cobra.Command, s *cli.Session, what string) (api.Replay, error) {
	if isID(what) {
		id, err := dag.AnyCase(slice.ParseSliceID)(what)
		if err != nil { // a beginning of an id
			issued, err := cli.Issued(c.Context(), s, what)
			if err != nil {
				return api.Replay{}, err
			}
			id = issued.SliceID
		}
		return s.Slices.ReplayIssued(c.Context(), id)
	}
	data, err := a.IO.ReadBundle(c.Context(), what)
	if err != nil {
		return api.Replay{}, err
	}
	r, err := s.Slices.Replay(c.Context(), data)
	return r, cli.OfTenant(err)
}

// isID reports whether an argument is the id of a slice or a context, or may begin one, and is not the name of an existing file.
func isID(what string) bool {
	if _, err := dag.AnyCase(slice.ParseSliceID)(what); err == nil {
		return true
	}
	_, err := os.Lstat(what)
	return cli.IsSliceBegin(what) && errors.Is(err, fs.ErrNotExist)
}

func replayResult(r api.Replay, full bool) replayJSON {
	j := replayJSON{Verdict: r.Outcome, Replay: r}
	forged := ""
	for _, c := range r.Checks {
		if c.ID == slice.CheckToken && c.Status == slice.StatusFail {
			forged = c.Detail
		}
	}
	switch {
	case forged != "":
		j.Verdict, j.ExitCode, j.Reason = string(token.Tampered), api.ExitTampered, forged
	case r.Outcome == string(kernel.Different):
		j.ExitCode = api.ExitReplayDiffers
	case r.Outcome == string(kernel.Lost):
		j.ExitCode = api.ExitReplayLost
	case full && len(r.Erased)+len(r.Redacted) > 0:
		j.ExitCode, j.Reason = api.ExitRedacted, "text is missing, and --require-full was given"
	}
	return j
}

func printReplay(w io.Writer, j *replayJSON) {
	kind := cli.KindSlice
	if slice.IsContext(j.Provenance.SchemaVersion) {
		kind = cli.KindContext
	}
	fmt.Fprintf(w, "%s  %s %s, chosen when the store held %s\n", cli.Verdict(j.Verdict).Paint(w, strings.ToUpper(j.Verdict)), kind, cli.ID.Paint(w, string(j.SliceID)), cli.Count(int(j.AsOf), "entry"))
	cli.PrintChecks(w, j.Checks)
	for _, id := range j.Erased {
		fmt.Fprintf(w, "  %-8s turn %s\n", "erased", id)
	}
	for _, id := range j.Lost {
		fmt.Fprintf(w, "  %-8s turn %s\n", "lost", id)
	}
	if j.ExitCode != api.ExitOK {
		fmt.Fprintln(w, render.Visible(j.Reason))
	}
}
