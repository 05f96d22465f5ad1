package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/internal/bom"
)

// rpc is a message as it is on the wire.
type rpc struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
	listTools   = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// raw opens a server over pipes and returns both ends, past the handshake.
func raw(t *testing.T, s *Server) (in io.Writer, out *bufio.Reader, end func() error) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.ServeStdio(context.Background(), identity(access.Agent), toServer, fromServer) }()
	out = bufio.NewReader(toClient)
	if _, err := fmt.Fprintln(fromClient, initialize); err != nil {
		t.Fatal(err)
	}
	if m := next(t, out); m.Error != nil {
		t.Fatalf("initialize: %+v", m.Error)
	}
	if _, err := fmt.Fprintln(fromClient, initialized); err != nil {
		t.Fatal(err)
	}
	return fromClient, out, func() error {
		_ = fromClient.Close()
		_, _ = io.Copy(io.Discard, out)
		return <-served
	}
}

func next(t *testing.T, out *bufio.Reader) rpc {
	t.Helper()
	text, err := out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m rpc
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return m
}

// What a message may be answered with, where the code is not pinned. (The SDK takes
// logging/setLevel whether it is offered or not.)
const anError, anAnswer = 1, 2

// hostile lists messages that no client should send, with the code of the answer; 0
// if there is none.
var hostile = []struct {
	text string
	code int
}{
	{`{`, -32700},
	{`nonsense`, -32700},
	{"\x00\xff\xfe", -32700},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/list"} {"more":1}`, -32700},
	{strings.Repeat("[", 100_000), -32700},
	{strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), -32600},
	{`[]`, -32600},
	{`[` + ping + `]`, -32600},
	{`null`, -32600},
	{`7`, -32600},
	{`{}`, -32600},
	{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600},
	{`{"id":7,"method":"ping"}`, -32600},
	{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600},
	{`{"jsonrpc":"2.0","id":7,"method":5}`, -32600},
	{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, -32601},
	{`{"jsonrpc":"2.0","id":7,"method":""}`, -32601},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, anError},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`, -32602},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}`, -32602},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such_tool"}}`, -32602},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"explain_turn","arguments":{}}}`, -32602},
	{`{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, -32601},
	{`{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, -32022},
	{`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"shout"}}`, anAnswer},
	{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"turn://x"}}`, anError},
	{`{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"turn://x"}}`, anError},
	{`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{}}`, anError},
	{initialize, anError}, // twice
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, 0},
	{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_policies"}}`, 0},
	{`{"jsonrpc":"2.0","method":"no/such"}`, 0},
	{initialized, 0}, // twice
	{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, 0},
	{`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0},
	{`{"jsonrpc":"2.0","id":99,"result":{}}`, 0},
	{`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}`, 0},
	{``, 0},
	{"  \r", 0},
}

// TestHostileLines sends what no client should. Each is answered, or passed over,
// and the session goes on.
func TestHostileLines(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	in, out, end := raw(t, New(testKernel(t), Options{MaxMessage: most}))
	long := `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 3*most) + `"}}`
	cases := append(hostile[:len(hostile):len(hostile)], struct {
		text string
		code int
	}{long, -32600})
	for _, h := range cases {
		if strings.HasPrefix(h.text, "[[[") && len(h.text) > most {
			h.code = -32600 // too long before it is anything else
		}
		send := h.text + "\n" + ping + "\n"
		go func() { _, _ = io.WriteString(in, send) }()
		m := next(t, out)
		if h.code != 0 {
			answer := next(t, out)
			if answer.ID == "ping" { // calls are answered in any order
				m, answer = answer, m
			}
			if h.code != anAnswer && (answer.Error == nil || h.code != anError && answer.Error.Code != h.code) {
				t.Errorf("%.100q was answered %+v, %+v; want code %d", h.text, answer, answer.Error, h.code)
			}
		}
		if m.ID != "ping" || m.Error != nil {
			t.Fatalf("after %.100q the session gives %+v, %+v", h.text, m, m.Error)
		}
	}
	if err := end(); err != nil {
		t.Errorf("the session ended with %v", err)
	}
}

