package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	hooks "github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// An importing holds the flags of import.
type importing struct {
	format  string
	learn   bool
	dry     bool
	verbose bool
	skip    []string
	folders bool
	wait    bool
	noIndex bool
}

func importCommand(a *cli.App) *cobra.Command {
	var im importing
	c := &cobra.Command{
		Use:   "import PATH...",
		Short: "Admit conversations from files, folders, archives and git repositories",
		Long: "Detects the format of its input, which is one of these:\n\n" + formatsHelp() + `
A PATH is a file, a folder with all files below it, a git repository, a .zip archive with all files in it, a .gz
or .zst file, or - for standard input. --format names a format that cannot be detected.

Turns are admitted in batches; each batch is admitted whole or not at all. Importing again admits new turns and
changes nothing else.

Omitted records are counted by reason (docs/importers.md explains each), and named with --verbose. A record that
was changed after it was imported is named and omitted, and the stored turn stays.

Secrets are replaced by tokens before anything is stored, unless --secrets says otherwise. Sessions of folders
that capture leaves out ("graphkernel capture" lists them) are omitted and counted; --all-folders imports them.

--skip omits conversations: by the beginning of an id or of a session's name (4 characters or more), by a title,
or by a pattern for titles such as '*salary*', in any case.

--dry-run stores nothing and shows what would be new. With --extract, facts are learned from the admitted turns,
as graphkernel knowledge extract does.

The result, as JSON:

  {"admitted","existing","erased","edges","conversations","skipped":{REASON:n},"noted":{REASON:n},"secrets":{RULE:n},"head",
   "changed","changed_turns":[{"place","turn","field"}],"guests":{AUTHOR:turns},"more_guests",
   "left_out":{"folder_left_out":n,"conversation_left_out":n},"skip_unmatched":[VALUE],"dry_run","extracted":{…}}`,
		Example: `  graphkernel import ~/.claude/projects
  graphkernel import --dry-run --verbose export.zip
  graphkernel import conversations.json --format chatgpt
  graphkernel import export.zip --skip '*salary*' --skip 6a2f0c1e
  zcat old.jsonl.gz | graphkernel import -
  graphkernel import .                        the history of this repository`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes at least one PATH: a file, a folder, a git repository, or - for standard input", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := importPaths(a, c, args, &im); err != nil || im.dry {
				return err
			}
			hooks.KeepAfter(c.Context(), a)
			return nil
		},
	}
	names := make([]string, 0, len(ingest.Formats))
	for _, f := range ingest.Formats {
		names = append(names, string(f))
	}
	c.Flags().StringVar(&im.format, "format", "", fmt.Sprintf("one of %v (default: detected from the content)", names))
	c.Flags().BoolVar(&im.learn, "extract", false, "learn facts from the admitted turns")
	c.Flags().BoolVar(&im.dry, "dry-run", false, "store nothing, and show what would be admitted")
	c.Flags().BoolVarP(&im.verbose, "verbose", "v", false, "name each omitted file and line, on standard error")
	c.Flags().StringArrayVar(&im.skip, "skip", nil, "omit the conversation with this id, session or title; may be repeated")
	c.Flags().BoolVar(&im.wait, "wait", false, "wait until every turn of the store is in the search index, however long that takes")
	c.Flags().BoolVar(&im.noIndex, "no-index", false, "leave updating the search index to the next import, capture or service")
	c.MarkFlagsMutuallyExclusive("wait", "no-index")
	c.Flags().BoolVar(&im.folders, "all-folders", false, "also import sessions of folders that capture leaves out")
	cli.NoFiles(c, "skip")
	a.Settings.RegisterSecrets(c)
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

// formatsHelp lists the formats for the help text.
func formatsHelp() string {
	var b strings.Builder
	for _, f := range ingest.Formats {
		fmt.Fprintf(&b, "  %-12s %s\n", f, f.About())
	}
	return b.String()
}

