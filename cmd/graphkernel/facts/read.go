package facts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/server/mcp"
)

// The forms of a list of facts.
const (
	formTSV    = "tsv"    // subject TAB predicate TAB object
	formJSONL  = "jsonl"  // {"subject","predicate","object",…}
	formMemory = "memory" // the file of the memory server of the Model Context Protocol
)

var factForms = []string{formTSV, formJSONL, formMemory}

// MostLine is the most bytes of a line in a list of facts.
const MostLine = 64 << 20

var errEmptyList = errors.New("the list holds no facts")

// A factList is a list of facts that can be read again from its beginning: a file, or the content of standard input or of a pipe.
type factList struct {
	path string
	form string
	data []byte // the content, if it is not a file
	size int64

	// for facts that have none of their own
	source     string
	confidence dag.PPM
}

func openFactList(a *cli.App, ctx context.Context, path, form string) (*factList, error) {
	l := &factList{path: path, form: form}
	info, err := os.Stat(path)
	switch {
	case path != "-" && err != nil:
		return nil, err
	case path != "-" && info.IsDir():
		return nil, cli.Usagef("%s is a folder, want a file or - for standard input", path)
	case path != "-" && info.Mode().IsRegular():
		l.size = info.Size()
	default:
		const largest = 1 << 30
		if l.data, err = a.IO.ReadText(ctx, path, largest); err != nil {
			return nil, err
		}
		l.size = int64(len(l.data))
	}
	if l.form == "" {
		l.form, err = l.detect(ctx)
	}
	return l, err
}

// errEnough ends the reading of a list.
var errEnough = errors.New("enough")

// detect detects the form from the first line.
func (l *factList) detect(ctx context.Context) (form string, err error) {
	err = l.lines(ctx, func(line int, text []byte) error {
		form = formTSV
		if text[0] == '{' {
			form = formJSONL
			v, err := canon.Parse(text)
			if err != nil {
				return l.at(line, err)
			}
			if kind := v.Get("type"); kind != nil && (kind.Text == "entity" || kind.Text == "relation") {
				form = formMemory
			}
		}
		return errEnough
	})
	switch {
	case errors.Is(err, errEnough):
		err = nil
	case err == nil:
		err = fmt.Errorf("%w: %s: %w", ingest.ErrFormat, l.path, errEmptyList)
	}
	return form, err
}

// lines calls fn with each line that is not blank. fn may use the text only until it returns.
func (l *factList) lines(ctx context.Context, fn func(line int, text []byte) error) error {
	in := io.Reader(bytes.NewReader(l.data))
	if l.data == nil && l.path != "-" {
		file, err := cli.OpenEnding(ctx, l.path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	scan := bufio.NewScanner(bom.Reader(in))
	scan.Buffer(make([]byte, 0, 64<<10), MostLine)
	number := 0
	for scan.Scan() {
		number++
		if err := ctx.Err(); err != nil {
			return err
		}
		text := scan.Bytes()
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := fn(number, text); err != nil {
			return err
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return l.at(number+1, fmt.Errorf("the line has more than %d bytes", MostLine))
	} else if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	return nil
}

// at adds to an error the line that cannot be read.
func (l *factList) at(line int, err error) error {
	return &ingest.LineError{Path: l.path, Line: line, Err: err}
}

// acts returns the assertions in a line.
func (l *factList) acts(line int, text []byte) (acts []knowledge.Act, err error) {
	if acts, err = l.read(text); err != nil {
		return nil, l.at(line, err)
	}
	return acts, nil
}

func (l *factList) read(text []byte) (acts []knowledge.Act, err error) {
	add := func(make func(subject, predicate, object, source string) (knowledge.Fact, error), subject, predicate, object string) {
		if err != nil {
			return
		}
		var f knowledge.Fact
		if f, err = make(subject, predicate, object, l.source); err == nil {
			f.Confidence = l.confidence
			acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
		}
	}
	switch l.form {
	case formTSV:
		fields := strings.Split(string(text), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%d fields, want 3: subject TAB predicate TAB object", len(fields))
		}
		add(knowledge.NewFact, fields[0], fields[1], fields[2])
		return acts, err
	case formMemory:
		if wrong := readMemory(text, add); wrong != nil {
			return nil, wrong
		}
		return acts, err
	}
	act, err := l.readFact(text)
	return []knowledge.Act{act}, err
}

// readMemory reads a line of the memory server: a relation, or an entity with its type and its observations, which are texts.
func readMemory(text []byte, add func(make func(subject, predicate, object, source string) (knowledge.Fact, error), subject, predicate, object string)) error {
	v, err := canon.Parse(bytes.Clone(text)) // the strings share memory with it
	if err != nil {
		return err
	}
	c := canon.Open(v)
	switch kind := c.Field("type").String(); kind {
	case "entity":
		name, of := c.Field("name").String(), c.Field("entityType").String()
		observations := c.Field("observations").Items()
		texts := make([]string, len(observations))
		for i, o := range observations {
			texts[i] = o.String()
		}
		c.Close()
		if err := c.Err(); err != nil {
			return err
		}
		add(knowledge.NewText, name, mcp.TypePredicate, of)
		for _, text := range texts {
			add(knowledge.NewText, name, mcp.ObservedPredicate, text)
		}
		return nil
	case "relation":
		from, to, of := c.Field("from").String(), c.Field("to").String(), c.Field("relationType").String()
		c.Close()
		if err := c.Err(); err != nil {
			return err
		}
		add(knowledge.NewFact, from, of, to)
		return nil
	default:
		c.Field("type").Failf("%.40q, want entity or relation", kind)
		return c.Err()
	}
}

// readFact reads a fact from a JSON object.
func (l *factList) readFact(text []byte) (act knowledge.Act, err error) {
	v, err := canon.Parse(bytes.Clone(text))
	if err != nil {
		return act, err
	}
	c := canon.Open(v)
	optional := func(key, otherwise string) string {
		if f := c.Optional(key); f != nil {
			return f.String()
		}
		return otherwise
	}
	subject, predicate, object := c.Field("subject").String(), c.Field("predicate").String(), c.Field("object").String()
	source := optional("source", l.source)
	confidence := l.confidence
	if f := c.Optional("confidence"); f != nil {
		confidence = canon.ParsedNumber(f, dag.ReadPPM)
	}
	var turn dag.TurnID
	if f := c.Optional("turn"); f != nil {
		turn = canon.Parsed(f, dag.AnyCase(dag.ParseTurnID))
	}
	cut := strings.ToLower(optional("slice", ""))
	from, until := dag.Time(0), knowledge.Forever
	if f := c.Optional("valid_from"); f != nil {
		from = canon.Parsed(f, knowledge.ReadTime)
	}
	if f := c.Optional("valid_until"); f != nil {
		until = canon.Parsed(f, knowledge.ReadTime)
	}
	var supersedes []knowledge.ID
	if f := c.Optional("supersedes"); f != nil {
		for _, id := range f.Items() {
			supersedes = append(supersedes, canon.Parsed(id, dag.AnyCase(dag.ParseDigest)))
		}
	}
	c.Close()
	if err := c.Err(); err != nil {
		return act, err
	}
	fact, err := knowledge.NewFact(subject, predicate, object, source)
	if err != nil {
		return act, err
	}
	fact.Confidence, fact.Turn, fact.Slice, fact.From, fact.Until = confidence, turn, cut, from, until
	act = knowledge.Act{Kind: knowledge.Assert, Fact: fact, Supersedes: knowledge.SortIDs(slices.Clip(supersedes))}
	return act, act.Check()
}
