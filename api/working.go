package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// Working memory: messages of sessions that go on, in no history until they are consolidated.
var (
	PutWorking         = declare[WorkingPut, WorkingOutcome](Spec{ID: "putWorking", Method: "POST", Path: "/api/working/{session}", Tag: "working", Tool: "keep_in_mind", Sets: []string{"working"}, May: access.Admit, Fails: []int{409, 413, 422}})
	ListWorking        = declare[struct{}, WorkingSessions](Spec{ID: "listWorking", Method: "GET", Path: "/api/working", Tag: "working", May: access.Recall})
	GetWorking         = declare[WorkingQuery, WorkingMessages](Spec{ID: "getWorking", Method: "GET", Path: "/api/working/{session}", Tag: "working", Tool: "in_mind", Sets: []string{"working"}, May: access.Recall})
	ConsolidateWorking = declare[Consolidating, Consolidated](Spec{ID: "consolidateWorking", Method: "POST", Path: "/api/working/{session}/consolidate", Tag: "working", May: access.Admit, Fails: []int{404, 409, 422}})
	ClearWorking       = declare[WorkingQuery, WorkingCleared](Spec{ID: "clearWorking", Method: "DELETE", Path: "/api/working/{session}", Tag: "working", May: access.Admit})
)

// A WorkingPut puts messages into a session.
type WorkingPut struct {
	Session  string       `json:"session" is:"SessionName" doc:"A session of the caller. It is made with its first message." tool:"A name for the session that goes on, such as run-42."`
	Messages []NewMessage `json:"messages" min:"1" max:"50" tool:"In the order in which they were said."`
}

// A NewMessage is what somebody said.
type NewMessage struct {
	Role    dag.Role `json:"role" tool:"Whose words they are."`
	Author  string   `json:"author" max:"128" doc:"Who said it, in printable ASCII." tool:"Who said it, such as human:ada or model:NAME."`
	Content string   `json:"content" tool:"What was said."`
	Key     string   `json:"key,omitempty" max:"256" doc:"The same key in a session is the same message, so that repeating a request is safe." tool:"-"`
}

// A WorkingOutcome says what became of messages.
type WorkingOutcome struct {
	Session  string       `json:"session" is:"SessionName"`
	Messages []PutMessage `json:"messages" doc:"In the order of the request."`
	Held     int          `json:"held" doc:"Messages of the session now."`
	Bytes    int          `json:"bytes" doc:"What they count against the limit of bytes."`
	Dropped  int          `json:"dropped" doc:"The oldest messages, which dropped out for these."`
	Expired  int          `json:"expired" doc:"Messages that had expired since the session changed last."`
}

// A PutMessage is a message that was put.
type PutMessage struct {
	ID        dag.TurnID `json:"id" is:"UUID" doc:"Of the message, and of the turn that it may become."`
	ExpiresAt dag.Time   `json:"expires_at,omitzero" doc:"Absent if it is a turn already."`
	Existing  bool       `json:"existing,omitempty" doc:"Its key was there already, and it stays as it was."`
	Turn      bool       `json:"turn,omitempty" doc:"It was consolidated before, and was not put again."`
}

// WorkingSessions are the sessions that hold anything.
type WorkingSessions struct {
	Sessions []WorkingSession `json:"sessions"`
}

// A WorkingSession is a session as it was when it changed last.
type WorkingSession struct {
	Session   string   `json:"session" is:"SessionName"`
	Owner     string   `json:"owner,omitempty" is:"Asker" doc:"Whose it is."`
	Messages  int      `json:"messages" doc:"Some of them may have expired since."`
	Bytes     int      `json:"bytes"`
	ExpiresAt dag.Time `json:"expires_at" doc:"When the last of it expires."`
}

// A WorkingQuery names a session.
type WorkingQuery struct {
	Session string `json:"session" is:"SessionName" tool:"The session's name."`
	Owner   string `json:"owner,omitempty" is:"Asker" doc:"Whose session it is, if not the caller's own. Reading it takes the permission to read, and clearing it that to erase." tool:"-"`
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
	At        dag.Time   `json:"at" doc:"When it was put."`
	ExpiresAt dag.Time   `json:"expires_at"`
}

// Consolidating says which messages are to become turns.
type Consolidating struct {
	Session      string              `json:"session" is:"SessionName"`
	Messages     []dag.TurnID        `json:"messages,omitempty" min:"1" max:"1000" doc:"All of the session, if left out."`
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"That the turns are of; the session has one of its own, if left out."`
}

// Consolidated says what became of them.
type Consolidated struct {
	Session      string             `json:"session" is:"SessionName"`
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Turns        []dag.TurnID       `json:"turns" is:"UUID" doc:"In the order of the session."`
	Admitted     int                `json:"admitted" doc:"Turns that are new."`
	Existing     int                `json:"existing" doc:"Turns that were there already."`
	Held         int                `json:"held" doc:"Messages that are still in the session."`
	Head         dag.Seq            `json:"head" doc:"The newest sequence number of the tenant."`
}

// WorkingCleared says how many messages a session had.
type WorkingCleared struct {
	Session string `json:"session" is:"SessionName"`
	Owner   string `json:"owner,omitempty" is:"Asker"`
	Cleared int    `json:"cleared"`
}
