package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// SearchTurns finds turns by words.
var SearchTurns = declare[Search, Found](Spec{ID: "searchTurns", Method: "POST", Path: "/api/search", Tag: "turns", Tool: "find", Sets: []string{"everyday"}, May: access.Recall, Fails: []int{404, 422}})

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
