package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Operations on memories: beliefs as texts, as people speak of them.
var (
	Remember = declare[NewMemory, Remembered](Spec{ID: "remember", Method: "POST", Path: "/api/memories", Tag: "memories", Tool: "remember", Sets: []string{"everyday", "memories"}, May: access.Admit, Fails: []int{404, 409, 422},
		Says: "Remember a text\n\nWhat a person has remembered holds from then on; what contradicts it gives way and is listed. What an agent has remembered is a proposal, shown as the agent's word until a person accepts it. A text that is remembered already changes nothing. The space of a project is made when it is first used.",
		Curl: `curl -sS $URL/api/memories -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"text":"Deploys happen on Tuesdays only."}'`})
	ListMemories = declare[MemoriesQuery, Memories](Spec{ID: "listMemories", Method: "GET", Path: "/api/memories", Tag: "memories", Tool: "recall_memories", Sets: []string{"everyday", "memories"}, May: access.Recall, Fails: []int{404, 422},
		Says: "List or search what is remembered\n\nWith words, the best match comes first, and what matches none of them is left out; without, the newest comes first. Without a project, it covers all projects that the caller may see.",
		Curl: `curl -sS "$URL/api/memories?words=deploys" -H "Authorization: Bearer $KEY"`})
	Forget = declare[OldMemory, Forgotten](Spec{ID: "forget", Method: "POST", Path: "/api/memories/forget", Tag: "memories", Tool: "forget", Sets: []string{"everyday", "memories"}, May: access.Admit, Fails: []int{404, 409, 422},
		Says: "Forget a memory, or refuse a proposal\n\nIt holds no longer, and no context and no list has it. The history keeps what it said, and so do bundles that were handed out. An agent forgets only what it proposed itself.",
		Curl: `curl -sS $URL/api/memories/forget -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"id":"'$(curl -sS "$URL/api/memories?project=projects/general" -H "Authorization: Bearer $KEY" | sed 's/^[^[]*\[{"id":"\([^"]*\)".*/\1/')'"}'`})
	AcceptMemory = declare[OldMemory, Remembered](Spec{ID: "acceptMemory", Method: "POST", Path: "/api/memories/accept", Tag: "memories", May: access.Believe, Fails: []int{404, 409, 422},
		Says: "Accept a proposal\n\nFrom then on it is the word of the person who accepts it, and what contradicts it gives way.",
		Curl: `curl -sS $URL/api/memories/accept -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"id":"'$(curl -sS "$URL/api/memories?project=projects/general" -H "Authorization: Bearer $KEY" | sed 's/^[^[]*\[{"id":"\([^"]*\)".*/\1/')'"}'`})
	ExplainMemory = declare[MemoryName, MemoryReasons](Spec{ID: "explainMemory", Method: "GET", Path: "/api/memories/why", Tag: "memories", Tool: "why", Sets: []string{"everyday", "memories"}, May: access.Recall, Fails: []int{404, 422},
		Says: "Say why something is remembered, or what became of it\n\nWho said it and when, the turns that it rests on, what it replaced, and how it ended if it holds no longer. Give its id, or words that find it.",
		Curl: `curl -sS "$URL/api/memories/why?words=deploys" -H "Authorization: Bearer $KEY"`})
	MemoryHistory = declare[MemoryName, MemoryStates](Spec{ID: "memoryHistory", Method: "GET", Path: "/api/memories/history", Tag: "memories", May: access.Recall, Fails: []int{404, 422},
		Says: "List what a memory said, from the first text to the last",
		Curl: `curl -sS "$URL/api/memories/history?words=deploys" -H "Authorization: Bearer $KEY"`})
	MemoryLinks = declare[LinksQuery, LinkedMemories](Spec{ID: "memoryLinks", Method: "GET", Path: "/api/memories/links", Tag: "memories", May: access.Recall, Fails: []int{404, 422},
		Says: "List what a memory is linked with\n\nThe links from and to all that the memory said, and over some steps those of what these lead to, the nearest first. With until, only the shortest way to another memory. A link leads from a revision, which keeps it when the memory says something else.",
		Curl: `curl -sS "$URL/api/memories/links?words=deploys" -H "Authorization: Bearer $KEY"`})
)

// General is the space of memories that belong to no project.
const General = belief.General

// Around returns the spaces that a context for a project is made from: the project's own, the general one and those of no project's memories. nil means
// all, if no project has memories, or if there are more spaces than a request may name.
func (s *Spaces) Around(project belief.Space) []belief.Space {
	var list []belief.Space
	projects := false
	for _, of := range s.Spaces {
		projects = projects || of.Space.OfProject() && of.Space != General
		if !of.Space.OfProject() || of.Space == project || of.Space == General {
			list = append(list, of.Space)
		}
	}
	switch {
	case !projects || len(list) > contexts.MaxSpaces:
		return nil
	case len(list) == 0:
		return []belief.Space{project} // of which nothing is remembered yet
	}
	return list
}

