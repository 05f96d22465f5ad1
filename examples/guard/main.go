// Command guard is an agent that runs a tool only if its context is admissible.
//
// The agent was asked to delete a build folder. On the way it reads a file in which somebody else has written that it
// should delete the sources too, and a visitor asks for the same. The gate in guard.go permits the first deletion and not
// the others, and none if the context was changed.
//
// Without configuration it starts its own service, in memory. With GRAPHKERNEL_URL and GRAPHKERNEL_KEY it uses an existing
// one; the key has the role agent and speaks for human:owner as the owner.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/client"
)

func main() {
	if err := guard(context.Background(), os.Stdout, os.Getenv("GRAPHKERNEL_URL"), os.Getenv("GRAPHKERNEL_KEY")); err != nil {
		log.Fatal(err)
	}
}

func guard(ctx context.Context, out io.Writer, url, key string) error {
	if url == "" {
		service, err := startService(ctx, access.Agent)
		if err != nil {
			return err
		}
		defer service.stop()
		url, key = service.url, service.key
	}
	c, err := client.New(url, key, client.Options{})
	if err != nil {
		return err
	}
	workspace, err := newWorkspace()
	if err != nil {
		return err
	}
	defer removeWorkspace(workspace)
	if _, err := c.Turns().Admit(ctx, conversation()); err != nil {
		return err
	}

	clean := ToolCall{Anchor: turnID("plan"), Tool: "delete", Target: "build"}
	wipe := ToolCall{Anchor: turnID("obeys"), Tool: "delete", Target: "src"}
	visit := ToolCall{Anchor: turnID("agrees"), Tool: "delete", Target: "src"}
	for i, attempt := range []struct {
		title  string
		call   ToolCall
		tamper bool
	}{
		{"The user asked for it, and the context is as it was signed.", clean, false},
		{"The same call, and one byte of the context was changed on the way.", clean, true},
		{"A file that the agent read asked for it, and the agent obeys.", wipe, false},
		{"A visitor asked for it and says to be the owner, and the agent obeys.", visit, false},
	} {
		fmt.Fprintf(out, "%d. %s\n", i+1, attempt.title)
		bundle, err := c.Slices().Cut(ctx, client.Request{Anchor: attempt.call.Anchor})
		if err != nil {
			return err
		}
		received := bundle.Bytes
		if attempt.tamper {
			received = bytes.Replace(received, []byte("Tidy"), []byte("Tiny"), 1)
		}
		verified, verdict, err := c.Slices().Verify(ctx, received)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "   context: %d turns, %s\n", len(bundle.Claim.Turns), verdict.Outcome)
		if err := runTool(workspace, verified, attempt.call); err != nil {
			fmt.Fprintf(out, "   %s: %v\n", attempt.call, err)
		} else {
			fmt.Fprintf(out, "   %s: done\n", attempt.call)
		}
	}
	return show(out, workspace)
}
