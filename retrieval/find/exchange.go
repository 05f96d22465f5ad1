package find

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// The limits of exchanges.
const (
	MaxCounterpart = 400 // bytes of its text
	soonAnswers    = 4   // turns of the agent whose texts are read first to find its last words
	mostAnswers    = 24  // turns of the agent whose texts are read at all
)

// A half is a hit, or a session, that looks for its counterpart.
type half struct {
	into    **api.Counterpart
	among   []retrieval.Hit // the first of these with a text is the counterpart
	answers bool            // only turns that say something count
}

// exchange sets the counterparts of the hits, and the sessions. It reads the graph of each conversation once, and in at most two queries the texts of
// up to 24 turns for each hit. Counterparts are turns that the search could have found: as of its number, with a text, and within its evidence.
func (e epoch) exchange(ctx context.Context, tenant dag.Tenant, head dag.Seq, r *Request, f *Found) error {
	hits := f.Hits[:min(len(f.Hits), api.MaxExchanged)]
	of := map[dag.ConversationID][]*FoundTurn{}
	for i := range hits {
		c := hits[i].Turn.Conversation
		if of[c] == nil {
			f.Sessions = append(f.Sessions, api.FoundSession{Conversation: c, FirstAt: hits[i].Turn.CreatedAt})
		}
		of[c] = append(of[c], &hits[i])
	}
	lets := func(dag.TurnID) bool { return true }
	if r.Within != nil {
		within := map[dag.TurnID]bool{}
		for _, id := range r.Within.Turns() {
			within[id] = true
		}
		lets = func(id dag.TurnID) bool { return within[id] }
	}
	var all []half
	for i := range f.Sessions {
		s := &f.Sessions[i]
		var found []half
		err := e.Conversation(ctx, tenant, s.Conversation, f.AsOf, func(v dag.View) { found = halves(v, s, of[s.Conversation], lets) })
		if errors.Is(err, store.ErrDamaged) {
			_, observed := e.Observe(ctx, "read exchanges")
			observed(fmt.Errorf("tenant %s: %w; the hits in this conversation have no counterparts", tenant, err))
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	return e.counterparts(ctx, tenant, head, f.AsOf, all)
}

// halves returns what a session and its hits look for in a view of its conversation, and sets what is known of the session without texts.
func halves(v dag.View, s *api.FoundSession, hits []*FoundTurn, lets func(dag.TurnID) bool) (list []half) {
	x := slice.ExchangesIn(v, s.Conversation)
	turn := func(n dag.Node) retrieval.Hit {
		return retrieval.Hit{Turn: retrieval.Turn{ID: v.ID(n), Conversation: s.Conversation, Seq: v.Admitted(n), CreatedAt: v.CreatedAt(n)}}
	}
	for _, h := range hits {
		if s.Title == "" {
			s.Title = h.Title
		}
		if s.Folder == "" {
			s.Folder, _ = h.Turn.Labels.Value(ingest.AttrFolder)
		}
		n, ok := v.Find(h.Turn.ID)
		if !ok {
			continue
		}
		if !x.IsPrompt(n) {
			if asked, ok := x.Question(n); ok && lets(v.ID(asked)) {
				list = append(list, half{into: &h.Question, among: []retrieval.Hit{turn(asked)}})
			}
			continue
		}
		answer := half{into: &h.Answer, answers: true}
		for _, said := range x.Answers(n) {
			if len(answer.among) < mostAnswers && lets(v.ID(said)) {
				answer.among = append(answer.among, turn(said))
			}
		}
		list = append(list, answer)
	}
	if first, ok := x.First(func(n dag.Node) bool { return lets(v.ID(n)) }); ok {
		s.FirstAt = v.CreatedAt(first)
	}
	if s.Title == "" {
		if first, ok := x.First(func(n dag.Node) bool { return x.IsPrompt(n) && lets(v.ID(n)) }); ok {
			list = append(list, half{into: &s.Begins, among: []retrieval.Hit{turn(first)}})
		}
	}
	return list
}

// counterparts reads texts and sets the counterparts: first the texts of the turns that are most likely, then those of the others where they are needed.
func (e epoch) counterparts(ctx context.Context, tenant dag.Tenant, head, asOf dag.Seq, list []half) error {
	said := map[dag.TurnID]*dag.Body{} // nil: no text
	var chosen []retrieval.Hit
	var into []**api.Counterpart
	for from, to := 0, soonAnswers; from < mostAnswers; from, to = to, mostAnswers {
		var wanted []retrieval.Hit
		for i := range list {
			for _, t := range list[i].among[min(from, len(list[i].among)):min(to, len(list[i].among))] {
				if _, known := said[t.Turn.ID]; !known {
					said[t.Turn.ID] = nil
					wanted = append(wanted, t)
				}
			}
		}
		if err := e.read(ctx, tenant, head, wanted, said); err != nil {
			return err
		}
		left := list[:0]
		for _, h := range list {
			if t := h.first(to, said); t != nil {
				chosen, into = append(chosen, *t), append(into, h.into)
			} else if len(h.among) > to {
				left = append(left, h)
			}
		}
		list = left
	}
	places := make([]store.Place, len(chosen))
	for i := range chosen {
		places[i] = store.Place{Conversation: chosen[i].Turn.Conversation, Seq: chosen[i].Turn.Seq}
	}
	standings, err := e.standings(ctx, tenant, asOf, places)
	if err != nil {
		return err
	}
	for i := range chosen {
		if standings[i] == 0 { // the conversation is damaged
			continue
		}
		t, body := &chosen[i].Turn, said[chosen[i].Turn.ID]
		content, shortened := shortened(strings.TrimSpace(body.Content), MaxCounterpart)
		*into[i] = &api.Counterpart{Turn: t.ID, Seq: t.Seq, Author: body.Author, Standing: standings[i].String(), CreatedAt: t.CreatedAt, Content: content, Shortened: shortened}
	}
	return nil
}

// first returns the first turn, of as many as were read, that can be the counterpart; nil if there is none.
func (h *half) first(read int, said map[dag.TurnID]*dag.Body) *retrieval.Hit {
	for i := range h.among[:min(read, len(h.among))] {
		if body := said[h.among[i].Turn.ID]; body != nil && strings.TrimSpace(body.Content) != "" && (!h.answers || extract.Says(body)) {
			return &h.among[i]
		}
	}
	return nil
}

// read reads the texts of turns. A turn whose text is gone or damaged gets none.
func (e epoch) read(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []retrieval.Hit, into map[dag.TurnID]*dag.Body) error {
	texts, damaged, err := e.Texts(tenant).OfHits(ctx, head, turns)
	if err != nil {
		return err
	}
	for i, t := range texts {
		if t != nil {
			into[turns[i].Turn.ID] = &t.Body
		}
	}
	for _, err := range damaged {
		_, observed := e.Observe(ctx, "read text")
		observed(fmt.Errorf("tenant %s: %w; it is shown with no hit", tenant, err))
	}
	return nil
}

// shortened returns a text, or its beginning of at most a number of bytes that ends between two characters, and whether the text goes on.
func shortened(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}
