package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
)

type ledgerData struct {
	Head       *checkpoint
	NoLedger   *missing
	Keys       string
	From, To   string
	Path       []string // hashes of a proof of consistency
	Consistent bool     // a proof was asked for and came
	Leaf       string
	Proof      string
	Wrong      string
	Newest     []api.Issued
}

// ledgerPage shows the head of the ledger, who cosigned it, its keys, and on asking proofs.
func ledgerPage(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := ledgerData{From: q.Get("from"), To: q.Get("to"), Leaf: strings.TrimSpace(q.Get("leaf"))}
	p := &page{"Ledger", "ledger", &d, ""}
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

// proof asks for a proof; what is wrong with the question is shown beside the form.
func (v *visit) proof(path string, wrong *string) (string, error) {
	text, err := v.bytes(path)
	if p := problemIn(err); p != nil && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusUnauthorized {
		*wrong = p.Detail
		return "", nil
	}
	return string(text), err
}
