package turns

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func importCommand(a *cli.App) *cobra.Command {
	var format string
	var learn bool
	c := &cobra.Command{
		Use:   "import PATH",
		Short: "Admit conversations from a file, a folder or a git repository",
		Long: `Reads Claude Code transcripts, ChatGPT exports, OpenAI chat messages, git histories
and the project's own JSONL, which export writes. The format is found by looking;
--format names it where that is not enough.

Turns are admitted in batches, each whole or not at all. Importing again admits
what is new and changes nothing else. What is left out is counted by reason
(docs/importers.md explains each). A record that was changed after it was imported is
named and left out, and the stored turn stays. With --extract, facts are learned from the turns that
were admitted, as knowledge extract does it. The result, as JSON:

  {"admitted","existing","edges","conversations","skipped":{REASON:n},"noted":{REASON:n},"head",
   "changed","changed_turns":[{"place","turn","field"}],"extracted":{…}}`,
		Example: `  graphkernel import ~/.claude/projects
  graphkernel import conversations.json --format chatgpt
  graphkernel import .                        the history of this repository`,
		Args: cli.OneArg("PATH"),
		RunE: func(c *cobra.Command, args []string) error { return importPath(a, c, args[0], format, learn) },
	}
	names := make([]string, 0, len(ingest.Formats))
	for _, f := range ingest.Formats {
		names = append(names, string(f))
	}
	c.Flags().StringVar(&format, "format", "", fmt.Sprintf("one of %v; found by looking if absent", names))
	c.Flags().BoolVar(&learn, "extract", false, "learn facts from what is admitted")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

type importJSON struct {
	Admitted      int                  `json:"admitted"`
	Existing      int                  `json:"existing"`
	Edges         int                  `json:"edges"`
	Conversations int                  `json:"conversations"`
	Skipped       map[string]int       `json:"skipped"`
	Noted         map[string]int       `json:"noted"`
	Head          uint64               `json:"head"`
	Records       int                  `json:"records"`
	Changed       int                  `json:"changed"`
	ChangedTurns  []changedJSON        `json:"changed_turns,omitempty"`
	Extracted     *facts.ExtractedJSON `json:"extracted,omitempty"`
	Error         string               `json:"error,omitempty"`
	ExitCode      int                  `json:"exit_code,omitempty"`
}

// A changedJSON names a record that says something else than the stored turn.
type changedJSON struct {
	Place string `json:"place"`
	Turn  string `json:"turn"`
	Field string `json:"field"`
}

func importResult(r *kernel.ImportReport) importJSON {
	j := importJSON{
		Admitted: r.Admitted, Existing: r.Existing, Edges: r.Edges, Conversations: r.Conversations,
		Skipped: r.Read.Skipped, Noted: r.Read.Noted, Head: uint64(r.Head), Records: r.Read.Records,
		Changed: r.Changed,
	}
	for _, c := range r.ChangedTurns {
		j.ChangedTurns = append(j.ChangedTurns, changedJSON{c.Place, c.ID.String(), c.Field})
	}
	if j.Skipped == nil {
		j.Skipped = map[string]int{}
	}
	if j.Noted == nil {
		j.Noted = map[string]int{}
	}
	return j
}

func importPath(a *cli.App, c *cobra.Command, path, format string, learn bool) error {
	opts := ingest.Options{Format: ingest.Format(format)}
	if format != "" {
		if _, err := ingest.ParseFormat(format); err != nil {
			return cli.Usage(err)
		}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("%s does not exist; import takes a file, a folder or a git repository", path)
	}
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		before, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		bar := a.IO.Progress("importing")
		opts.Progress = bar.Update
		report, err := s.Turns.Import(c.Context(), path, opts)
		bar.Stop()
		result := importResult(&report)
		if err == nil && learn {
			if result.Extracted, err = facts.Extract(a, c.Context(), s, nil, before); err == nil {
				result.Head = result.Extracted.Head
			}
		}
		if err != nil {
			// What was admitted before stays; say so beside the error. Nothing
			// else is on standard output then, so run adds nothing to it.
			if a.IO.Output == "json" {
				result.Error, result.ExitCode = err.Error(), cli.ExitCode(err)
				if err := a.IO.PrintJSON(result); err != nil {
					return err
				}
				a.IO.Note("graphkernel: %v", err)
				return cli.Finish(result.ExitCode)
			}
			a.IO.Note("%d turns were admitted before this, and the head is %d; importing again continues from there", report.Admitted, report.Head)
			return err
		}
		return a.IO.Print(result, func(w io.Writer) {
			printImport(w, &report)
			if result.Extracted != nil {
				facts.PrintExtracted(w, result.Extracted)
			}
		})
	})
}

