package beliefs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/token"
)

// longestAliases is the most bytes of a file of aliases.
const longestAliases = 8 << 20

func personaCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "persona",
		Short: "Export beliefs from a space, signed, and import them into another",
		Long: `A persona is the part of a space that may leave it: no episodes, no models of users and relationships, and
observations only with the tag shared. It is one file, signed by the attestation key.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	c.AddCommand(exportPersonaCommand(a), importPersonaCommand(a))
	return c
}

func exportPersonaCommand(a *cli.App) *cobra.Command {
	var out, file string
	var pairs, people []string
	c := &cobra.Command{
		Use:   "export SPACE",
		Short: "Write a signed file with the part of a space that may leave the space",
		Long: `Writes a persona: a DSSE envelope around a document gkpersona/1. Names of people are replaced by aliases, in
statements and in texts, in any case and spelling. An item that has such a name inside a longer word is left
out. The command needs an identity.

The result lists the items that were left out, and the names that could not be replaced: names of people
that the space knows or --person gives, and capitalized words within sentences of texts. Look at that list
before you give the file away. A FILE of aliases is a JSON object, {"NAME":"ALIAS"}. The result with -o, as
JSON:

  {"file","sha256","items","links","left":[{"item","name","taken","reason"}]}

Without -o the envelope is printed, and the list goes to standard error.`,
		Example: `  graphkernel belief persona export acme/support --alias "Ada Lovelace=customer 7" -o persona.json`,
		Args:    spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			in := api.PersonaRequest{Space: belief.Space(args[0]), People: people}
			var err error
			if in.Aliases, err = aliasesOf(a, c, pairs, file); err != nil {
				return err
			}
			for _, name := range people {
				if err := isName("--person", name); err != nil {
					return err
				}
			}
			return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				p, err := cli.Do(c.Context(), s, api.ExportPersona, in)
				if err != nil {
					return hinted(err, spaceHint(args[0], 0))
				}
				return writePersona(a, out, &p)
			})
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	flags := c.Flags()
	flags.StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	flags.StringArrayVar(&pairs, "alias", nil, "a name and the alias that replaces it, NAME=ALIAS; may be repeated")
	flags.StringVar(&file, "aliases", "", "a FILE of aliases")
	flags.StringArrayVar(&people, "person", nil, "the name of a person, which is listed if it has no alias; may be repeated")
	cli.NoFiles(c, "alias", "person")
	return c
}

// aliasesOf reads the aliases from flags and from a file.
func aliasesOf(a *cli.App, c *cobra.Command, pairs []string, file string) (list []api.PersonaAlias, _ error) {
	add := func(where, name, to string) error {
		if err := isName(where+": the name", name); err != nil {
			return err
		}
		list = append(list, api.PersonaAlias{Name: name, Alias: to})
		return isName(where+": the alias", to)
	}
	for _, pair := range pairs {
		name, to, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, cli.Usagef("--alias is %.200q, want NAME=ALIAS", pair)
		}
		if err := add("--alias", name, to); err != nil {
			return nil, err
		}
	}
	if file == "" {
		return list, nil
	}
	data, err := a.IO.ReadText(c.Context(), file, longestAliases)
	if err != nil {
		return nil, err
	}
	doc, err := canon.Parse(bom.Trim(data))
	if err != nil {
		return nil, cli.Usagef("%s: %w", file, err)
	}
	cursor := canon.Open(doc)
	for _, m := range cursor.Members() {
		to := m.String()
		if cursor.Err() != nil {
			break
		}
		if err := add(file, m.Key(), to); err != nil {
			return nil, err
		}
	}
	if err := cursor.Err(); err != nil {
		return nil, cli.Usagef("%s: %w", file, err)
	}
	return list, nil
}

func writePersona(a *cli.App, out string, p *api.Persona) error {
	text := append(slices.Clone([]byte(p.Envelope)), '\n')
	write := func(w io.Writer) error { _, err := w.Write(text); return err }
	if cli.ToStdout(out) {
		for i := range p.Left {
			a.IO.Warn("graphkernel: %s", leftOf(&p.Left[i]))
		}
		return a.IO.WriteTo(out, write)
	}
	if err := a.IO.WriteTo(out, write); err != nil {
		return err
	}
	said := map[string]any{"file": out, "sha256": p.SHA256, "items": p.Items, "links": p.Links, "left": p.Left}
	return a.IO.Print(said, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s and %s\n", out, cli.Count(p.Items, "item"), cli.Count(p.Links, "link"))
		for i := range p.Left {
			fmt.Fprintf(w, "    %s\n", leftOf(&p.Left[i]))
		}
	})
}

func leftOf(l *api.PersonaLeft) string {
	what := "left out"
	if l.Taken {
		what = "exported with the name " + oneLine(l.Name, widestName)
	} else if l.Name != "" {
		what = "left out because of the name " + oneLine(l.Name, widestName)
	}
	return fmt.Sprintf("%s  %s: %s", oneLine(string(l.Item), len(l.Item)), what, oneLine(l.Reason, len(l.Reason)))
}

func importPersonaCommand(a *cli.App) *cobra.Command {
	var in api.PersonaImport
	var trust string
	c := &cobra.Command{
		Use:   "import SPACE FILE",
		Short: "Import a persona into a space, under new names",
		Long: `Imports each item of a persona under a new name, with the source external and its origin as the reason.
