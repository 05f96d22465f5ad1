package llm

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/endpoint"
)

// Bounds of asking.
const (
	MaxAnswer  = 1 << 20             // bytes of what the endpoint sends
	TryTimeout = endpoint.TryTimeout // of one try, unless somebody says otherwise
)

// Errors of what cannot be asked: turns and key would travel in the clear, and what cannot be an endpoint's address or key.
var (
	ErrPlaintext = endpoint.ErrPlaintext
	ErrEndpoint  = endpoint.ErrEndpoint
)

// An UnusableError says that the endpoint answered one question with what is no answer: too
// long, no chat completion, or a refusal of this question. Another question may fare better.
type UnusableError = endpoint.UnusableError

// An Access is how the endpoint is reached; its path is /chat/completions.
type Access = endpoint.Access

// A Config says which model to ask, and where.
type Config struct {
	Access
	Model Model
}

// An Extractor asks one model. It shows the key to no printer and no error.
type Extractor struct{ endpoint *endpoint.Endpoint }

// New makes an extractor. Nothing is sent yet.
func New(c Config) (*Extractor, error) {
	if _, err := ParseModel(string(c.Model)); err != nil {
		return nil, err
	}
	e, err := endpoint.New(endpoint.Config{Access: c.Access, Path: "/chat/completions", Model: string(c.Model), Most: MaxAnswer})
	if err != nil {
		return nil, err
	}
	return &Extractor{e}, nil
}

// String names the endpoint and hides the key.
func (x *Extractor) String() string { return x.endpoint.String() }

// GoString is String.
func (x *Extractor) GoString() string { return x.String() }

// An Answer is what a model said.
type Answer struct {
	Text   string // "" if it said nothing
	URL    string // where the question went
	Served string // the model that answered, in the endpoint's words; "" if it does not say so in few
	Finish string // why the text ends, the same
	Tries  int
}

// Ask asks a question, and again on 429 and 5xx. An *UnusableError is about this question;
// any other error is about the endpoint, or the context's.
func (x *Extractor) Ask(ctx context.Context, q *Question) (*Answer, error) {
	text, tries, err := x.endpoint.Post(ctx, q.request())
	if err != nil {
		return nil, err
	}
	a, err := answerOf(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.endpoint.URL(), err)
	}
	a.URL, a.Tries = x.endpoint.URL(), tries
	return a, nil
}

// answerOf reads a chat completion: the text of its first choice.
func answerOf(text []byte) (*Answer, error) {
	v, err := canon.Parse(text)
	if err != nil {
		return nil, &UnusableError{Why: fmt.Sprintf("the answer is no chat completion: %v", err)}
	}
	none := func(what string) (*Answer, error) {
		return nil, &UnusableError{Why: "the answer is no chat completion: " + what}
	}
	choices := v.Get("choices")
	if choices == nil || choices.Kind != canon.Array || len(choices.Items) == 0 {
		return none("it has no choices")
	}
	first := &choices.Items[0]
	message := first.Get("message")
	if message == nil || message.Kind != canon.Object {
		return none("its first choice has no message")
	}
	a := &Answer{Served: word(v.Get("model")), Finish: word(first.Get("finish_reason"))}
	switch content := message.Get("content"); {
	case content == nil || content.Kind == canon.Null: // it calls a tool, or declines
	case content.Kind != canon.String:
		return none("the content of its message is " + content.Kind.String() + ", want a string")
	default:
		a.Text = content.Text
	}
	return a, nil
}

// word returns a string that can be an attribute, or "".
func word(v *canon.Value) string {
	if v == nil || v.Kind != canon.String || len(v.Text) > 256 || !utf8.ValidString(v.Text) || strings.ContainsFunc(v.Text, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return v.Text
}