type importJSON struct {
	api.Receipt
	Erased        int                  `json:"erased,omitempty"`
	Conversations int                  `json:"conversations"`
	Skipped       map[string]int       `json:"skipped"`
	Noted         map[string]int       `json:"noted"`
	Secrets       map[string]int       `json:"secrets,omitempty"`
	Records       int                  `json:"records"`
	Changed       int                  `json:"changed"`
	ChangedTurns  []changedJSON        `json:"changed_turns,omitempty"`
	LeftOut       map[string]int       `json:"left_out,omitempty"` // conversations
	SkipUnmatched []string             `json:"skip_unmatched,omitempty"`
	Guests        map[string]int       `json:"guests,omitempty"` // turns by author
	MoreGuests    int                  `json:"more_guests,omitempty"`
	DryRun        bool                 `json:"dry_run,omitempty"`
	Extracted     *facts.ExtractedJSON `json:"extracted,omitempty"`
	Error         string               `json:"error,omitempty"`
	ExitCode      int                  `json:"exit_code,omitempty"`
}

// A changedJSON names a record whose content differs from the stored turn.
type changedJSON struct {
	Place string `json:"place"`
	Turn  string `json:"turn"`
	Field string `json:"field"`
}

func importResult(r *admission.ImportReport, left *cli.LeavingOut) importJSON {
	j := importJSON{
		LeftOut: left.Conversations(), SkipUnmatched: left.Unmatched(), Guests: map[string]int{}, MoreGuests: r.MoreGuests,
		Receipt: r.Receipt, Erased: r.Erased, Conversations: r.Conversations,
		Skipped: r.Read.Skipped, Noted: r.Read.Noted, Secrets: r.Read.Secrets, Records: r.Read.Records,
		Changed: r.Changed,
	}
	for _, g := range r.Guests {
		j.Guests[g.Author] = g.Turns
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

func importPaths(a *cli.App, c *cobra.Command, paths []string, im *importing) error {
	if im.format != "" {
		if _, err := ingest.ParseFormat(im.format); err != nil {
			return cli.Usage(err)
		}
	}
	if im.dry && im.learn {
		return cli.Usagef("--dry-run stores nothing that --extract could learn from; give only one of them")
	}
	for _, path := range paths {
		switch err := ingest.Check(path); {
		case errors.Is(err, fs.ErrNotExist):
			return cli.Usagef("%s does not exist; import takes files, folders, git repositories, and - for standard input", path)
		case err != nil:
			return cli.Usage(err)
		}
	}
	left, err := a.Settings.LeavingOut(im.skip, im.folders)
	if err != nil {
		return err
	}
	opts := ingest.Options{Format: ingest.Format(im.format), Stdin: a.IO.Stdin, LeaveOut: left.Reason, Looks: &ingest.Looks{}}
	if im.verbose {
		opts.Skipped = func(s ingest.Skip) { a.IO.Note("%s", skippedLine(s)) }
	}
	policy, err := a.Settings.Secrets()
	if err != nil {
		return err
	}
	if im.verbose {
		opts.Secret = func(s ingest.Secret) {
			a.IO.Note("secret %s: turn %s has a %s in its %s: %s", s.Place, s.Turn, s.Rule, s.In, done[s.Done].one)
		}
	}
	if im.dry {
		tenant, err := a.Settings.Tenant()
		if err != nil {
			return err
		}
		opts.Secrets = a.Stores.Screen(policy, tenant, true)
		bar := a.IO.Progress("reading")
		opts.Progress = bar.Update
		report, err := a.Stores.TryImport(c.Context(), paths, opts)
		bar.Stop()
		result := importResult(&report, left)
		result.DryRun = true
		warnUnmatched(a, left)
		if err == nil {
			err = nothingImported(&report, left)
		}
		if err != nil {
			return err
		}
		return im.finish(a, &report, result, left, policy)
	}
	if a.Stores.WouldMake() { // no store is made for an input without turns
		again, remove, err := spooled(a.IO.Stdin, paths)
		if err != nil {
			return err
		}
		defer remove()
		look, err := a.Settings.LeavingOut(im.skip, im.folders) // the other LeavingOut counts
		if err != nil {
			return err
		}
		if opts.Stdin, err = again(); err != nil {
			return err
		}
		holds := holdsTurns(c.Context(), paths, opts, look)
		if opts.Stdin, err = again(); err != nil {
			return err
		}
		if !holds {
			report, err := a.Stores.TryImport(c.Context(), paths, opts)
			result := importResult(&report, left)
			warnUnmatched(a, left)
			if err == nil {
				err = nothingImported(&report, left)
			}
			if err != nil {
				return importFailed(a, &report, result, err)
			}
			return im.finish(a, &report, result, left, policy)
		}
	}
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		before, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		opts.Secrets = a.Stores.Screen(policy, s.Tenant, false)
		bar := a.IO.Progress("importing")
		opts.Progress = bar.Update
		indexed := func() {}
		if !im.noIndex {
			indexed = s.BesideIndex(c.Context())
		}
		report, err := s.Turns.Import(c.Context(), paths, opts)
		bar.Stop()
		indexed()
		if err == nil {
			err = left.Learn(c.Context())
		}
		result := importResult(&report, left)
		warnUnmatched(a, left)
		if err == nil {
			err = nothingImported(&report, left)
		}
		if err == nil && im.learn {
			if result.Extracted, err = facts.Extract(a, c.Context(), s, nil, before); err == nil {
				result.Head = dag.Seq(result.Extracted.Head)
			}
		}
		if err != nil {
			return importFailed(a, &report, result, err)
		}
		err = im.finish(a, &report, result, left, policy)
		tellGuests(a, &report)
		return cmp.Or(err, im.index(a, c, s, report.Admitted))
	})
}

