package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/ledger"
)

// An Asker asks witnesses to cosign the checkpoints of a log. It remembers the last size of each witness, so that one
// request suffices if no one else asks for the same log. It is safe for concurrent use.
type Asker struct {
	http      *http.Client
	witnesses []ledger.TrustedWitness

	mu   sync.Mutex
	last map[place]uint64 // guarded by mu; the size of a log at a witness, as far as it is known
}

type place struct {
	witness int
	origin  string
}

// NewAsker returns an asker for the witnesses that have a URL.
func NewAsker(client *http.Client, all []ledger.TrustedWitness) *Asker {
	a := &Asker{http: client, last: map[place]uint64{}}
	for _, w := range all {
		if w.URL != "" {
			a.witnesses = append(a.witnesses, w)
		}
	}
	return a
}

// A Refusal is the reason why a witness did not cosign.
type Refusal struct {
	Witness string
	Err     error
}

func (r Refusal) Error() string { return r.Witness + ": " + r.Err.Error() }

// Collect asks all witnesses in parallel to cosign a checkpoint, and returns the checkpoint with their signature lines.
// prove returns the consistency proof from a size to the checkpoint's. It is no error if witnesses refuse or are out of
// reach: the verifier decides whether there are enough cosignatures.
func (a *Asker) Collect(ctx context.Context, signed []byte, prove func(ctx context.Context, old uint64) ([]ledger.Hash, error)) ([]byte, []Refusal, error) {
	c, err := ledger.ReadCheckpoint(signed)
	if err != nil {
		return nil, nil, err
	}
	answers := make([][]byte, len(a.witnesses))
	errs := make([]error, len(a.witnesses))
	var all sync.WaitGroup
	for i := range a.witnesses {
		all.Go(func() { answers[i], errs[i] = a.ask(ctx, i, c, signed, prove) })
	}
	all.Wait()
	var refusals []Refusal
	for i, w := range a.witnesses {
		var added []ledger.Key
		if errs[i] == nil {
			signed, added, errs[i] = addLines(signed, answers[i], w.Key)
		}
		if errs[i] == nil && len(added) == 0 {
			errs[i] = errors.New("its answer has no valid cosignature by its key")
		}
		if errs[i] != nil {
			refusals = append(refusals, Refusal{w.Name, errs[i]})
		}
	}
	return signed, refusals, nil
}

// addLines is AddSignatures, but returns the unchanged note if the lines are malformed.
func addLines(signed, lines []byte, key ledger.Key) ([]byte, []ledger.Key, error) {
	more, added, err := ledger.AddSignatures(signed, lines, []ledger.Key{key})
	if err != nil {
		return signed, nil, err
	}
	return more, added, nil
}

// ask asks one witness, and asks again if the witness is at another size than expected.
func (a *Asker) ask(ctx context.Context, i int, c ledger.Checkpoint, signed []byte, prove func(context.Context, uint64) ([]ledger.Hash, error)) ([]byte, error) {
	at := place{i, c.Origin}
	a.mu.Lock()
	old := a.last[at]
	a.mu.Unlock()
	const tries = 3
	for range tries {
		if old > c.Size {
			return nil, fmt.Errorf("%w: it has cosigned %d leaves, but the checkpoint has only %d", ErrAhead, old, c.Size)
		}
		proof, err := prove(ctx, old)
		if err != nil {
			return nil, err
		}
		request := ledger.AddCheckpoint{Old: old, Proof: proof, Checkpoint: signed}
		lines, now, err := a.post(ctx, a.witnesses[i].URL, request.Append(nil))
		if err != nil {
			return nil, err
		}
		if lines != nil {
			a.mu.Lock()
			a.last[at] = max(a.last[at], c.Size)
			a.mu.Unlock()
			return lines, nil
		}
		if now == old {
			return nil, fmt.Errorf("%w: it has cosigned a different root for %d leaves", ErrFork, old)
		}
		old = now
	}
	return nil, errors.New("its checkpoint changed at every try; try again")
}

// post sends one request. On a conflict, lines is nil and size is the size that the witness cosigned last.
func (a *Asker) post(ctx context.Context, prefix string, body []byte) (lines []byte, size uint64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(prefix, "/")+"/add-checkpoint", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	answer, err := a.http.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	const most = 64 << 10
	text, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, 0, err
	}
	if len(text) > most {
		return nil, 0, fmt.Errorf("its answer has more than %d bytes", most)
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return append([]byte{}, text...), 0, nil
	case http.StatusConflict:
		size, err := strconv.ParseUint(strings.TrimSuffix(string(text), "\n"), 10, 64)
		if err != nil || size > ledger.MaxSize {
			return nil, 0, fmt.Errorf("it answers 409 with %.40q, want a size", text)
		}
		return nil, size, nil
	case http.StatusUnprocessableEntity:
		return nil, 0, fmt.Errorf("%w: it answers 422: %.200q", ErrFork, text)
	}
	return nil, 0, fmt.Errorf("it answers %d: %.200q", answer.StatusCode, text)
}
