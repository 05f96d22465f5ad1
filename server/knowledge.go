package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice"
)

// sourceAPI is the source of a fact that names none.
const sourceAPI = "api"

// checkName lets through what normalize.Name takes, as it is written.
func checkName(written string) (string, error) {
	_, err := normalize.Name(written)
	return written, err
}

// readFact reads a fact to be recorded. What does not fit is the document's fault.
func readFact(at *canon.Cursor) knowledge.Act {
	names := [3]string{}
	for i, key := range [...]string{"subject", "predicate", "object"} {
		names[i] = canon.Parsed(at.Field(key), checkName)
	}
	source := sourceAPI
	if f := at.Optional("source"); f != nil {
		source = f.String()
	}
	if at.Err() != nil {
		return knowledge.Act{}
	}
	fact, err := knowledge.NewFact(names[0], names[1], names[2], source)
	if err != nil {
		at.Fail(err)
		return knowledge.Act{}
	}
	if f := at.Optional("confidence"); f != nil {
		fact.Confidence = canon.ParsedNumber(f, dag.ReadPPM)
	}
	if f := at.Optional("turn"); f != nil {
		fact.Turn = canon.Parsed(f, dag.ParseTurnID)
	}
	if f := at.Optional("slice"); f != nil {
		fact.Slice = string(canon.Parsed(f, slice.ParseSliceID))
	}
	if f := at.Optional("valid_from"); f != nil {
		fact.From = canon.Parsed(f, dag.ReadTime)
	}
	if f := at.Optional("valid_until"); f != nil {
		fact.Until = canon.Parsed(f, dag.ReadTime)
	}
	act := knowledge.Act{Kind: knowledge.Assert, Fact: fact}
	if f := at.Optional("supersedes"); f != nil {
		for _, id := range f.Items() {
			act.Supersedes = append(act.Supersedes, canon.Parsed(id, dag.ParseDigest))
		}
		act.Supersedes = knowledge.SortIDs(act.Supersedes)
	}
	at.Close()
	if at.Err() == nil {
		if err := act.Check(); err != nil {
			at.Fail(err)
		}
	}
	return act
}

func readRetraction(at *canon.Cursor) knowledge.Act {
	act := knowledge.Act{Kind: knowledge.Retract, Statement: canon.Parsed(at.Field("statement"), dag.ParseDigest)}
	if f := at.Optional("reason"); f != nil {
		act.Reason = f.String()
	}
	at.Close()
	if at.Err() == nil {
		if err := act.Check(); err != nil {
			at.Fail(err)
		}
	}
	return act
}

// learn records acts. An error says which of them it is about, by the place that the caller
// gives for its index.
func (c *call) learn(acts []knowledge.Act, place func(i int) string) ([]knowledge.Outcome, error) {
	outcomes, err := c.server.config.Kernel.Learn(c.ctx, c.tenant(), acts)
	if err == nil {
		return outcomes, nil
	}
	p := *problemOf(err)
	if which := (*knowledge.ActError)(nil); errors.As(err, &which) && p.place == "" {
		p.place = place(which.Index)
		p.detail = strings.Replace(p.detail, which.Where()+": ", "", 1)
	}
	return nil, &p
}

