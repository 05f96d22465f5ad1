package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/crossencoder"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/embed/remote"
	"github.com/graphkernel/graphkernel/retrieval/find"
)

// Environment variables with lists of the models that make vectors, and of those that judge hits; Settings.Models reads them.
const (
	EmbeddersVariable = "GRAPHKERNEL_EMBEDDERS"
	RerankersVariable = "GRAPHKERNEL_RERANKERS"
)

// Models are the models that policies may name and that are called over HTTP.
type Models struct {
	Embedders    []embed.Embedder
	Rerankers    []find.Reranker
	KeyVariables []string // the environment variables with their keys
}

// An endpoint is one model in the settings. It does not contain the key itself, so it can be shown.
type endpoint struct {
	URL      string `json:"url"`
	Model    string `json:"model"`
	KeyEnv   string `json:"key_env"`
	KeyFile  string `json:"key_file"`
	Batch    int    `json:"batch"`
	Timeout  string `json:"timeout"`
	Insecure bool   `json:"insecure"` // http to another host
}

// Models reads lists of models, each a JSON array of objects, or "" for none, and the files and variables with their keys. No error contains a key.
func (s *Settings) Models(embedders, rerankers string) (m Models, err error) {
	k := &modelKeys{getenv: s.Getenv}
	if m.Embedders, err = k.embedders(embedders); err != nil {
		return Models{}, err
	}
	if m.Rerankers, err = k.rerankers(rerankers); err != nil {
		return Models{}, err
	}
	m.KeyVariables = k.variables
	return m, nil
}

// modelKeys reads the keys of models.
type modelKeys struct {
	getenv    func(string) string
	variables []string // the environment variables with keys
}

func (k *modelKeys) embedders(text string) (all []embed.Embedder, err error) {
	var list []struct {
		endpoint
		Dimensions int `json:"dimensions"`
	}
	if err := readModels(text, &list); err != nil {
		return nil, fmt.Errorf("embedders: %w", err)
	}
	known := []string{retrieval.NoEmbedder, embed.StaticID}
	for i := range list {
		e := &list[i]
		key, timeout, err := k.of(&e.endpoint, &known)
		if err != nil {
			return nil, fmt.Errorf("embedders[%d]: %w", i, err)
		}
		client, err := remote.New(remote.Config{
			Access: remote.Access{URL: e.URL, Key: key, AllowPlaintext: e.Insecure, Timeout: timeout, Client: ModelClient()},
			Model:  embed.Model{ID: e.Model, Dimensions: e.Dimensions}, Batch: e.Batch,
		})
		if err != nil {
			return nil, fmt.Errorf("embedders[%d]: %w", i, err)
		}
		all = append(all, client)
	}
	return all, nil
}

func (k *modelKeys) rerankers(text string) (all []find.Reranker, err error) {
	var list []struct {
		endpoint
		Form      string `json:"form"`
		TextBytes int    `json:"text_bytes"`
	}
	if err := readModels(text, &list); err != nil {
		return nil, fmt.Errorf("rerankers: %w", err)
	}
	var known []string
	for i := range list {
		e := &list[i]
		key, timeout, err := k.of(&e.endpoint, &known)
		if err != nil {
			return nil, fmt.Errorf("rerankers[%d]: %w", i, err)
		}
		client, err := crossencoder.New(crossencoder.Config{
			Access: crossencoder.Access{URL: e.URL, Key: key, AllowPlaintext: e.Insecure, Timeout: timeout, Client: ModelClient()},
			Form:   e.Form, Model: e.Model, Batch: e.Batch, TextBytes: e.TextBytes,
		})
		if err != nil {
			return nil, fmt.Errorf("rerankers[%d]: %w", i, err)
		}
		all = append(all, client)
	}
	return all, nil
}

// ModelClient returns the client that calls models over HTTP.
func ModelClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 90 * time.Second,
	}}
}

// readModels reads a list of models strictly: an unknown member may be a misspelt limit.
func readModels(text string, into any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: want a list of objects with url, model and so on, and the key only in key_env or key_file (docs/retrieval.md)", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the list")
	}
	return nil
}

// of returns the key of a model, "" for none, and its timeout, 0 for the default. It adds the model to the known names, which must be unique, and its
// variable to the variables with keys.
func (k *modelKeys) of(e *endpoint, known *[]string) (key string, timeout time.Duration, err error) {
	switch {
	case slices.Contains(*known, e.Model):
		return "", 0, fmt.Errorf("a model %q exists already", e.Model)
	case e.KeyEnv != "" && e.KeyFile != "":
		return "", 0, errors.New("key_env and key_file exclude each other; give only one")
	}
	*known = append(*known, e.Model)
	if e.Timeout != "" {
		if timeout, err = time.ParseDuration(e.Timeout); err != nil || timeout <= 0 {
			return "", 0, fmt.Errorf("timeout is %q, want a duration above zero, such as 30s", e.Timeout)
		}
	}
	switch {
	case e.KeyEnv != "":
		k.variables = append(k.variables, e.KeyEnv)
		if key = k.getenv(e.KeyEnv); key == "" {
			err = fmt.Errorf("key_env names the variable %.80q, which is not set; set it to the endpoint's key", e.KeyEnv)
		}
	case e.KeyFile != "":
		const most = 4096
		var data []byte
		data, err = secretfile.Load(e.KeyFile, most)
		if key = strings.TrimSpace(string(data)); key == "" && err == nil {
			err = fmt.Errorf("key_file: %s is empty", e.KeyFile)
		}
	}
	return key, timeout, err
}
