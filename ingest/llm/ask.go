package llm

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/endpoint"
)

// Limits of requests.
const (
	MaxAnswer  = 1 << 20             // largest response of the endpoint, in bytes
	TryTimeout = endpoint.TryTimeout // of one try, unless the caller sets another
)

// ErrPlaintext is wrapped if turns and key would be sent unencrypted, and ErrEndpoint if an address or key is invalid.
var (
	ErrPlaintext = endpoint.ErrPlaintext
	ErrEndpoint  = endpoint.ErrEndpoint
)

// An UnusableError says that the endpoint's answer to one question is unusable: it is too long, it is not a chat completion, or
// it refuses this question. Another question may succeed.
type UnusableError = endpoint.UnusableError

// An Access says how to reach the endpoint; its path is /chat/completions.
type Access = endpoint.Access

// A Config says which model to ask, and where.
type Config struct {
	Access
	Model Model
}

// An Extractor asks one model. Its key appears in no printed value and in no error.
type Extractor struct{ endpoint *endpoint.Endpoint }

// New makes an extractor. It sends nothing.
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

// String returns the model and the address, without the key.
func (x *Extractor) String() string { return x.endpoint.String() }

// GoString returns the same as String.
func (x *Extractor) GoString() string { return x.String() }

// An Answer is a model's answer to a question.
type Answer struct {
	Text   string // "" if the model returned no text
	URL    string // the address that was asked
	Served string // the model that answered, as the endpoint names it; "" if the name is missing or not a short text
	Finish string // why the text ends, as the endpoint says; "" as for Served
	Tries  int
}

// Ask asks a question, with retries on status 429 and 5xx. An *UnusableError concerns this question only; any other error
// concerns the endpoint or is the context's.
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

// answerOf reads a chat completion; its text is the text of the first choice.
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
	case content == nil || content.Kind == canon.Null: // the model calls a tool, or declines
	case content.Kind != canon.String:
		return none("the content of its message is " + content.Kind.String() + ", want a string")
	default:
		a.Text = content.Text
	}
	return a, nil
}

// word returns the text of a value if it is a string that can be an attribute, else "".
func word(v *canon.Value) string {
	if v == nil || v.Kind != canon.String || len(v.Text) > 256 || !utf8.ValidString(v.Text) || strings.ContainsFunc(v.Text, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return v.Text
}