Everything is proposed: an item that contradicts something more entrenched waits as a conflict, and the exit
code is ` + fmt.Sprint(refusedExit) + `. With --revise, beliefs are revised with your own authority. FILE may be - for standard
input.

--trust names the trust file, which says whose signatures count. A key that has an end in it does not count,
because only the persona itself says when it was signed. A file that none of these keys signed, or that is
not a persona, is refused, and nothing is recorded. Importing the same file again changes nothing.

With --dry-run, each item is judged by itself. The result, as JSON, with the outcomes of
graphkernel belief propose:

  {"sha256","origin":{"kernel","tenant","space","as_of","at"},"items":[{"id","outcomes":[…]}],"links"}`,
		Example: `  graphkernel belief persona import acme/desk persona.json --trust trust.policy --dry-run`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s takes SPACE FILE, got %s", c.CommandPath(), cli.Count(len(args), "argument"))
			}
			return spaceOf(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if trust == "" {
				return cli.Usagef("give with --trust the trust file that says whose signatures count")
			}
			t, err := a.IO.ReadTrust(c.Context(), trust)
			if err != nil {
				return err
			}
			data, err := a.IO.ReadFile(c.Context(), args[1], attest.MaxEnvelope)
			if err != nil {
				return err
			}
			if err := opens(data, t, &in); err != nil {
				return fmt.Errorf("%s: %w", cli.InputName(args[1]), err)
			}
			in.Space, in.Envelope = belief.Space(args[0]), data
			return do(a, c, api.ImportPersona, in, spaceHint(args[0], 0), func(w io.Writer, out *api.ImportedPersona) { printImported(w, &in, out) }, anyRefused)
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().StringVar(&trust, "trust", "", "the trust file, which says whose signatures count")
	c.Flags().BoolVar(&in.Revise, "revise", false, "revise beliefs with it, instead of proposing it")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "change nothing; show what would happen")
	return c
}

// opens checks that a persona is signed by a trusted key before the service is asked to import it, and names those keys in the request.
func opens(data []byte, t *ledger.Trust, in *api.PersonaImport) error {
	var keys []ledger.Key
	retired := map[string]bool{}
	for _, s := range t.Signers {
		if s.Until != nil {
			retired[s.HexID()] = true
			continue
		}
		keys = append(keys, s.Key)
		in.Signers = append(in.Signers, s.Key.String())
	}
	_, _, err := persona.Open(data, keys)
	if !errors.Is(err, attest.ErrKeyUnknown) {
		return err
	}
	if e, failed := attest.ParseEnvelopeOf(attest.PersonaType, data); failed == nil && slices.ContainsFunc(e.Signatures(), func(s attest.Signature) bool { return retired[s.KeyID] }) {
		return fmt.Errorf("%w: in the trust file the key of this signature has an end, and nothing else says when it signed", token.ErrKeyRetired)
	}
	return err
}

func anyRefused(out *api.ImportedPersona) bool {
	return slices.ContainsFunc(out.Items, func(i api.ImportedItem) bool {
		return slices.ContainsFunc(i.Outcomes, func(o api.BeliefOutcome) bool { return o.Outcome == "refused" })
	})
}

func printImported(w io.Writer, in *api.PersonaImport, out *api.ImportedPersona) {
	taken, refused, before := 0, 0, 0
	for _, item := range out.Items {
		for i := range item.Outcomes {
			switch o := &item.Outcomes[i]; {
			case o.Outcome == "refused":
				refused++
				fmt.Fprintf(w, "%s  refused%s\n", oneLine(item.ID, widestName), waits(o, in))
			case o.Repeated:
				before++
			default:
				taken++
				fmt.Fprintf(w, "%s  %s: %s\n", oneLine(item.ID, widestName), would(in.DryRun, "taken", "would be taken"), address(string(o.Item), o.Revision))
			}
			for n := range item.Outcomes[i].GaveWay {
				l := &item.Outcomes[i].GaveWay[n]
				fmt.Fprintf(w, "    %s %s\n", would(in.DryRun || item.Outcomes[i].Outcome == "refused", "gave way", "would give way"), said(l.Statement))
			}
		}
	}
	fmt.Fprintf(w, "%s of %s, space %s as of %d: %d %s, %d refused, %d answered before%s\n", cli.Count(len(out.Items), "item"), oneLine(out.Origin.Kernel, widestText), oneLine(string(out.Origin.Space), widestText), out.Origin.AsOf,
		taken, would(in.DryRun, "taken", "would be taken"), refused, before, would(in.DryRun, ", "+cli.Count(out.Links, "link"), ""))
}

// waits says where a refused proposal waits.
func waits(o *api.BeliefOutcome, in *api.PersonaImport) string {
	if o.Seq == 0 || in.DryRun {
		return ""
	}
	return fmt.Sprintf(": waiting as conflict %d; see: graphkernel belief conflicts %s", o.Seq, in.Space)
}
