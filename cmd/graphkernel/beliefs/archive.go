package beliefs

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/token"
)

func archiveCommand(a *cli.App) *cobra.Command {
	var file string
	var dry bool
	c := &cobra.Command{
		Use:   "archive SPACE",
		Short: "Archive items that nobody believes or uses any more",
		Long: `Writes a file with all revisions of the items that are no longer believed, or that another item
supersedes, if they were unused for 90 days and their confidence is below 0.3. Once the file is on the
disk, each item is deprecated, with the digest of its line as the reason; graphkernel belief unarchive
restores them. An item with the tag published stays. An existing file is never overwritten. If there is no
item to archive, no file is written. The result, as JSON:

  {"file","sha256","items":[{"item","revisions","confidence","last_used","sha256","seq"}],"left"}

"left" counts the items for which the file has no room: run the command again for them, with another file.`,
		Example: `  graphkernel belief archive acme/support --dry-run
  graphkernel belief archive acme/support --file 2026-03.archive`,
		Args: spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			if file == "" && !dry {
				return cli.Usagef("give the file to write with --file, or give --dry-run")
			}
			return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, api.ArchiveBeliefs, api.ArchiveRequest{Space: belief.Space(args[0])})
				if err != nil {
					return hinted(err, spaceHint(args[0], 0))
				}
				said := map[string]any{}
				if !dry && len(out.Items) > 0 {
					if err := secretfile.Save(file, []byte(out.Document), true); err != nil {
						return err
					}
					said["file"] = file
					if out, err = cli.Do(c.Context(), s, api.ArchiveBeliefs, api.ArchiveRequest{Space: belief.Space(args[0]), SHA256: out.SHA256}); err != nil {
						return fmt.Errorf("the archive %s is written; its items could not be archived: %w", file, err)
					}
				}
				said["sha256"], said["items"], said["left"] = out.SHA256, out.Items, out.Left
				return a.IO.Print(said, func(w io.Writer) { printArchived(w, file, dry, &out) })
			})
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().StringVar(&file, "file", "", "the file to write")
	c.Flags().BoolVar(&dry, "dry-run", false, "write nothing; show what would be archived")
	return c
}

func printArchived(w io.Writer, file string, dry bool, out *api.Archive) {
	for _, item := range out.Items {
		fmt.Fprintf(w, "%s  %s, confidence %s, last used %s\n", oneLine(string(item.Item), len(item.Item)), cli.Count(item.Revisions, "revision"), item.Confidence, item.LastUsed)
	}
	switch {
	case dry:
		fmt.Fprintf(w, "%s would be archived\n", cli.Count(len(out.Items), "item"))
	case len(out.Items) == 0:
		fmt.Fprintln(w, "nothing to archive")
	default:
		fmt.Fprintf(w, "%s archived in %s\n", cli.Count(len(out.Items), "item"), file)
	}
	if out.Left > 0 {
		fmt.Fprintf(w, "%s left for another archive file\n", cli.Count(out.Left, "item"))
	}
}

func unarchiveCommand(a *cli.App) *cobra.Command {
	var file string
	var in api.UnarchiveRequest
	c := &cobra.Command{
		Use:   "unarchive",
		Short: "Restore the items of an archive",
		Long: `Compares every revision in a file of graphkernel belief archive with what is recorded, and restores the
items that were archived with it. If any byte of the file differs, it is refused and nothing is restored.
An item that would contradict what is believed now is refused, and the exit code is ` + fmt.Sprint(refusedExit) + `.
The result, as JSON:

  {"items":[{"item","outcome","seq","reason","conflict":[…]}]}`,
		Example: `  graphkernel belief unarchive --file 2026-03.archive`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return cli.Usagef("give the file to read with --file")
			}
			data, err := a.IO.ReadText(c.Context(), file, journal.MaxArchive)
			if err != nil {
				return err
			}
			if _, err := journal.ParseArchive(data); err != nil { // before anybody is asked
				return fmt.Errorf("%s: %w", file, err)
			}
			in.Document = string(data)
			return do(a, c, api.UnarchiveBeliefs, in, "", func(w io.Writer, out *api.Unarchived) { printUnarchived(w, in.DryRun, out) }, func(out *api.Unarchived) bool {
				return slices.ContainsFunc(out.Items, func(i api.UnarchivedItem) bool { return i.Outcome == "refused" })
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&file, "file", "", "the file to read, or - for standard input")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "change nothing; show which items were archived with the file")
	return c
}

func printUnarchived(w io.Writer, dry bool, out *api.Unarchived) {
	restored := 0
	for _, item := range out.Items {
		what := item.Outcome
		if what == "changed" {
			restored++
			what = would(dry, "restored", "is archived")
		}
		fmt.Fprintf(w, "%s  %s%s\n", oneLine(string(item.Item), len(item.Item)), what, reason(item.Reason))
		if len(item.Conflict) > 0 {
			fmt.Fprintf(w, "    the item cannot be believed together with %s\n", saidAll(item.Conflict, " and "))
		}
	}
	fmt.Fprintf(w, "%s %s\n", cli.Count(restored, "item"), would(dry, "restored", "would be restored"))
}
