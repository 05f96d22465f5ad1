package facts

import (
	"fmt"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
)

// A decimal is a confidence, as JSON writes a number.
type decimal dag.PPM

func (d decimal) MarshalJSON() ([]byte, error) { return dag.PPM(d).AppendDecimal(nil), nil }

func (d decimal) String() string { return dag.PPM(d).String() }

// A statementJSON is a statement under the names that are beside it.
type statementJSON struct {
	Statement  string `json:"statement"`
	Subject    string `json:"subject"`
	Predicate  string `json:"predicate"`
	Object     string `json:"object"`
	ValidFrom  string `json:"valid_from,omitempty"`
	ValidUntil string `json:"valid_until,omitempty"`
}

func statementOfFact(f *knowledge.Fact) statementJSON {
	return statementLine(&f.Statement, f.ID(), f.Subject, f.Object)
}

func statementLine(s *knowledge.Statement, id knowledge.ID, subject, object string) statementJSON {
	j := statementJSON{Statement: id.String(), Subject: subject, Predicate: s.Predicate, Object: object}
	if s.From != 0 {
		j.ValidFrom = s.From.String()
	}
	if s.Until != knowledge.Forever {
		j.ValidUntil = s.Until.String()
	}
	return j
}

// A spelledJSON holds names in another form than beside it; those that are the same are
// left out.
type spelledJSON struct {
	Subject   string `json:"subject,omitempty"`
	Predicate string `json:"predicate,omitempty"`
	Object    string `json:"object,omitempty"`
}

// spelled returns nil if all of it is the same.
func spelled(subject, predicate, object string) *spelledJSON {
	if j := (spelledJSON{subject, predicate, object}); j != (spelledJSON{}) {
		return &j
	}
	return nil
}

// unlike returns a name if it is another than the one beside it.
func unlike(name, beside string) string {
	if name == beside {
		return ""
	}
	return name
}

// asserted returns the names that a statement has itself, where aliases give others.
func asserted(s *knowledge.Statement, subject, object string) *spelledJSON {
	return spelled(unlike(s.Subject, subject), "", unlike(s.Object, object))
}

// A factJSON is a fact that is believed. It says nothing about later numbers.
type factJSON struct {
	statementJSON
	Asserted   *spelledJSON   `json:"asserted,omitempty"`
	Written    *spelledJSON   `json:"written,omitempty"`
	Confidence decimal        `json:"confidence"`
	Source     string         `json:"source"`
	Turn       string         `json:"turn,omitempty"`
	Since      uint64         `json:"since"`
	Evidence   []evidenceJSON `json:"evidence"`
}

// An evidenceJSON is an assertion that counts.
type evidenceJSON struct {
	Seq        uint64       `json:"seq"`
	At         string       `json:"at"`
	Confidence decimal      `json:"confidence"`
	Source     string       `json:"source"`
	Turn       string       `json:"turn,omitempty"`
	Slice      string       `json:"slice,omitempty"`
	Written    *spelledJSON `json:"written,omitempty"`
}

func factLine(f *kernel.Fact) factJSON {
	v := &f.Version
	j := factJSON{
		statementJSON: statementLine(&v.Statement, v.ID, f.Subject, f.Object), Asserted: asserted(&v.Statement, f.Subject, f.Object),
		Confidence: decimal(v.Confidence), Source: v.Source, Turn: turnText(v.Turn), Since: uint64(v.Since), Evidence: []evidenceJSON{},
	}
	for i := range f.Evidence {
		r := &f.Evidence[i]
		e := evidenceOf(r)
		if r.Seq == v.Since {
			j.Written = e.Written
		}
		j.Evidence = append(j.Evidence, e)
	}
	return j
}

func evidenceOf(r *knowledge.Recorded) evidenceJSON {
	f := &r.Act.Fact
	return evidenceJSON{
		Seq: uint64(r.Seq), At: r.At.String(), Confidence: decimal(f.Confidence), Source: f.Source, Turn: turnText(f.Turn), Slice: f.Slice,
		Written: writtenAs(f.Written),
	}
}

func turnText(id dag.TurnID) string {
	if id == (dag.TurnID{}) {
		return ""
	}
	return id.String()
}