// TestLineBound finds the longest line that is read.
func TestLineBound(t *testing.T) {
	t.Parallel()
	const most = 200
	for _, end := range []string{"\n", ""} {
		for size := most - 3; size <= most+3; size++ {
			r := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", size)+end), 16)
			text, err := readLine(r, most)
			if size > most && !errors.Is(err, errTooLong) || size <= most && (err != nil || len(bytes.TrimSpace(text)) != size) {
				t.Errorf("a line of %d bytes, end %q: %d bytes, %v", size, end, len(text), err)
			}
			if _, err := readLine(r, most); !errors.Is(err, io.EOF) {
				t.Errorf("after it: %v", err)
			}
		}
	}
}

// TestEndOfInput ends the input with calls at work. All are answered.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	const calls = 50
	var in strings.Builder
	in.Write(bom.Mark) // some shells begin a pipe with one
	fmt.Fprintln(&in, initialize)
	fmt.Fprintln(&in, initialized)
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_policies"}}`+"\n", 100+i)
	}
	fmt.Fprint(&in, ping) // without a line's end
	var out lockedBuffer
	if err := s.ServeStdio(t.Context(), identity(access.Agent), io.NopCloser(strings.NewReader(in.String())), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), calls+2; got != want {
		t.Errorf("%d answers, want %d", got, want)
	}
	if strings.Contains(out.String(), `"error"`) {
		t.Errorf("not all calls were answered: %.400s", out.String())
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestSameID has two calls at work under one id. The second is refused; the SDK
// would leave it without an answer.
func TestSameID(t *testing.T) {
	t.Parallel()
	c := &lineConn{asked: map[jsonrpc.ID]func(){}, answered: make(chan struct{}, 1), closed: make(chan struct{}), most: 1000}
	var out lockedBuffer
	c.out = nopCloser{&out}
	if m, err := c.message(t.Context(), line{text: []byte(ping)}); m == nil || err != nil {
		t.Fatal(m, err)
	}
	if m, err := c.message(t.Context(), line{text: []byte(ping)}); m != nil || err != nil || !strings.Contains(out.String(), "still running") {
		t.Errorf("%v, %v, %s", m, err, out.String())
	}
}

// TestInterrupted ends a session by its context.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	served := make(chan error, 1)
	go func() { served <- s.ServeStdio(ctx, identity(access.Agent), r, nopCloser{io.Discard}) }()
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server goes on")
	}
}

// TestLostOutput makes sure that an answer that could not be written is no success.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	in := io.NopCloser(strings.NewReader(initialize + "\n"))
	if err := s.ServeStdio(t.Context(), identity(access.Agent), in, broken{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
}

var errBroken = errors.New("broken pipe")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
func (broken) Close() error              { return nil }

// TestAtOnce calls every tool from many goroutines over one session.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	c := over(t, s, identity(access.Admin))
	must(t, c, "admit_turns", chain(20))
	want, _ := must(t, c, "cut_slice", map[string]any{"anchor": "ext-10", "as_of": 20})
	var wait sync.WaitGroup
	for side := range 4 {
		wait.Go(func() {
			for i := range 10 {
				n := 100 + side*100 + i
				turn := said(n%60, "at once")
				turn["id"], turn["attrs"] = turnID(n), map[string]any{}
				turn["parents"] = []any{map[string]any{"id": turnID(1 + i), "kind": "reply"}}
				if _, err := call(t, c, "admit_turns", map[string]any{"turns": []any{turn}}); err != nil {
					t.Error(err)
				}
				got, _, err := whole(t, c, "cut_slice", map[string]any{"anchor": "ext-10", "as_of": 20})
				if err != nil || got != want {
					t.Errorf("the slice changed, or %v", err)
				}
				if v, err := call(t, c, "verify_bundle", map[string]any{"bundle": got}); err != nil || !strings.Contains(v, `"admissible":true`) {
					t.Errorf("%v, %v", v, err)
				}
			}
		})
	}
	wait.Wait()
	if _, r := must(t, c, "admit_turns", chain(1)); r["head"] != float64(20+4*10) {
		t.Errorf("head %v", r["head"])
	}
}
