package audit

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// A discloseFlags says which parts of a bundle are shown.
type discloseFlags struct {
	turns  []string
	named  []string
	drop   bool
	issued string
	out    string

	facts, evidence, beliefs   []string
	aliases, question, reached bool
	candidates, prompt         bool
}

// disclosable has, for each kind of bundle, the flags that select parts to show and the other flags that are allowed with them.
var disclosable = map[string]struct{ showing, with []string }{
	"a bundle of turns": {[]string{"turns", "drop"}, []string{"named", "issued"}},
	"a bundle of facts": {[]string{"facts", "evidence", "aliases", "question", "reached"}, nil},
	"a context":         {[]string{"turns", "facts", "beliefs", "candidates", "question", "prompt"}, nil},
}

// fit refuses flags that do not apply to a kind of bundle, and a call without any flag that selects a part.
func (f *discloseFlags) fit(c *cobra.Command, path, kind string) error {
	of := disclosable[kind]
	some := false
	for _, other := range disclosable {
		for _, name := range slices.Concat(other.showing, other.with) {
			switch given := c.Flags().Changed(name); {
			case given && !slices.Contains(of.showing, name) && !slices.Contains(of.with, name):
				return cli.Usagef("%s is %s, to which --%s does not apply; leave it out", path, kind, name)
			case given && slices.Contains(of.showing, name):
				some = true
			}
		}
	}
	if !some {
		return cli.Usagef("%s is %s: name the parts to show with --%s", path, kind, strings.Join(of.showing, ", --"))
	}
	return nil
}

func discloseCommand(a *cli.App) *cobra.Command {
	var flags discloseFlags
	c := &cobra.Command{
		Use:   "disclose BUNDLE --turns TURN,… | --facts STATEMENT,…",
		Short: "Show some turns or facts of a bundle and withhold the others",
		Long: `Writes a part of a bundle that still verifies against the same snapshot hash, the same token and the
same attestation. It needs no store and no keys.

Without --drop the other turns stay, without their text (author, content, attributes): a reader sees how
many there were, when, and how they are connected. With --drop only hashes of them are left, and the
turns that --named lists are shown without their text.

TURN is a turn's id, or a beginning of it that no other turn of the bundle shares. Given the attestation,
graphkernel verify distinguishes text withheld here from text erased in the store. A bundle that was
disclosed without --drop can be disclosed again.

From a bundle of facts, --facts shows facts; other flags show the turns that are their evidence (id and
leaf hash), the question, the aliases, and what was reached on which paths. Only hashes of the rest are
left. The hashes of facts are salted, others are not: docs/evidence.md, section 7, says what a receiver
can confirm by guessing.

From a context, turns, facts and beliefs can be shown; other flags show the request with its salt, all
candidates without their texts, and the cost and the HMAC of the prompt. Only hashes of the rest are left.

With --output json and -o: {"file","slice_id","turns","shown","redacted","dropped"}; for a bundle of facts
or a context {"file","slice_id","leaves","shown","dropped"}`,
		Example: `  graphkernel disclose slice.json --turns 079a02ab,5d1f -o part.json
  graphkernel disclose slice.json --turns 079a02ab --drop -o part.json
  graphkernel disclose facts.json --facts 5c1b,90ee --question -o part.json
  graphkernel disclose context.json --turns 079a02ab --candidates -o part.json
  graphkernel verify part.json --trust trust.policy --attestation attestation.json`,
		Args: cli.OneArg("BUNDLE"),
		RunE: func(c *cobra.Command, args []string) error { return disclose(a, c, args[0], &flags) },
	}
	c.Flags().StringSliceVar(&flags.turns, "turns", nil, "the turns to show, separated by commas")
	c.Flags().StringSliceVar(&flags.facts, "facts", nil, "for a bundle of facts or a context: the statements to show, separated by commas")
	c.Flags().StringSliceVar(&flags.beliefs, "beliefs", nil, "for a context: the addresses of the beliefs to show, separated by commas")
	c.Flags().StringSliceVar(&flags.evidence, "evidence", nil, "for a bundle of facts: the turns to show as evidence")
	c.Flags().BoolVar(&flags.question, "question", false, "for a bundle of facts or a context: show what was asked")
	c.Flags().BoolVar(&flags.aliases, "aliases", false, "for a bundle of facts: show the aliases")
	c.Flags().BoolVar(&flags.reached, "reached", false, "for a bundle of facts: show the entities that were reached, and the paths")
	c.Flags().BoolVar(&flags.candidates, "candidates", false, "for a context: show all candidates, without their texts")
	c.Flags().BoolVar(&flags.prompt, "prompt", false, "for a context: show the cost and the HMAC of the prompt")
	c.Flags().BoolVar(&flags.drop, "drop", false, "leave out the other turns altogether")
	c.Flags().StringSliceVar(&flags.named, "named", nil, "with --drop: turns to show without their text")
	c.Flags().StringVar(&flags.issued, "issued", "", "with --drop: the SHA-256 of the bundle as it was issued, if texts were withheld from BUNDLE afterwards (default: that of BUNDLE)")
	c.Flags().StringVarP(&flags.out, "out", "o", "", "the file to write (default: standard output)")
	cli.NoFiles(c, "turns", "named", "issued", "facts", "beliefs", "evidence")
	return c
}

