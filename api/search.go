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
	Limit        int                 `json:"limit,omitempty" is:"1..10000" default:"10" doc:"At most so many hits." tool:"At most so many hits; 10 if left out."`
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"Only turns of this conversation." tool:"Only turns of this conversation."`
	Role         string              `json:"role,omitempty" is:"Role" doc:"Only turns of this role." tool:"Only turns of this role."`
	Author       string              `json:"author,omitempty" max:"128" doc:"Only turns of this author, written as in the turns." tool:"Such as human:anna."`
	Attributes   *Attributes         `json:"attributes,omitempty" doc:"Only turns that have each of these attributes." tool:"-"`
	Since        *dag.Time           `json:"since,omitempty" doc:"Only turns that were created then or later." tool:"Only turns that were created then or later, RFC 3339."`
	Until        *dag.Time           `json:"until,omitempty" doc:"Only turns that were created before." tool:"Only turns that were created before, RFC 3339."`
	Space        belief.Space        `json:"space,omitempty" is:"BeliefSpace" doc:"Only turns on which something rests that is believed in this space, as of the number of the search." tool:"-"`
	AsOf         dag.Seq             `json:"as_of,omitempty" is:"Seq" doc:"Search what was there at this sequence number; 0 is the present." tool:"-"`
	Policy       policy.ID           `json:"policy,omitempty" is:"PolicyID" doc:"How turns are found; recall@1 if left out." tool:"-"`
	Explain      bool                `json:"explain,omitempty" doc:"Say what each score is made of." tool:"-"`
	Within       json.RawMessage     `json:"within,omitempty" is:"Anything" doc:"A bundle that the kernel handed out, byte for byte. Only its turns are searched, as if there were no others, as of its number unless another is given." tool:"-"`
}

// Attributes are those by which turns are filtered: what a turn's own attribute of that name has to be.
type Attributes struct {
	Folder string `json:"cwd,omitempty" min:"1" max:"4096" doc:"The folder in which the agent worked, or one above it."`
	Branch string `json:"git_branch,omitempty" min:"1" max:"4096"`
	Model  string `json:"model,omitempty" min:"1" max:"4096"`
	Title  string `json:"title,omitempty" min:"1" max:"4096" doc:"Of the conversation."`
}

// Found is what a search found.
type Found struct {
	AsOf   dag.Seq   `json:"as_of" is:"Seq"`
	Policy policy.ID `json:"policy" is:"PolicyID"`
	Hits   []Hit     `json:"hits" doc:"The best first."`

	Approximate bool   `json:"approximate,omitempty" doc:"A graph of vectors was walked, since there are many, and turns may have been missed. A search with as_of compares all."`
	NotIndexed  uint64 `json:"not_indexed,omitempty" doc:"So many sequence numbers above as_of were not looked at, since their index is still being made. Asking again later finds what they have."`
	Damaged     int    `json:"damaged,omitempty" doc:"Turns that were left out, since the store is damaged and does not have their texts as they were admitted. An index that is read from the store whole does not know of them until one is found."`
	NotReranked string `json:"not_reranked,omitempty" doc:"Why the hits are in the order before the policy's cross-encoder, if it did not judge them."`
}

// A Hit is a turn that was found.
type Hit struct {
	Turn         dag.TurnID         `json:"turn" is:"UUID"`
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Title        string             `json:"title,omitempty" doc:"Of the conversation, if its first turn has one."`
	Seq          dag.Seq            `json:"seq" is:"Seq"`
	Score        int                `json:"score" doc:"Of this query's hits; those of another query are not comparable."`
	Role         string             `json:"role" is:"Role"`
	Author       string             `json:"author"`
	CreatedAt    dag.Time           `json:"created_at" is:"Time"`
	Content      string             `json:"content" doc:"The text of the turn."`
	Parts        *HitParts          `json:"parts,omitempty" doc:"What the score is made of, if explain was asked for."`
}

// ByMeaning reports whether no hit has a word or a date of the query: the turns are those nearest in meaning, and may have nothing to do
// with it. It is known of an answer with parts only.
func (f *Found) ByMeaning() bool {
	for i := range f.Hits {
		if p := f.Hits[i].Parts; p == nil || p.Words+p.Conversation+p.Dates > 0 {
			return false
		}
	}
	return len(f.Hits) > 0
}

// HitParts are what a score is made of: their sum, unless the policy has another fusion than sum, or reranks.
type HitParts struct {
	Words        int `json:"words" doc:"For words in the turn and its neighbours: BM25, 1000000 for the best turn."`
	Conversation int `json:"conversation" doc:"For words in the conversation: BM25, 100000 for the best."`
	Dates        int `json:"dates" doc:"For dates in the turn, and of it: 300000 for the best."`
	When         int `json:"when" doc:"200000 if the query asks when and the turn has an expression of time."`
	Like         int `json:"like,omitempty" doc:"For the likeness of the turn's vector to the query's, if the policy asks for it."`
	Author       int `json:"author" doc:"Half of the sum of the others if the query names the turn's author, and no other."`
	Judged       int `json:"judged,omitempty" doc:"By the policy's cross-encoder, 1000000 for the hit that it prefers and 0 for its last."`
	WordRank     int `json:"word_rank,omitempty" doc:"The turn's place by words, from 1 on, where the policy joins lists by it."`
	LikeRank     int `json:"like_rank,omitempty" doc:"The turn's place by likeness, the same."`
}
