package beliefs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// itemHint says what to do if there is no such item.
func itemHint(item belief.Item) string {
	return fmt.Sprintf("; see: graphkernel belief items %s", item.Space())
}

// addressOf reads an address.
func addressOf(what, text string) (belief.Address, error) {
	ref, err := belief.ParseAddress(text)
	if err != nil {
		return ref, cli.Usagef("%s: %w", what, err)
	}
	return ref, nil
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show ADDRESS",
		Short: "Show an item with its revisions, and its tags over time",
		Long: `Shows the content of a revision of an item, and which revision each tag pointed to, from which number until
which. Text output also has a line for each of the newest ` + strconv.Itoa(mostRevisions) + ` revisions. The result, as JSON:

  {"ref","as_of","item","deprecated","revision":{"revision","seq","at","by","supersedes",
    "statements":[{"subject","predicate","object","not","premises","valid_from","valid_until","turns","class"}],
    "title","summary","withheld","keywords","topics","confidence","source","reason","erased",
    "artifacts":[{"name","location","media_type","size","sha256"}]},"artifact","revisions","tags":[{"tag","revision","since","until"}]}

` + addressHelp,
		Example: `  graphkernel belief show kref://acme/support/4f1c0a.fact
  graphkernel belief show 'kref://acme/support/4f1c0a.fact?r=1'
  graphkernel belief show 'kref://acme/support/4f1c0a.fact?t=published&seq=120'`,
		Args:              cli.OneArg("ADDRESS"),
		RunE:              func(c *cobra.Command, args []string) error { return ShowItem(a, c, args[0]) },
		ValidArgsFunction: completeItems(a),
	}
}

// mostRevisions is the most revisions that are listed for people.
const mostRevisions = 20

// ShowItem shows an item as graphkernel belief show does.
func ShowItem(a *cli.App, c *cobra.Command, text string) error {
	ref, err := addressOf("ADDRESS", text)
	if err != nil {
		return err
	}
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		found, err := cli.Do(c.Context(), s, api.ResolveKref, api.KrefQuery{Ref: text})
		if err != nil {
			return hinted(err, itemHint(ref.Item))
		}
		var newest []*api.ItemRevision
		if a.IO.Output != "json" {
			if newest, err = revisionsOf(c.Context(), s, &found, ref.Item); err != nil {
				return err
			}
		}
		return a.IO.Print(found, func(w io.Writer) { printItem(w, &found, newest) })
	})
}

// revisionsOf reads the newest revisions of an item, the newest first.
func revisionsOf(ctx context.Context, s *cli.Session, of *api.ResolvedKref, item belief.Item) (list []*api.ItemRevision, err error) {
	for n := of.Revisions; n > 0 && len(list) < mostRevisions; n-- {
		ref := belief.Address{Item: item, Revision: n, Seq: of.AsOf}
		one, err := cli.Do(ctx, s, api.ResolveKref, api.KrefQuery{Ref: ref.String()})
		if err != nil {
			return nil, err
		}
		list = append(list, one.Revision)
	}
	return list, nil
}

func printItem(w io.Writer, of *api.ResolvedKref, newest []*api.ItemRevision) {
	state := ""
	if of.Deprecated {
		state = ", deprecated"
	}
	fmt.Fprintf(w, "%s, %s, as of %d%s\n", oneLine(string(of.Item), len(of.Item)), cli.Count(of.Revisions, "revision"), of.AsOf, state)
	if of.Revision == nil {
		fmt.Fprintln(w, "the tag points to no revision")
	} else {
		printRevision(w, of.Revision)
	}
	if of.Artifact != nil {
		fmt.Fprintf(w, "\nartifact %s\n  sha256 %s\n", artifactLine(of.Artifact), of.Artifact.SHA256)
	}
	if len(of.Tags) > 0 {
		fmt.Fprintln(w)
		t := cli.NewTable(w, "tag", "revision", "since", "until")
		for _, tag := range of.Tags {
			until := any("")
			if tag.Until != 0 {
				until = tag.Until
			}
			t.AppendRow([]any{oneLine(tag.Tag, widestName), tag.Revision, tag.Since, until})
		}
		t.Render()
	}
	fmt.Fprintln(w)
	t := cli.NewTable(w, "revision", "number", "at", "statements", "called")
	for _, r := range newest {
		count := any(len(r.Statements))
		if r.Erased {
			count = "erased"
		}
		t.AppendRow([]any{r.Revision, r.Seq, r.At, count, oneLine(r.Title, widestName)})
	}
	t.Render()
	if older := of.Revisions - len(newest); older > 0 {
		fmt.Fprintf(w, "older revisions: %d; see one with: graphkernel belief show '%s?r=1'\n", older, oneLine(string(of.Item), len(of.Item)))
	}
}

