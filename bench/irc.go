package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

// readIRC reads messages of a channel whose replies people have annotated, one JSON
// object a line, parents before children. A log of a day is a conversation.
func readIRC(r io.Reader) ([]dag.Draft, error) {
	var drafts []dag.Draft
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID, Doc, Author, Kind, Text string
			Parents                     []string
			Line                        int
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(drafts)+1, err)
		}
		day, err := time.Parse(time.DateOnly, m.Doc[:min(len(m.Doc), len(time.DateOnly))])
		if err != nil { // the logs without a date are of another channel
			day = time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		salt := dag.Salt(dag.ExternalTurnID("salt", m.ID))
		d := dag.Draft{
			ID: dag.ExternalTurnID("irc", m.ID), Conversation: dag.ExternalConversationID("irc", m.Doc),
			Role: dag.RoleUser, CreatedAt: dag.Time(day.Add(time.Duration(m.Line) * time.Second).UnixMicro()),
			Author: m.Author, Content: strings.ToValidUTF8(m.Text, "?"), Attrs: map[string]string{}, Salt: &salt,
		}
		if m.Kind == "system" {
			d.Role = dag.RoleSystem
		}
		for _, p := range m.Parents {
			d.Parents = append(d.Parents, dag.Parent{ID: dag.ExternalTurnID("irc", p), Kind: dag.Reply})
		}
		if err := ingest.Assign(&d); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(drafts)+1, err)
		}
		drafts = append(drafts, d)
	}
	return drafts, lines.Err()
}
