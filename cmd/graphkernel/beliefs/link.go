package beliefs

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// linkTypes are the usual types of links.
var linkTypes = []string{"depends_on", "derived_from", "supersedes", "referenced", "contains", "created_from"}

func linkCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.LinkKref, cli.Command[api.NewLink, api.KrefChange]{
		Use:   "link FROM TYPE TO",
		Short: "Link a revision to another revision, to a turn or to a slice",
		Long: `Records a link of a type from a revision. FROM is an address with ?r=. TO is such an address too, or turn:ID or
slice:ID, where a beginning of the id is enough. The usual types are depends_on, derived_from, supersedes,
referenced, contains and created_from. If a revision gives way, the revisions that link to it as depends_on
are listed for review. An existing link is not recorded again. "seq" is the number of the link's record.`,
		Example: `  graphkernel belief link 'kref://acme/support/4f1c0a.fact?r=1' depends_on 'kref://acme/support/9b27d1.fact?r=2'
  graphkernel belief link 'kref://acme/support/4f1c0a.fact?r=1' created_from turn:42fec86c`,
		Args: []string{"from", "type", "to"}, Opens: cli.ToWrite,
		Resolve: map[string]cli.Resolver{"to": func(c *cobra.Command, s *cli.Session, _, to string) (string, error) { return targetOf(a, c, s, to) }},
		Check: func(in *api.NewLink) error {
			ref, err := addressOf("FROM", in.From)
			if err == nil && ref.Revision == 0 {
				err = cli.Usagef("FROM: %s names no revision; add ?r= and its number", ref)
			}
			return err
		},
		Hint: func(in *api.NewLink) string { return refHint(in.From) },
		Print: func(w io.Writer, in *api.NewLink, out *api.KrefChange) {
			fmt.Fprintf(w, "linked %s %s %s, number %d\n", in.From, in.Type, oneLine(in.To, len(in.To)), out.Seq)
		},
		Completes: func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0, 2:
				return completeItems(a)(c, nil, begin)
			case 1:
				return linkTypes, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	})
}

// targetOf completes the id of the turn or slice that a link points to.
func targetOf(a *cli.App, c *cobra.Command, s *cli.Session, to string) (string, error) {
	if name, ok := strings.CutPrefix(to, "turn:"); ok {
		id, err := cli.Resolve(a, c, s, name)
		return "turn:" + id.String(), err
	}
	if name, ok := strings.CutPrefix(to, "slice:"); ok {
		found, err := cli.Issued(c.Context(), s, name)
		return string("slice:" + found.SliceID), err
	}
	return to, nil
}

// completeLink completes the TYPE= of a link.
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
