// Package modeltest provides a stand-in for vendors' models, so that SDKs and agents can be tested without one. It speaks the
// Chat Completions and the Responses API of OpenAI, the Messages API of Anthropic, and generateContent of Gemini, each with and
// without a stream, as far as those programs need them.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Model answers every request with the same sentence. It is safe for concurrent use.
type Model struct {
	Says string

	// Calls has the arguments of tool calls, by tool name. If a request offers such a tool and contains no tool result yet, the
	// model answers with a call of it.
	Calls map[string]any

	mu    sync.Mutex
	asked []string
}

// Asked returns the bodies of the requests so far.
func (m *Model) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// An answer is the model's answer to one request.
type answer struct {
	n      int // number of the request, from 1
	model  string
	text   string
	tool   string // the tool that the answer calls; "" if the answer is text
	input  any
	stream bool
}

// ServeHTTP answers requests to any of the APIs.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, string(body))
	n := len(m.asked)
	m.mu.Unlock()
	var request struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Name         string                  `json:"name"`
			Declarations []struct{ Name string } `json:"functionDeclarations"`
		} `json:"tools"`
	}
	_ = json.Unmarshal(body, &request) // a request without a JSON body names no tool
	a := &answer{n: n, model: request.Model, text: m.Says, stream: request.Stream || strings.Contains(r.URL.Path, ":stream")}
	for _, t := range request.Tools {
		names := []string{t.Name}
		for _, d := range t.Declarations {
			names = append(names, d.Name)
		}
		for _, name := range names {
			if input, ok := m.Calls[name]; ok && !hasResult(string(body)) {
				a.tool, a.input = name, input
			}
		}
	}
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost:
		http.NotFound(w, r)
	case strings.HasSuffix(path, "/count_tokens"):
		send(w, object{"input_tokens": 1})
	case strings.HasSuffix(path, "/chat/completions"):
		send(w, a.completion())
	case strings.HasSuffix(path, "/responses"):
		a.respond(w)
	case strings.HasSuffix(path, "/messages"):
		a.message(w)
	case strings.Contains(path, ":generateContent"), strings.Contains(path, ":streamGenerateContent"):
		a.generate(w)
	default:
		http.NotFound(w, r)
	}
}

// hasResult reports whether a request contains a tool result, in the form of any of the APIs.
func hasResult(body string) bool {
	return slices.ContainsFunc([]string{`"tool_result"`, `"function_call_output"`, `"functionResponse"`, `"tool_call_id"`}, func(mark string) bool { return strings.Contains(body, mark) })
}

type object = map[string]any

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // it fails only if the client has gone
}

// A stream sends server-sent events.
type stream struct{ http.ResponseWriter }

func begin(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return stream{w}
}

// event sends an event; its data have kind as their type. If kind is "", it sends only the data.
func (s stream) event(kind string, v object) {
	if kind != "" {
		v["type"] = kind
		_, _ = fmt.Fprintf(s, "event: %s\n", kind)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic("modeltest: " + err.Error()) // arguments that a test set
	}
	_, _ = fmt.Fprintf(s, "data: %s\n\n", data)
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	return string(data)
}

// completion returns an answer of the Chat Completions API, without a stream.
func (a *answer) completion() object {
	message, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": fmt.Sprint("call_", a.n), "type": "function", "function": object{"name": a.tool, "arguments": text(a.input)}}}}, "tool_calls"
	}
	return object{
		"id": fmt.Sprint("c", a.n), "object": "chat.completion", "created": 1, "model": a.model, "choices": []object{{"index": 0, "finish_reason": reason, "message": message}},
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}

// respond writes an answer of the Responses API.
func (a *answer) respond(w http.ResponseWriter) {
	item := object{"type": "message", "role": "assistant", "id": fmt.Sprint("msg_", a.n), "status": "completed", "content": []object{{"type": "output_text", "text": a.text, "annotations": []any{}}}}
	if a.tool != "" {
		item = object{"type": "function_call", "id": fmt.Sprint("fc_", a.n), "call_id": fmt.Sprint("call_", a.n), "name": a.tool, "arguments": text(a.input), "status": "completed"}
	}
	response := object{
		"id": fmt.Sprint("resp_", a.n), "object": "response", "created_at": 1, "model": a.model, "status": "completed", "output": []object{item}, "parallel_tool_calls": false, "tool_choice": "auto", "tools": []any{},
		"usage": object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2},
	}
	if !a.stream {
		send(w, response)
		return
	}
	s := begin(w)
	s.event("response.created", object{"response": object{"id": response["id"]}})
	s.event("response.output_item.done", object{"output_index": 0, "item": item})
	s.event("response.completed", object{"response": response})
}

// message writes an answer of the Messages API.
func (a *answer) message(w http.ResponseWriter) {
	block, reason := object{"type": "text", "text": a.text}, "end_turn"
	if a.tool != "" {
		block, reason = object{"type": "tool_use", "id": fmt.Sprint("toolu_", a.n), "name": a.tool, "input": a.input}, "tool_use"
	}
	message := object{"id": fmt.Sprint("msg_", a.n), "type": "message", "role": "assistant", "model": a.model, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	if !a.stream {
		message["content"], message["stop_reason"] = []object{block}, reason
		send(w, message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	s := begin(w)
	s.event("message_start", object{"message": message})
	if a.tool == "" {
		s.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		s.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": a.text}})
	} else {
		s.event("content_block_start", object{"index": 0, "content_block": object{"type": "tool_use", "id": block["id"], "name": a.tool, "input": object{}}})
		s.event("content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": text(a.input)}})
	}
	s.event("content_block_stop", object{"index": 0})
	s.event("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
	s.event("message_stop", object{})
}

// generate writes an answer of Gemini's generateContent.
func (a *answer) generate(w http.ResponseWriter) {
	part := object{"text": a.text}
	if a.tool != "" {
		part = object{"functionCall": object{"name": a.tool, "args": a.input}}
	}
	response := object{
		"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}}, "modelVersion": "stand-in",
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if !a.stream {
		send(w, response)
		return
	}
	begin(w).event("", response)
}