func disclose(a *cli.App, c *cobra.Command, path string, flags *discloseFlags) error {
	if err := a.IO.ForPrograms(flags.out, "a disclosure"); err != nil {
		return err
	}
	data, err := a.IO.ReadBundle(c.Context(), path)
	if err != nil {
		return err
	}
	switch k := kinds.Of(data); {
	case k == facts.Bundles:
		return discloseFacts(a, c, path, data, flags)
	case k == contexts.Bundles:
		return discloseContext(a, c, path, data, flags)
	case k.Parts == nil:
		return cli.Usagef("%s is %s, which cannot be disclosed in part; hand on the whole file", path, k.Noun)
	}
	whole, err := slice.ParseBundle(data)
	if err != nil {
		return err
	}
	if err := flags.fit(c, path, "a bundle of turns"); err != nil {
		return err
	}
	if !flags.drop && (len(flags.named) > 0 || flags.issued != "") {
		return cli.Usagef("--named and --issued need --drop")
	}
	if err := cli.Untampered(path, whole.Check()); err != nil {
		return err
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
		written, dropped = d.Append(nil), len(whole.Turns)-len(d.Shown)
	}
	if err := a.IO.WriteTo(flags.out, func(w io.Writer) error { return a.IO.WriteDocument(w, written) }); err != nil {
		return err
	}
	said := disclosedJSON{
		File: flags.out, SliceID: string(whole.Provenance.SliceID), Turns: len(whole.Turns),
		Shown: len(whole.Turns) - len(part.Redacted()), Dropped: dropped,
	}
	said.Redacted = said.Turns - said.Shown - said.Dropped
	a.IO.Note("slice %s: of %s, shown: %d, without text: %d, dropped: %d", said.SliceID, cli.Count(said.Turns, "turn"), said.Shown, said.Redacted, said.Dropped)
	if a.IO.Output != "json" || cli.ToStdout(flags.out) {
		return nil
	}
	return a.IO.PrintJSON(said)
}

func discloseFacts(a *cli.App, c *cobra.Command, path string, data []byte, flags *discloseFlags) error {
	if err := flags.fit(c, path, "a bundle of facts"); err != nil {
		return err
	}
	whole, err := facts.Parse(data)
	if err == nil {
		err = cli.Untampered(path, whole.Check())
	}
	if err != nil {
		return err
	}
	show := facts.Choice{Aliases: flags.aliases, Question: flags.question, Reached: flags.reached}
	statements := make([]dag.Digest, len(whole.Facts))
	for i := range whole.Facts {
		statements[i] = whole.Facts[i].Fact.ID()
	}
	turns := make([]dag.TurnID, len(whole.Evidence))
	for i := range whole.Evidence {
		turns[i] = whole.Evidence[i].ID
	}
	if show.Facts, err = idsOf("statement", statements, flags.facts); err != nil {
		return err
	}
	if show.Evidence, err = idsOf("turn", turns, flags.evidence); err != nil {
		return err
	}
	d, err := whole.Disclose(sha256.Sum256(data), show)
	if err != nil {
		return cli.Usage(err)
	}
	return writePart(a, flags, d)
}

