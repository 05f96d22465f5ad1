package turns

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/token"
)

func explainCommand(a *cli.App) *cobra.Command {
	var flags cutFlags
	c := &cobra.Command{
		Use:   "explain {ANCHOR|CONTEXT} TURN",
		Short: "Explain why a turn is or is not in a slice or a context",
		Long: `Selects again, signs nothing, and shows what became of the turn.

With an ANCHOR, the slice around it is cut: the answer has the turn's score, its distance, the path by which it
was reached, and the turns that beat it. With a CONTEXT, the answer shows what the turn's score consists of, and
whether other turns left room for it. A context is named by its id or a beginning of it, or by the file of its
bundle, which needs no store; instead of a turn, a fact can be named by its statement. With the file of a
slice, the answer shows by which path a turn in it was reached.

` + cli.AnchorHelp,
		Example: "  graphkernel explain d93a7abe 42fec86c\n  graphkernel explain context.json 42fec86c",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s takes an ANCHOR or a CONTEXT, and a TURN, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			_, notFile := os.Stat(args[0])
			id, notID := dag.AnyCase(slice.ParseSliceID)(args[0])
			asked := c.Flags().Changed("policy") || c.Flags().Changed("as-of")
			switch {
			case notFile == nil && asked, notID == nil && asked:
				return asksTwice(args[0])
			case notFile == nil:
				return explainFile(a, c, args[0], args[1])
			case notID == nil:
				return explainIssued(a, c, id, args[1])
			}
			return explain(a, c, args[0], args[1], flags)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
			ids, none := a.Stores.CompleteTurns(false)(c, nil, begin)
			if len(args) > 0 {
				return ids, none
			}
			return ids, cobra.ShellCompDirectiveDefault // or a file
		},
	}
	flags.register(a, c)
	return c
}

// asksTwice is the error for a context with the flags of a slice.
func asksTwice(name string) error {
	return cli.Usagef("%s is a context, which already names its policy and its view; --policy and --as-of are for slices", name)
}

func explain(a *cli.App, c *cobra.Command, anchor, turn string, flags cutFlags) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		request, err := flags.cutting(a, c, s, anchor)
		if cli.Is(err, api.CodeNotFound) && cli.IsSliceBegin(anchor) { // no turn begins so: a context may
			issued, otherErr := cli.Issued(c.Context(), s, anchor)
			switch {
			case cli.Is(otherErr, api.CodeNotFound):
				return err
			case otherErr != nil:
				return otherErr
			case c.Flags().Changed("policy") || c.Flags().Changed("as-of"):
				return asksTwice(anchor)
			}
			return explainIn(a, c, s, issued.SliceID, turn)
		}
		if err != nil {
			return err
		}
		id, err := cli.Resolve(a, c, s, turn)
		if err != nil {
			return err
		}
		e, err := cli.Do(c.Context(), s, api.ExplainCut, api.ExplainCutting{Cutting: request, Turn: id.String()})
		if err != nil {
			return err
		}
		return a.IO.Print(e, func(w io.Writer) { fmt.Fprintf(w, "turn %s: %s\n", id, e.Explanation) })
	})
}

// explainIssued explains a recorded context.
func explainIssued(a *cli.App, c *cobra.Command, id slice.SliceID, of string) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		return explainIn(a, c, s, id, of)
	})
}

func explainIn(a *cli.App, c *cobra.Command, s *cli.Session, id slice.SliceID, of string) error {
	in := api.ExplainContextRequest{ContextID: id, Turn: of}
	if digest, err := dag.AnyCase(dag.ParseDigest)(of); err == nil {
		in.Turn, in.Fact = "", digest.String()
	} else if address, err := belief.ParseAddress(of); err == nil {
		in.Turn, in.Belief = "", address.String()
	}
	e, err := cli.Do(c.Context(), s, api.ExplainContext, in)
	if err != nil {
		return err
	}
	return a.IO.Print(e, func(w io.Writer) { fmt.Fprintln(w, e.Explanation) })
}

// explainFile explains the context in a file from the file alone.
func explainFile(a *cli.App, c *cobra.Command, path, of string) error {
	data, err := a.IO.ReadBundle(c.Context(), path)
	if err != nil {
		return err
	}
	if kinds.Of(data) != contexts.Bundles {
		return explainSlice(a, path, data, of)
	}
	b, err := contexts.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := cli.Untampered(path, b.Check()); err != nil {
		return err
	}
	kind, id, err := candidateOf(b, of)
	if err != nil {
		return err
	}
	e := b.Explain(kind, id)
	w := assemble.Explained(b, kind, id, &e)
	return a.IO.Print(w, func(out io.Writer) { fmt.Fprintln(out, w.Explanation) })
}

// explainSlice explains the slice in a file. For a turn that is not in the slice, only the store can say why.
func explainSlice(a *cli.App, path string, data []byte, of string) error {
	switch k := kinds.Of(data); {
	case k != slice.Bundles:
		return cli.Usagef("%s is %s; explain takes a slice or a context, and graphkernel verify %s --text shows what is in it", path, k.Noun, path)
	case bytes.HasSuffix(bytes.TrimSpace(data), []byte("}")) && bytes.Contains(data[max(0, len(data)-64):], []byte(`"type":"disclosure"`)):
		return cli.Usagef("%s is a disclosure, which has no reasons; explain takes a slice or a context, and graphkernel verify %s --text shows what is in it", path, path)
	}
	b, err := slice.ParseBundle(cli.WithoutLineFeed(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := cli.Untampered(path, b.Check()); err != nil {
		return err
	}
	var found *slice.BundleTurn
	for i := range b.Turns {
		if t := &b.Turns[i]; strings.HasPrefix(t.ID.String(), strings.ToLower(of)) {
			if found != nil {
				return cli.Usagef("%s begins the ids of several turns of %s, such as %s and %s; give more characters of the id", of, path, found.ID, t.ID)
			}
			found = t
		}
	}
	if found != nil {
		e := api.Explanation{
			Turn: found.ID, Anchor: b.Anchor, SliceID: b.Provenance.SliceID, PolicyID: b.Provenance.PolicyID, AsOf: b.AsOf, Selected: true,
			Explanation: fmt.Sprintf("it is in the slice: score %s, %s", render.Score(found.Admission.Score), render.Reason(&found.Admission)),
		}
		return a.IO.Print(e, func(out io.Writer) { fmt.Fprintf(out, "turn %s: %s\n", e.Turn, e.Explanation) })
	}
	return cli.Usagef("turn %s is not in the slice of %s; the store says why: graphkernel explain %s %s", of, path, b.Anchor, of)
}

// candidateOf finds a turn by its id or the beginning of it, a fact by its statement, or a belief by its address.
func candidateOf(b *contexts.Bundle, of string) (contexts.Kind, string, error) {
	if digest, err := dag.AnyCase(dag.ParseDigest)(of); err == nil {
		return contexts.KindFact, digest.String(), nil
	}
	if id, err := dag.AnyCase(dag.ParseTurnID)(of); err == nil {
		return contexts.KindTurn, id.String(), nil
	}
	if address, err := belief.ParseAddress(of); err == nil {
		return contexts.KindBelief, address.String(), nil
	}
	found, err := b.Named(of)
	if errors.Is(err, contexts.ErrNoCandidate) {
		return "", "", fmt.Errorf("%w; give the whole id to see the reason", err)
	}
	return contexts.KindTurn, found, err
}
