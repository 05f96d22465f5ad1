package ingest_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

func ExampleRead() {
	path := filepath.Join("testdata", "openai", "list.json")
	report, err := ingest.Read(context.Background(), path, ingest.Options{}, func(b *ingest.Batch) error {
		for i := range b.Drafts {
			d := &b.Drafts[i]
			if err := ingest.Assign(d); err != nil {
				return err
			}
			fmt.Printf("%s: %s (%s, %s)\n", d.Author, d.Content, d.Phase, d.Salience)
		}
		return nil
	})
	fmt.Println(report.Records, report.Turns, report.Edges, report.Skipped, report.Noted, err)
	// Output:
	// human:user: Hi (planning, 0.7)
	// agent:assistant: Hello (synthesis, 0.35)
	// 2 2 1 map[] map[time_inferred:2] <nil>
}

func ExampleAppendLine() {
	d := dag.Draft{
		ID:           dag.ExternalTurnID("example", "1"),
		Conversation: dag.ExternalConversationID("example", "a"),
		Role:         dag.RoleUser,
		Author:       "human:guest",
		Content:      "ship it?",
	}
	line, err := ingest.AppendLine(nil, &d)
	fmt.Printf("%s%v\n", line, err)
	// Output:
	// {"attrs":{},"author":"human:guest","content":"ship it?","conversation":"a9074b86-b55b-57a2-b285-6da4700e9ae4","created_at":"1970-01-01T00:00:00.000000Z","id":"ab9c5c2b-061e-5854-9e58-098f0a737df3","parents":[],"role":"user"}
	// <nil>
}
