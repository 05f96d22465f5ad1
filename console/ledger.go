package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

type ledgerData struct {
	Head       *checkpoint
	NoLedger   *missing
	Keys       string
	From, To   string
	Path       []string // hashes of a proof of consistency
	Consistent bool     // a proof was requested and received
	Leaf       string
	Proof      string
	Wrong      string
	Newest     []api.Issued
}

func (d *ledgerData) body(string) h.Node {
	if d.NoLedger != nil {
		return h.Group{h.H1(h.Text("Ledger")), d.NoLedger.line(), h.P(code("graphkernel identity init"), h.Text(" makes the keys that sign it."))}
	}
	size := func(id, label, value string, attributes ...h.Node) h.Node {
		return field(id, label, id, h.Value(value), h.InputMode("numeric"), h.Size("10"), h.Group(attributes))
	}
	return h.Group{
		h.H1(h.Text("Ledger")), d.Head.terms(), wrong(d.Wrong),
		h.H2(h.Text("Did it only grow?")), inline(size("from", "From size", d.From, h.Required()), space, size("to", "to size", d.To), space, button("Show the proof")),
		h.If(d.Consistent, h.P(h.Textf("%s that the ledger of size %s begins with the one of size %s, to anybody who holds both heads.", count(len(d.Path), "hash proves", "hashes prove"), d.To, d.From)), h.Pre(h.Map(d.Path, func(hash string) h.Node { return h.Text(hash + "\n") }))),
		h.H2(h.Text("Is a leaf in it?")), inline(size("leaf", "Leaf", d.Leaf, h.Required()), space, button("Show the proof")),
		h.If(d.Proof != "", h.Pre(h.Text(d.Proof))),
		h.If(len(d.Newest) > 0, h.H2(h.Text("The newest evidence in it")), issuedTable("What was handed out last", d.Newest)),
		h.If(d.Keys != "", h.H2(h.Text("Its keys, as a trust file")), h.Pre(h.Text(d.Keys)), para("dim", h.Text("That is what the service says of itself. To be sure, get them another way: from whoever runs it, or from a witness."))),
	}
}

// terms shows a checkpoint and its signers.
func (c *checkpoint) terms() h.Node {
	if c == nil {
		return nil
	}
	return h.Group{
		terms("facts", term("Log", code(c.Origin)), term("Size", h.Text(count(c.Size, "leaf", "leaves"))), term("Root", code(c.Root))),
		h.H2(h.Text("Who signed this head")), h.Ul(h.Map(c.By, func(by cosigner) h.Node {
			return h.Li(code(by.Name), h.If(by.At != "", h.Text(", a witness, at "), moment(by.At)))
		})),
		h.Details(h.Summary(h.Text("The checkpoint")), h.Pre(h.Text(c.Text))),
	}
}

// ledgerPage shows the head of the ledger, its cosigners, its keys, and proofs on request.
func ledgerPage(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := ledgerData{From: q.Get("from"), To: q.Get("to"), Leaf: strings.TrimSpace(q.Get("leaf"))}
	p := &page{title: "Ledger", content: &d}
	var err error
	if d.Head, d.NoLedger, err = v.checkpoint(); err != nil || d.NoLedger != nil {
		return p, err
	}
	if data, err := v.trust(); err == nil {
		d.Keys = string(data)
	}
	if d.To == "" && d.From != "" {
		d.To = strconv.FormatUint(d.Head.Size, 10)
	}
	if d.From != "" {
		text, err := v.proof("/log/consistency?"+url.Values{"from": {d.From}, "to": {d.To}}.Encode(), &d.Wrong)
		if err != nil {
			return nil, err
		}
		d.Path, d.Consistent = strings.Fields(text), d.Wrong == ""
	}
	if d.Leaf != "" {
		if d.Proof, err = v.proof("/log/proof?"+url.Values{"index": {d.Leaf}}.Encode(), &d.Wrong); err != nil {
			return nil, err
		}
	}
	handed, err := ask(v, api.ListSlices, api.SliceQuery{Newest: true, Paging: api.Paging{Limit: newest}})
	if m, err := optional(err); m == nil && err != nil {
		return nil, err
	}
	d.Newest = handed.Slices
	return p, nil
}

// proof asks the service for a proof. A fault in the question is stored in wrong, to be shown next to the form.
func (a *asker) proof(path string, wrong *string) (string, error) {
	text, err := a.bytes(path)
	if p := problemIn(err); p != nil && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusUnauthorized {
		*wrong = p.Detail
		return "", nil
	}
	return string(text), err
}
