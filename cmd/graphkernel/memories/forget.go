package memories

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/token"
)

// asking asks about the memory that an id or words name.
func asking[Out any](op api.Operation[api.MemoryName, Out]) func(context.Context, *cli.Session, api.MemoryName) (Out, error) {
	return func(ctx context.Context, s *cli.Session, in api.MemoryName) (Out, error) {
		return naming(in, func(in api.MemoryName) (Out, error) { return cli.Do(ctx, s, op, in) })
	}
}

// naming asks with an id if the words are one, and otherwise, or if no memory has that id, with words.
func naming[Out any](in api.MemoryName, ask func(api.MemoryName) (Out, error)) (Out, error) {
	if text := in.Words; isID.MatchString(text) { // "face" is both
		out, err := ask(api.MemoryName{ID: text})
		if err == nil || !cli.Is(err, api.CodeNotFound) {
			return out, err
		}
		if words, wrong := ask(in); wrong == nil {
			return words, nil
		}
		return out, err
	}
	return ask(in)
}

type forgetting struct {
	yes             bool
	reason, project string
}

// candidates is how many memories are shown if words match several.
const candidates = 5

func (f *forgetting) run(a *cli.App, c *cobra.Command, text string) error {
	var project string
	if f.project != "" {
		var err error
		if project, err = spaceOf(f.project); err != nil {
			return cli.Usagef("--project: %w", err)
		}
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		ctx := c.Context()
		id, err := f.which(ctx, s, text, belief.Space(project))
		if err != nil {
			return err
		}
		would, err := cli.Do(ctx, s, api.Forget, api.OldMemory{ID: id, Reason: f.reason, DryRun: true})
		if err != nil {
			return err
		}
		if !f.yes {
			printLines(a.IO.Stderr, []api.Memory{would.Forgotten})
			fmt.Fprintln(a.IO.Stderr, "The history keeps it, and so do bundles that were handed out.")
			if err := a.IO.Agree("Forget it?", "nothing was forgotten"); err != nil {
				return err
			}
		}
		out, err := cli.Do(ctx, s, api.Forget, api.OldMemory{ID: id, Reason: f.reason})
		if err != nil {
			return err
		}
		return a.IO.Print(out, func(w io.Writer) {
			if out.Result == "unchanged" {
				fmt.Fprintf(w, "unchanged: %s was forgotten before\n", short(id))
				return
			}
			fmt.Fprintf(w, "forgot %s\n  %s\n", short(id), indented(out.Forgotten.Text, "  "))
		})
	})
}

// which returns the id of the memory that a text names. Words must match one memory alone, or have one whole text.
func (f *forgetting) which(ctx context.Context, s *cli.Session, text string, project belief.Space) (string, error) {
	if isID.MatchString(text) {
		if m, err := cli.Do(ctx, s, api.MemoryHistory, api.MemoryName{ID: text}); err == nil || !cli.Is(err, api.CodeNotFound) {
			return cmp.Or(m.ID, text), err
		}
	}
	q := api.MemoriesQuery{Words: text, Project: project, Paging: api.Paging{Limit: candidates}}
	if project == "" {
		here, err := cli.ProjectHere(ctx)
		if err != nil {
			return "", err
		}
		q.Around = here
	}
	found, err := cli.Do(ctx, s, api.ListMemories, q)
	if err != nil {
		return "", err
	}
	list := found.Memories
	for i := range list {
		if strings.EqualFold(list[i].Text, text) {
			list = list[i : i+1]
			break
		}
	}
	if len(list) == 1 {
		return list[0].ID, nil
	}
	if len(list) == 0 {
		return "", api.Faultf(api.CodeNotFound, "", "nothing that is remembered matches %q", text)
	}
	var lines strings.Builder
	printLines(&lines, list)
	return "", cli.Usagef("several memories match %q; name one by its id:\n%s", text, strings.TrimSuffix(lines.String(), "\n"))
}