func printImport(w io.Writer, r *kernel.ImportReport) {
	fmt.Fprintf(w, "admitted %s with %s in %s; %d were there already; head %d\n",
		cli.Count(r.Admitted, "turn"), cli.Count(r.Edges, "edge"), cli.Count(r.Conversations, "conversation"), r.Existing, r.Head)
	cli.PrintCounts(w, "skipped", r.Read.Skipped)
	cli.PrintCounts(w, "noted", r.Read.Noted)
	if r.Changed == 0 {
		return
	}
	fmt.Fprintf(w, "  changed %7d  records that say something else than the turn that is stored, which stays\n", r.Changed)
	for _, c := range r.ChangedTurns {
		fmt.Fprintf(w, "    %s: turn %s has another %s\n", render.Visible(c.Place), c.ID, c.Field)
	}
	if more := r.Changed - len(r.ChangedTurns); more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}

func exportCommand(a *cli.App) *cobra.Command {
	var out, conversation string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write turns as JSONL that import reads back to the same bytes",
		Long: `Writes one turn a line, in the order of admission, with its salt: importing the
file elsewhere gives the same digests, leaves and slices. Handle it like the store
itself. Erased turns are written without text, so that their children keep them.
Erasures take sequence numbers and are no lines: what was admitted after one gets
smaller numbers elsewhere, and bundles cut after one replay only here.`,
		Example: `  graphkernel export > turns.jsonl
  graphkernel export -o turns.jsonl && graphkernel --store sqlite:copy.db import turns.jsonl`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return export(a, c, out, conversation) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write; standard output if absent")
	c.Flags().StringVar(&conversation, "conversation", "", "write only this conversation (an id)")
	cli.NoFiles(c, "conversation")
	return c
}

func export(a *cli.App, c *cobra.Command, out, conversation string) (err error) {
	var only *dag.ConversationID
	if cli.ToStdout(out) && a.IO.Output == "json" {
		return cli.Usagef("export writes many lines; with --output json give a file with -o")
	}
	var r kernel.ExportReport
	err = a.IO.WriteTo(out, func(w io.Writer) error {
		return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
			if err := s.HoldsTurns(c.Context()); err != nil {
				return err
			}
			if conversation != "" {
				id, err := exported(c, s, conversation)
				if err != nil {
					return err
				}
				only = &id
			}
			if r, err = s.Turns.Export(c.Context(), only, w); err == nil && only != nil && r.Turns == 0 {
				err = fmt.Errorf("conversation %s of tenant %s: %w; see: graphkernel show", only, s.Tenant, store.ErrNotFound)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if a.IO.Output == "json" {
		return a.IO.PrintJSON(map[string]any{"turns": r.Turns, "redacted": r.Redacted, "parents_outside": r.Outside, "file": out})
	}
	a.IO.Note("%d turns, %d of them without text, %d parents outside the export", r.Turns, r.Redacted, r.Outside)
	return nil
}

// exported returns the conversation that a person names by its id, or by the beginning of it.
func exported(c *cobra.Command, s *cli.Session, name string) (dag.ConversationID, error) {
	id, malformed := dag.AnyCase(dag.ParseConversationID)(name)
	if malformed == nil {
		return id, nil
	}
	id, found, err := conversationNamed(c, s, name)
	if err == nil && !found {
		err = cli.Usage(malformed)
	}
	return id, err
}