// index makes the missing parts of the store's search index.
func (im *importing) index(a *cli.App, c *cobra.Command, s *cli.Session, admitted int) error {
	if im.noIndex {
		return nil
	}
	bar := a.IO.Counting("making the search index")
	whole, err := s.FinishIndex(c.Context(), admitted, im.wait, bar.Update)
	bar.Stop()
	switch {
	case err != nil && im.wait:
		return err
	case err != nil, !whole:
		a.IO.Note("the search index is not complete; the next import, capture or service continues it, and import --wait waits for it")
	}
	return nil
}

// finish prints the result of a complete import. It returns an error if a document was incomplete.
func (im *importing) finish(a *cli.App, report *admission.ImportReport, result importJSON, left *cli.LeavingOut, policy secrets.Policy) error {
	err := brokenDocuments(report)
	if err != nil && a.IO.Output == "json" {
		return importFailed(a, report, result, err)
	}
	printed := a.IO.Print(result, func(w io.Writer) {
		printImport(w, report, left, policy, im.dry)
		if result.Extracted != nil {
			facts.PrintExtracted(w, result.Extracted)
		}
	})
	return cmp.Or(err, printed)
}

// brokenDocuments returns an error if a document ended early, or stopped being JSON, or if the format of a given file is unknown. Complete parts and known
// files were imported and stay.
func brokenDocuments(report *admission.ImportReport) error {
	err := brokenOnly(report)
	for _, unknown := range report.Read.Unknown {
		if err == nil {
			err = fmt.Errorf("%w; the other inputs were read", unknown)
		} else {
			err = fmt.Errorf("%w; %w", unknown, err)
		}
	}
	return err
}

func brokenOnly(report *admission.ImportReport) error {
	var all []string
	for i := range report.Read.Broken {
		all = append(all, report.Read.Broken[i].String())
	}
	if all == nil {
		return nil
	}
	then := "the conversations that end before that point were imported, and importing the complete file again continues from there"
	if report.Admitted+report.Existing+report.Changed == 0 {
		then = "no conversation is complete before that point, so nothing was admitted; get the file again"
	}
	return fmt.Errorf("%w: %s; %s", ingest.ErrBroken, strings.Join(all, "; "), then)
}

