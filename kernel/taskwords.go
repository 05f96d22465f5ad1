package kernel

import (
	"context"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// taskWords keeps the tasks of a tenant's contexts, so that an erasure finds the tasks with the words of a turn without reading the record again. A task
// that was erased is dropped when its erasure is recorded here; one that another process erased is found once more, and erasing it has no effect.
type taskWords struct {
	mu   sync.Mutex
	upTo uint64 // the number of the last record that was read
	of   map[slice.SliceID]string
	size int // bytes of these texts
}

// mostTaskWords bounds the bytes of the cached tasks of a tenant. Beyond it, each erasure reads the record again.
const mostTaskWords = 16 << 20

// fewWords is the least length of a normal form, in bytes, that counts as part of a longer text. A shorter one, such as "go on", has to be all of it.
const fewWords = 24

// hasWords reports whether two normal forms are the same, or one has the other as a part. The text "" has no words.
func hasWords(a, b string) bool {
	return a != "" && a == b || len(b) >= fewWords && strings.Contains(a, b) || len(a) >= fewWords && strings.Contains(b, a)
}

// tasksWith returns the contexts whose tasks have words of a text.
func (c *cache) tasksWith(ctx context.Context, tenant dag.Tenant, text string) (found []slice.SliceID, err error) {
	want := normalize.Words(text)
	if want == "" {
		return nil, nil
	}
	t := c.taskWords(tenant)
	t.mu.Lock()
	defer t.mu.Unlock()
	const page = 500
	for {
		list, err := issued.Base{History: c.store}.After(ctx, tenant, t.upTo, page)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if r := &list[i]; r.OfContext() && r.Question != "" {
				q, err := contexts.ParseRequest(r.Question)
				if err != nil {
					return nil, err
				}
				task := normalize.Words(q.Task)
				t.of[r.Provenance.SliceID] = task
				t.size += len(task)
			}
			t.upTo = list[i].Number
		}
		if len(list) < page {
			break
		}
	}
	for id, task := range t.of {
		if hasWords(task, want) {
			found = append(found, id)
		}
	}
	if t.size > mostTaskWords {
		t.upTo, t.of, t.size = 0, map[slice.SliceID]string{}, 0
	}
	return found, nil
}

// taskWords returns the cached tasks of a tenant.
func (c *cache) taskWords(tenant dag.Tenant) *taskWords {
	t, _ := c.tasks.LoadOrStore(tenant, &taskWords{of: map[slice.SliceID]string{}})
	return t.(*taskWords)
}

// forgetTask drops the cached task of a context.
func (c *cache) forgetTask(tenant dag.Tenant, id slice.SliceID) {
	t := c.taskWords(tenant)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size -= len(t.of[id])
	delete(t.of, id)
}

// eraseTasks erases the tasks that have words of a turn, and returns the contexts whose tasks they were. A task that was erased before is none of them.
func (k *engine) eraseTasks(ctx context.Context, tenant dag.Tenant, text, reason string, at dag.Time) (erased []slice.SliceID, err error) {
	c := k.kept.Load()
	found, err := c.tasksWith(ctx, tenant, text)
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		e, err := k.bundles().EraseTask(ctx, tenant, issued.TaskErasure{Context: id, Reason: reason, At: at, By: access.CallerIn(ctx)})
		c.recorded.Purge()
		if err != nil {
			return erased, err
		}
		c.forgetTask(tenant, id)
		if e.At == at && e.Reason == reason {
			erased = append(erased, id)
		}
	}
	return erased, nil
}
