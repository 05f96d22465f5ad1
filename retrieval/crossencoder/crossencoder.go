// Package crossencoder owns the scores of texts by an endpoint that reads each text together with a query.
//
// There are two protocols. Cohere is the protocol of Cohere's and Jina's rerank, and of vLLM:
//
//	POST /v1/rerank {"documents":["text",…],"model":"ID","query":"…","return_documents":false,"top_n":2}
//	{"results":[{"index":1,"relevance_score":0.98},{"index":0,"relevance_score":0.02}]}
//
// TEI is the protocol of Hugging Face's text-embeddings-inference, which serves one model at an address:
//
//	POST /rerank {"query":"…","texts":["text",…],"truncate":true}
//	[{"index":1,"score":0.98},{"index":0,"score":0.02}]
//
// An answer without exactly one score for each text is an error, and nothing of it is used.
package crossencoder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/endpoint"
)

// Bounds of requests and answers.
const (
	MaxBatch  = 1000            // texts of one request
	MaxText   = 32 << 10        // bytes of a text
	TextBytes = 4 << 10         // bytes of a text that are sent by default
	MaxAnswer = 16 << 20        // bytes of an answer
	Timeout   = 5 * time.Second // of all requests for one query by default
	batchTEI  = 32              // texts of one request that text-embeddings-inference accepts by default
	scale     = 1 << 20         // scores are in units of 1/scale
)

// The protocols.
const (
	Cohere = "cohere"
	TEI    = "tei"
)

// ErrUnusable is wrapped if an answer does not have exactly one score for each text.
var ErrUnusable = errors.New("the answer has no usable scores")

// An Access says how to reach the endpoint; its path is /rerank.
type Access = endpoint.Access

// A Config says which model to ask, and where. Its Timeout bounds all requests for one query together; 0 means the constant Timeout.
type Config struct {
	Access
	Form  string // Cohere or TEI; "": Cohere
	Model string // the endpoint's name of the model, which policies use, too

	Batch     int // texts of one request, up to MaxBatch; 0: MaxBatch, and 32 for TEI
	TextBytes int // bytes of a text that are sent, up to MaxText; 0: the constant TextBytes
}

// A Client asks one model for scores. Its key is in no printed form and in no error.
type Client struct {
	form, model      string
	batch, textBytes int
	timeout          time.Duration
	endpoint         *endpoint.Endpoint
}

// New makes a client. Nothing is sent yet.
func New(c Config) (*Client, error) {
	form := cmp.Or(c.Form, Cohere)
	switch {
	case form != Cohere && form != TEI:
		return nil, fmt.Errorf("crossencoder: the form %.40q, want %s or %s", c.Form, Cohere, TEI)
	case c.Model == "":
		return nil, errors.New("crossencoder: a model needs an id")
	case c.Batch < 0 || c.Batch > MaxBatch:
		return nil, fmt.Errorf("crossencoder: batches of %d texts, want 1 to %d", c.Batch, MaxBatch)
	case c.TextBytes < 0 || c.TextBytes > MaxText:
		return nil, fmt.Errorf("crossencoder: texts of %d bytes, want 1 to %d", c.TextBytes, MaxText)
	}
	batch := MaxBatch
	if form == TEI {
		batch = batchTEI
	}
	c.Timeout = cmp.Or(c.Timeout, Timeout)
	e, err := endpoint.New(endpoint.Config{Access: c.Access, Path: "/rerank", Model: c.Model, Most: MaxAnswer})
	if err != nil {
		return nil, err
	}
	return &Client{form, c.Model, cmp.Or(c.Batch, batch), cmp.Or(c.TextBytes, TextBytes), c.Timeout, e}, nil
}

// ID returns the id of the model.
func (c *Client) ID() string { return c.model }

// String names the endpoint and hides the key.
func (c *Client) String() string { return c.endpoint.String() }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// Scores returns the endpoint's score of each text for a query, in units of 2^-20; higher is better. It fails if the scores do not
// arrive within the timeout.
func (c *Client) Scores(ctx context.Context, query string, texts []string) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var scores []int64
	for batch := range slices.Chunk(texts, c.batch) {
		some, err := c.ask(ctx, query, batch)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.endpoint.URL(), err)
		}
		scores = append(scores, some...)
	}
	return scores, nil
}

// ask sends one request.
func (c *Client) ask(ctx context.Context, query string, texts []string) ([]int64, error) {
	sent := make([]string, len(texts))
	for i, text := range texts {
		sent[i] = strings.ToValidUTF8(text[:min(len(text), c.textBytes)], "")
	}
	var request any = cohereRequest{sent, c.model, query, false, len(sent)}
	if c.form == TEI {
		request = teiRequest{query, sent, true}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	answer, _, err := c.endpoint.Post(ctx, body)
	if err != nil {
		return nil, err
	}
	return c.read(answer, len(texts))
}

type cohereRequest struct {
	Documents []string `json:"documents"`
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Return    bool     `json:"return_documents"`
	Top       int      `json:"top_n"`
}

type teiRequest struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// A score is a score in either protocol.
type score struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// read returns the scores of an answer, in the order of the texts. There must be count of them.
func (c *Client) read(text []byte, count int) ([]int64, error) {
	var cohere struct {
		Model   string  `json:"model"`
		Results []score `json:"results"`
	}
	list, into := &cohere.Results, any(&cohere)
	if c.form == TEI {
		into = list
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if cohere.Model != "" && cohere.Model != c.model {
		return nil, fmt.Errorf("%w: %.100q answered instead of %q", ErrUnusable, cohere.Model, c.model)
	}
	if len(*list) != count {
		return nil, fmt.Errorf("%w: got %d scores for %d texts", ErrUnusable, len(*list), count)
	}
	scores, has := make([]int64, count), make([]bool, count)
	for _, s := range *list {
		value := s.Relevance
		if c.form == TEI {
			value = s.Score
		}
		if s.Index == nil || *s.Index < 0 || *s.Index >= count || has[*s.Index] {
			return nil, fmt.Errorf("%w: the scores are not numbered from 0 to %d", ErrUnusable, count-1)
		}
		const most = 1 << 20
		if value == nil || math.Abs(*value) >= most {
			return nil, fmt.Errorf("%w: text %d has no score with a size below %d", ErrUnusable, *s.Index, most)
		}
		scores[*s.Index], has[*s.Index] = int64(math.Round(*value*scale)), true
	}
	return scores, nil
}
