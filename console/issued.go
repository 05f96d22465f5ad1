package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// kinds are the kinds of evidence by which the list can be filtered.
var kinds = []place{{"", "Everything"}, {"slice", "Slices of turns"}, {"context", "Contexts"}, {"facts", "Slices of facts"}, {"belief", "Beliefs"}}

type handedOutData struct {
	Kind, Next string
	Issued     []api.Issued
}

func (d *handedOutData) body(token string) h.Node {
	list := h.P(h.Text("Nothing of the kind was handed out yet. Each slice and context that an agent is given is listed here, with who asked for it and whether it is genuine; "), code("graphkernel context WORDS"), h.Text(" hands out one."))
	switch {
	case len(d.Issued) > 0:
		list = issuedTable("What was handed out, the newest first", d.Issued)
	case d.Next != "":
		list = h.P(h.Text("Nothing of the kind is on this page."))
	}
	return h.Group{
		h.H1(h.Text("Handed out")),
		para("tabs", h.Map(kinds, func(p place) h.Node {
			return h.Group{link("/slices?"+query("kind", p.Path), h.If(p.Path == d.Kind, h.Aria("current", "true")), h.Text(p.Name)), space}
		})),
		list, h.If(d.Next != "", next("/slices?"+query("kind", d.Kind, "after", d.Next), "Older ones")),
		h.H2(h.Text("Is a bundle genuine?")), fileForm(token),
		h.H2(h.Text("Compare two")), h.Form(h.Class("inline"), h.Action("/compare"), h.P(evidenceField("c-a", "Compare", "a"), space, compareWith())),
	}
}

// handedOut lists the issued evidence, the newest first.
func handedOut(v *visit) (*page, error) {
	q := v.r.URL.Query()
	got, err := ask(v, api.ListSlices, api.SliceQuery{Kind: q.Get("kind"), Newest: true, Paging: api.Paging{Limit: 50, After: q.Get("after")}})
	return &page{title: "Handed out", content: &handedOutData{q.Get("kind"), got.Next, got.Slices}}, err
}

// A bundle is a bundle of evidence as shown on pages. It has the members of bundles of every kind; each kind uses some of them.
type bundle struct {
	Anchor     string         `json:"anchor"`
	AsOf       uint64         `json:"as_of"`
	Policy     map[string]any `json:"policy"`
	KeyID      string         `json:"key_id"`
	Provenance api.Provenance `json:"provenance"`
	Token      string         `json:"token"`
	Turns      []bundleTurn   `json:"turns"`
	Order      []string       `json:"order"`
	Edges      []struct {
		Child, Parent, Kind string
	} `json:"edges"`
	Candidates []candidate    `json:"candidates"`
	Facts      []bundleFact   `json:"facts"`
	Beliefs    []bundleBelief `json:"beliefs"`
	Request    *struct {
		Task, Anchor, Format string
		Budget               int
	} `json:"request"`
	Prompt *struct {
		Cost    int
		Counter string
	} `json:"prompt"`
	Question *struct{ Start []string } `json:"question"`
}

// A bundleFact is a fact in a bundle.
type bundleFact struct {
	Statement, Subject, Predicate, Object, Source, Turn string
	Confidence                                          json.Number
}

// A bundleBelief is a revision in a context.
type bundleBelief struct {
	Private struct {
		Title, Summary string
		Statements     []api.WrittenStatement
	}
	Public struct {
		Item     string
		Revision int
		Withheld bool
	}
}

// Ref returns the address of the revision.
func (b *bundleBelief) Ref() string { return fmt.Sprintf("%s?r=%d", b.Public.Item, b.Public.Revision) }

type bundleTurn struct {
	api.Turn
	Admission *admission `json:"admission"`
}

// An admission is the reason why a turn is in a slice, as its bundle states it.
type admission struct {
	Via, From, Voice string
	Standing         string `json:"standing"` // "" before gkp/3
	Distance, Cost   int
	Number           uint64
	ScoreNano        uint64   `json:"score_nano"`
	Things           []string `json:"things"`
}

// A candidate is a turn, a fact or a belief that a context was chosen from.
type candidate struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	Cost     int            `json:"cost"`
	Seq      uint64         `json:"seq"`
	From     []string       `json:"from"`
	Features map[string]int `json:"features"`
	Standing string         `json:"standing"` // "" for facts, for candidates that selection did not reach, and before gkc/2
}

// Kind returns the kind of the bundle.
func (b *bundle) Kind() string { return kindOf(b.Provenance.SchemaVersion) }

// A shownTurn is a turn of a bundle with the reason for including it.
type shownTurn struct {
	turnRow
	Admission *admission
	Candidate *candidate
}

