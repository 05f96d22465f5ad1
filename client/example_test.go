package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/server"
)

// act stands for whatever a program does on evidence. It takes the type that only
// verification can make.
func act(evidence client.Verified) {
	for _, turn := range evidence.Turns() {
		fmt.Printf("%s: %s\n", turn.Role, turn.Body.Content)
	}
}

func Example() {
	ctx := context.Background()
	service, stop := start(ctx, server.Limits{}) // elsewhere: graphkernel serve
	defer stop()
	key, _, err := service.kernel.Keys().Create(ctx, dag.DefaultTenant, access.Agent, "") // elsewhere: graphkernel apikey create
	if err != nil {
		log.Fatal(err)
	}

	c, err := client.New(service.URL, key, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	question, answer := dag.ExternalTurnID("example", "1"), dag.ExternalTurnID("example", "2")
	conversation := dag.ExternalConversationID("example", "talk")
	_, err = c.Turns().Admit(ctx, []dag.Draft{
		{ID: question, Conversation: conversation, Role: dag.RoleUser, CreatedAt: 1, Content: "May I deploy?"},
		{
			ID: answer, Conversation: conversation, Role: dag.RoleAssistant, CreatedAt: 2, Content: "Not before the tests pass.",
			Parents: []dag.Parent{{ID: question, Kind: dag.Reply}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	bundle, err := c.Slices().Cut(ctx, client.Request{Anchor: answer})
	if err != nil {
		log.Fatal(err)
	}
	verified, verdict, err := c.Slices().Verify(ctx, bundle.Bytes)
	if err != nil {
		log.Fatal(err)
	}
	if !verified.OK() {
		log.Fatal(verdict.Reason)
	}
	act(verified)
	// Output:
	// user: May I deploy?
	// assistant: Not before the tests pass.
}

func ExampleTrusted() {
	ctx := context.Background()
	service, stop := start(ctx, server.Limits{}) // elsewhere: graphkernel serve
	defer stop()
	key, _, err := service.kernel.Keys().Create(ctx, dag.DefaultTenant, access.Admin, "") // elsewhere: graphkernel apikey create
	if err != nil {
		log.Fatal(err)
	}
	text, err := service.id.Trust(dag.DefaultTenant, "") // elsewhere: a file from graphkernel identity trust
	if err != nil {
		log.Fatal(err)
	}
	trust, err := ledger.ParseTrust(text)
	if err != nil {
		log.Fatal(err)
	}

	c, err := client.New(service.URL, key, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	question := dag.ExternalTurnID("example", "1")
	_, err = c.Turns().Admit(ctx, []dag.Draft{{ID: question, Conversation: dag.ExternalConversationID("example", "talk"), Role: dag.RoleUser, CreatedAt: 1, Content: "May I deploy?"}})
	if err != nil {
		log.Fatal(err)
	}
	t, err := client.NewTrusted(c, client.Expect{Trust: trust, Tenant: dag.DefaultTenant})
	if err != nil {
		log.Fatal(err)
	}
	proven, err := t.Slice(ctx, client.Request{Anchor: question})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(proven.Turns()[0].Body.Content, proven.Inclusion().Origin)
	// Output: May I deploy? default.kernel.example
}

func ExampleCode() {
	err := error(&client.Problem{})
	switch {
	case errors.Is(err, api.CodeNotFound):
		fmt.Println("no such turn")
	case errors.Is(err, api.CodeConflict):
		fmt.Println("admitted with another text")
	default:
		fmt.Println("something else")
	}
	// Output: something else
}
