package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// An event is something in a transcript that a gold answer may name. It is read from the records of the transcript by
// rules of its own, which share nothing with the kernel's importer.
type event struct {
	kind  string // one of the kinds below
	uuid  string // of the record; "" for a prompt that was queued
	text  string // of a prompt
	aside bool   // of a prompt: it was said in the middle of what an earlier one had asked for
	file  string // of an edit, a read and a result
	cwd   string // where the session worked then
	at    time.Time
}

// The kinds of events.
const (
	prompted = "prompt"   // a person said something: a prompt, or words with the rejection of a tool
	edited   = "edit"     // a call that changed a file
	readFile = "read"     // a call that read a file
	result   = "result"   // what that call returned
	refused  = "refused"  // an edit that failed or was refused
	confirms = "confirms" // what an edit returned
)

// A record is a line of a transcript, as far as it counts here.
type record struct {
	Type, UUID, CWD, Operation string
	Timestamp                  time.Time
	IsMeta, IsCompactSummary   bool
	Content                    json.RawMessage
	Message                    struct{ Content json.RawMessage }
	blocks                     []block
}

// A block is a part of a message.
type block struct {
	Type, Text, ID, Name string
	Input                struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	Answers string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage // a string or blocks
}

// said returns the text of a string or of blocks.
func said(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []block
	_ = json.Unmarshal(raw, &blocks) // anything else has no text
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// readTranscript returns the events of a transcript in its order. A call whose result is an error did nothing: an edit is then refused, and another call is none.
func readTranscript(path string) ([]event, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	t := transcript{calls: map[string]int{}, failed: map[int]bool{}}
	for n := 1; lines.Scan(); n++ {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		_ = json.Unmarshal(r.Message.Content, &r.blocks) // a string has none
		t.take(&r)
	}
	return t.done(), lines.Err()
}

// A transcript gathers events.
type transcript struct {
	events []event
	calls  map[string]int // by tool_use id: the place in events
	failed map[int]bool   // places in events
	queue  []string       // what was typed while the agent worked, and is still to be given to it
}

func (t *transcript) take(r *record) {
	switch {
	case r.Type == "queue-operation":
		t.queued(r)
	case r.UUID == "":
	case r.Type == "assistant":
		for _, b := range r.blocks {
			t.call(r, &b)
		}
	case r.Type == "user" && !r.IsMeta && !r.IsCompactSummary:
		t.user(r)
	}
}

func (t *transcript) add(r *record, kind, text, file string) {
	t.events = append(t.events, event{kind: kind, uuid: r.UUID, text: text, file: file, cwd: r.CWD, at: r.Timestamp})
}

func (t *transcript) call(r *record, b *block) {
	kind, file := "", b.Input.File
	switch b.Name {
	case "Edit", "MultiEdit", "Write":
		kind = edited
	case "NotebookEdit":
		kind, file = edited, b.Input.Notebook
	case "Read":
		kind = readFile
	}
	if b.Type != "tool_use" || kind == "" {
		return
	}
	t.calls[b.ID] = len(t.events)
	t.add(r, kind, "", file)
}

// user takes a record of a user: the results of tools, or what a person said.
func (t *transcript) user(r *record) {
	results := false
	for _, b := range r.blocks {
		if b.Type != "tool_result" {
			continue
		}
		results = true
		at, known := t.calls[b.Answers]
		const rejected = "the user said:"
		switch text := said(b.Content); {
		case b.IsError && strings.Contains(text, rejected):
			t.add(r, prompted, text, "")
			t.events[len(t.events)-1].aside = true
			fallthrough
		case b.IsError:
			if known {
				t.failed[at] = true
			}
		case known && t.events[at].kind == edited:
			t.add(r, confirms, "", t.events[at].file)
		case known && t.events[at].kind == readFile:
			t.add(r, result, "", t.events[at].file)
		}
	}
	if text := said(r.Message.Content); !results && isPrompt(text) {
		t.add(r, prompted, text, "")
	}
}

// isPrompt reports whether a person wrote a text for the agent: what the program writes by itself begins with a tag or with a notice.
func isPrompt(text string) bool {
	for _, by := range [...]string{"<local-command-", "<bash-", "<task-notification>", "<system-reminder>", "<command-name>", "[Request interrupted"} {
		if strings.HasPrefix(text, by) {
			return false
		}
	}
	return strings.TrimSpace(text) != ""
}

// queued follows the queue of prompts that were typed while the agent worked: one that is removed was given to it.
func (t *transcript) queued(r *record) {
	switch r.Operation {
	case "enqueue":
		t.queue = append(t.queue, said(r.Content))
	case "popAll":
		t.queue = nil
	case "dequeue", "remove":
		if len(t.queue) == 0 {
			return
		}
		if r.Operation == "remove" && isPrompt(t.queue[0]) && !strings.HasPrefix(t.queue[0], "/") {
			t.add(r, prompted, t.queue[0], "")
			t.events[len(t.events)-1].aside = true
		}
		t.queue = t.queue[1:]
	}
}

// done returns the events without reads that failed. An edit that failed is refused.
func (t *transcript) done() []event {
	var events []event
	for i, e := range t.events {
		if t.failed[i] && e.kind == edited {
			e.kind = refused
		}
		if !t.failed[i] || e.kind == refused {
			events = append(events, e)
		}
	}
	return events
}