// An outsider is a turn, a fact or a belief that is not in a bundle.
type outsider struct {
	Candidate *candidate
	Why       string // a sentence; "": it was not requested
	Text      string // the beginning of its text
	ID        string
}

type evidenceData struct {
	whoAsked
	Anchored bool // its anchor is a turn that exists
	ID       string
	Bundle   bundle
	Records  []api.Issued
	Newest   api.Issued
	Digest   string // of the bundle shown, if that is not the newest
	Turns    []shownTurn
	Drawing  *drawing
	Outside  []outsider
	MoreOut  int
	Explain  string
	Reason   string
	Without  bool         // the page says what would be missing without the explained turn
	Lost     []shownTurn  // if Without: other turns that would not be in it
	Instead  []dag.TurnID // if Without: turns that would be in it instead
	Verdict  *api.BundleVerdict
	NoVerify *missing
	Replay   *api.Replay
	NoReplay *missing
	Prompt   string
	Policy   []parameter
	Gone     string // why there is no bundle
}

// CandidateOf returns the candidate with an id, or nil.
func (d *evidenceData) CandidateOf(id string) *candidate {
	for i := range d.Bundle.Candidates {
		if c := &d.Bundle.Candidates[i]; c.ID == id {
			return c
		}
	}
	return nil
}

// Kind returns the kind of the evidence, even if the bundle was erased.
func (d *evidenceData) Kind() string { return kindOf(d.Newest.SchemaVersion) }

// bundlePath returns the path of a bundle in the service.
func bundlePath(id, digest string) string {
	path := "/api/slices/" + url.PathEscape(id) + "/bundle"
	if digest != "" {
		path += "?bundle=" + url.QueryEscape(digest)
	}
	return path
}

// evidence shows issued evidence: a slice of turns or facts, a context, or evidence of a belief.
func evidence(v *visit) (*page, error) {
	id := strings.ToLower(v.r.PathValue("id"))
	q := v.r.URL.Query()
	record, err := ask(v, api.GetSlice, api.SliceByID{SliceID: slice.SliceID(id)})
	if err != nil {
		return v.begins(id, err)
	}
	d := evidenceData{ID: id, Records: record.Issued, Newest: record.Issued[len(record.Issued)-1], Digest: q.Get("bundle"), Explain: q.Get("explain")}
	title := "Slice " + id
	data, err := v.bytes(bundlePath(id, d.Digest))
	if gone, err := optional(err); err != nil {
		return nil, err
	} else if gone != nil {
		if err := d.whoOf(v); err != nil {
			return nil, err
		}
		d.Gone = "Its bytes cannot be made again: " + gone.Why
		again, err := ask(v, api.ReplaySlice, api.Replaying{SliceByID: api.SliceByID{SliceID: slice.SliceID(id)}})
		if d.NoReplay, err = optional(err); err != nil && problemIn(err) == nil {
			return nil, err
		} else if err == nil && d.NoReplay == nil {
			d.Replay = &again
		}
		return &page{title: title, content: &d}, nil
	}
	if err := json.Unmarshal(data, &d.Bundle); err != nil {
		return nil, fmt.Errorf("the bundle of %s cannot be read: %w", id, err)
	}
	if d.Bundle.Kind() == "context" {
		title = "Context " + id
	}
	if err := d.fill(v, data, q.Get("replay") != ""); err != nil {
		return nil, err
	}
	if err := d.whoOf(v); err != nil {
		return nil, err
	}
	return &page{title: title, content: &d}, nil
}

// begins finds evidence by a prefix of its id, as commands do.
func (v *visit) begins(begin string, otherwise error) (*page, error) {
	if len(begin) >= 4 && len(begin) < 16 {
		if found, err := ask(v, api.ListSlices, api.SliceQuery{Begins: begin}); err == nil && len(found.Slices) > 0 {
			if first := found.Slices[0].SliceID; !slices.ContainsFunc(found.Slices, func(i api.Issued) bool { return i.SliceID != first }) {
				return &page{to: string("/slices/" + first)}, nil
			}
		}
	}
	return nil, otherwise
}

func (d *evidenceData) fill(v *visit, data []byte, replay bool) error {
	verdict, err := ask(v, api.VerifyBundle, api.TheBundle{Bundle: data})
	if d.NoVerify, err = optional(err); err != nil {
		return err
	}
	if d.NoVerify == nil {
		d.Verdict = &verdict
	}
	if replay {
		again, err := ask(v, api.ReplaySlice, api.Replaying{SliceByID: api.SliceByID{SliceID: slice.SliceID(d.ID)}, Bundle: data})
		if d.NoReplay, err = optional(err); err != nil {
			return err
		}
		if d.NoReplay == nil {
			d.Replay = &again
		}
	}
	if err := d.turns(); err != nil {
		return err
	}
	d.Policy = parameters("", d.Bundle.Policy)
	if d.Bundle.Kind() == "context" {
		if b, err := contexts.Parse(data); err == nil {
			d.Prompt = string(b.Render())
		}
	}
	if d.Bundle.Kind() == "slice" {
		d.Drawing = drawBundle(&d.Bundle)
	}
	return d.outside(v)
}

