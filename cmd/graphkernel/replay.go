package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) replayCommand() *cobra.Command {
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
		Args: oneArg("FILE or SLICE-ID"),
		RunE: func(c *cobra.Command, args []string) error { return a.replay(c, args[0], full) },
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
	Verdict    string          `json:"verdict"`
	Reason     string          `json:"reason,omitempty"`
	ExitCode   int             `json:"exit_code"`
	AsOf       uint64          `json:"as_of"`
	Erased     []string        `json:"erased"`
	Lost       []string        `json:"lost"`
	Redacted   []string        `json:"redacted"`
	Difference *differenceJSON `json:"first_difference,omitempty"`
	Provenance *provenanceJSON `json:"provenance,omitempty"`
	Checks     []checkLine     `json:"checks"`
}

func (a *app) replay(c *cobra.Command, what string, full bool) error {
	ring, err := a.keyring()
	if err != nil {
		return err
	}
	return a.withReadKernel(c.Context(), ring, func(s *session) error {
		r, err := a.replayed(c, s, what)
		if err != nil {
			return err
		}
		j := replayResult(r, full)
		if err := a.print(j, func(w io.Writer) { printReplay(w, &j, r.Checks) }); err != nil {
			return err
		}
		return finish(j.ExitCode)
	})
}

func (a *app) replayed(c *cobra.Command, s *session, what string) (*kernel.Replay, error) {
	if id, err := slice.ParseSliceID(what); err == nil {
		return s.ReplayIssued(c.Context(), s.tenant, id)
	}
	data, err := a.readFile(c.Context(), what, slice.MaxBundle)
	if err != nil {
		return nil, err
	}
	r, err := s.Replay(c.Context(), s.tenant, data)
	return r, ofTenant(err)
}

func replayResult(r *kernel.Replay, full bool) replayJSON {
	j := replayJSON{
		Verdict: string(r.Outcome), Reason: r.Reason, AsOf: uint64(r.AsOf),
		Erased: texts(r.Erased), Lost: texts(r.Lost), Redacted: texts(r.Redacted),
		Provenance: provenanceOf(&r.Provenance), Checks: checkLines(r.Checks),
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
		j.Verdict, j.ExitCode, j.Reason = string(token.Tampered), exitTampered, r.Token.Error()
	case r.Outcome == kernel.Different:
		j.ExitCode = exitReplayDiffers
	case r.Outcome == kernel.Lost:
		j.ExitCode = exitReplayLost
	case full && len(r.Erased)+len(r.Redacted) > 0:
		j.ExitCode, j.Reason = exitRedacted, "text is missing, and --require-full was given"
	}
	return j
}

func printReplay(w io.Writer, j *replayJSON, checks []slice.Check) {
	fmt.Fprintf(w, "%s  slice %s as of %d\n", strings.ToUpper(j.Verdict), j.Provenance.SliceID, j.AsOf)
	printChecks(w, checks)
	for _, id := range j.Erased {
		fmt.Fprintf(w, "  %-8s turn %s\n", "erased", id)
	}
	for _, id := range j.Lost {
		fmt.Fprintf(w, "  %-8s turn %s\n", "lost", id)
	}
	if j.ExitCode != exitOK {
		fmt.Fprintln(w, render.Visible(j.Reason))
	}
}