// A NewMemory is a text to be remembered.
type NewMemory struct {
	Text     string       `json:"text" min:"1" max:"8192" doc:"What is to be remembered. It is kept and shown byte for byte." tool:"What should hold in later sessions, as a whole sentence, in the words in which it was said."`
	Project  belief.Space `json:"project,omitempty" is:"BeliefSpace" flag:": the folder of the project, or general for no project (default: the project of this folder)" doc:"The space of the project; projects/general if left out." tool:"Left out: the project of this session."`
	Kind     string       `json:"kind,omitempty" is:"ItemKind" flag:": fact, preference, decision, procedure, hard_rule or another kind" doc:"fact if left out. hard_rule is a rule: every context has it." tool:"fact (default), preference, decision, procedure, hard_rule, …"`
	Slot     string       `json:"slot,omitempty" max:"64" flag:"key: a name for what it settles, such as deploy-day: a newer text with the same name replaces it" doc:"A name for what the text settles, such as deploy-day: a newer text with the same name replaces it. If left out, texts that settle the same in the usual ways, such as tabs or spaces, replace each other." tool:"-"`
	Instead  string       `json:"instead,omitempty" max:"512" flag:": the id of the memory that it replaces" doc:"The id of the memory that it replaces." tool:"The id of the memory that it replaces."`
	Turns    []dag.TurnID `json:"turns,omitempty" max:"256" flag:"turn: the id of a turn that says so, or a beginning of it; may be repeated" doc:"The turns that say so: the memory loses its text when all of them lose theirs." tool:"The turns that say so."`
	Keywords []string     `json:"keywords,omitempty" max:"64" flag:": other words by which it is found, separated by commas" doc:"Other words by which it is found." tool:"-"`
	Reason   string       `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record" tool:"-"`
	DryRun   bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing." tool:"-"`
}

// A Memory is a belief as people speak of it: a text, who said it and when.
type Memory struct {
	ID       string       `json:"id" doc:"The name of its item, or w and a number for a proposal that contradicts what a person said and waits."`
	Text     string       `json:"text" doc:"What was said, byte for byte; of a memory that was stated in names, the names as they were written."`
	Kind     string       `json:"kind"`
	By       string       `json:"by,omitempty" is:"Asker"`
	Since    dag.Time     `json:"since" doc:"When it was said."`
	Project  belief.Space `json:"project" is:"BeliefSpace" doc:"The space that it is in."`
	Proposed bool         `json:"proposed,omitempty" doc:"No person vouches for it: it is the word of an agent."`
	Standing string       `json:"standing,omitempty" is:"outside|guest|agent|member|owner" doc:"Whose word it counts as."`
	Turns    []dag.TurnID `json:"turns,omitempty" is:"UUID"`
	Revision int          `json:"revision,omitempty" doc:"Which revision of the item it is; absent for a proposal that waits."`
	Ends     []string     `json:"ends,omitempty" doc:"Of a proposal that waits: the texts that hold no longer if it is accepted."`
}

// Remembered says what became of a text.
type Remembered struct {
	ID      string   `json:"id,omitempty" doc:"Absent for a dry run of a new memory."`
	Result  string   `json:"result" is:"changed|unchanged|proposed" doc:"proposed: it is a proposal until a person accepts it."`
	GaveWay []Memory `json:"gave_way" doc:"What holds no longer because of it; with against, nothing."`
	Against []Memory `json:"against,omitempty" doc:"What the proposal contradicts, so that it waits for a person."`
	Nearest *Memory  `json:"nearest,omitempty" doc:"If nothing gave way: the memory of the project that is most alike. To replace it, remember the text instead of it."`
	Seq     dag.Seq  `json:"seq,omitempty" is:"Seq"`
}

// A MemoriesQuery asks for memories.
type MemoriesQuery struct {
	Words    string       `json:"words,omitempty" max:"2048" doc:"Words that the memory has, or a question." tool:"Words or a question; left out: the newest."`
	Project  belief.Space `json:"project,omitempty" is:"BeliefSpace" flag:": only this project: its folder, or general for those of no project (default: all projects)" doc:"Only this space; all that the caller may see if left out." tool:"Only this project."`
	Around   belief.Space `json:"around,omitempty" is:"BeliefSpace" flag:"-" doc:"Only what sessions of this project are told: its memories, and those of no project." tool:"-"`
	Kind     string       `json:"kind,omitempty" is:"ItemKind" flag:": only this kind" doc:"Only this kind." tool:"Only this kind, such as hard_rule."`
	Proposed bool         `json:"proposed,omitempty" flag:": only proposals that nobody has accepted" doc:"Only proposals, and with them those that wait because they contradict what a person said." tool:"-"`
	AsOf     dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": what was remembered as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present." tool:"-"`
	Paging
}

// Memories is a page of memories.
type Memories struct {
	Memories []Memory `json:"memories"`
	Next     string   `json:"next,omitempty" is:"Next"`
}

// An OldMemory names a memory.
type OldMemory struct {
	ID     string `json:"id" min:"1" max:"512" doc:"Its id, or a beginning of at least 4 characters that no other one has." tool:"Its id, from recall_memories."`
	Reason string `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record" tool:"Why."`
	DryRun bool   `json:"dry_run,omitempty" flag:"-" doc:"Show what would happen, and record nothing." tool:"-"`

	Revision int `json:"revision,omitempty" flag:"-" doc:"The revision that the caller has seen. If it is another one by now, nothing is recorded." tool:"-"`
}