// holdsTurns reports whether an input has a turn, without a store. It reads until the first turn.
func holdsTurns(ctx context.Context, paths []string, opts ingest.Options, left *cli.LeavingOut) bool {
	found := errors.New("a turn")
	_, err := ingest.ReadAll(ctx, paths, ingest.Options{Format: opts.Format, Stdin: opts.Stdin, LeaveOut: left.Reason, Looks: opts.Looks}, func(*ingest.Batch) error { return found })
	return errors.Is(err, found)
}

// spooled copies standard input to a file if it is among the paths, so that it can be read twice.
func spooled(in io.Reader, paths []string) (again func() (io.Reader, error), remove func(), err error) {
	if !slices.Contains(paths, ingest.Stdin) {
		return func() (io.Reader, error) { return in, nil }, func() {}, nil
	}
	file, err := os.CreateTemp("", "graphkernel-stdin-*")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { file.Close(); os.Remove(file.Name()) }
	if _, err := io.Copy(file, in); err != nil {
		remove()
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	return func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return io.NopCloser(file), err
	}, remove, nil
}

// warnUnmatched warns about values of --skip that matched nothing, because the conversations that they were meant for may be stored now.
func warnUnmatched(a *cli.App, left *cli.LeavingOut) {
	for _, value := range left.Unmatched() {
		a.IO.Warn("graphkernel: --skip %q matched no conversation and left out nothing; want the beginning of an id or session, a title, or a pattern such as '*word*'", value)
	}
}

// nothingImported returns an error if the input has no turn at all: that is not a success, whatever format was named. Conversations that were left out on
// purpose count as turns.
func nothingImported(report *admission.ImportReport, left *cli.LeavingOut) error {
	if err := brokenDocuments(report); err != nil && report.Admitted+report.Existing+report.Changed == 0 {
		return err
	}
	if report.Admitted+report.Existing+report.Changed+len(left.Conversations()) > 0 || len(report.Read.Secrets) > 0 {
		return nil
	}
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(report.Read.Skipped)) {
		out = append(out, fmt.Sprintf("%d %s", report.Read.Skipped[reason], reason))
	}
	if len(out) == 0 {
		return fmt.Errorf("%w: the input holds no turn", ingest.ErrFormat)
	}
	return fmt.Errorf("%w: the input holds no turn; left out: %s; --verbose names each", ingest.ErrFormat, strings.Join(out, ", "))
}

// importFailed prints what was admitted before an error, which is returned. With JSON output, this is the only object on standard output, so the program adds
// nothing to it.
func importFailed(a *cli.App, report *admission.ImportReport, result importJSON, err error) error {
	if a.IO.Output == "json" {
		result.Error, result.ExitCode = err.Error(), cli.ExitCode(err)
		if err := a.IO.PrintJSON(result); err != nil {
			return err
		}
		a.IO.Warn("graphkernel: %v", err)
		return cli.Finish(result.ExitCode)
	}
	if report.Admitted > 0 {
		a.IO.Note("%s admitted before this, and the head is %d; importing again continues from there", cli.Count(report.Admitted, "turn"), report.Head)
	}
	return err
}

// done has the words for what was done about secrets.
var done = map[secrets.Policy]struct{ count, one string }{
	secrets.Redact: {"redacted", "replaced by a token"}, secrets.Report: {"reported", "stored as it is"}, secrets.Refuse: {"refused", "the turn was left out"},
}

// skippedLine describes a record that was left out: "skipped PATH:LINE: REASON", or the number of records without a line.
func skippedLine(s ingest.Skip) string {
	switch {
	case s.Line > 0:
		return fmt.Sprintf("skipped %s:%d: %s", s.Path, s.Line, s.Reason)
	case s.Records > 1:
		return fmt.Sprintf("skipped %s: %s, %s", s.Path, s.Reason, cli.Count(s.Records, "record"))
	}
	return fmt.Sprintf("skipped %s: %s", s.Path, s.Reason)
}