func printRevision(w io.Writer, r *api.ItemRevision) {
	fmt.Fprintf(w, "revision %d, number %d, %s%s%s\n", r.Revision, r.Seq, r.At, by(r.By), reason(r.Reason))
	if r.Erased {
		fmt.Fprintf(w, "  %s\n", erased)
		return
	}
	for i := range r.Statements {
		e := &r.Statements[i]
		if isCut(e.WrittenStatement) || slices.ContainsFunc(e.Premises, isCut) {
			fmt.Fprintf(w, "  %s\n", whole(e.WrittenStatement, "  "))
			for _, p := range e.Premises {
				fmt.Fprintf(w, "    because %s\n", whole(p, "    "))
			}
			fmt.Fprintf(w, "    %s\n", oneLine(e.Class, widestName))
		} else {
			fmt.Fprintf(w, "  %s%s, %s\n", said(e.WrittenStatement), because(e.Premises), oneLine(e.Class, widestName))
		}
		if when := holds(e.ValidFrom, e.ValidUntil); when != "" {
			fmt.Fprintf(w, "    holds %s\n", when)
		}
		for _, turn := range e.Turns {
			fmt.Fprintf(w, "    turn %s\n", oneLine(turn.String(), widestName))
		}
	}
	for _, line := range []struct{ name, text string }{
		{"title", r.Title}, {"summary", r.Summary}, {"keywords", strings.Join(r.Keywords, ", ")}, {"topics", strings.Join(r.Topics, ", ")}, {"source", r.Source},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "  %-10s %s\n", line.name, oneLine(line.text, widestText))
		}
	}
	for i := range r.Artifacts {
		fmt.Fprintf(w, "  %-10s %s\n", "artifact", artifactLine(&r.Artifacts[i]))
	}
	if r.Confidence != dag.One {
		fmt.Fprintf(w, "  %-10s %s\n", "confidence", r.Confidence)
	}
	if r.Withheld {
		fmt.Fprintln(w, "  title and summary may mention statements that were given up, so contexts leave them out")
	}
}

func impactCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.BeliefImpact, cli.Command[api.ImpactQuery, api.Impact]{
		Use:   "impact ADDRESS",
		Short: "Show what depends on a revision",
		Long: `Lists the conclusions that would no longer follow without a revision, and the revisions that link to it
over any number of links. Nothing changes.

` + addressHelp,
		Example: `  graphkernel belief impact kref://acme/support/4f1c0a.fact`,
		Args:    inRef, Completes: completeItems(a),
		Hint:  func(in *api.ImpactQuery) string { return refHint(in.Ref) },
		Print: func(w io.Writer, _ *api.ImpactQuery, out *api.Impact) { printImpact(w, out) },
	})
}

var inRef = []string{"ref"}

// refHint says what to do if the named revision, item or tag does not exist.
func refHint(ref string) string {
	at, err := belief.ParseAddress(ref)
	if err != nil {
		return ""
	}
	return itemHint(at.Item)
}

func printImpact(w io.Writer, of *api.Impact) {
	fmt.Fprintf(w, "without %s, as of %d\n", oneLine(of.Ref, len(of.Ref)), of.AsOf)
	for _, s := range of.Falls {
		fmt.Fprintf(w, "  would fall  %s\n", said(s))
	}
	if len(of.Links) > 0 {
		t := cli.NewTable(w, "depth", "revision", "link", "to")
		for _, l := range of.Links {
			ref := oneLine(l.Ref, len(l.Ref))
			if l.Deprecated {
				ref += ", deprecated"
			}
			t.AppendRow([]any{l.Depth, ref, oneLine(l.Type, widestName), oneLine(l.To, len(l.To))})
		}
		t.Render()
	}
	fmt.Fprintf(w, "%s would fall, %s\n", cli.Count(len(of.Falls), "conclusion"), cli.Count(len(of.Links), "link"))
}

// changing adds to a command what all commands that change an item share: the store is opened for writing, the help explains addresses, and the outcome is
// printed after the text that did returns.
func changing[In any](c cli.Command[In, api.KrefChange], ref func(*In) string, did func(*In) string) cli.Command[In, api.KrefChange] {
	c.Opens, c.Long = cli.ToWrite, c.Long+"\n\n"+refHelp+"\n\n\"outcome\" is changed, unchanged or refused; \"conflict\" lists the statements that cannot be believed together."
	c.Hint = func(in *In) string { return refHint(ref(in)) }
	c.Print = func(w io.Writer, in *In, out *api.KrefChange) {
		printChange(w, out, belief.Item(ref(in)).Space(), did(in))
	}
	c.Exit = func(out *api.KrefChange) int { return exitOf(out.Outcome) }
	return c
}

