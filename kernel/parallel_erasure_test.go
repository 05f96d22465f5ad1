package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestParallelErasures runs random histories in which hooks' contexts, contexts, slices, slices of facts and beliefs are asked for while turns are erased, by one kernel
// and by two that opened one store as two processes do. Afterwards no file has an erased word, no answer of any kind that is asked for then, and every record replays as identical or erased.
// Nobody is refused because others erase, except where the task itself has the words of an erased turn.
func TestParallelErasures(t *testing.T) {
	histories, least := 50, 5 // erasures of a history, on the average
	if testing.Short() {
		histories, least = 3, 3 // of so few
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, open := range readableStores {
		for kernels := 1; kernels <= 2; kernels++ {
			t.Run(fmt.Sprintf("%s/%d", name, kernels), func(t *testing.T) {
				asked, erased := 0, 0
				for n := range histories {
					a, e := parallelErasures(t, open(t), rand.New(rand.NewPCG(seed, uint64(n))), kernels)
					asked, erased = asked+a, erased+e
				}
				if asked < 20*histories || erased < least*histories {
					t.Errorf("%d questions were answered and %d turns erased: this shows little", asked, erased)
				}
			})
		}
	}
}

func parallelErasures(t *testing.T, s kerneltest.Readable, random *rand.Rand, kernels int) (asked, erased int) {
	ctx := access.As(t.Context(), access.Identity{Subject: access.Local, Role: access.Admin})
	var ks []*kernel.Kernel
	for n := range kernels {
		of := store.Store(s)
		if n > 0 {
			of = s.Again()
		}
		ks = append(ks, over(t, of, token.NewAuthority(ring(t, "k1"))))
	}
	const turns, clients, questions = 16, 4, 6
	word := func(i int) string { return fmt.Sprintf("zyx%dword", i) }
	var ids []dag.TurnID
	var drafts []dag.Draft
	for i := range turns {
		role := []dag.Role{dag.RoleUser, dag.RoleAssistant}[i%2]
		d := dag.Draft{
			ID: dag.ExternalTurnID("parallel", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("parallel", fmt.Sprint(i/8)), Role: role, Author: []string{"human:user", "agent:a"}[i%2],
			Content: fmt.Sprintf("The orders table and %s of the migration.", word(i)), CreatedAt: dag.Time(1_780_000_000_000_000 + int64(i)*60_000_000), Attrs: map[string]string{"cwd": "/shop"},
		}
		if i%8 > 0 {
			d.Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
		}
		ids, drafts = append(ids, d.ID), append(drafts, d)
	}
	must(ks[0].Turns().Admit(ctx, tenant, drafts))
	believing(t, ks[0])
	var stated []belief.Literal
	for i := range 4 {
		r := asking(journal.Revise, "orders", fmt.Sprint("has ", i), word(4*i))
		r.Turns = []dag.TurnID{ids[4*i]}
		must(ks[0].Beliefs().Operate(ctx, tenant, r))
		stated = append(stated, belief.Literal{Subject: "orders", Predicate: fmt.Sprint("has ", i), Object: word(4 * i)})
	}

	gone := map[int]bool{}
	for range 5 + random.IntN(4) {
		gone[random.IntN(turns)] = true
	}
	var order []int
	for i := range gone {
		order = append(order, i)
	}
	errs := make(chan error, 1000)
	var all sync.WaitGroup
	answered := make([]int, clients)
	for c := range clients {
		k, own := ks[c%kernels], rand.New(rand.NewPCG(random.Uint64(), 1))
		all.Go(func() {
			for q := range questions {
				err := ask(ctx, k, own, ids, word, stated, q)
				if err == nil || errors.Is(err, issued.ErrErasedSince) { // a task of an erased turn
					answered[c]++
				} else {
					errs <- err
				}
			}
		})
	}
	all.Go(func() {
		for n, i := range order {
			if _, err := ks[n%kernels].Turns().Erase(ctx, tenant, ids[i], "asked for"); err != nil {
				errs <- fmt.Errorf("erasing: %w", err)
			}
		}
	})
	all.Wait()
	close(errs)
	for err := range errs {
		t.Errorf("refused: %v", err)
	}
	for _, n := range answered {
		asked += n
	}
	noErasedWord(t, ctx, s, ks, gone, word, ids)
	return asked, len(gone)
}

// ask asks for something of a random kind.
func ask(ctx context.Context, k *kernel.Kernel, random *rand.Rand, ids []dag.TurnID, word func(int) string, stated []belief.Literal, q int) error {
	at := random.IntN(len(ids))
	switch random.IntN(6) {
	case 0: // SessionStart
		of := []dag.TurnID{ids[at]}
		_, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{
			Task: "The orders table and " + word(at), Anchor: ids[len(ids)-1].String(), Fit: 4000, NonEmpty: true,
			Recipient: &api.Recipient{Agent: "a", Session: fmt.Sprint(q), Event: "SessionStart"}, Folders: []string{"/shop"}, TaskOf: of,
		})
		return ignore(err, assemble.ErrNothing) // all conversations were concerned
	case 1: // UserPromptSubmit
		_, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{
			Task: "what about the orders table", Fit: 4000, NonEmpty: true, Recipient: &api.Recipient{Agent: "a", Session: fmt.Sprint(q), Event: "UserPromptSubmit"}, Folders: []string{"/shop"},
		})
		return ignore(err, assemble.ErrNothing)
	case 2:
		_, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "orders table migration", Anchor: ids[at].String()})
		return err
	case 3:
		_, err := k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"orders"}})
		return err
	case 4:
		_, err := k.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: stated[random.IntN(len(stated))]})
		return ignore(err, kernel.ErrNotBelieved)
	}
	_, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[at]})
	return err
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// noErasedWord looks for the words of erased turns wherever there may be some.
func noErasedWord(t *testing.T, ctx context.Context, s kerneltest.Readable, ks []*kernel.Kernel, gone map[int]bool, word func(int) string, ids []dag.TurnID) {
	t.Helper()
	files := s.Read()
	var answers [][]byte
	for _, k := range append(ks, over(t, s, token.NewAuthority(ring(t, "k1")))) {
		c := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "the orders table of the migration", Anchor: ids[len(ids)-1].String()}))
		answers = append(answers, c.Bundle, must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[len(ids)-1]})).Bundle, must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"orders"}})).Bundle)
		var out bytes.Buffer
		must(k.Turns().Export(ctx, tenant, nil, &out))
		answers = append(answers, out.Bytes())
		for _, r := range must(k.Slices().After(ctx, tenant, 0, 999)) {
			answers = append(answers, []byte(r.Question))
			if replay := must(k.Slices().ReplayIssued(ctx, tenant, r.Provenance.SliceID)); replay.Outcome != kernel.Identical && replay.Outcome != kernel.Erased {
				t.Errorf("record %d, %s: replay %s, %s", r.Number, r.Provenance.SchemaVersion, replay.Outcome, replay.Reason)
			}
		}
	}
	for i := range gone {
		if holds(files, word(i)) {
			t.Errorf("a file has the word of turn %d", i)
		}
		if holds(answers, word(i)) {
			t.Errorf("an answer has the word of turn %d", i)
		}
	}
	if kept := strings.Join([]string{word(0), word(1)}, ""); len(gone) == len(ids) || kept == "" {
		t.Error("everything was erased: this shows nothing")
	}
}
