package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// readable reports whether the text of evidence may be shown: every digest in it must hold, and the signature must be good or unknown. doubt says that it is
// unknown.
func (v *verdictJSON) readable() (doubt string, ok bool) {
	switch v.ExitCode {
	case api.ExitOK:
		return "", true
	case api.ExitKeyUnknown:
		signs := []slice.CheckID{slice.CheckToken, evidence.CheckAttestation, evidence.CheckLog}
		if v.unproved { // then the check fails without a look at the text
			signs = append(signs, evidence.CheckLogged)
		}
		failed := func(c api.Check) bool { return c.Status == slice.StatusFail && !slices.Contains(signs, c.ID) }
		doubt = "no signature on this text was verified: the text fits its digests, but anybody can have written both"
		if v.Ledger != nil {
			doubt = "no signature on this text was verified: a trusted log holds it, but no trusted key attested it"
		}
		return doubt, !slices.ContainsFunc(v.Checks, failed)
	}
	return "", false
}

// readText adds the text of the evidence to the verdict, if it may be shown.
func (v *verdictJSON) readText(f *evidence.Files, path string) error {
	doubt, ok := v.readable()
	if !ok {
		return nil
	}
	text, err := v.textOf(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v.Text, v.doubt = &text, doubt
	return nil
}

// printText prints the text after the verdict, or says that there is none.
func (v *verdictJSON) printText(w io.Writer, asked bool) {
	switch {
	case !asked:
	case v.Text == nil:
		fmt.Fprintf(w, "the text is not printed, because the verdict is %s\n", strings.ReplaceAll(v.Verdict, "_", " "))
	default:
		if v.doubt != "" {
			fmt.Fprintln(w, v.doubt)
		}
		fmt.Fprintf(w, "\n%s", *v.Text)
	}
}

// textOf returns the text of the evidence, for people. It reads the evidence again, which was verified before.
func (v *verdictJSON) textOf(f *evidence.Files) (string, error) {
	var out strings.Builder
	if f.Bundle == nil {
		d, err := kinds.ParseDisclosure(f.Disclosure)
		if err != nil {
			return "", err
		}
		for i := range d.Shown {
			v.writeLeaf(&out, d.Shown[i].Leaf)
		}
		return out.String(), nil
	}
	body, err := kinds.Parse(f.Bundle)
	if err != nil {
		return "", err
	}
	switch b := body.(type) {
	case *facts.Bundle:
		for i := range b.Facts {
			f := &b.Facts[i].Fact
			writeFact(&out, f.Subject, f.Predicate, f.Object, f.Confidence)
		}
	case *contexts.Bundle:
		return string(render.EscapeJSON(b.Render())), nil
	case *beliefs.Bundle:
		for i := range b.Revisions {
			fmt.Fprintf(&out, "%s\n%s\n", b.Revisions[i].Address(), render.Visible(contexts.BeliefText(&b.Revisions[i])))
		}
	case *slice.Bundle:
		return string(render.MarkdownOf(b, func(id dag.TurnID) string { return noText(v.why(id.String())) })), nil
	default: // a kind without a text for people is shown as JSON
		return string(render.EscapeJSON(f.Bundle)) + "\n", nil
	}
	return out.String(), nil
}

// writeLeaf writes the text of a leaf of a disclosure, if it has text for people.
func (v *verdictJSON) writeLeaf(out *strings.Builder, leaf slice.Leaf) {
	switch l := leaf.(type) {
	case *slice.ShownTurn:
		v.writeTurn(out, &l.Turn, l.Body)
	case *contexts.ShownTurn:
		v.writeTurn(out, &l.Turn, &l.Body)
	case *contexts.ShownFact:
		writeFact(out, l.Act.Fact.Subject, l.Act.Fact.Predicate, l.Act.Fact.Object, l.Act.Fact.Confidence)
	case *contexts.ShownRequest:
		if l.Task != "" {
			fmt.Fprintf(out, "task\n%s\n", indented(l.Task))
		}
	case *facts.ShownFact:
		writeFact(out, l.Act.Fact.Subject, l.Act.Fact.Predicate, l.Act.Fact.Object, l.Act.Fact.Confidence)
	}
}

func (v *verdictJSON) writeTurn(out *strings.Builder, t *dag.Turn, body *dag.Body) {
	author, content := "", noText(v.why(t.ID.String()))
	if body != nil {
		author, content = " "+render.Visible(body.Author), body.Content
	}
	fmt.Fprintf(out, "turn %s  %s  %s%s\n%s\n", t.ID, t.CreatedAt, t.Role, author, indented(content))
}

// indented indents a text, so that no line of it can be mistaken for a line about a turn.
func indented(text string) string {
	return "    " + strings.ReplaceAll(render.Visible(text), "\n", "\n    ") + "\n"
}

func writeFact(out *strings.Builder, subject, predicate, object string, confidence dag.PPM) {
	one := func(s string) string { return strings.ReplaceAll(render.Visible(s), "\n", " ") }
	fmt.Fprintf(out, "%s %s %s (%s)\n", one(subject), one(predicate), one(object), confidence)
}
