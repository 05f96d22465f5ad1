// Package remote owns the vectors of an endpoint with the protocol of OpenAI's embeddings.
//
//	POST /v1/embeddings {"encoding_format":"float","input":["text",…],"model":"ID"}
//	{"data":[{"embedding":[0.01,…],"index":0},…],"model":"ID"}
//
// An answer of the endpoint is never repaired: an answer of another model, of another dimension or with anything missing is an error, and
// nothing of it is used. So vectors of two models cannot be mixed.
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

// Bounds of requests and answers.
const (
	Batch     = 64       // texts of one request by default
	MaxBatch  = 256      // texts of one request
	MaxText   = 32 << 10 // bytes of a text that are sent; the rest is cut off
	MaxAnswer = 16 << 20 // bytes of an answer
)

// ErrOther is wrapped if vectors are from another model than the configured one, or have another dimension. Earlier vectors must not be
// compared with those that this endpoint makes now.
var ErrOther = errors.New("the answer is from another model")

// ErrUnusable is wrapped if an answer does not have exactly the requested vectors.
var ErrUnusable = errors.New("the answer has no usable embeddings")

// An Access says how to reach the endpoint; its path is /embeddings.
type Access = endpoint.Access

// A Config says which model to ask, and where.
type Config struct {
	Access
	Model embed.Model // ID is the endpoint's name of the model. Dimensions must be set. Digest is for the caller
	Batch int         // texts of one request, up to MaxBatch; 0: Batch
}

// A Client asks one model for vectors. Its key is in no printed form and in no error.
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

// Embed asks for the vectors of texts, a batch at a time. Texts that consist of white space are not sent. It retries after the statuses
// 429 and 5xx.
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

// read returns the vectors of an answer, in the order of the texts. There must be count of them.
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
		return nil, fmt.Errorf("%w: %.100q answered instead of %q", ErrOther, answer.Model, c.model.ID)
	case len(answer.Data) != count:
		return nil, fmt.Errorf("%w: got %d vectors for %d texts", ErrUnusable, len(answer.Data), count)
	}
	vectors := make([][]int8, count)
	for i := range answer.Data {
		d := &answer.Data[i]
		switch {
		case d.Index == nil || *d.Index < 0 || *d.Index >= count || vectors[*d.Index] != nil:
			return nil, fmt.Errorf("%w: the vectors are not numbered from 0 to %d", ErrUnusable, count-1)
		case len(d.Vector) != c.model.Dimensions:
			return nil, fmt.Errorf("%w: the vector has %d components, but %s has %d", ErrOther, len(d.Vector), c.model.ID, c.model.Dimensions)
		}
		v, err := rounded(d.Vector)
		if err != nil {
			return nil, err
		}
		vectors[*d.Index] = v
	}
	return vectors, nil
}

// rounded returns a normalized vector. Multiplication by a power of two is exact, so every processor rounds in the same way.
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
