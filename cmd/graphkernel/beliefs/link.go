package beliefs

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// linkTypes are the usual types of links.
var linkTypes = []string{"depends_on", "derived_from", "supersedes", "referenced", "contains", "created_from"}

func linkCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "link FROM TYPE TO",
		Short: "Link a revision to another, to a turn or to a slice",
		Long: `Records a link of a type from a revision. FROM is an address with ?r=; TO is one, too, or turn:ID or
slice:ID, where the id may be cut. The usual types are depends_on, derived_from, supersedes, referenced,
contains and created_from. If a revision gives way, those that are linked to it by depends_on are named for
review. A link that is there is not recorded again. The result, as JSON:

  {"outcome":"changed","seq"}

seq is the number under which the link is recorded.`,
		Example: `  graphkernel belief link 'kref://acme/support/4f1c0a.fact?r=1' depends_on 'kref://acme/support/9b27d1.fact?r=2'
  graphkernel belief link 'kref://acme/support/4f1c0a.fact?r=1' created_from turn:42fec86c`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 3 {
				return cli.Usagef("%s takes FROM TYPE TO, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return link(a, c, args[0], args[1], args[2]) },
		ValidArgsFunction: func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return completeItems(a)(c, nil, begin)
			case 1:
				return linkTypes, cobra.ShellCompDirectiveNoFileComp
			case 2:
				return completeItems(a)(c, nil, begin)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func link(a *cli.App, c *cobra.Command, from, kind, to string) error {
	ref, err := addressOf("FROM", from)
	if err != nil {
		return err
	}
	if ref.Revision == 0 {
		return cli.Usagef("FROM: %s names no revision; add ?r= and its number", ref)
	}
	if !belief.IsTag(kind) {
		return cli.Usagef("TYPE is %.80q, want [a-z][a-z0-9_-]{0,31}", kind)
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		to, err := targetOf(a, c, s, to)
		if err != nil {
			return err
		}
		out, err := cli.Do(c.Context(), s, view.LinkKref, api.NewLink{From: from, Type: kind, To: to})
		if err != nil {
			return hinted(err, itemHint(ref.Item))
		}
		return a.IO.Print(out, func(w io.Writer) {
			fmt.Fprintf(w, "linked %s %s %s, number %d\n", ref, kind, oneLine(to, len(to)), out.Seq)
		})
	})
}

// targetOf completes the id of a turn or a slice that a link leads to.
func targetOf(a *cli.App, c *cobra.Command, s *cli.Session, to string) (string, error) {
	if name, ok := strings.CutPrefix(to, "turn:"); ok {
		id, err := cli.Resolve(a, c, s, name)
		return "turn:" + id.String(), err
	}
	if name, ok := strings.CutPrefix(to, "slice:"); ok {
		found, err := cli.Issued(c.Context(), s, name)
		return "slice:" + found.SliceID, err
	}
	return to, nil
}

// completeLink completes TYPE= of a link.
func completeLink(_ *cobra.Command, _ []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	for _, kind := range linkTypes {
		all = append(all, kind+"=")
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// linkOf reads a link from the command line.
func linkOf(text string) (api.BeliefLink, error) {
	kind, to, ok := strings.Cut(text, "=")
	if !ok || !belief.IsTag(kind) || to == "" {
		return api.BeliefLink{}, cli.Usagef("--link is %.200q, want TYPE=TO with a type of [a-z][a-z0-9_-]{0,31}", text)
	}
	return api.BeliefLink{Type: kind, To: to}, nil
}
