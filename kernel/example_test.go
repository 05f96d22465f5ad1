package kernel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// act stands for whatever a program does on evidence. It takes the type that only
// verification can make.
func act(evidence token.Admissible) {
	for _, turn := range evidence.Turns() {
		fmt.Printf("%s: %s\n", turn.Role, turn.Body.Content)
	}
}

func Example() {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()

	store, err := sqlite.Create(ctx, filepath.Join(folder, "turns.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	secret, err := token.DrawSecret(nil)
	if err != nil {
		log.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{Store: store, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		log.Fatal(err)
	}

	question := dag.ExternalTurnID("example", "1")
	answer := dag.ExternalTurnID("example", "2")
	conversation := dag.ExternalConversationID("example", "talk")
	_, err = k.Turns().Admit(ctx, dag.DefaultTenant, []dag.Draft{
		{ID: question, Conversation: conversation, Role: dag.RoleUser, CreatedAt: 1, Content: "May I deploy?"},
		{ID: answer, Conversation: conversation, Role: dag.RoleAssistant, CreatedAt: 2, Content: "Not before the tests pass.",
			Parents: []dag.Parent{{ID: question, Kind: dag.Reply}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	issued, err := k.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: answer})
	if err != nil {
		log.Fatal(err)
	}
	evidence, verdict := k.Slices().Verify(issued.Bundle)
	if !evidence.OK() {
		log.Fatal(verdict.Reason)
	}
	act(evidence)
	// Output:
	// user: May I deploy?
	// assistant: Not before the tests pass.
}
