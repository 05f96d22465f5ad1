package working

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// Errors that callers branch on.
var (
	ErrDiffers  = errors.New("the key was already used for a different message") // nothing was put
	ErrTooLarge = errors.New("the messages do not fit into a session")           // nothing was put
	ErrFull     = errors.New("working memory is full")                           // nothing was put
)

// Limits bound working memory. A zero limit means its default.
type Limits struct {
	Messages    int           // of one session; 50
	Bytes       int           // of one session; 256 KiB
	Expires     time.Duration // how long after it was put a message expires; an hour
	Sessions    int           // of one tenant; 200
	TenantBytes int           // of one tenant; 8 MiB
}

// Bounds of the limits themselves.
const (
	MaxMessages    = 1000
	MaxBytes       = 8 << 20
	MaxTenantBytes = 1 << 30 // of all sessions of a tenant
	MaxSessions    = 10_000
)

// Filled returns the limits with defaults in place of zeros.
func (l Limits) Filled() Limits {
	for _, f := range []struct {
		to       *int
		standard int
	}{{&l.Messages, 50}, {&l.Bytes, 256 << 10}, {&l.Sessions, 200}, {&l.TenantBytes, 8 << 20}} {
		if *f.to == 0 {
			*f.to = f.standard
		}
	}
	if l.Expires == 0 {
		l.Expires = time.Hour
	}
	return l
}

// Check reports the first limit that is out of bounds. The limits must be filled.
func (l Limits) Check() error {
	for _, f := range []struct {
		what      string
		have, max int
	}{{"messages of a session", l.Messages, MaxMessages}, {"bytes of a session", l.Bytes, MaxBytes}, {"sessions of a tenant", l.Sessions, MaxSessions}, {"bytes of a tenant", l.TenantBytes, MaxTenantBytes}} {
		if f.have < 1 || f.have > f.max {
			return fmt.Errorf("%w: the limit of working memory is %d %s, want 1 to %d", dag.ErrForm, f.have, f.what, f.max)
		}
	}
	if l.Expires < time.Millisecond || l.Expires > 30*24*time.Hour {
		return fmt.Errorf("%w: messages expire after %s, want 1ms to 720h", dag.ErrForm, l.Expires)
	}
	return nil
}

// until returns the time when a message that is put now expires.
func (l Limits) until(now dag.Time) dag.Time {
	return min(now+dag.Time(l.Expires/time.Microsecond), dag.MaxTime)
}

// MaxSession bounds the bytes of a session's name.
const MaxSession = 128

// A Name names a session. Sessions of different owners are independent, even with the same session name.
type Name struct {
	Owner   string // the caller who puts, as access.CallerIn returns it; "" if unknown
	Session string
}

