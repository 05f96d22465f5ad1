package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/internal/bom"
)

// ServeStdio serves one client, with one message per line, until its input ends and every call is answered, or until
// the context ends. Neither is an error.
//
// Unlike the SDK's own transport it survives invalid messages: it answers a malformed or too long line with an error,
// and the session continues.
func (s *Server) ServeStdio(ctx context.Context, who access.Identity, in io.ReadCloser, out io.WriteCloser) error {
	server := s.roles[who.Role]
	if server == nil {
		return fmt.Errorf("mcp: the role %q may do nothing", who.Role)
	}
	session, err := server.Connect(with(ctx, who), &lines{in, out, s.options.MaxMessage, &s.tickets}, nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		_ = session.Close() // the context ended it
		<-done
		return nil
	}
}

// lines is a transport with one message per line.
type lines struct {
	in   io.ReadCloser
	out  io.WriteCloser
	most int // bytes of a line

	tickets *tickets
}

// Connect starts reading.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{
		in: l.in, out: l.out, most: l.most, incoming: make(chan line), closed: make(chan struct{}),
		asked: map[jsonrpc.ID]func(){}, answered: make(chan struct{}, 1), tickets: l.tickets,
	}
	go c.readLines()
	return c, nil
}

// A lineConn is a connection of a lines transport.
type lineConn struct {
	in       io.ReadCloser
	out      io.WriteCloser
	most     int
	incoming chan line
	closing  sync.Once
	closed   chan struct{}

	tickets *tickets
	queue   queue

	mu       sync.Mutex            // guards writing to out, and asked
	asked    map[jsonrpc.ID]func() // calls that are not answered yet, with the function to call when they are
	answered chan struct{}         // receives a value for each answer, if there is room
}

// A line is one line without its end, or an error.
type line struct {
	text []byte
	err  error // errTooLong, io.EOF, or a read error
}

var errTooLong = errors.New("the message is too long")

// readLines passes on the input line by line. It ends when the input ends. If a read cannot be interrupted, it ends
// with the first line after the end of the connection.
func (c *lineConn) readLines() {
	r := bufio.NewReaderSize(bom.Reader(c.in), 1<<16)
	for {
		text, err := readLine(r, c.most)
		select {
		case c.incoming <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine reads a line of at most most bytes. It reads a longer line to its end and drops it.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		size := len(text) + len(part)
		if err == nil {
			size-- // the line's end
		}
		if long = long || size > most; !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		default:
			return text, err
		}
	}
}

// Read returns the next message. It answers invalid messages itself. It returns the end of the input only after every
// call is answered, because the SDK cancels unanswered calls.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l := <-c.incoming:
			m, err := c.message(ctx, l)
			if m != nil || err != nil {
				return m, err
			}
		}
	}
}

// message returns the message in a line, or nil if the line was handled here.
func (c *lineConn) message(ctx context.Context, l line) (jsonrpc.Message, error) {
	switch {
	case errors.Is(l.err, errTooLong):
		return nil, c.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", c.most))
	case errors.Is(l.err, io.EOF):
		return nil, c.drain(ctx)
	case l.err != nil:
		return nil, l.err
	case len(bytes.TrimSpace(l.text)) == 0:
		return nil, nil
	case !json.Valid(l.text):
		return nil, c.refuse(jsonrpc.CodeParseError, "the line is not JSON; want one message a line")
	}
	m, err := jsonrpc.DecodeMessage(l.text)
	if err != nil {
		return nil, c.refuse(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message; batches are not accepted")
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.ask(r) {
		return nil, c.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v belongs to a call that is still running", r.ID.Raw()))
	}
	return m, nil
}

// ask records a call, with its place in the order, and reports whether its id was free.
func (c *lineConn) ask(r *jsonrpc.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[r.ID] != nil {
		return false
	}
	c.asked[r.ID] = func() {}
	if ordered(r.Method) {
		header := http.Header{}
		c.asked[r.ID] = c.tickets.give(&c.queue, header)
		r.Extra = &sdk.RequestExtra{Header: header}
	}
	return true
}

// drain waits until every call is answered, and returns the end of the input.
func (c *lineConn) drain(ctx context.Context) error {
	for {
		c.mu.Lock()
		open := len(c.asked)
		c.mu.Unlock()
		if open == 0 {
			return io.EOF
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refuse answers an invalid message. The call it belongs to is unknown, so the id is null.
func (c *lineConn) refuse(code int64, text string) error {
	data, err := json.Marshal(struct {
		Version string        `json:"jsonrpc"`
		ID      any           `json:"id"`
		Error   jsonrpc.Error `json:"error"`
	}{"2.0", nil, jsonrpc.Error{Code: code, Message: text}})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(data, '\n'))
	return err
}

// Write writes a message.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(data, '\n'))
	if r, ok := m.(*jsonrpc.Response); ok {
		if drop := c.asked[r.ID]; drop != nil {
			drop()
			delete(c.asked, r.ID)
		}
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close ends the connection.
func (c *lineConn) Close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// SessionID returns "": there is only one session in the process.
func (c *lineConn) SessionID() string { return "" }