// Forgotten says what holds no longer.
type Forgotten struct {
	Forgotten Memory  `json:"forgotten"`
	Result    string  `json:"result" is:"changed|unchanged"`
	Seq       dag.Seq `json:"seq,omitempty" is:"Seq"`
}

// A MemoryName names one memory, by its id or by words that find it.
type MemoryName struct {
	ID      string       `json:"id,omitempty" max:"512" flag:"-" doc:"Its id, or a beginning of at least 4 characters that no other one has." tool:"Its id, from recall_memories."`
	Words   string       `json:"words,omitempty" max:"2048" doc:"Words that find it: the best match. Either this or id is required." tool:"Instead of the id: words that find it."`
	Project belief.Space `json:"project,omitempty" is:"BeliefSpace" flag:": only this project: its folder, or general (default: all projects)" doc:"Where the words are looked for; all spaces that the caller may see if left out." tool:"-"`
}

// MemoryReasons say why something is remembered.
type MemoryReasons struct {
	Memory   Memory        `json:"memory"`
	Holds    bool          `json:"holds"`
	Reason   string        `json:"reason,omitempty" doc:"The reason that was given when it was said."`
	Turns    []MemoryTurn  `json:"turns" doc:"What it rests on; none: the word of who said it."`
	Replaced []MemoryState `json:"replaced" doc:"What the same memory said before, the newest first."`
	Ended    *MemoryEnd    `json:"ended,omitempty" doc:"How it ended, if it holds no longer."`
	Against  []Memory      `json:"against,omitempty" doc:"Proposals that contradict it and wait for a person."`
}

// A MemoryTurn is a turn that a memory rests on.
type MemoryTurn struct {
	Turn   dag.TurnID `json:"turn" is:"UUID"`
	Author string     `json:"author,omitempty"`
	At     dag.Time   `json:"at"`
	Text   string     `json:"text,omitempty" doc:"The first 400 bytes of what it says; absent if it was erased."`
	Whole  bool       `json:"whole,omitempty" doc:"The text of the memory is a whole sentence of the turn."`
}

// A MemoryEnd says how a memory ended.
type MemoryEnd struct {
	At      dag.Time `json:"at"`
	By      string   `json:"by,omitempty" is:"Asker"`
	How     string   `json:"how" is:"forgotten|replaced|contradicted|erased"`
	Reason  string   `json:"reason,omitempty"`
	Instead string   `json:"instead,omitempty" doc:"What holds instead."`
}

// A MemoryState is what a memory said at a time.
type MemoryState struct {
	Revision int      `json:"revision"`
	Text     string   `json:"text"`
	By       string   `json:"by,omitempty" is:"Asker"`
	At       dag.Time `json:"at"`
	Proposed bool     `json:"proposed,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Holds    bool     `json:"holds,omitempty"`
	Erased   bool     `json:"erased,omitempty"`
}

// MemoryStates are all that a memory said, the oldest first.
type MemoryStates struct {
	ID     string        `json:"id"`
	Kind   string        `json:"kind"`
	States []MemoryState `json:"states"`
	Ended  *MemoryEnd    `json:"ended,omitempty"`
}

// A LinksQuery asks for the links of a memory.
type LinksQuery struct {
	MemoryName
	Type      string `json:"type,omitempty" is:"TagName" flag:": only links of this type, such as depends_on" doc:"Only links of this type."`
	Direction string `json:"direction,omitempty" is:"from|to|both" default:"both" flag:": only links from the memory, or to it: from, to or both (default: both)" doc:"from: links that lead away from the memory. to: links that lead to it."`
	Depth     int    `json:"depth,omitempty" is:"1..20" flag:": how many links to follow, up to 20 (default: 1, or 20 with --until)" doc:"The most links to follow, one after another; 1 if left out, or 20 with until."`
	Until     string `json:"until,omitempty" max:"512" flag:": only the shortest way to this memory, by its id" doc:"The id of another memory: only the shortest way to it."`
}

// LinkedMemories are the links of a memory.
type LinkedMemories struct {
	Of    Memory       `json:"of"`
	Links []MemoryLink `json:"links" doc:"The nearest first; of a way, in its order."`
	Cut   bool         `json:"cut,omitempty" doc:"There are more than 1000 links; only these were followed."`
}

// A MemoryLink is a typed edge from a revision.
type MemoryLink struct {
	From   string  `json:"from" is:"Kref"`
	Type   string  `json:"type"`
	To     string  `json:"to" is:"LinkTarget"`
	Depth  int     `json:"depth" doc:"Over how many links it was reached; the first are 1."`
	Back   bool    `json:"back,omitempty" doc:"It leads to what is nearer to the memory that was asked about."`
	Memory *Memory `json:"memory,omitempty" doc:"What it leads to, or with back, from; absent for a turn or a slice."`
	Ended  bool    `json:"ended,omitempty" doc:"That memory holds no longer."`
}
