package console

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A missing is a part of a page that the service did not return: the caller may not see it, or it does not exist.
type missing struct{ Why string }

// optional converts an error into a line on the page if the role may not see a part, or if this service does not have it.
func optional(err error) (*missing, error) {
	var p *client.Problem
	if errors.As(err, &p) && slices.Contains([]int{http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable, http.StatusGone}, p.Status) {
		return &missing{p.Detail}, nil
	}
	return nil, err
}

type homeData struct {
	Live            string // the stream of events after this page was made
	Conversations   []conversationLine
	NoConversations *missing
	Issued          []api.Issued
	NoIssued        *missing
	Ledger          *checkpoint
	NoLedger        *missing
}

func (d *homeData) body(string) h.Node {
	return h.Group{
		h.H1(h.Class("hidden"), h.Text("Home")),
		h.If(d.NoConversations == nil, h.P(h.ID("live"), h.Class("live"), h.Data("live", d.Live), h.Hidden(), h.Span(h.Role("status")), space, link("/", h.Text("Show")))),
		section("h-conversations", "Newest conversations", d.conversations()),
		section("h-issued", "Newest slices and contexts", d.issued()),
		section("h-ledger", "Ledger", d.ledger()),
	}
}

func (d *homeData) conversations() h.Node {
	switch {
	case d.NoConversations != nil:
		return d.NoConversations.line()
	case len(d.Conversations) == 0:
		return noConversation()
	}
	return h.Group{conversationsTable(d.Conversations), h.P(link("/conversations", h.Text("All conversations")), h.Text(" · "), link("/erasures", h.Text("Erased texts")))}
}

func (d *homeData) issued() h.Node {
	switch {
	case d.NoIssued != nil:
		return d.NoIssued.line()
	case len(d.Issued) == 0:
		return h.P(h.Text("Nothing was handed out yet. "), code("graphkernel context WORDS"), h.Text(" hands out a context."))
	}
	return h.Group{issuedTable("What was handed out last, the newest first", d.Issued), h.P(link("/slices", h.Text("Everything that was handed out")))}
}

func (d *homeData) ledger() h.Node {
	if d.NoLedger != nil {
		return d.NoLedger.line()
	}
	witnessed := h.Text("by nobody")
	if at := d.Ledger.Witnessed(); at != "" {
		witnessed = moment(at)
	}
	return terms("facts", term("Log", link("/ledger", code(d.Ledger.Origin))), term("Size", h.Text(count(d.Ledger.Size, "leaf", "leaves"))), term("Witnessed last", witnessed))
}

// newest is the number of lines in the lists of the home page.
const newest = 10

func home(v *visit) (*page, error) {
	var d homeData
	list, err := ask(v, api.ListConversations, api.ConversationQuery{Newest: true, Paging: api.Paging{Limit: newest}})
	if d.NoConversations, err = optional(err); err != nil {
		return nil, err
	}
	if d.Conversations, err = v.named(list.Conversations); err != nil {
		return nil, err
	}
	handed, err := ask(v, api.ListSlices, api.SliceQuery{Newest: true, Paging: api.Paging{Limit: newest}})
	if d.NoIssued, err = optional(err); err != nil {
		return nil, err
	}
	d.Issued = handed.Slices
	if d.Live = "/live"; d.NoIssued == nil {
		d.Live += "?" + url.Values{after: {v.present(d.Issued)}}.Encode()
	}
	d.Ledger, d.NoLedger, err = v.checkpoint()
	return &page{title: "Home", content: &d}, err
}

// after is the field for the id of the last event before the stream.
const after = "last_event_id"

// present returns the id of the newest event before this page was made: the tenant's head when the request was admitted, and the number of
// the newest record in handed, the list of issued evidence on the page, newest first.
func (v *visit) present(handed []api.Issued) string {
	var number uint64
	if len(handed) > 0 {
		number = handed[0].Number
	}
	return fmt.Sprintf("%d-%d", v.who.Head, number)
}

// live sends the events of the tenant as they happen, as long as the sign-in is valid.
func live(v *visit) (*page, error) {
	if v.r.Method == http.MethodHead {
		v.w.Header().Set("Allow", http.MethodGet)
		return nil, refused(http.StatusMethodNotAllowed, "events come without an end: ask with GET")
	}
	if v.sign != nil {
		ctx, end := context.WithTimeout(v.ctx(), v.left(v.sign))
		defer end()
		defer v.ended.watch(v.sign, end)()
		v.r = v.r.WithContext(ctx)
	}
	path := "/api/events"
	if id := v.r.URL.Query().Get(after); id != "" {
		path += "?" + url.Values{after: {id}}.Encode()
	}
	return nil, v.passOn(path)
}

// A checkpoint is the signed head of the ledger (C2SP tlog-checkpoint), for people.
type checkpoint struct {
	Origin string
	Size   uint64
	Root   string
	Text   string
	By     []cosigner
}

// A cosigner is a signer of a checkpoint, with the time of the signature if it contains one (C2SP tlog-cosignature).
type cosigner struct {
	Name string
	At   string
}

// Witnessed returns the newest time of a witness's signature, or "" if there is none.
func (c *checkpoint) Witnessed() string {
	at := ""
	for _, by := range c.By {
		at = max(at, by.At)
	}
	return at
}

// checkpoint asks the service for the ledger's head.
func (a *asker) checkpoint() (*checkpoint, *missing, error) {
	text, err := a.bytes("/log/checkpoint")
	if err != nil {
		m, err := optional(err)
		return nil, m, err
	}
	c, err := readCheckpoint(string(text))
	return c, nil, err
}

// readCheckpoint parses a checkpoint to show it. It checks no signature; a verifier does that.
func readCheckpoint(text string) (*checkpoint, error) {
	body, signatures, found := strings.Cut(text, "\n\n")
	lines := strings.Split(body, "\n")
	if !found || len(lines) < 3 {
		return nil, errors.New("the ledger's checkpoint is not of its form")
	}
	size, err := strconv.ParseUint(lines[1], 10, 63)
	if err != nil {
		return nil, errors.New("the ledger's checkpoint has no size")
	}
	c := &checkpoint{Origin: lines[0], Size: size, Root: lines[2], Text: text}
	for line := range strings.Lines(signatures) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "—" {
			continue
		}
		by := cosigner{Name: fields[1]}
		const ofKey, ofTime, ofSignature = 4, 8, 64
		if raw, err := base64.StdEncoding.DecodeString(fields[2]); err == nil && len(raw) == ofKey+ofTime+ofSignature {
			by.At = time.Unix(int64(min(binary.BigEndian.Uint64(raw[ofKey:]), 1<<40)), 0).UTC().Format("2006-01-02T15:04:05Z")
		}
		c.By = append(c.By, by)
	}
	return c, nil
}
