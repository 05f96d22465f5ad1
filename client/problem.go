package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
)

// ErrAnswer is wrapped when an answer breaks a promise of the service: its media type or size is wrong, or it
// contains other bytes or another slice than it claims. The request is not repeated, because the answer would be the
// same.
var ErrAnswer = errors.New("the answer breaks the contract")

// ErrTooLarge is wrapped when a body is larger than Options.BodyBytes. It was not sent.
var ErrTooLarge = errors.New("the request is too large")

// A Problem is an error answer of the service. If another host on the way answered instead, only Status, Title and
// Detail are set.
type Problem struct {
	api.Problem
	RetryAfter time.Duration // how long to wait before asking again; 0: unknown
}

// Error shows the code, the detail, the place and the request's id.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString("graphkernel: ")
	if p.Code != "" {
		b.WriteString(p.Code + ": ")
	}
	b.WriteString(p.Detail)
	if p.Place != "" && !strings.Contains(p.Detail, p.Place) {
		b.WriteString(" (at " + p.Place + ")")
	}
	if p.RequestID != "" {
		b.WriteString(" [request " + p.RequestID + "]")
	}
	return b.String()
}

// Unwrap returns the problem's code, an api.Code.
func (p *Problem) Unwrap() error { return api.Code(p.Code) }

// problemBytes limits a problem document.
const problemBytes = 1 << 20

// ProblemOf returns the problem in an answer.
func ProblemOf(resp *http.Response) *Problem {
	p := &Problem{}
	p.Title = http.StatusText(resp.StatusCode)
	p.Detail = fmt.Sprintf("the answer was %d %s, without a problem document", resp.StatusCode, p.Title)
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == "application/problem+json" {
		data, err := io.ReadAll(io.LimitReader(resp.Body, problemBytes))
		var w api.Problem
		if err == nil && json.Unmarshal(data, &w) == nil && w.Code != "" {
			p.Problem = w
		}
	}
	p.Status = resp.StatusCode
	if p.RequestID == "" {
		p.RequestID = resp.Header.Get("X-Request-Id")
	}
	// Only seconds are read, as the service writes them: a date would need a clock.
	if n, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31); err == nil {
		p.RetryAfter = time.Duration(n) * time.Second
	}
	return p
}
