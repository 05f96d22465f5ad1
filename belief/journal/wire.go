package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// The structs below are the JSON form of entries. Their members are in the order of their names, so the JSON is canonical once its
// strings are spelled as RFC 8785 requires.

type wireLiteral struct {
	Not       bool   `json:"not,omitempty"`
	Object    string `json:"object"`
	Predicate string `json:"predicate"`
	Subject   string `json:"subject"`
}

type wireStated struct {
	Not       bool          `json:"not,omitempty"`
	Object    string        `json:"object"`
	Predicate string        `json:"predicate"`
	Premises  []wireLiteral `json:"premises,omitempty"`
	Subject   string        `json:"subject"`
	From      *instant      `json:"valid_from,omitempty"`
	Until     *instant      `json:"valid_until,omitempty"`
}

type instant dag.Time

func (t instant) MarshalText() ([]byte, error) { return dag.Time(t).MarshalText() }

func (t *instant) UnmarshalText(b []byte) error {
	parsed, err := dag.ParseTime(string(b))
	*t = instant(parsed)
	return err
}

type wireRank struct {
	Class     belief.Class `json:"class"`
	Criterion uint64       `json:"criterion,omitempty"`
	Event     dag.Seq      `json:"event,omitempty"`
	Fact      dag.Seq      `json:"fact,omitempty"`
	Turns     []dag.TurnID `json:"turns,omitempty"`
}

type revisionPublic struct {
	By         string     `json:"by,omitempty"`
	Current    bool       `json:"current,omitempty"`
	Digest     dag.Digest `json:"digest"`
	Item       string     `json:"item"`
	Key        string     `json:"key,omitempty"`
	Revision   int        `json:"revision"`
	Statements []wireRank `json:"statements"`
	Supersedes int        `json:"supersedes,omitempty"`
	Type       string     `json:"type"`
	Withheld   bool       `json:"withheld,omitempty"`
}

type revisionPrivate struct {
	Artifacts  []wireArtifact `json:"artifacts,omitempty"`
	Confidence uint64         `json:"confidence_ppm"`
	Keywords   []string       `json:"keywords,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Salt       string         `json:"salt"`
	Source     string         `json:"source"`
	Statements []wireStated   `json:"statements"`
	Summary    string         `json:"summary,omitempty"`
	Text       string         `json:"text,omitempty"`
	Title      string         `json:"title,omitempty"`
	Topics     []string       `json:"topics,omitempty"`
}

type wireArtifact struct {
	Location string     `json:"location"`
	Media    string     `json:"media_type"`
	Name     string     `json:"name"`
	Digest   dag.Digest `json:"sha256"`
	Size     int64      `json:"size"`
}

type tagPublic struct {
	By       string  `json:"by,omitempty"`
	Entry    dag.Seq `json:"entry,omitempty"`
	Item     string  `json:"item"`
	Key      string  `json:"key,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Revision int     `json:"revision,omitempty"`
	Tag      string  `json:"tag"`
	Type     string  `json:"type"`
}

type deprecationPublic struct {
	By         string `json:"by,omitempty"`
	Deprecated bool   `json:"deprecated"`
	Item       string `json:"item"`
	Reason     string `json:"reason,omitempty"`
	Type       string `json:"type"`
}

type spacePublic struct {
	By     string `json:"by,omitempty"`
	Policy string `json:"policy"`
	Space  string `json:"space"`
	Type   string `json:"type"`
}

type linkPublic struct {
	By   string `json:"by,omitempty"`
	From string `json:"from"`
	Link string `json:"link"`
	To   string `json:"to"`
	Type string `json:"type"`
}

type conflictPublic struct {
	By     string       `json:"by,omitempty"`
	Digest dag.Digest   `json:"digest"`
	Item   string       `json:"item,omitempty"`
	Key    string       `json:"key,omitempty"`
	Kind   string       `json:"kind"`
	Space  string       `json:"space"`
	Turns  []dag.TurnID `json:"turns,omitempty"`
	Type   string       `json:"type"`
	With   []string     `json:"with"`
}

type conflictPrivate struct {
	Confidence uint64        `json:"confidence_ppm"`
	Premises   []wireLiteral `json:"premises,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Salt       string        `json:"salt"`
	Statements []wireLiteral `json:"statements"`
	Text       string        `json:"text,omitempty"`
	From       *instant      `json:"valid_from,omitempty"`
	Until      *instant      `json:"valid_until,omitempty"`
	Written    []wireWorded  `json:"written,omitempty"`
}

// canonical returns the canonical JSON of a struct.
func canonical(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("journal: " + err.Error()) // encoding these structs never fails
	}
	doc, err := canon.Parse(bytes.TrimSpace(b.Bytes()))
	if err != nil {
		panic("journal: " + err.Error())
	}
	return canon.AppendValue(nil, doc)
}

// read decodes JSON into a struct. A member that the struct lacks is dag.ErrForm.
func read(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", dag.ErrForm, err)
	}
	return nil
}

func literalsOf(list []belief.Literal) []wireLiteral {
	var wire []wireLiteral
	for _, l := range list {
		wire = append(wire, wireLiteral{Not: l.Not, Object: l.Object, Predicate: l.Predicate, Subject: l.Subject})
	}
	return wire
}

func (w *wireLiteral) literal() belief.Literal {
	return belief.Literal{Subject: w.Subject, Predicate: w.Predicate, Object: w.Object, Not: w.Not}
}

func readLiterals(wire []wireLiteral) []belief.Literal {
	var list []belief.Literal
	for i := range wire {
		list = append(list, wire[i].literal())
	}
	return list
}

func wireSpan(s belief.Span) (from, until *instant) {
	if s.From != 0 {
		at := instant(s.From)
		from = &at
	}
	if s.Until != dag.MaxTime {
		at := instant(s.Until)
		until = &at
	}
	return from, until
}

func readSpan(from, until *instant) belief.Span {
	s := belief.Always
	if from != nil {
		s.From = dag.Time(*from)
	}
	if until != nil {
		s.Until = dag.Time(*until)
	}
	return s
}

func keyText(d dag.Digest) string {
	if d == (dag.Digest{}) {
		return ""
	}
	return d.String()
}

func readKey(s string) (d dag.Digest, err error) {
	if s != "" {
		d, err = dag.ParseDigest(s)
	}
	return d, err
}
