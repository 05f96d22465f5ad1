package contexts

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
)

// MaxTask is the maximum length of a task, in bytes.
const MaxTask = 64 << 10

// ErrRequest is wrapped when a request for a context is not valid.
var ErrRequest = errors.New("request for a context")

// A Request asks for a context.
type Request struct {
	Task   string      // what the agent is about to do, in words
	Anchor *dag.TurnID // the turn from which the agent continues; nil: none
	Budget int         // tokens of text
	Format Format      // of the prompt
	Spaces []string    // of beliefs, ascending, without repetitions; none: all spaces of the tenant
	Salt   dag.Salt    // the key of the digests of the task and of the prompt

	// Set under gkc/2.
	RulesAsOf dag.Seq // the sequence number at which beliefs and standings are read; 0: the request is of gkc/1
	Past      bool    // the caller named the number of the view, which RulesAsOf equals
}

// Counted reports whether the context of the request is of gkc/2.
func (r *Request) Counted() bool { return r.RulesAsOf > 0 }

// schema returns the version of the bundle of the request.
func (r *Request) schema() string {
	if r.Counted() {
		return SchemaVersionV2
	}
	return SchemaVersion
}

// MaxSpaces is the maximum number of spaces in a request.
const MaxSpaces = 16

// Check returns an error for a request that is not valid.
func (r *Request) Check() error {
	switch {
	case len(r.Task) > MaxTask:
		return fmt.Errorf("%w: a task of %d bytes, at most %d", ErrRequest, len(r.Task), MaxTask)
	case !utf8.ValidString(r.Task) || strings.ContainsRune(r.Task, 0):
		return fmt.Errorf("%w: the task is not UTF-8 without U+0000", ErrRequest)
	case r.Task == "" && r.Anchor == nil && r.Format != Brief:
		return fmt.Errorf("%w: a context needs a task or an anchor, unless its format is %s", ErrRequest, Brief)
	case r.Budget < 1 || r.Budget > LimitBudget:
		return fmt.Errorf("%w: a budget of %d tokens, want 1 to %d", ErrRequest, r.Budget, LimitBudget)
	case !slices.Contains(Formats(), r.Format):
		return fmt.Errorf("%w: format %.40q, want %s", ErrRequest, string(r.Format), join(Formats()))
	case r.Past && !r.Counted():
		return fmt.Errorf("%w: a request of the past has the number of its rules", ErrRequest)
	case len(r.Spaces) > MaxSpaces:
		return fmt.Errorf("%w: %d spaces, at most %d", ErrRequest, len(r.Spaces), MaxSpaces)
	}
	for i, s := range r.Spaces {
		if _, err := belief.ParseSpace(s); err != nil {
			return fmt.Errorf("%w: spaces[%d]: %w", ErrRequest, i, err)
		}
		if i > 0 && r.Spaces[i-1] >= s {
			return fmt.Errorf("%w: spaces[%d]: %s does not come after %s", ErrRequest, i, s, r.Spaces[i-1])
		}
	}
	return nil
}

// CheckVersion returns an error for a format that gkc/1 lacks.
func (r *Request) CheckVersion() error {
	if r.Format == Brief && !r.Counted() {
		return fmt.Errorf("%w: a context of %s has no format %s", ErrRequest, SchemaVersion, Brief)
	}
	return nil
}

func join(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// digest returns the HMAC-SHA256 of a text under the request's salt. what separates the uses of the digest.
func (r *Request) digest(what string, text []byte) dag.Digest {
	h := hmac.New(sha256.New, r.Salt[:])
	_, _ = h.Write([]byte(what)) // a hash never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(text)
	return dag.Digest(h.Sum(nil))
}

// write writes a request as in a bundle or, if leaf is true, as in its leaf, with the digest of the task in place of
// its text.
func (r *Request) write(w *canon.Writer, leaf bool, asOf dag.Seq) {
	w.BeginObject()
	if r.Anchor != nil {
		w.Key("anchor")
		w.String(r.Anchor.String())
	}
	if leaf {
		w.Key("as_of")
		w.Uint(uint64(asOf))
	}
	w.Key("budget")
	w.Uint(uint64(r.Budget))
	w.Key("format")
	w.String(string(r.Format))
	if r.Past {
		w.Key("past")
		w.Bool(true)
	}
	if r.Counted() {
		w.Key("rules_as_of")
		w.Uint(uint64(r.RulesAsOf))
	}
	if leaf {
		r.writeSpaces(w)
		digest := r.digest("task", []byte(r.Task))
		w.Key("task")
		w.Hex(digest[:])
		w.Key("type")
		w.String("request")
	} else {
		w.Key("salt")
		w.Hex(r.Salt[:])
		r.writeSpaces(w)
		w.Key("task")
		w.String(r.Task)
	}
	w.EndObject()
}

func (r *Request) writeSpaces(w *canon.Writer) {
	if len(r.Spaces) == 0 {
		return
	}
	w.Key("spaces")
	w.BeginArray()
	for _, s := range r.Spaces {
		w.String(s)
	}
	w.EndArray()
}

// Text returns the request in the form that it has in a bundle.
func (r *Request) Text() string {
	w := canon.NewWriter(nil)
	r.write(w, false, 0)
	return string(w.Bytes)
}

// leaf returns the bytes of the leaf as they are hashed.
func (r *Request) leaf(asOf dag.Seq) []byte {
	return slice.LeafBytes(func(w *canon.Writer) { r.write(w, true, asOf) })
}

// anchor returns the anchor of the provenance, which names the request.
func (r *Request) anchor(asOf dag.Seq) dag.TurnID {
	return dag.ExternalTurnID("context", string(r.leaf(asOf)[1:]))
}

// ParseRequest reads a request in the form of [Request.Text].
func ParseRequest(text string) (Request, error) {
	return slice.ParseText("context: request", text, readRequest, (*Request).Text)
}

func readRequest(c *canon.Cursor) Request {
	r := Request{
		Task: c.Field("task").String(), Budget: int(c.Field("budget").Uint(LimitBudget)), Format: Format(c.Field("format").String()),
		Salt: canon.Parsed(c.Field("salt"), dag.ParseSalt),
	}
	if f := c.Optional("anchor"); f != nil {
		anchor := canon.Parsed(f, dag.ParseTurnID)
		r.Anchor = &anchor
	}
	if f := c.Optional("rules_as_of"); f != nil {
		if r.RulesAsOf = dag.Seq(f.Uint(uint64(dag.MaxSeq))); r.RulesAsOf == 0 {
			f.Failf("0, want the number of an entry")
		}
	}
	if f := c.Optional("past"); f != nil {
		if r.Past = f.Bool(); !r.Past {
			f.Failf("false, want true or no member")
		}
	}
	if f := c.Optional("spaces"); f != nil {
		for _, s := range f.Items() {
			r.Spaces = append(r.Spaces, s.String())
		}
		if len(r.Spaces) == 0 {
			f.Failf("want at least one, or no member")
		}
	}
	c.Close()
	err := r.Check()
	if err == nil {
		err = r.CheckVersion()
	}
	if err != nil {
		c.Fail(err)
	}
	return r
}
