package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// turn is schema Turn.
type turn struct {
	ID           string            `json:"id"`
	Conversation string            `json:"conversation"`
	Parents      []parent          `json:"parents,omitempty"`
	Role         string            `json:"role"`
	Phase        string            `json:"phase,omitempty"`
	Salience     json.Number       `json:"salience,omitempty"`
	Author       *string           `json:"author,omitempty"`
	CreatedAt    string            `json:"created_at"`
	Content      *string           `json:"content,omitempty"`
	Salt         string            `json:"salt,omitempty"`
	Attrs        map[string]string `json:"attrs,omitempty"`
	Redacted     bool              `json:"redacted,omitempty"`
	BodyDigest   string            `json:"body_digest,omitempty"`
}

type parent struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

// turnOf returns a draft the form in which it is sent. The body is looked at here, for
// encoding/json would repair text that is not UTF-8; the rest is the service's to judge.
func turnOf(d *dag.Draft) (turn, error) {
	w := turn{
		ID: d.ID.String(), Conversation: d.Conversation.String(), Role: d.Role.String(), Phase: d.Phase.String(),
		CreatedAt: d.CreatedAt.String(), Attrs: d.Attrs, Redacted: d.Redacted,
	}
	for _, p := range d.Parents {
		w.Parents = append(w.Parents, parent{p.ID.String(), p.Kind.String()})
	}
	if d.HasSalience {
		w.Salience = json.Number(d.Salience.String())
	}
	if d.Salt != nil {
		w.Salt = d.Salt.String()
	}
	if d.Redacted {
		w.BodyDigest = d.BodyDigest.String()
	}
	if !d.Redacted || d.Author != "" || d.Content != "" {
		w.Author, w.Content = &d.Author, &d.Content
	}
	return w, (&dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}).Check()
}

// Admit admits a batch of turns, all of it or nothing, in any order. Admitting again
// is safe: what is there already with the same content counts as existing.
func (c Turns) Admit(ctx context.Context, drafts []dag.Draft) (api.Receipt, error) {
	body := struct {
		Turns []turn `json:"turns"`
	}{make([]turn, len(drafts))}
	for i := range drafts {
		var err error
		if body.Turns[i], err = turnOf(&drafts[i]); err != nil {
			return api.Receipt{}, fmt.Errorf("client: turns[%d]: %w", i, err)
		}
	}
	return get[api.Receipt](ctx, c.conn, &request{method: http.MethodPost, path: "/api/turns", body: encode(body)})
}

// AdmitLines admits a stream of turns, one a line, of any length: what
// "graphkernel export" writes. Lines are admitted in batches as they arrive, so parents
// precede their children. If one is refused, the Problem says in Admitted and
// Existing what was acknowledged before it, and admitting the same lines again goes on
// from there. Nothing is sent twice: the stream can be read only once. It may be read
// for a moment longer than a failed call takes.
func (c Turns) AdmitLines(ctx context.Context, lines io.Reader) (api.Receipt, error) {
	return get[api.Receipt](ctx, c.conn, &request{method: http.MethodPost, path: "/api/turns", stream: io.NopCloser(lines)})
}

// Get reads one turn. Its text is absent if it was withheld or erased.
func (c Turns) Get(ctx context.Context, id dag.TurnID) (api.StoredTurn, error) {
	return call(ctx, c.conn, api.GetTurn, api.TurnByID{ID: id})
}

// Erase deletes a turn's text for good and says when and why. Erasing again gives the
// first event.
func (c Turns) Erase(ctx context.Context, id dag.TurnID, reason string) (api.ErasedTurn, error) {
	return call(ctx, c.conn, api.EraseTurn, api.Erasure{ID: id, Body: api.ErasureRequest{Reason: reason}})
}

// Conversations returns every conversation, by ascending id. An error ends it.
func (c Turns) Conversations(ctx context.Context) iter.Seq2[api.Conversation, error] {
	return all(func(p api.Paging) ([]api.Conversation, string, error) {
		w, err := call(ctx, c.conn, api.ListConversations, api.ConversationQuery{Paging: p})
		return w.Conversations, w.Next, err
	})
}

// Each returns every turn of a conversation, in the order of admission. An error
// ends it.
func (c Turns) Each(ctx context.Context, id dag.ConversationID) iter.Seq2[api.StoredTurn, error] {
	return all(func(p api.Paging) ([]api.StoredTurn, string, error) {
		w, err := call(ctx, c.conn, api.GetConversation, api.ConversationByID{ID: id, Paging: p})
		return w.Turns, w.Next, err
	})
}