// turns sorts the turns of the bundle into the order in which an agent was shown them.
func (d *evidenceData) turns() error {
	b := &d.Bundle
	of := map[string]*candidate{}
	for i := range b.Candidates {
		of[b.Candidates[i].ID] = &b.Candidates[i]
	}
	for i := range b.Turns {
		t := shownTurn{Admission: b.Turns[i].Admission}
		t.Turn, t.Candidate = b.Turns[i].Turn, of[b.Turns[i].ID]
		t.Stored.Redacted = t.Turn.Redacted
		if len(t.Content) > shownText {
			t.Content, t.Cut = whole8(t.Content, shownText), true
		}
		d.Turns = append(d.Turns, t)
	}
	place := map[string]int{}
	for i, id := range b.Order {
		place[id] = i
	}
	slices.SortStableFunc(d.Turns, func(x, y shownTurn) int {
		return cmp.Or(cmp.Compare(place[x.ID], place[y.ID]), strings.Compare(x.CreatedAt.String(), y.CreatedAt.String()))
	})
	return nil
}

// Limits for the turns that are not in a bundle: how many a page lists, and for how many it states the reason.
const (
	outsiders = 25
	explained = 2
)

// outside finds turns that the policy considered, or could have considered, and did not choose: the best candidates of a context, and the
// turns before the anchor of a slice. It states the reason for the first few; the reader can ask for others.
func (d *evidenceData) outside(v *visit) error {
	in := map[string]bool{}
	for i := range d.Bundle.Turns {
		in[d.Bundle.Turns[i].ID] = true
	}
	switch d.Bundle.Kind() {
	case "context":
		for i := range d.Bundle.Facts {
			in[d.Bundle.Facts[i].Statement] = true
		}
		for i := range d.Bundle.Beliefs {
			in[d.Bundle.Beliefs[i].Ref()] = true
		}
		var list []*candidate
		for i := range d.Bundle.Candidates {
			if c := &d.Bundle.Candidates[i]; !in[c.ID] {
				list = append(list, c)
			}
		}
		slices.SortStableFunc(list, func(a, b *candidate) int { return cmp.Compare(b.Sum(), a.Sum()) })
		d.MoreOut = max(0, len(list)-outsiders)
		for _, c := range list[:min(len(list), outsiders)] {
			d.Outside = append(d.Outside, outsider{Candidate: c, ID: c.ID})
		}
	case "slice":
		if err := d.before(v, in); err != nil {
			return err
		}
	default:
		return nil
	}
	for i := range d.Outside[:min(len(d.Outside), explained)] {
		why, err := d.why(v, d.Outside[i].ID, false)
		if m, err := optional(err); m != nil || err != nil {
			return err // nothing is shown to a role without the permission
		}
		d.Outside[i].Why = why
	}
	if d.Explain != "" {
		why, err := d.why(v, d.Explain, true)
		if m, other := optional(err); m != nil {
			why = m.Why
		} else if other != nil {
			return other
		}
		d.Reason = why
	}
	return nil
}

// Sum returns the sum of a candidate's features, without the weights of the policy.
func (c *candidate) Sum() int {
	sum := 0
	for _, n := range c.Features {
		sum += n
	}
	return sum
}

