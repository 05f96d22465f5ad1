// Package remote owns the vectors that an endpoint makes which speaks as OpenAI's embeddings do.
//
//	POST /v1/embeddings {"encoding_format":"float","input":["text",…],"model":"ID"}
//	{"data":[{"embedding":[0.01,…],"index":0},…],"model":"ID"}
//
// What the endpoint answers is never repaired: an answer of another model, of another dimension or with anything missing is an error, and
// nothing of it is used, so vectors of two models cannot come together.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/graphkernel/graphkernel/internal/endpoint"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// Bounds of asking.
const (
	Batch     = 64       // texts of one request, unless somebody says otherwise
	MaxBatch  = 256      // texts of one request
	MaxText   = 32 << 10 // bytes of a text that are sent; the rest is left out
	MaxAnswer = 16 << 20 // bytes of what the endpoint sends
)

// ErrOther is wrapped if vectors come from another model than the one asked, or with another dimension. What was embedded before must not be
// compared with what this endpoint makes now.
var ErrOther = errors.New("another model")

// ErrUnusable is wrapped if an answer has not exactly the vectors that were asked for.
var ErrUnusable = errors.New("no embeddings")

// An Access is how the endpoint is reached; its path is /embeddings.
type Access = endpoint.Access

// A Config says which model to ask, and where.
type Config struct {
	Access
	Model embed.Model // as the endpoint calls it. Dimensions must be known; the digest is for the caller
	Batch int         // texts of one request, up to MaxBatch; 0: Batch
}

// A Client asks one model. It shows the key to no printer and no error.
type Client struct {
	model    embed.Model
	batch    int
	endpoint *endpoint.Endpoint
}

var _ embed.Embedder = (*Client)(nil)

// New makes a client. Nothing is sent yet.
func New(c Config) (*Client, error) {
	if c.Model.ID == "" || c.Model.Dimensions < 1 {
		return nil, fmt.Errorf("remote: a model needs an id and dimensions, not %q and %d", c.Model.ID, c.Model.Dimensions)
	}
	if c.Batch < 0 || c.Batch > MaxBatch {
		return nil, fmt.Errorf("remote: batches of %d texts, want 1 to %d", c.Batch, MaxBatch)
	}
	e, err := endpoint.New(endpoint.Config{Access: c.Access, Path: "/embeddings", Model: c.Model.ID, Most: MaxAnswer})
	if err != nil {
		return nil, err
	}
	return &Client{c.Model, cmp.Or(c.Batch, Batch), e}, nil
}

// Model describes the model.
func (c *Client) Model() embed.Model { return c.model }

// String names the endpoint and hides the key.
func (c *Client) String() string { return c.endpoint.String() }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// Embed asks for the vectors of texts, a batch at a time. Texts of white space alone are not sent. On 429 and 5xx it asks again.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]int8, error) {
	vectors := make([][]int8, len(texts))
	var input []string
	var places []int
	send := func() error {
		if len(input) == 0 {
			return nil
		}
		made, err := c.ask(ctx, input)
		if err != nil {
			return err
		}
		for i, v := range made {
			vectors[places[i]] = v
		}
		input, places = input[:0], places[:0]
		return nil
	}
	for i, text := range texts {
		if text = strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), MaxText)], "")); text == "" {
			continue
		}
		if input, places = append(input, text), append(places, i); len(input) == c.batch {
			if err := send(); err != nil {
				return nil, err
			}
		}
	}
	if err := send(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// ask sends one request.
func (c *Client) ask(ctx context.Context, texts []string) ([][]int8, error) {
	request, err := json.Marshal(struct {
		Format string   `json:"encoding_format"`
		Input  []string `json:"input"`
		Model  string   `json:"model"`
	}{"float", texts, c.model.ID})
	if err != nil {
		return nil, err
	}
	text, _, err := c.endpoint.Post(ctx, request)
	if err != nil {
		return nil, err
	}
	vectors, err := c.read(text, len(texts))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.endpoint.URL(), err)
	}
	return vectors, nil
}

// read returns so many vectors of an answer, in the order of the texts.
func (c *Client) read(text []byte, count int) ([][]int8, error) {
	var answer struct {
		Model string `json:"model"`
		Data  []struct {
			Index  *int      `json:"index"`
			Vector []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	switch {
	case answer.Model != c.model.ID:
		return nil, fmt.Errorf("%w: %.100q answers for %q", ErrOther, answer.Model, c.model.ID)
	case len(answer.Data) != count:
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrUnusable, len(answer.Data), count)
	}
	vectors := make([][]int8, count)
	for i := range answer.Data {
		d := &answer.Data[i]
		switch {
		case d.Index == nil || *d.Index < 0 || *d.Index >= count || vectors[*d.Index] != nil:
			return nil, fmt.Errorf("%w: the vectors are not numbered from 0 to %d", ErrUnusable, count-1)
		case len(d.Vector) != c.model.Dimensions:
			return nil, fmt.Errorf("%w: %d components, and %s has %d", ErrOther, len(d.Vector), c.model.ID, c.model.Dimensions)
		}
		v, err := rounded(d.Vector)
		if err != nil {
			return nil, err
		}
		vectors[*d.Index] = v
	}
	return vectors, nil
}

// rounded returns a vector of the length that all have. Multiplying by a power of two is exact, so every processor rounds alike.
func rounded(v []float64) ([]int8, error) {
	const fraction, most = 1 << 30, 1 << 12
	whole := make([]int64, len(v))
	for i, x := range v {
		if math.Abs(x) >= most {
			return nil, fmt.Errorf("%w: a component is %g, want less than %d", ErrUnusable, x, most)
		}
		whole[i] = int64(math.Round(x * fraction))
	}
	unit := embed.Normalize(whole)
	if unit == nil {
		return nil, fmt.Errorf("%w: a vector is zero", ErrUnusable)
	}
	return unit, nil
}