// exitOf returns the exit code of an outcome.
func exitOf(outcome string) int {
	if outcome == "refused" {
		return refusedExit
	}
	return api.ExitOK
}

func printChange(w io.Writer, out *api.KrefChange, space belief.Space, did string) {
	switch out.Outcome {
	case "refused":
		fmt.Fprintln(w, "refused, and nothing has changed: these statements cannot be believed together")
		for _, s := range out.Conflict {
			fmt.Fprintf(w, "  %s\n", said(s))
		}
		fmt.Fprintf(w, "give up a believed one with: graphkernel belief contract %s SUBJECT PREDICATE OBJECT\n", space)
	case "unchanged":
		fmt.Fprintln(w, "unchanged: the item is already in this state")
	default:
		fmt.Fprintf(w, "%s, number %d\n", did, out.Seq)
	}
}

func tagCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.TagKref, changing(cli.Command[api.NewTag, api.KrefChange]{
		Use:   "tag ADDRESS TAG REVISION|none",
		Short: "Point a tag to a revision, or remove it",
		Long: `Points a tag of an item to one of its revisions; none removes the tag. The revision tagged "current" is the
one that is believed. Moving that tag is refused (exit code ` + strconv.Itoa(refusedExit) + `) if the revision would contradict another belief.
The revision tagged "published" is protected: it never gives way when other statements are revised. Other tags mean
whatever you choose.`,
		Example: `  graphkernel belief tag kref://acme/support/4f1c0a.fact published 2
  graphkernel belief tag kref://acme/support/4f1c0a.fact current 1 --reason "the call was about another customer"
  graphkernel belief tag kref://acme/support/4f1c0a.fact published none`,
		Args: []string{"ref", "tag", "revision"},
		Means: map[string]func(string) (string, error){"revision": func(text string) (string, error) {
			if text == noRevision {
				return "0", nil
			}
			if n, err := strconv.Atoi(text); err != nil || n < 1 {
				return "", fmt.Errorf("%.40q, want the number of a revision, from 1 on, or %s", text, noRevision)
			}
			return text, nil
		}},
		Completes: func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return completeItems(a)(c, args, begin)
			case 1:
				return []string{"current", "published"}, cobra.ShellCompDirectiveNoFileComp
			case 2:
				return []string{noRevision}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}, func(in *api.NewTag) string { return string(in.Ref) }, func(in *api.NewTag) string {
		if in.Revision == 0 {
			return fmt.Sprintf("%s has no tag %s now", in.Ref, in.Tag)
		}
		return fmt.Sprintf("%s is %s", in.Tag, address(string(in.Ref), in.Revision))
	}))
}

// noRevision is the argument that removes a tag.
const noRevision = "none"

func deprecateCommand(a *cli.App) *cobra.Command {
	return deprecation(a, api.DeprecateItem, "is deprecated", cli.Command[api.Deprecation, api.KrefChange]{
		Use:   "deprecate ADDRESS",
		Short: "Stop believing an item",
		Long: `Stops believing everything that an item states. Nothing is lost: graphkernel belief restore makes it believed
again.`,
		Example: `  graphkernel belief deprecate kref://acme/support/4f1c0a.fact --reason "the product is gone"`,
	})
}

func restoreCommand(a *cli.App) *cobra.Command {
	return deprecation(a, api.RestoreItem, "is restored", cli.Command[api.Deprecation, api.KrefChange]{
		Use:   "restore ADDRESS",
		Short: "Believe a deprecated item again",
		Long: `Makes the statements of a deprecated item believed again. The command is refused (exit code ` + strconv.Itoa(refusedExit) + `) if they would
contradict what is believed by now.`,
		Example: `  graphkernel belief restore kref://acme/support/4f1c0a.fact`,
	})
}

func deprecation(a *cli.App, op api.Operation[api.Deprecation, api.KrefChange], did string, c cli.Command[api.Deprecation, api.KrefChange]) *cobra.Command {
	c.Args, c.Completes = inRef, completeItems(a)
	return cli.Op(a, op, changing(c, func(in *api.Deprecation) string { return string(in.Ref) }, func(in *api.Deprecation) string { return string(in.Ref) + " " + did }))
}