func (c *call) learnFact() error {
	at := canon.Open(c.value)
	act := readFact(at)
	if err := at.Err(); err != nil {
		return err
	}
	outcomes, err := c.learn([]knowledge.Act{act}, func(int) string {
		if len(act.Supersedes) > 0 {
			return "supersedes"
		}
		return ""
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, view.Outcome(&outcomes[0]))
}

func (c *call) learnFacts() error {
	if c.media == typeLines {
		return c.learnLines()
	}
	at := canon.Open(c.value)
	var acts []knowledge.Act
	read := func(key string, one func(*canon.Cursor) knowledge.Act) {
		f := at.Optional(key)
		if f == nil {
			return
		}
		for _, item := range f.Items() {
			if acts = append(acts, one(item)); at.Err() != nil || len(acts) > knowledge.MaxActs {
				return
			}
		}
	}
	read("retractions", readRetraction)
	retractions := len(acts)
	read("facts", readFact)
	switch {
	case at.Err() != nil:
		return at.Err()
	case len(acts) == 0:
		return &problem{code: codeInvalid, place: "facts", detail: "the batch holds no fact and no retraction"}
	case len(acts) > knowledge.MaxActs:
		return &problem{code: codeTooLarge, place: "facts", detail: fmt.Sprintf("more than %d facts and retractions at once", knowledge.MaxActs)}
	}
	outcomes, err := c.learn(acts, func(i int) string {
		if i < retractions {
			return fmt.Sprintf("retractions[%d]", i)
		}
		return fmt.Sprintf("facts[%d]", i-retractions)
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, api.KnowledgeOutcomes{
		Retractions: view.Outcomes(outcomes[:retractions]), Facts: view.Outcomes(outcomes[retractions:]),
	})
}

// learnLines is learnFacts of lines, in their order. They are all here: what is recorded as a
// whole is no stream.
func (c *call) learnLines() error {
	var acts []knowledge.Act
	var places []string
	n := 0
	for line := range bytes.Lines(c.body) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		place := "line " + strconv.Itoa(n)
		if len(acts) == knowledge.MaxActs {
			return &problem{code: codeTooLarge, place: place, detail: fmt.Sprintf("%s: more than %d facts and retractions at once", place, knowledge.MaxActs)}
		}
		act, err := c.readLine(line, place)
		if err != nil {
			return err
		}
		acts, places = append(acts, act), append(places, place)
	}
	if len(acts) == 0 {
		return &problem{code: codeInvalid, place: "body", detail: "the batch holds no fact and no retraction"}
	}
	outcomes, err := c.learn(acts, func(i int) string { return places[i] })
	if err != nil {
		return err
	}
	w := api.KnowledgeOutcomes{Retractions: []api.KnowledgeOutcome{}, Facts: []api.KnowledgeOutcome{}}
	for i := range outcomes {
		if o := view.Outcome(&outcomes[i]); acts[i].Kind == knowledge.Retract {
			w.Retractions = append(w.Retractions, o)
		} else {
			w.Facts = append(w.Facts, o)
		}
	}
	return c.json(http.StatusOK, w)
}

// readLine reads a fact or, if it names a statement, a retraction.
func (c *call) readLine(line []byte, place string) (knowledge.Act, error) {
	v, err := readStrictly(line, place, lineValues)
	if err != nil {
		return knowledge.Act{}, err
	}
	shape, read := 0, readFact // as the description lists them
	if v.Get("statement") != nil {
		shape, read = 1, readRetraction
	}
	if err := hold(v, c.described.schema.AnyOf[shape].Value, place); err != nil {
		return knowledge.Act{}, err
	}
	at := canon.Open(v)
	act := read(at)
	if err := at.Err(); err != nil {
		p := *problemOf(err)
		p.place, p.detail = join(place, p.place), place+": "+p.detail
		return knowledge.Act{}, &p
	}
	return act, nil
}

// A paramReader reads query parameters that the contract has let through, and keeps the first
// fault.
type paramReader struct {
	c   *call
	err error
}

func parsedParam[T any](p *paramReader, key string, parse func(string) (T, error)) (v T, given bool) {
	text, given := p.c.params[key]
	if !given {
		return v, false
	}
	v, err := parse(text)
	if err != nil && p.err == nil {
		place := "query parameter " + key
		p.err = &problem{code: codeInvalid, place: place, detail: place + ": " + err.Error(), cause: err}
	}
	return v, true
}

func (p *paramReader) name(key string) string {
	written, _ := parsedParam(p, key, checkName)
	return written
}

func (p *paramReader) fraction(key string) dag.PPM {
	v, _ := parsedParam(p, key, dag.ReadPPM)
	return v
}

func (p *paramReader) time(key string) *dag.Time {
	if v, given := parsedParam(p, key, dag.ReadTime); given {
		return &v
	}
	return nil
}

func (p *paramReader) number(key string) int {
	v, _ := parsedParam(p, key, strconv.Atoi)
	return v
}

func (p *paramReader) seq(key string) dag.Seq { return dag.Seq(p.number(key)) }

// names reads names between commas, which stand in no name that is normalized.
func (p *paramReader) names(key string) []string {
	list, _ := parsedParam(p, key, func(text string) ([]string, error) {
		names := strings.Split(text, ",")
		for _, n := range names {
			if _, err := checkName(n); err != nil {
				return nil, err
			}
		}
		return names, nil
	})
	return list
}

// factQuery reads the filters of facts.
func (p *paramReader) factQuery() kernel.FactQuery {
	q := kernel.FactQuery{
		Subject: p.name("subject"), Predicate: p.name("predicate"), Object: p.name("object"), Entity: p.name("entity"),
		Source: p.c.params["source"], MinConfidence: p.fraction("min_confidence"), AsOf: p.seq("as_of"), ValidAt: p.time("valid_at"),
	}
	if id, given := parsedParam(p, "turn", dag.ParseTurnID); given {
		q.Turn = &id
	}
	if id, given := parsedParam(p, "statement", dag.ParseDigest); given {
		q.Statement = &id
	}
	return q
}

// viewCursor reads a cursor AFTER-ASOF: every page is of the view that the first one was.
func (c *call) viewCursor(asOf dag.Seq) (after, of dag.Seq, err error) {
	text, ok := c.params["cursor"]
	if !ok {
		return 0, asOf, nil
	}
	first, second, _ := strings.Cut(text, "-")
	n, err1 := strconv.ParseUint(first, 10, 64)
	m, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || n > canon.MaxInt || m > canon.MaxInt || m == 0 {
		return 0, 0, c.badCursor(text)
	}
	if asOf != 0 && asOf != dag.Seq(m) {
		return 0, 0, &problem{code: codeInvalid, place: "query parameter as_of", detail: fmt.Sprintf("as_of is %d, and the cursor is of a listing as of %d", asOf, m)}
	}
	return dag.Seq(n), dag.Seq(m), nil
}

func cursorOf(after, asOf dag.Seq) string {
	return strconv.FormatUint(uint64(after), 10) + "-" + strconv.FormatUint(uint64(asOf), 10)
}

func (c *call) listFacts() error {
	p := paramReader{c: c}
	q := p.factQuery()
	if p.err != nil {
		return p.err
	}
	var err error
	if q.After, q.AsOf, err = c.viewCursor(q.AsOf); err != nil {
		return err
	}
	q.Limit = c.page()
	page, err := c.server.config.Kernel.Facts(c.ctx, c.tenant(), q)
	if err != nil {
		return err
	}
	w := api.Facts{Facts: make([]api.Fact, len(page.Facts)), Total: page.Total, AsOf: uint64(page.AsOf)}
	for i := range page.Facts {
		w.Facts[i] = view.Fact(&page.Facts[i])
	}
	if page.Next != 0 {
		w.Next = cursorOf(page.Next, page.AsOf)
	}
	return c.json(http.StatusOK, w)
}

func (c *call) retractFacts() error {
	p := paramReader{c: c}
	q := p.factQuery()
	if p.err != nil {
		return p.err
	}
	reason := c.params["reason"]
	if len(reason) > knowledge.MaxReason || !utf8.ValidString(reason) {
		return &problem{code: codeInvalid, place: "query parameter reason", detail: fmt.Sprintf("a reason of %d bytes, want UTF-8 of at most %d", len(reason), knowledge.MaxReason)}
	}
	dry := c.params["dry_run"] == "true"
	list, err := c.server.config.Kernel.Retract(c.ctx, c.tenant(), q, reason, dry)
	if errors.Is(err, kernel.ErrNoFilter) {
		return &problem{code: codeInvalid, place: "query", detail: err.Error(), cause: err}
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, api.Retracted{DryRun: dry, Total: len(list), Acts: view.Acts(list)})
}

func (c *call) factHistory() error {
	id, err := dag.ParseDigest(c.params["statement"])
	if err != nil {
		return err
	}
	after, err := c.cursorNumber()
	if err != nil {
		return err
	}
	list, err := c.server.config.Kernel.History(c.ctx, c.tenant(), id)
	if err != nil {
		return err
	}
	for len(list) > 0 && list[0].Seq <= dag.Seq(after) {
		list = list[1:]
	}
	w := api.FactHistory{Statement: id.String()}
	if limit := c.page(); len(list) > limit {
		list = list[:limit]
		w.Next = strconv.FormatUint(uint64(list[limit-1].Seq), 10)
	}
	w.Acts = view.Acts(list)
	return c.json(http.StatusOK, w)
}

func (c *call) knowledgeChanges() error {
	p := paramReader{c: c}
	after := p.seq("after")
	if p.err != nil {
		return p.err
	}
	limit := c.page()
	list, err := c.server.config.Kernel.Acts(c.ctx, c.tenant(), after, limit+1)
	if err != nil {
		return err
	}
	more := len(list) > limit
	list = list[:min(limit, len(list))]
	if len(list) > 0 {
		after = list[len(list)-1].Seq
	}
	return c.json(http.StatusOK, api.KnowledgeChanges{Acts: view.Acts(list), After: uint64(after), More: more})
}