// An actJSON is an act as it was recorded: its names are those of its time.
type actJSON struct {
	Seq        uint64       `json:"seq"`
	At         string       `json:"at"`
	Kind       string       `json:"kind"`
	Statement  string       `json:"statement,omitempty"`
	Subject    string       `json:"subject,omitempty"`
	Predicate  string       `json:"predicate,omitempty"`
	Object     string       `json:"object,omitempty"`
	ValidFrom  string       `json:"valid_from,omitempty"`
	ValidUntil string       `json:"valid_until,omitempty"`
	Written    *spelledJSON `json:"written,omitempty"`
	Confidence *decimal     `json:"confidence,omitempty"`
	Source     string       `json:"source,omitempty"`
	Turn       string       `json:"turn,omitempty"`
	Slice      string       `json:"slice,omitempty"`
	Supersedes []string     `json:"supersedes,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Alias      string       `json:"alias,omitempty"`
	Canonical  string       `json:"canonical,omitempty"`
}

func actLine(r *knowledge.Recorded) actJSON {
	a := &r.Act
	j := actJSON{Seq: uint64(r.Seq), At: r.At.String(), Kind: string(a.Kind)}
	switch a.Kind {
	case knowledge.Assert:
		s, e := statementOfFact(&a.Fact), evidenceOf(r)
		j.Statement, j.Subject, j.Predicate, j.Object, j.ValidFrom, j.ValidUntil = s.Statement, s.Subject, s.Predicate, s.Object, s.ValidFrom, s.ValidUntil
		j.Confidence, j.Source, j.Turn, j.Slice, j.Written = &e.Confidence, e.Source, e.Turn, e.Slice, e.Written
		j.Supersedes = cli.Texts(a.Supersedes)
	case knowledge.Retract:
		j.Statement, j.Reason = a.Statement.String(), a.Reason
	default:
		j.Alias, j.Canonical = a.Alias, a.Canonical
	}
	return j
}

// does says in a line what an act does.
func does(r *knowledge.Recorded) string {
	a := &r.Act
	switch a.Kind {
	case knowledge.Assert:
		f := &a.Fact
		line := arrow(shown(f.Subject, f.Written.Subject), shown(f.Predicate, f.Written.Predicate), shown(f.Object, f.Written.Object)) + said(f)
		for _, id := range a.Supersedes {
			line += ", supersedes " + id.String()
		}
		return line
	case knowledge.Retract:
		line := a.Statement.String()
		if a.Reason != "" {
			line += ": " + render.OneLine(a.Reason, 200)
		}
		return line
	}
	return fmt.Sprintf("%s for %s", shown(a.Alias, ""), shown(a.Canonical, ""))
}

// said tells the confidence of a fact and what it rests on.
func said(f *knowledge.Fact) string {
	line := fmt.Sprintf(", confidence %s, by %s", f.Confidence, f.Source)
	if f.Turn != (dag.TurnID{}) {
		line += ", turn " + render.Short(f.Turn)
	}
	if f.Slice != "" {
		line += ", slice " + f.Slice
	}
	return line + span(&f.Statement)
}

// span tells for when a statement holds, if that is limited.
func span(s *knowledge.Statement) string {
	switch {
	case s.From == 0 && s.Until == knowledge.Forever:
		return ""
	case s.Until == knowledge.Forever:
		return ", from " + s.From.String()
	case s.From == 0:
		return ", until " + s.Until.String()
	}
	return ", from " + s.From.String() + " until " + s.Until.String()
}

// widestName is how much of a name is shown in a line.
const widestName = 60

// shown returns a name, and after it how it was written if that differs.
func shown(name, written string) string {
	text := clipped(name)
	if written != "" && written != name {
		text += " (" + clipped(written) + ")"
	}
	return text
}

// clipped shows a name in one line. A long one is cut in its middle: that of a file, or of a
// test, has what tells it from others at its end.
func clipped(name string) string {
	chars := []rune(render.OneLine(name, len(name)))
	if len(chars) <= widestName {
		return string(chars)
	}
	const end = widestName * 2 / 3
	return string(chars[:widestName-end-1]) + "…" + string(chars[len(chars)-end:])
}

// arrow draws a relation.
func arrow(subject, predicate, object string) string {
	return subject + " —" + predicate + "→ " + object
}
