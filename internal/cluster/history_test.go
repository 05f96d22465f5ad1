package cluster

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/graphkernel/graphkernel/dag"
)

// A turnSet holds numbers of turns of one conversation, from 0 to mostTurns-1.
type turnSet [3]uint64

const mostTurns = 192

func (s turnSet) with(turn int) turnSet {
	s[turn/64] |= 1 << (turn % 64)
	return s
}

func (s turnSet) has(turn int) bool { return s[turn/64]>>(turn%64)&1 == 1 }

func (s turnSet) String() string {
	var b strings.Builder
	for turn, from := 0, -1; turn <= mostTurns; turn++ {
		switch in := turn < mostTurns && s.has(turn); {
		case in && from < 0:
			from = turn
		case !in && from >= 0:
			fmt.Fprintf(&b, " %d–%d", from, turn-1)
			from = -1
		}
	}
	return "{" + strings.TrimSpace(b.String()) + "}"
}

// A call is what a client asked for: a turn to be admitted, or a slice.
type call struct {
	conversation int
	turn         int // to be admitted; noTurn for a slice
}

const noTurn = -1

// An answer is what it was told.
type answer struct {
	seq   dag.Seq // the turn's number, or that which the slice is as of
	shown turnSet // by the slice
}

// A conversation is the state of the model: the turns that are admitted, and the
// greatest number that anything has told of. Turns come with greater numbers; slices with
// no smaller one, showing exactly what is admitted.
type conversation struct {
	turns turnSet
	told  dag.Seq
}

var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		of := map[int][]porcupine.Operation{}
		for _, o := range history {
			c := o.Input.(call).conversation
			of[c] = append(of[c], o)
		}
		return slices.Collect(maps.Values(of))
	},
	Init: func() any { return conversation{} },
	Step: func(state, input, output any) (bool, any) {
		s, c, a := state.(conversation), input.(call), output.(answer)
		if c.turn == noTurn {
			return a.shown == s.turns && a.seq >= s.told, conversation{s.turns, max(s.told, a.seq)}
		}
		return !s.turns.has(c.turn) && a.seq > s.told, conversation{s.turns.with(c.turn), a.seq}
	},
	DescribeOperation: func(input, output any) string {
		c, a := input.(call), output.(answer)
		if c.turn == noTurn {
			return fmt.Sprintf("slice as of %d: %v", a.seq, a.shown)
		}
		return fmt.Sprintf("admit %d as number %d", c.turn, a.seq)
	},
	DescribeState: func(state any) string {
		s := state.(conversation)
		return fmt.Sprintf("%v, told of %d", s.turns, s.told)
	},
}

// tenantModel looks at the numbers of all conversations together: the state is the
// head, which a turn moves by one and a slice is as of.
var tenantModel = porcupine.Model{
	Init: func() any { return dag.Seq(0) },
	Step: func(state, input, output any) (bool, any) {
		head, a := state.(dag.Seq), output.(answer)
		if input.(call).turn == noTurn {
			return a.seq == head, head
		}
		return a.seq == head+1, a.seq
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("conversation %d: %s", input.(call).conversation, model.DescribeOperation(input, output))
	},
}

// patience bounds the search for an order. It takes milliseconds when there is one.
const patience = time.Minute

// linearizable checks a history with both models. If one refuses it, it returns an error
// that names a file which shows the history.
func linearizable(history []porcupine.Operation) error {
	for _, m := range []struct {
		name  string
		model porcupine.Model
	}{{"conversations", model}, {"tenant", tenantModel}} {
		result, info := porcupine.CheckOperationsVerbose(m.model, history, patience)
		if result == porcupine.Ok {
			continue
		}
		folder, err := os.MkdirTemp("", "graphkernel-history-") // it outlives the test
		if err != nil {
			return err
		}
		path := filepath.Join(folder, m.name+".html")
		if err := porcupine.VisualizePath(m.model, info, path); err != nil {
			return err
		}
		return fmt.Errorf("the history of %d operations is not linearizable by the model of %s (%s); see %s", len(history), m.name, result, path)
	}
	return nil
}

// TestHistories shows the checker histories that it must accept and refuse.
func TestHistories(t *testing.T) {
	admit := func(turn int, seq dag.Seq, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: call{0, turn}, Output: answer{seq: seq}, Call: from, Return: to}
	}
	cut := func(asOf dag.Seq, from, to int64, turns ...int) porcupine.Operation {
		var shown turnSet
		for _, turn := range turns {
			shown = shown.with(turn)
		}
		return porcupine.Operation{Input: call{0, noTurn}, Output: answer{asOf, shown}, Call: from, Return: to}
	}
	elsewhere := func(seq dag.Seq, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: call{1, 0}, Output: answer{seq: seq}, Call: from, Return: to}
	}
	first := admit(0, 1, 0, 10)
	for _, c := range []struct {
		name    string
		history []porcupine.Operation
		want    bool
	}{
		{"one after the other", []porcupine.Operation{first, cut(1, 11, 20, 0), admit(1, 2, 21, 30), cut(2, 31, 40, 0, 1)}, true},
		{"seen before it was acknowledged", []porcupine.Operation{first, admit(1, 2, 20, 60), cut(2, 30, 40, 0, 1), cut(2, 50, 70, 0, 1)}, true},
		{"not yet seen while it was on its way", []porcupine.Operation{first, admit(1, 2, 20, 60), cut(1, 30, 70, 0)}, true},
		{"a stale slice", []porcupine.Operation{first, admit(1, 2, 20, 30), cut(1, 31, 40, 0)}, false},
		{"a stale slice that says it is not", []porcupine.Operation{first, admit(1, 2, 20, 30), cut(2, 31, 40, 0)}, false},
		{"seen and then not", []porcupine.Operation{first, admit(1, 2, 20, 60), cut(2, 21, 30, 0, 1), cut(1, 31, 40, 0)}, false},
		{"seen before it was asked for", []porcupine.Operation{first, cut(2, 11, 19, 0, 1), admit(1, 2, 20, 30)}, false},
		{"a turn without another before it", []porcupine.Operation{first, admit(1, 2, 20, 30), admit(2, 3, 40, 50), cut(3, 60, 70, 0, 2)}, false},
		{"a turn that nobody admitted", []porcupine.Operation{first, cut(1, 20, 30, 0, 7)}, false},
		{"a number given twice", []porcupine.Operation{first, admit(1, 2, 20, 30), admit(2, 2, 20, 30)}, false},
		{"numbers against time", []porcupine.Operation{first, admit(1, 3, 20, 30), admit(2, 2, 40, 50)}, false},
		{"a number left out", []porcupine.Operation{first, admit(1, 3, 20, 30)}, false},
		{"stale in the other conversation's eyes", []porcupine.Operation{first, elsewhere(2, 20, 30), cut(1, 40, 50, 0)}, false},
	} {
		history := slices.Clone(c.history)
		err := linearizable(history)
		if (err == nil) != c.want {
			t.Errorf("%s: got %v, want accepted: %t", c.name, err, c.want)
		}
		if err == nil {
			continue
		}
		_, path, named := strings.Cut(err.Error(), "; see ")
		if info, statErr := os.Stat(path); !named || statErr != nil || info.Size() == 0 {
			t.Errorf("%s: no history is shown: %v", c.name, err)
		}
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Error(err)
		}
	}
}
