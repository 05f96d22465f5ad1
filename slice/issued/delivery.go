package issued

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/graphkernel/graphkernel/dag"
)

// A Delivery is the part of a context's record that is not in the bundle: the session of an agent for which the context
// was made, the limits of the choice, and the turns that the task quotes. The zero value is a context that was
// requested without a hook.
type Delivery struct {
	Recipient
	Folders Folders       // the turns were chosen only from conversations in these folders; "": from all
	Except  Conversations // no turns of these conversations were chosen from
	TaskOf  Turns         // the turns whose words the task contains, as far as the caller named them
}

// A Recipient names the session of an agent to which a hook handed a context, and the event at which it did so. All names
// are those that the hook received. The zero value says that there was no hook.
type Recipient struct {
	Agent   string `json:"agent" max:"200"`
	Session string `json:"session" max:"200"`
	Event   string `json:"event" max:"200"`
}

// Limits of a Delivery: of its texts in bytes, and of the numbers of folders, of turns of a task and of excepted
// conversations.
const (
	MaxRecipient = 200
	MaxFolder    = 4096
	MaxFolders   = 200
	MaxTaskOf    = 100
	MaxExcept    = 1000
)

// Check returns dag.ErrForm for the first part of a delivery that is malformed.
func (d *Delivery) Check() error {
	if d.Recipient != (Recipient{}) {
		for _, f := range [...]struct{ name, value string }{{"agent", d.Agent}, {"session", d.Session}, {"event", d.Event}} {
			if f.value == "" || !isLine(f.value, MaxRecipient) {
				return fmt.Errorf("%w: the %s of a recipient is %.80q, want 1 to %d bytes of UTF-8 without control characters", dag.ErrForm, f.name, f.value, MaxRecipient)
			}
		}
	}
	folders := d.Folders.Unpack()
	for _, f := range folders {
		if f == "" || !isLine(f, MaxFolder) {
			return fmt.Errorf("%w: a folder is %.80q, want 1 to %d bytes of UTF-8 without control characters", dag.ErrForm, f, MaxFolder)
		}
	}
	if len(folders) > MaxFolders || d.Folders != PackFolders(folders...) {
		return fmt.Errorf("%w: a context is chosen from at most %d folders, each once, ascending", dag.ErrForm, MaxFolders)
	}
	if n := len(d.TaskOf.Unpack()); d.TaskOf != "" && n == 0 || n > MaxTaskOf {
		return fmt.Errorf("%w: a task is made of at most %d turns, by ascending id", dag.ErrForm, MaxTaskOf)
	}
	if n := len(d.Except.Unpack()); d.Except != "" && n == 0 || n > MaxExcept {
		return fmt.Errorf("%w: a context leaves out at most %d conversations, by ascending id", dag.ErrForm, MaxExcept)
	}
	return nil
}

// A Vantage says from what a bundle was made: the history as of a number, and how its marks are read. A context is chosen within the bounds of its delivery, too.
type Vantage struct {
	AsOf    dag.Seq
	Reading dag.Reading
	Folders Folders
	Except  Conversations
}

// Vantage returns what the bundle of a record was made from.
func (r *Record) Vantage() Vantage {
	return Vantage{r.AsOf, r.Reading, r.Delivery.Folders, r.Delivery.Except}
}

// Folders are folders in the spelling of transcripts, ascending, one per line.
type Folders string

// PackFolders packs folders in any order, dropping repetitions.
func PackFolders(folders ...string) Folders {
	return Folders(strings.Join(slices.Compact(slices.Sorted(slices.Values(folders))), "\n"))
}

// Unpack returns the folders; none of the zero value.
func (f Folders) Unpack() []string {
	if f == "" {
		return nil
	}
	return strings.Split(string(f), "\n")
}

// Conversations are the ids of conversations, ascending, 16 bytes each.
type Conversations string

// PackConversations packs ids in any order, dropping repetitions.
func PackConversations(ids ...dag.ConversationID) Conversations {
	sorted := slices.Compact(slices.SortedFunc(slices.Values(ids), func(a, b dag.ConversationID) int { return bytes.Compare(a[:], b[:]) }))
	packed := make([]byte, 0, len(sorted)*len(dag.ConversationID{}))
	for i := range sorted {
		packed = append(packed, sorted[i][:]...)
	}
	return Conversations(packed)
}

// Unpack returns the ids; none if c does not come from PackConversations.
func (c Conversations) Unpack() (ids []dag.ConversationID) {
	for _, id := range Turns(c).Unpack() {
		ids = append(ids, dag.ConversationID(id))
	}
	return ids
}

// isLine reports whether a text is one line of UTF-8. most is its maximum length in bytes.
func isLine(s string, most int) bool {
	return len(s) <= most && isText(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
