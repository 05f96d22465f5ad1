package api

import (
	"encoding/json"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// SearchTurns finds turns by words.
var SearchTurns = declare[Search, Found](Spec{ID: "searchTurns", Method: "POST", Path: "/api/search", Tag: "turns", Tool: "find", Sets: []string{"everyday"}, May: access.Recall, Fails: []int{404, 422}})

// MaxExchanged is how many of the best hits have a question or an answer.
const MaxExchanged = 200

// A Search asks for turns by words.
type Search struct {
	Query        string              `json:"query" min:"1" max:"4096" tool:"Words or a question."`
	Limit        int                 `json:"limit,omitempty" is:"1..10000" default:"10" doc:"The most hits to return." tool:"Default 10."`
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"Only turns of this conversation." tool:"Only of this conversation."`
	Role         string              `json:"role,omitempty" is:"Role" doc:"Only turns of this role." tool:"Only of this role."`
	Author       string              `json:"author,omitempty" max:"128" doc:"Only turns of this author, written as in the turns." tool:"Such as human:anna."`
	Standing     string              `json:"standing,omitempty" is:"outside|guest|agent|member|owner|system" doc:"Only turns of this standing as of the number of the search, among the hits that the policy allows: whose words count." tool:"Only of this standing."`
	Attributes   *Attributes         `json:"attributes,omitempty" doc:"Only turns that have each of these attributes." tool:"-"`
	Since        *dag.Time           `json:"since,omitempty" doc:"Only turns that were created at this time or later." tool:"From, RFC 3339."`
	Until        *dag.Time           `json:"until,omitempty" doc:"Only turns that were created before this time." tool:"Before, RFC 3339."`
	Space        belief.Space        `json:"space,omitempty" is:"BeliefSpace" doc:"Only turns that support something that is believed in this space, as of the number of the search." tool:"-"`
	AsOf         dag.Seq             `json:"as_of,omitempty" is:"Seq" doc:"Search the graph as of this sequence number; 0 is the present." tool:"-"`
	Policy       policy.ID           `json:"policy,omitempty" is:"PolicyID" doc:"The policy of the search; find@2 if left out." tool:"-"`
	Explain      bool                `json:"explain,omitempty" doc:"Return what each score consists of." tool:"-"`
	Exchanges    bool                `json:"exchanges,omitempty" doc:"Return what was asked before each of the first 200 hits, or what was answered to it, and the sessions of these hits. Hits, their order and their scores stay the same." tool:"-"`
	Within       json.RawMessage     `json:"within,omitempty" is:"Anything" doc:"A bundle that the kernel handed out, byte for byte. Only its turns are searched, as if there were no others, as of its number unless as_of is given." tool:"-"`
}

// Attributes filter turns. Each field is the required value of the turn's attribute of the same name.
type Attributes struct {
	Folder string `json:"cwd,omitempty" min:"1" max:"4096" doc:"The folder in which the agent worked, or one above it."`
	Branch string `json:"git_branch,omitempty" min:"1" max:"4096"`
	Model  string `json:"model,omitempty" min:"1" max:"4096"`
	Title  string `json:"title,omitempty" min:"1" max:"4096" doc:"The title of the conversation."`
}

// Found is the result of a search.
type Found struct {
	AsOf   dag.Seq   `json:"as_of" is:"Seq"`
	Policy policy.ID `json:"policy" is:"PolicyID"`
	Hits   []Hit     `json:"hits" doc:"The hits, the best first."`

	Sessions []FoundSession `json:"sessions,omitempty" doc:"The conversations of the first 200 hits, in the order of their best hits, if exchanges was set."`

	Approximate bool   `json:"approximate,omitempty" doc:"The search used a graph of vectors, because there are many, and may have missed turns. A search with as_of compares all vectors."`
	NotIndexed  uint64 `json:"not_indexed,omitempty" doc:"The number of sequence numbers above as_of that were not searched, because their index is still being made. A later search covers them."`
	Damaged     int    `json:"damaged,omitempty" doc:"Turns that were left out, because the store is damaged and does not have their texts as they were admitted. An index that is read whole from the store does not know of them until one is found."`
	NotReranked string `json:"not_reranked,omitempty" doc:"Why the policy's cross-encoder did not judge the hits; they then keep the order from before it."`
}

// A Hit is a turn that was found.
type Hit struct {
	Turn         dag.TurnID         `json:"turn" is:"UUID"`
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Title        string             `json:"title,omitempty" doc:"The title of the conversation, if its first turn has one."`
	Seq          dag.Seq            `json:"seq" is:"Seq"`
	Score        int                `json:"score" doc:"The score for this query; scores of other queries are not comparable."`
	Role         string             `json:"role" is:"Role"`
	Author       string             `json:"author"`
	Standing     string             `json:"standing" is:"outside|guest|agent|member|owner|system" doc:"How much its words count, as of the number of the search: an order from member on, else information or data."`
	CreatedAt    dag.Time           `json:"created_at" is:"Time"`
	Content      string             `json:"content" doc:"The text of the turn."`
	Parts        *HitParts          `json:"parts,omitempty" doc:"What the score consists of, if explain was set."`
	Question     *Counterpart       `json:"question,omitempty" doc:"The last prompt before the turn in its conversation, if exchanges was set and the turn is no prompt itself. A prompt is a turn of role user that a person said, or an agent that called this one."`
	Answer       *Counterpart       `json:"answer,omitempty" doc:"The agent's last words before the next prompt, if exchanges was set and the turn is a prompt. Calls and reasoning are no words."`
}

// A Counterpart is the turn that answers another one, or that asked for it. It has no part in scores.
type Counterpart struct {
	Turn      dag.TurnID `json:"turn" is:"UUID"`
	Seq       dag.Seq    `json:"seq" is:"Seq"`
	Author    string     `json:"author"`
	Standing  string     `json:"standing" is:"outside|guest|agent|member|owner|system" doc:"How much its words count, as of the number of the search."`
	CreatedAt dag.Time   `json:"created_at" is:"Time"`
	Content   string     `json:"content" doc:"The text of the turn without the spaces around it, at most 400 bytes."`
	Shortened bool       `json:"shortened,omitempty" doc:"The text of the turn goes on."`
}

// A FoundSession is a conversation in which turns were found.
type FoundSession struct {
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Title        string             `json:"title,omitempty" doc:"The title of the conversation, if its first turn has one."`
	Begins       *Counterpart       `json:"begins,omitempty" doc:"The first prompt of the conversation, if it has no title."`
	Folder       string             `json:"folder,omitempty" doc:"The folder in which the agent worked at the best hit."`
	FirstAt      dag.Time           `json:"first_at" is:"Time" doc:"When the first turn of the conversation was created."`
}

// Name returns what a reader knows the session by: its title or its first prompt, or "".
func (s *FoundSession) Name() string {
	if s.Title == "" && s.Begins != nil {
		return s.Begins.Content
	}
	return s.Title
}

// SessionHits are the hits of one conversation.
type SessionHits struct {
	FoundSession
	Hits []RankedHit // in the order of their ranks
}

// A RankedHit is a hit with its rank among all hits, from 1. Asks reports that a reader has to be told its question, or that it has none that is known: it is
// no prompt, and the hit before it in the session is neither its question nor has the same.
type RankedHit struct {
	*Hit
	Rank int
	Asks bool
}

// BySession groups the hits by conversation: the conversations in the order of their best hits, and the hits of each in their order. It is for readers: no score
// depends on it.
func (f *Found) BySession() []SessionHits {
	var groups []SessionHits
	at, asked := map[dag.ConversationID]int{}, map[dag.ConversationID]dag.TurnID{} // asked has the prompt that a reader takes the next hit to follow
	for i := range f.Hits {
		h := &f.Hits[i]
		place, known := at[h.Conversation]
		if !known {
			place = len(groups)
			at[h.Conversation] = place
			session := FoundSession{Conversation: h.Conversation, Title: h.Title, FirstAt: h.CreatedAt}
			if n := slices.IndexFunc(f.Sessions, func(s FoundSession) bool { return s.Conversation == h.Conversation }); n >= 0 {
				session = f.Sessions[n]
			}
			groups = append(groups, SessionHits{FoundSession: session})
		}
		ranked := RankedHit{Hit: h, Rank: i + 1}
		follows := dag.TurnID{}
		switch {
		case i >= MaxExchanged || len(f.Sessions) == 0: // it was not looked for
		case h.Question != nil:
			follows = h.Question.Turn
			ranked.Asks = follows != asked[h.Conversation]
		case h.Answer != nil || h.Role == dag.RoleUser.String():
			follows = h.Turn
		default:
			ranked.Asks = asked[h.Conversation] != follows
		}
		asked[h.Conversation] = follows
		groups[place].Hits = append(groups[place].Hits, ranked)
	}
	return groups
}

// ByMeaning reports whether no hit contains a word or a date of the query: the hits are then the turns nearest in meaning, and
// may be unrelated. Only an answer with parts can be ByMeaning.
func (f *Found) ByMeaning() bool {
	for i := range f.Hits {
		if p := f.Hits[i].Parts; p == nil || p.Words+p.Conversation+p.Dates > 0 {
			return false
		}
	}
	return len(f.Hits) > 0
}

// HitParts are the parts of a score. Their sum is the score, unless the policy has a fusion other than sum, or reranks.
type HitParts struct {
	Words        int `json:"words" doc:"For words in the turn and its neighbours: BM25, 1000000 for the best turn."`
	Conversation int `json:"conversation" doc:"For words in the conversation: BM25, 100000 for the best."`
	Dates        int `json:"dates" doc:"For dates in the turn, and of it: 300000 for the best."`
	When         int `json:"when" doc:"200000 if the query asks when and the turn has an expression of time."`
	Like         int `json:"like,omitempty" doc:"For the similarity of the turn's vector to the query's, if the policy uses vectors."`
	Author       int `json:"author" doc:"Half of the sum of the other parts, if the query names the turn's author and no other."`
	Judged       int `json:"judged,omitempty" doc:"The score of the policy's cross-encoder: 1000000 for the hit that it prefers, 0 for the last."`
	WordRank     int `json:"word_rank,omitempty" doc:"The turn's rank by words, from 1, if the policy joins lists by rank."`
	LikeRank     int `json:"like_rank,omitempty" doc:"The turn's rank by similarity, likewise."`
}
