package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
)

// A ToolCall is what an agent wants done, and the turn in which it wants it.
type ToolCall struct {
	Anchor dag.TurnID
	Tool   string
	Target string
}

// String returns the words by which a turn asks for the call. An agent with structured
// tool calls would compare those.
func (c ToolCall) String() string { return c.Tool + " " + c.Target }

// ErrRefused is wrapped when the gate does not let a call through.
var ErrRefused = errors.New("refused")

// runTool is the gate. Nothing runs but through it, and it takes nothing but verified
// evidence: a bundle that was not verified has no way in.
func runTool(workspace *os.Root, v client.Verified, call ToolCall) error {
	if !v.OK() {
		return fmt.Errorf("%w: there is no verified context", ErrRefused)
	}
	if anchor := v.Provenance().Anchor; anchor != call.Anchor {
		return fmt.Errorf("%w: the context is that of turn %s, and the call is made in turn %s", ErrRefused, anchor, call.Anchor)
	}
	role, err := whoAsked(v, call)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case role != dag.RoleUser && role != dag.RoleAssistant:
		return fmt.Errorf("%w: %q was first asked by a %s turn, which may not ask for anything", ErrRefused, call, role)
	case call.Tool != "delete":
		return fmt.Errorf("%w: there is no tool %q", ErrRefused, call.Tool)
	}
	return workspace.RemoveAll(call.Target)
}

// whoAsked returns the role of the first turn, of the anchor and those that led to it,
// that asks for the call. The first: an assistant that repeats what a tool's result has
// told it to do does not make the request its own. A turn without text may have been the
// first.
func whoAsked(v client.Verified, call ToolCall) (dag.Role, error) {
	led := ancestors(v.Edges(), call.Anchor)
	for _, turn := range v.Turns() { // in reading order: parents before children
		switch {
		case !led[turn.ID]:
		case turn.Body == nil:
			return 0, fmt.Errorf("turn %s led here, and its text is gone", turn.ID)
		case slices.Contains(requests(turn.Body.Content), call.String()):
			return turn.Role, nil
		}
	}
	return 0, fmt.Errorf("no turn that led here asks to %q", call)
}

// requests returns what a text asks for: each line that begins with an arrow.
func requests(text string) (list []string) {
	for line := range strings.Lines(text) {
		if request, ok := strings.CutPrefix(strings.TrimSpace(line), "-> "); ok {
			list = append(list, request)
		}
	}
	return list
}

// ancestors returns a turn and all that it continues from, as far as the evidence goes.
func ancestors(edges []dag.Edge, of dag.TurnID) map[dag.TurnID]bool {
	parents := map[dag.TurnID][]dag.TurnID{}
	for _, e := range edges {
		parents[e.Child] = append(parents[e.Child], e.Parent)
	}
	found := map[dag.TurnID]bool{}
	for next := []dag.TurnID{of}; len(next) > 0; next = next[1:] {
		if !found[next[0]] {
			found[next[0]] = true
			next = append(next, parents[next[0]]...)
		}
	}
	return found
}
