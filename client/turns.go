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

// turn is a turn of the schema Turn.
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

// turnOf returns a draft in the form in which it is sent. The body is checked here, because encoding/json would
// replace invalid UTF-8; the service checks everything else.
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

// Admit admits a batch of turns in any order: either all of them or none. Admitting again is safe: a turn that is
// already there with the same content counts as existing.
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

// AdmitLines admits a stream of turns of any length, one per line, such as the output of "graphkernel export". Lines
// are admitted in batches as they arrive, so parents must precede their children. If a line is refused, the Problem's
// Admitted and Existing count the turns acknowledged before it; admitting the same lines again continues from there.
// Nothing is sent twice, because the stream can be read only once. After a failed call, the stream may still be read
// for a moment.
func (c Turns) AdmitLines(ctx context.Context, lines io.Reader) (api.Receipt, error) {
	return get[api.Receipt](ctx, c.conn, &request{method: http.MethodPost, path: "/api/turns", stream: io.NopCloser(lines)})
}

// Get reads one turn. Its text is absent if it was withheld or erased.
func (c Turns) Get(ctx context.Context, id dag.TurnID) (api.StoredTurn, error) {
	return call(ctx, c.conn, api.GetTurn, api.TurnByID{ID: id})
}

// Erase deletes a turn's text for good and returns when and why. Erasing again returns the first event.
func (c Turns) Erase(ctx context.Context, id dag.TurnID, reason string) (api.ErasedTurn, error) {
	return call(ctx, c.conn, api.EraseTurn, api.Erasure{ID: id, Body: api.ErasureRequest{Reason: reason}})
}

// Conversations returns every conversation, by ascending id. The iteration ends with the first error.
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
