package retrieval_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

func TestLoCoMo(t *testing.T) {
	data, err := os.ReadFile("/work/shared/data/locomo/locomo10.json")
	if err != nil {
		t.Skip(err)
	}
	var all []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
			Category int      `json:"category"`
		} `json:"qa"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	policy := retrieval.DefaultPolicy()
	questions, recall := 0, 0.0
	var took time.Duration
	for n, c := range all {
		x := retrieval.New(analysis.English)
		ids := map[string]dag.TurnID{}
		seq := dag.Seq(0)
		for s := 1; ; s++ {
			raw, ok := c.Conversation[fmt.Sprintf("session_%d", s)]
			if !ok {
				break
			}
			var turns []struct{ Speaker, Text, DiaID string }
			var loose []map[string]any
			if err := json.Unmarshal(raw, &loose); err != nil {
				t.Fatal(err)
			}
			for _, l := range loose {
				turns = append(turns, struct{ Speaker, Text, DiaID string }{l["speaker"].(string), l["text"].(string), l["dia_id"].(string)})
			}
			var when string
			_ = json.Unmarshal(c.Conversation[fmt.Sprintf("session_%d_date_time", s)], &when)
			at, err := time.Parse("3:04 pm on 2 January, 2006", when)
			if err != nil {
				t.Fatal(err)
			}
			for _, turn := range turns {
				seq++
				id := dag.ExternalTurnID("locomo", fmt.Sprint(n, turn.DiaID))
				ids[turn.DiaID] = id
				if err := x.Add(retrieval.Turn{ID: id, Conversation: dag.ExternalConversationID("locomo", fmt.Sprint(n, s)), Seq: seq, Author: turn.Speaker, CreatedAt: dag.Time(at.UnixMicro()), Content: turn.Text}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, q := range c.QA {
			gold := map[dag.TurnID]bool{}
			for _, e := range q.Evidence {
				for _, one := range strings.FieldsFunc(e, func(r rune) bool { return r == ';' || r == ' ' || r == ',' }) {
					if id, ok := ids[one]; ok {
						gold[id] = true
					}
				}
			}
			if len(gold) == 0 || q.Category == 5 {
				continue
			}
			questions++
			begun := time.Now()
			hits := x.Search(&policy, &retrieval.Query{Text: q.Question, AsOf: seq, Limit: 10})
			took += time.Since(begun)
			found := 0
			for _, h := range hits {
				if gold[h.Turn.ID] {
					found++
				}
			}
			recall += float64(found) / float64(len(gold))
		}
	}
	t.Logf("%d questions, recall@10 %.4f, %s each", questions, recall/float64(questions), took/time.Duration(questions))
}
