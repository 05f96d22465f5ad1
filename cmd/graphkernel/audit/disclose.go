package audit

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// A discloseFlags says what of a bundle is shown.
type discloseFlags struct {
	turns  []string
	named  []string
	drop   bool
	issued string
	out    string
}

func discloseCommand(a *cli.App) *cobra.Command {
	var flags discloseFlags
	c := &cobra.Command{
		Use:   "disclose BUNDLE --turns TURN,…",
		Short: "Show some turns of a bundle and withhold the others",
		Long: `Writes a part of a bundle that still verifies: against the same snapshot hash, the same
token and the same attestation. It needs no store and no keys.

Without --drop the other turns stay, without their text (author, content, attributes): who
reads it sees how many there were, when, and how they hang together. With --drop
nothing of them is left but hashes; --named turns are shown without their text then.

TURN is a turn's id or a beginning of it that no other turn of the bundle shares.
Verify tells what was left out here from what was erased in the store, if it is given
the attestation. What was cut without --drop can be cut again.

With --output json and -o: {"file","slice_id","turns","shown","redacted","dropped"}`,
		Example: `  graphkernel disclose slice.json --turns 079a02ab,5d1f -o part.json
  graphkernel disclose slice.json --turns 079a02ab --drop -o part.json
  graphkernel verify part.json --trust trust.policy --attestation attestation.json`,
		Args: cli.OneArg("BUNDLE"),
		RunE: func(c *cobra.Command, args []string) error { return disclose(a, c, args[0], &flags) },
	}
	c.Flags().StringSliceVar(&flags.turns, "turns", nil, "the turns to show, with commas")
	c.Flags().BoolVar(&flags.drop, "drop", false, "leave the other turns out altogether")
	c.Flags().StringSliceVar(&flags.named, "named", nil, "with --drop: turns to show without their text")
	c.Flags().StringVar(&flags.issued, "issued", "", "with --drop: the SHA-256 of the bundle as it was issued, if texts were withheld from BUNDLE since (default: that of BUNDLE)")
	c.Flags().StringVarP(&flags.out, "out", "o", "", "the file to write; standard output if absent")
	cli.NoFiles(c, "turns", "named", "issued")
	return c
}

func disclose(a *cli.App, c *cobra.Command, path string, flags *discloseFlags) error {
	if len(flags.turns) == 0 && !flags.drop {
		return cli.Usagef("disclose needs --turns TURN,…: which turns are shown")
	}
	if !flags.drop && (len(flags.named) > 0 || flags.issued != "") {
		return cli.Usagef("--named and --issued go with --drop")
	}
	data, err := a.IO.ReadFile(c.Context(), path, slice.MaxBundle)
	if err != nil {
		return err
	}
	whole, err := slice.ParseBundle(data)
	if err != nil {
		return err
	}
	for _, check := range whole.Check() {
		if check.Status == slice.StatusFail { // a part would say so too, and nobody could tell why
			return fmt.Errorf("%w: %s: %s: %s", cli.ErrTampered, path, check.ID, check.Detail)
		}
	}
	shown, err := turnsOf(whole, flags.turns)
	if err != nil {
		return err
	}
	part, err := whole.Withhold(shown)
	if err != nil {
		return err
	}
	written, dropped := part.Append(nil), 0
	if flags.drop {
		named, err := turnsOf(whole, flags.named)
		if err != nil {
			return err
		}
		issued := dag.Digest(sha256.Sum256(data))
		if flags.issued != "" {
			if issued, err = dag.ParseDigest(flags.issued); err != nil {
				return cli.Usagef("--issued: %w", err)
			}
		}
		d, err := part.Disclose(issued, append(shown, named...))
		if err != nil {
			return cli.Usage(err)
		}
		written, dropped = d.Append(nil), len(whole.Turns)-len(d.Turns)
	}
	if err := a.IO.WriteTo(flags.out, func(w io.Writer) error { return writeDocument(w, written) }); err != nil {
		return err
	}
	said := disclosedJSON{
		File: flags.out, SliceID: string(whole.Provenance.SliceID), Turns: len(whole.Turns),
		Shown: len(whole.Turns) - len(part.Redacted()), Dropped: dropped,
	}
	said.Redacted = said.Turns - said.Shown - said.Dropped
	a.IO.Note("slice %s: of %d turns %d are shown, %d are without text, %d are dropped", said.SliceID, said.Turns, said.Shown, said.Redacted, said.Dropped)
	if a.IO.Output != "json" || cli.ToStdout(flags.out) {
		return nil
	}
	return a.IO.PrintJSON(said)
}

// A disclosedJSON tells what went into a file.
type disclosedJSON struct {
	File     string `json:"file"`
	SliceID  string `json:"slice_id"`
	Turns    int    `json:"turns"` // of the slice: those below together
	Shown    int    `json:"shown"`
	Redacted int    `json:"redacted"`
	Dropped  int    `json:"dropped"`
}

// turnsOf finds the turns of a bundle that a person names.
func turnsOf(b *slice.Bundle, names []string) ([]dag.TurnID, error) {
	ids := make([]dag.TurnID, len(names))
	for i, name := range names {
		found := 0
		for j := range b.Turns {
			if id := b.Turns[j].ID; name != "" && strings.HasPrefix(id.String(), name) {
				ids[i] = id
				found++
			}
		}
		switch {
		case found == 0:
			return nil, cli.Usagef("no turn of the bundle has an id that begins with %q", name)
		case found > 1:
			return nil, cli.Usagef("%d turns of the bundle have ids that begin with %q; give more of it", found, name)
		}
	}
	return ids, nil
}
