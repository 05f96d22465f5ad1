package beliefs

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// mostCompleted is the most completions that a shell is offered.
const mostCompleted = 100

// completeItems completes the address of an item as the first argument, with the items of the spaces that the typed text may begin.
func completeItems(a *cli.App) cobra.CompletionFunc {
	return a.Stores.Complete(func(ctx context.Context, s *cli.Session, begin string) (refs []string, err error) {
		all, err := cli.Do(ctx, s, api.ListSpaces, api.SpacesQuery{})
		for _, one := range all.Spaces {
			in := "kref://" + one.Space + "/"
			if !strings.HasPrefix(string(in), begin) && !strings.HasPrefix(begin, string(in)) {
				continue
			}
			page, err := cli.Do(ctx, s, api.ListItems, api.ItemsQuery{Space: one.Space, Limit: mostItems, Deprecated: true})
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				if strings.HasPrefix(string(item.Item), begin) && len(refs) < mostCompleted {
					refs = append(refs, string(item.Item))
				}
			}
		}
		return refs, err
	})
}