// Check refuses a malformed session name. It must be 1 to 128 letters, digits and the characters . _ : -
func (n Name) Check() error {
	ok := n.Session != "" && len(n.Session) <= MaxSession && n.Session != "." && n.Session != ".."
	for i := 0; i < len(n.Session) && ok; i++ {
		c := n.Session[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == ':' || c == '-'
	}
	if !ok {
		return fmt.Errorf("%w: the name of the session is %.140q, want 1 to %d letters, digits and the characters . _ : -", dag.ErrForm, n.Session, MaxSession)
	}
	return nil
}

// digest returns a short name of the session that does not reveal its real name.
func (n Name) digest() string {
	sum := sha256.Sum256([]byte(n.Owner + "\x00" + n.Session))
	return hex.EncodeToString(sum[:16])
}

// ID returns the id of a message that is put with a key. The same key always has the same id.
func (n Name) ID(key string) dag.TurnID { return dag.ExternalTurnID("working", n.digest()+"/"+key) }

// Conversation returns the default conversation of a session's consolidated messages.
func (n Name) Conversation() dag.ConversationID {
	return dag.ExternalConversationID("working", n.digest())
}

// A Message is a message of a session. Its ID is the id of the turn that it may become.
type Message struct {
	ID      dag.TurnID `json:"id"`
	Role    dag.Role   `json:"role"`
	Author  string     `json:"author"`
	Content string     `json:"content"`
	At      dag.Time   `json:"at"`    // when it was put
	Until   dag.Time   `json:"until"` // when it expires

	// Model says that a model put it through a tool. The turn that it may become came in by the model, whoever consolidates it.
	Model bool `json:"model,omitempty"`
}

// overhead is the size of a message in addition to its texts, in bytes.
const overhead = 64

// Size returns the bytes of a message that count against the limits.
func (m *Message) Size() int { return overhead + len(m.Author) + len(m.Content) }

// same reports whether two messages have the same role, author and content.
func (m *Message) same(o *Message) bool {
	return m.Role == o.Role && m.Author == o.Author && m.Content == o.Content
}

// A Buffer contains the messages of a session, in the order in which they were put.
type Buffer struct {
	Owner    string    `json:"owner"`
	Session  string    `json:"session"`
	Messages []Message `json:"messages,omitempty"`

	// Last is the turn that was consolidated last; the next one continues it. Last is dropped at Until.
	Last  *dag.TurnID `json:"last,omitempty"`
	Until dag.Time    `json:"until,omitempty"`
}

// Size returns the bytes of the buffer that count against the limits.
func (b *Buffer) Size() (n int) {
	for i := range b.Messages {
		n += b.Messages[i].Size()
	}
	return n
}

// ends returns the time when all of the buffer has expired; 0 if it is empty.
func (b *Buffer) ends() dag.Time {
	end := b.Until
	for i := range b.Messages {
		end = max(end, b.Messages[i].Until)
	}
	return end
}

// Live returns the messages that have not expired.
func (b *Buffer) Live(now dag.Time) (list []Message) {
	for i := range b.Messages {
		if b.Messages[i].Until > now {
			list = append(list, b.Messages[i])
		}
	}
	return list
}

// Expire removes the expired messages and an expired Last, and returns the number of messages removed.
func (b *Buffer) Expire(now dag.Time) int {
	before := len(b.Messages)
	b.Messages = b.Live(now)
	if b.Until <= now {
		b.Last, b.Until = nil, 0
	}
	return before - len(b.Messages)
}

// A Placed is a message that was put.
type Placed struct {
	Message
	Existing bool // it was in the buffer already, and is unchanged
}

// Put appends messages and sets their times. It drops the oldest messages until the buffer is within the limits. It
// returns the messages as stored, and the number of dropped messages. On an error nothing is put.
// The caller must have called Expire.
func (b *Buffer) Put(l Limits, now dag.Time, list []Message) (put []Placed, dropped int, _ error) {
	all, fresh, size := slices.Clone(b.Messages), 0, 0
	for i := range list {
		m := list[i]
		if at := slices.IndexFunc(all, func(o Message) bool { return o.ID == m.ID }); at >= 0 {
			if !all[at].same(&m) {
				return nil, 0, fmt.Errorf("messages[%d]: %w, which is kept", i, ErrDiffers)
			}
			put = append(put, Placed{all[at], true})
			continue
		}
		m.At, m.Until = now, l.until(now)
		all, put = append(all, m), append(put, Placed{Message: m})
		fresh, size = fresh+1, size+m.Size()
	}
	if fresh > l.Messages || size > l.Bytes {
		return nil, 0, fmt.Errorf("%w: the request has %d messages of %d bytes, at most %d messages of %d bytes in all", ErrTooLarge, fresh, size, l.Messages, l.Bytes)
	}
	before := len(all)
	b.Messages = all
	for left := b.Size(); len(b.Messages) > l.Messages || left > l.Bytes; b.Messages = b.Messages[1:] {
		left -= b.Messages[0].Size()
	}
	return put, before - len(b.Messages), nil
}

// Remember sets the turn that was consolidated last, for as long as a message lasts.
func (b *Buffer) Remember(l Limits, now dag.Time, turn dag.TurnID) {
	b.Last, b.Until = &turn, l.until(now)
}

// Take removes the given messages, and returns how many of them were present.
func (b *Buffer) Take(ids []dag.TurnID) int {
	before := len(b.Messages)
	b.Messages = slices.DeleteFunc(slices.Clone(b.Messages), func(m Message) bool { return slices.Contains(ids, m.ID) })
	return before - len(b.Messages)
}