// Reasons lists the features of a candidate, the largest first.
func (c *candidate) Reasons() string {
	names := slices.SortedFunc(maps.Keys(c.Features), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Features[b], c.Features[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = name + " " + millionths(c.Features[name])
	}
	return strings.Join(names, ", ")
}

// before lists turns of the anchor's conversation that were admitted before the anchor and are not in the slice, the last first.
func (d *evidenceData) before(v *visit, in map[string]bool) error {
	anchor, err := dag.ParseTurnID(d.Bundle.Anchor)
	if err != nil {
		return err
	}
	stored, err := ask(v, api.GetTurn, api.TurnByID{ID: anchor})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	row, err := readTurn(&stored, 0)
	if err != nil {
		return err
	}
	conversation, err := dag.ParseConversationID(row.Conversation)
	if err != nil {
		return err
	}
	const looked = 400
	after := ""
	if stored.Seq > looked {
		after = fmt.Sprint(stored.Seq - looked)
	}
	list, err := ask(v, api.GetConversation, api.ConversationByID{ID: conversation, Paging: api.Paging{Limit: looked, After: after}})
	if err != nil {
		return err
	}
	for i := len(list.Turns) - 1; i >= 0; i-- {
		if list.Turns[i].Seq > stored.Seq {
			continue
		}
		row, err := readTurn(&list.Turns[i], 400)
		if err != nil {
			return err
		}
		switch {
		case in[row.ID]:
		case len(d.Outside) == outsiders:
			d.MoreOut++
		default:
			d.Outside = append(d.Outside, outsider{ID: row.ID, Text: line(row.Content, 120)})
		}
	}
	return nil
}

// why asks the service for the reason, as a sentence.
func (d *evidenceData) why(v *visit, id string, without bool) (string, error) {
	if d.Bundle.Kind() == "context" {
		in := api.ExplainContextRequest{ContextID: slice.SliceID(d.ID), Turn: id}
		switch {
		case strings.HasPrefix(id, krefScheme):
			in.Turn, in.Belief = "", id
		case len(id) == 64:
			in.Turn, in.Fact = "", id
		}
		e, err := ask(v, api.ExplainContext, in)
		return e.Explanation, err
	}
	e, err := ask(v, api.ExplainTurn, api.ExplainRequest{SliceByID: api.SliceByID{SliceID: slice.SliceID(d.ID)}, Turn: id, Without: without})
	if err == nil && without && e.Selected {
		d.Without, d.Instead = true, e.Instead
		for i := range d.Turns {
			if slices.ContainsFunc(e.Lost, func(id dag.TurnID) bool { return id.String() == d.Turns[i].ID }) {
				d.Lost = append(d.Lost, d.Turns[i])
			}
		}
	}
	return e.Explanation, err
}

// A parameter is a parameter of a policy; its name is the path to it.
type parameter struct{ Name, Value string }

func listParameters(list []parameter) h.Node {
	return terms("facts", h.Map(list, func(p parameter) h.Node { return h.Group{h.Dt(bdi(p.Name)), h.Dd(bdi(p.Value))} }))
}

// parameters lists the parameters of a policy, sorted by name.
func parameters(prefix string, of map[string]any) (list []parameter) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		switch value := of[name].(type) {
		case map[string]any:
			list = append(list, parameters(prefix+name+".", value)...)
		default:
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(value) // it came from JSON
			list = append(list, parameter{prefix + name, strings.Trim(strings.TrimSpace(b.String()), `"`)})
		}
	}
	return list
}

// download sends a file of evidence exactly as the service returned it.
func download(v *visit) (*page, error) {
	id, name := strings.ToLower(v.r.PathValue("id")), v.r.PathValue("file")
	digest := v.r.URL.Query().Get("bundle")
	if name == "trust" { // it exists even if the bundle's text was erased
		trust, err := v.trust()
		if err != nil {
			return nil, err
		}
		v.file("trust", "text/plain; charset=utf-8", trust)
		return nil, nil
	}
	data, err := v.bytes(bundlePath(id, digest))
	if err != nil {
		return nil, err
	}
	switch name {
	case "bundle.json":
		v.file(id+".json", "application/json", data)
		return nil, nil
	case "attestation.json", "slice.tlog-proof":
		e, err := ask(v, api.GetEvidence, api.EvidenceOf{SliceByID: api.SliceByID{SliceID: slice.SliceID(id)}, Bundle: digest})
		if err != nil {
			return nil, err
		}
		if name == "attestation.json" {
			v.file(name, "application/json", e.Attestation)
		} else {
			v.file(name, "text/plain; charset=utf-8", []byte(e.Proof))
		}
		return nil, nil
	case "prov.json", "openlineage.json", "sigstore.json":
		c, err := ask(v, api.ConvertBundle, api.Converting{To: strings.TrimSuffix(name, ".json"), Bundle: data})
		if err != nil {
			return nil, err
		}
		for _, file := range slices.Sorted(maps.Keys(c.Files)) {
			v.file(id+"."+file, "application/json", []byte(c.Files[file]))
			return nil, nil
		}
	}
	return nil, refused(http.StatusNotFound, "there is no file %.80q of evidence", name)
}

// trust returns the keys that the service publishes as a trust file (docs/evidence.md, section 6).
func (a *asker) trust() ([]byte, error) {
	data, err := a.bytes("/log/keys")
	if err != nil {
		return nil, err
	}
	var keys struct {
		Attestation []struct {
			VKey    string `json:"vkey"`
			Retired string `json:"retired"`
		} `json:"attestation"`
		Log []string `json:"log"`
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("the service's keys cannot be read: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("# The keys that the service itself published, when this page was read.\n")
	for _, k := range keys.Attestation {
		fmt.Fprintf(&b, "signer %s\n", strings.TrimSpace(k.VKey+" "+k.Retired))
	}
	for _, k := range keys.Log {
		fmt.Fprintf(&b, "log %s\n", k)
	}
	b.WriteString("quorum none\n")
	return b.Bytes(), nil
}