func printImport(w io.Writer, r *admission.ImportReport, left *cli.LeavingOut, policy secrets.Policy, dry bool) {
	what, end := "admitted", fmt.Sprintf("; head %d", r.Head)
	if dry {
		what, end = "would admit", "; nothing was stored"
	}
	there := cli.There(r.Existing)
	if r.Erased > 0 {
		there += fmt.Sprintf(", %d of them erased", r.Erased)
	}
	fmt.Fprintf(w, "%s %s with %s in %s; %s%s\n",
		what, cli.Count(r.Admitted, "turn"), cli.Count(r.Edges, "edge"), cli.Count(r.Conversations, "conversation"), there, end)
	if r.Erased > 0 {
		fmt.Fprintln(w, "erased turns are not admitted again")
	}
	if r.HeldBack > 0 {
		fmt.Fprintf(w, "held back the text of %s, which was erased under another id; graphkernel erase --list-held lists them, --release frees one\n", cli.Count(r.HeldBack, "turn"))
	}
	if r.ErasedBefore > 0 {
		fmt.Fprintf(w, "in %s a person repeats a text that was erased before; these turns are admitted with their text\n", cli.Count(r.ErasedBefore, "turn"))
	}
	if r.Brought > 0 {
		fmt.Fprintf(w, "%s %s in the name of a person for whom this key does not speak: stored as data and not as the person's words; to admit them as such, use a key made with apikey create --speaks-for\n", cli.Count(r.Brought, "turn"), map[bool]string{true: "is", false: "are"}[r.Brought == 1])
	}
	cli.PrintCounts(w, "skipped", r.Read.Skipped)
	cli.PrintCounts(w, "noted", r.Read.Noted)
	cli.PrintCounts(w, done[policy].count, r.Read.Secrets)
	counted := left.Conversations()
	if n := counted[cli.LeftOutFolder]; n > 0 {
		fmt.Fprintf(w, "left out %s of folders that capture leaves out (%s); --all-folders imports them\n", cli.Count(n, "session"), render.Visible(strings.Join(left.Folders(), ", ")))
	}
	if n := counted[cli.LeftOutNamed]; n > 0 {
		fmt.Fprintf(w, "left out %s that --skip names\n", cli.Count(n, "conversation"))
	}
	if r.Changed == 0 {
		return
	}
	fmt.Fprintf(w, "  changed %7d  records that differ from the turn that is stored; the stored turn stays\n", r.Changed)
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
		Long: `Writes one turn a line, in the order of admission, with its salt: importing the file elsewhere yields the same
digests, leaves and slices. Protect the file like the store itself. Erased turns are written without text, so that
their children keep them. Erasures have sequence numbers but are not exported: turns that were admitted after one
get smaller numbers elsewhere, and bundles cut after one can be replayed only here.`,
		Example: `  graphkernel export > turns.jsonl
  graphkernel export -o turns.jsonl && graphkernel --store sqlite:copy.db import turns.jsonl`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return export(a, c, out, conversation) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	c.Flags().StringVar(&conversation, "conversation", "", "write only the conversation with this id")
	cli.NoFiles(c, "conversation")
	return c
}

func export(a *cli.App, c *cobra.Command, out, conversation string) (err error) {
	var only *dag.ConversationID
	if cli.ToStdout(out) && a.IO.Output == "json" {
		return cli.Usagef("export writes many lines; with --output json give a file with -o")
	}
	if err := a.IO.ForPrograms(out, "an export"); err != nil {
		return err
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
	a.IO.Note("%s, %d of them without text, %s outside the export", cli.Count(r.Turns, "turn"), r.Redacted, cli.Count(r.Outside, "parent"))
	return nil
}

// exported returns the conversation that a person names by its id, or by a beginning of it.
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