func discloseContext(a *cli.App, c *cobra.Command, path string, data []byte, flags *discloseFlags) error {
	if err := flags.fit(c, path, "a context"); err != nil {
		return err
	}
	whole, err := contexts.Parse(data)
	if err == nil {
		err = cli.Untampered(path, whole.Check())
	}
	if err != nil {
		return err
	}
	show := contexts.Part{Candidates: flags.candidates, Request: flags.question, Prompt: flags.prompt}
	statements := make([]dag.Digest, len(whole.Facts))
	for i := range whole.Facts {
		statements[i] = whole.Facts[i].Fact.ID()
	}
	turns := make([]dag.TurnID, len(whole.Turns))
	for i := range whole.Turns {
		turns[i] = whole.Turns[i].ID
	}
	if show.Facts, err = idsOf("statement", statements, flags.facts); err != nil {
		return err
	}
	if show.Turns, err = idsOf("turn", turns, flags.turns); err != nil {
		return err
	}
	beliefs := make([]belief.Address, len(whole.Beliefs))
	for i := range whole.Beliefs {
		beliefs[i] = whole.Beliefs[i].Address()
	}
	if show.Beliefs, err = idsOf("belief", beliefs, flags.beliefs); err != nil {
		return err
	}
	d, err := whole.Disclose(sha256.Sum256(data), show)
	if err != nil {
		return cli.Usage(err)
	}
	return writePart(a, flags, d)
}

// writePart writes a disclosure of any kind of leaves, and reports their numbers.
func writePart(a *cli.App, flags *discloseFlags, d *slice.Disclosure) error {
	if err := a.IO.WriteTo(flags.out, func(w io.Writer) error { return a.IO.WriteDocument(w, d.Append(nil)) }); err != nil {
		return err
	}
	said := disclosedLeavesJSON{flags.out, string(d.Provenance.SliceID), d.Size(), len(d.Shown), d.Size() - len(d.Shown)}
	a.IO.Note("slice %s: of %s, shown: %d, dropped: %d", said.SliceID, cli.Count(said.Leaves, "leaf"), said.Shown, said.Dropped)
	if a.IO.Output != "json" || cli.ToStdout(flags.out) {
		return nil
	}
	return a.IO.PrintJSON(said)
}

// A disclosedLeavesJSON says which leaves of a bundle of facts or a context were written to a file.
type disclosedLeavesJSON struct {
	File    string `json:"file"`
	SliceID string `json:"slice_id"`
	Leaves  int    `json:"leaves"` // of the slice: the sum of the counts below
	Shown   int    `json:"shown"`
	Dropped int    `json:"dropped"`
}

// A disclosedJSON says which turns were written to a file.
type disclosedJSON struct {
	File     string `json:"file"`
	SliceID  string `json:"slice_id"`
	Turns    int    `json:"turns"` // of the slice: the sum of the counts below
	Shown    int    `json:"shown"`
	Redacted int    `json:"redacted"`
	Dropped  int    `json:"dropped"`
}

// turnsOf finds the turns of a bundle that a person names.
func turnsOf(b *slice.Bundle, names []string) ([]dag.TurnID, error) {
	turns := make([]dag.TurnID, len(b.Turns))
	for i := range b.Turns {
		turns[i] = b.Turns[i].ID
	}
	return idsOf("turn", turns, names)
}

// idsOf finds the ids that a person names by beginnings of them.
func idsOf[T fmt.Stringer](what string, of []T, names []string) ([]T, error) {
	ids := make([]T, len(names))
	for i, name := range names {
		found := 0
		for _, id := range of {
			if name != "" && strings.HasPrefix(id.String(), name) {
				ids[i] = id
				found++
			}
		}
		switch {
		case found == 0:
			return nil, cli.Usagef("no %s of the bundle has an id that begins with %q", what, name)
		case found > 1:
			return nil, cli.Usagef("%d %ss of the bundle have ids that begin with %q; give more characters of the id", found, what, name)
		}
	}
	return ids, nil
}
