package capture

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

func briefCommand(a *cli.App) *cobra.Command {
	var out string
	bundle := false
	c := &cobra.Command{
		Use:   "brief [FOLDER]",
		Short: "Print what a session is told that starts in a folder",
		Long: `Prints the brief of a project: what a hook tells a session of an agent that starts in FOLDER, by default the current
one. The rules come first, whole, up to 4 KiB; if there are more, the brief says how many. At most 1 500 bytes follow:
what was remembered and decided, what the last three sessions were asked and how they ended, what is open, and which
files were changed. Each line of a session begins with the id of its turn; graphkernel show ID prints that turn.

The brief is chosen by the policy brief@1, without a model, signed and recorded. --bundle writes the evidence in place
of the text, with all candidates and what each would have taken.`,
		Example: "  graphkernel brief\n  graphkernel brief ../shop --bundle -o brief.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			folder, err := filepath.Abs(folder)
			if err != nil {
				return err
			}
			spool, err := a.Settings.Spool()
			if err != nil {
				return err
			}
			return a.Issue(c.Context(), out, func(s *cli.Session) ([]byte, error) {
				ctx := c.Context()
				r, err := BriefOf(ctx, s, spool, folder)
				if err != nil {
					return nil, err
				}
				issued, err := s.Contexts.Assemble(ctx, *r)
				if cli.Is(err, api.CodeNotFound) {
					return nil, fmt.Errorf("nothing is known of the project of %s yet: no session was held there, and nothing is remembered", folder)
				}
				if err != nil || bundle {
					return issued.Bytes, err
				}
				return issued.Claim.Render(), nil
			})
		},
	}
	c.Flags().BoolVar(&bundle, "bundle", false, "write the evidence: canonical JSON, from which anybody can compute the text again")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	return c
}

// BriefOf returns the request for the brief of the project of a folder.
func BriefOf(ctx context.Context, s *cli.Session, spool *capture.Spool, folder string) (*api.ContextRequest, error) {
	t := teller{session: s, spool: spool}
	list, err := t.listFolders(ctx)
	if err != nil {
		return nil, err
	}
	held, err := projectIn(ctx, list, spool, folder)
	if err != nil {
		return nil, err
	}
	r := startRequest(held)
	r.Fit = 0
	r.Spaces, err = t.spacesOf(ctx, folder)
	return r, err
}
