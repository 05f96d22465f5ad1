package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// Operations on working memory: messages of running sessions, which are not in the history until they are consolidated.
var (
	PutWorking         = declare[WorkingPut, WorkingOutcome](Spec{ID: "putWorking", Method: "POST", Path: "/api/working/{session}", Tag: "working", Tool: "keep_in_mind", Sets: []string{"working"}, May: access.Admit, Fails: []int{409, 413, 422}})
	ListWorking        = declare[struct{}, WorkingSessions](Spec{ID: "listWorking", Method: "GET", Path: "/api/working", Tag: "working", May: access.Recall})
	GetWorking         = declare[WorkingQuery, WorkingMessages](Spec{ID: "getWorking", Method: "GET", Path: "/api/working/{session}", Tag: "working", Tool: "in_mind", Sets: []string{"working"}, May: access.Recall})
	ConsolidateWorking = declare[Consolidating, Consolidated](Spec{ID: "consolidateWorking", Method: "POST", Path: "/api/working/{session}/consolidate", Tag: "working", May: access.Admit, Fails: []int{404, 409, 422}})
	ClearWorking       = declare[WorkingQuery, WorkingCleared](Spec{ID: "clearWorking", Method: "DELETE", Path: "/api/working/{session}", Tag: "working", May: access.Admit})
)

// A WorkingPut puts messages into a session.
type WorkingPut struct {
	Session  string       `json:"session" is:"SessionName" doc:"A session of the caller. The first message makes it." tool:"A name for the session, such as run-42."`
	Messages []NewMessage `json:"messages" min:"1" max:"50" tool:"In the order in which they were said."`
}

// A NewMessage is a message to put into a session.
type NewMessage struct {
	Role    dag.Role `json:"role" tool:"Who spoke."`
	Author  string   `json:"author" max:"128" doc:"The author, in printable ASCII." tool:"Who said it, such as human:ada or model:NAME."`
	Content string   `json:"content" tool:"What was said."`
	Key     string   `json:"key,omitempty" max:"256" doc:"Messages with the same key in a session are the same message, so repeating a request is safe." tool:"-"`
}

// A WorkingOutcome is the outcome of putting messages.
type WorkingOutcome struct {
	Session  string       `json:"session" is:"SessionName"`
	Messages []PutMessage `json:"messages" doc:"The messages, in the order of the request."`
	Held     int          `json:"held" doc:"The number of messages of the session now."`
	Bytes    int          `json:"bytes" doc:"The bytes of the session that count against the limit, now."`
	Dropped  int          `json:"dropped" doc:"The number of oldest messages that were dropped for the messages of the request."`
	Expired  int          `json:"expired" doc:"The number of messages that expired since the session changed last."`
}

// A PutMessage is a message that was put.
type PutMessage struct {
	ID        dag.TurnID `json:"id" is:"UUID" doc:"The id of the message, and of the turn that it may become."`
	ExpiresAt dag.Time   `json:"expires_at,omitzero" doc:"Absent if the message is already a turn."`
	Existing  bool       `json:"existing,omitempty" doc:"The session already had a message with this key, which stays as it was."`
	Turn      bool       `json:"turn,omitempty" doc:"The message was consolidated before, and was not put again."`
}

// WorkingSessions are the sessions with messages.
type WorkingSessions struct {
	Sessions []WorkingSession `json:"sessions"`
}

// A WorkingSession is a session as of its last change.
type WorkingSession struct {
	Session   string   `json:"session" is:"SessionName"`
	Owner     string   `json:"owner,omitempty" is:"Asker" doc:"The caller whose session it is."`
	Messages  int      `json:"messages" doc:"The number of messages. Some may have expired by now."`
	Bytes     int      `json:"bytes"`
	ExpiresAt dag.Time `json:"expires_at" doc:"When the last message expires."`
}

// A WorkingQuery names a session.
type WorkingQuery struct {
	Session string `json:"session" is:"SessionName" tool:"The session's name."`
	Owner   string `json:"owner,omitempty" is:"Asker" doc:"The owner of the session, if not the caller. Reading it needs the permission to read, and clearing it the permission to erase." tool:"-"`
}

// WorkingMessages are the messages of a session, the oldest first.
type WorkingMessages struct {
	Session  string           `json:"session" is:"SessionName"`
	Owner    string           `json:"owner,omitempty" is:"Asker"`
	Messages []WorkingMessage `json:"messages"`
}

// A WorkingMessage is a message that has not expired.
type WorkingMessage struct {
	ID        dag.TurnID `json:"id" is:"UUID"`
	Role      dag.Role   `json:"role"`
	Author    string     `json:"author"`
	Content   string     `json:"content"`
	At        dag.Time   `json:"at" doc:"The time at which the message was put."`
	ExpiresAt dag.Time   `json:"expires_at"`
}

// Consolidating selects the messages to turn into turns.
type Consolidating struct {
	Session      string              `json:"session" is:"SessionName"`
	Messages     []dag.TurnID        `json:"messages,omitempty" min:"1" max:"1000" doc:"The messages to consolidate; all of the session if left out."`
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"The conversation of the turns; the session's own conversation if left out."`
}

// Consolidated is the outcome of a consolidation.
type Consolidated struct {
	Session      string             `json:"session" is:"SessionName"`
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Turns        []dag.TurnID       `json:"turns" is:"UUID" doc:"The turns, in the order of the session."`
	Admitted     int                `json:"admitted" doc:"Turns that are new."`
	Existing     int                `json:"existing" doc:"Turns that were there already."`
	Held         int                `json:"held" doc:"Messages that are still in the session."`
	Head         dag.Seq            `json:"head" doc:"The newest sequence number of the tenant."`
}

// WorkingCleared is the number of messages that were cleared from a session.
type WorkingCleared struct {
	Session string `json:"session" is:"SessionName"`
	Owner   string `json:"owner,omitempty" is:"Asker"`
	Cleared int    `json:"cleared"`
}
