package assemble_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// A realTalk has sessions of agents and people that others held.
type realTalk struct {
	transcripts [][]map[string]any // records of Claude Code, each of one session
	chats       [][]map[string]any // OpenAI messages
	channel     []ircLine
}

type ircLine struct {
	Author, Text, Kind string
}

// sessions reads the real sessions, or skips the test without them.
func sessions(t *testing.T) *realTalk {
	t.Helper()
	folder := cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	if _, err := os.Stat(filepath.Join(folder, "entire")); err != nil {
		t.Skipf("SKIPPED: %v; $GRAPHKERNEL_DATA names the folder of the data", err)
	}
	s := &realTalk{}
	paths := must(filepath.Glob(filepath.Join(folder, "entire", "claude-*.jsonl")))
	paths = append(paths, must(filepath.Glob(filepath.Join(folder, "claude-code", "*.jsonl")))...)
	for _, path := range paths {
		var records []map[string]any
		eachLine(t, path, 16<<10, func(line []byte) {
			var rec map[string]any
			if json.Unmarshal(line, &rec) == nil && (rec["type"] == "user" || rec["type"] == "assistant") && rec["message"] != nil {
				records = append(records, rec)
			}
		})
		s.transcripts = append(s.transcripts, records)
	}
	var runs []struct{ Traj []map[string]any }
	must(0, json.Unmarshal(must(os.ReadFile(filepath.Join(folder, "tau-bench", "gpt-4o-airline.json"))), &runs))
	for _, r := range runs {
		s.chats = append(s.chats, r.Traj)
	}
	eachLine(t, filepath.Join(folder, "irc", "irc-ubuntu-gold.jsonl"), 4<<10, func(line []byte) {
		var l ircLine
		if json.Unmarshal(line, &l) == nil && l.Kind == "msg" && l.Author != "" && l.Text != "" && len(s.channel) < 20_000 {
			s.channel = append(s.channel, l)
		}
	})
	if len(s.transcripts) == 0 || len(s.chats) == 0 || len(s.channel) < 1000 {
		t.Fatalf("%d transcripts, %d chats, %d lines in %s", len(s.transcripts), len(s.chats), len(s.channel), folder)
	}
	return s
}

// eachLine calls fn with each line of a file that has at most a number of bytes.
func eachLine(t *testing.T, path string, most int, fn func([]byte)) {
	t.Helper()
	file := must(os.Open(path))
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		if len(in.Bytes()) <= most {
			fn(bytes.Clone(in.Bytes()))
		}
	}
	must(0, in.Err())
}

// begin returns a part of a real session, in the form in which its program wrote it.
func (s *realTalk) begin(r *rand.Rand, n int, form string) *talkative {
	c := &talkative{r: r, n: n, form: form, session: fmt.Sprintf("5e550000-0000-4000-8000-%012x", n), asides: map[string][]map[string]any{}, ownerIn: "human:user"}
	switch form {
	case "transcript":
		records := s.transcripts[r.IntN(len(s.transcripts))]
		from := r.IntN(max(1, len(records)-40))
		for _, rec := range records[from:min(len(records), from+20+r.IntN(20))] {
			own := map[string]any{}
			for key, v := range rec {
				own[key] = v
			}
			own["sessionId"] = c.session
			c.records = append(c.records, own)
		}
	case "messages":
		chat := s.chats[r.IntN(len(s.chats))]
		c.message("system", ruleOfOperator, nil) // those of the runs are longer than an operator's words may be
		c.records = append(c.records, chat[1:min(len(chat), 16+r.IntN(16))]...)
		c.operator = true
	default:
		c.ownerIn, c.operator = "human:lead", true
		c.line(dag.RoleSystem, "kernel:prompt", ruleOfOperator)
		c.line(dag.RoleUser, c.ownerIn, "Read along, please, and help where you can.")
		c.line(dag.RoleAssistant, "agent:shop", "I read along.")
		from := r.IntN(len(s.channel) - 50)
		for _, l := range s.channel[from : from+15+r.IntN(20)] {
			c.line(dag.RoleUser, "human:"+l.Author, l.Text)
		}
	}
	return c
}
