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

// A ToolCall is a call that an agent wants to make, and the turn in which it wants to.
type ToolCall struct {
	Anchor dag.TurnID
	Tool   string
	Target string
}

// String returns the words with which a turn asks for the call. An agent with structured tool calls would compare the
// calls.
func (c ToolCall) String() string { return c.Tool + " " + c.Target }

// ErrRefused is wrapped when the gate refuses a call.
var ErrRefused = errors.New("refused")

// runTool is the gate. Every tool runs through it, and it accepts only verified evidence: the type client.Verified
// excludes a bundle that was not verified.
func runTool(workspace *os.Root, v client.Verified, call ToolCall) error {
	if !v.OK() {
		return fmt.Errorf("%w: there is no verified context", ErrRefused)
	}
	if anchor := v.Provenance().Anchor; anchor != call.Anchor {
		return fmt.Errorf("%w: the context is that of turn %s, and the call is made in turn %s", ErrRefused, anchor, call.Anchor)
	}
	of, err := whoAsked(v, call)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case of != dag.StandingOwner && of != dag.StandingMember && of != dag.StandingAgent:
		return fmt.Errorf("%w: %q was first asked by a turn of standing %s, which may not ask for anything", ErrRefused, call, of)
	case call.Tool != "delete":
		return fmt.Errorf("%w: there is no tool %q", ErrRefused, call.Tool)
	}
	return workspace.RemoveAll(call.Target)
}

// whoAsked returns the standing of the first turn that asks for the call, among the anchor and its ancestors. The first
// turn counts because an assistant that repeats what a tool's result or a visitor said does not make the request its own.
// A turn without text is an error: it may have been the first.
func whoAsked(v client.Verified, call ToolCall) (dag.Standing, error) {
	led := ancestors(v.Edges(), call.Anchor)
	for _, turn := range v.Turns() { // in reading order: parents before children
		switch {
		case !led[turn.ID]:
		case turn.Body == nil:
			return 0, fmt.Errorf("turn %s led here, and its text is gone", turn.ID)
		case slices.Contains(requests(turn.Body.Content), call.String()):
			return turn.Admission.Standing, nil
		}
	}
	return 0, fmt.Errorf("no turn that led here asks to %q", call)
}

// requests returns the requests in a text: each line that begins with an arrow, without the arrow.
func requests(text string) (list []string) {
	for line := range strings.Lines(text) {
		if request, ok := strings.CutPrefix(strings.TrimSpace(line), "-> "); ok {
			list = append(list, request)
		}
	}
	return list
}

// ancestors returns a turn and every turn that it continues from, as far as the evidence shows them.
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
