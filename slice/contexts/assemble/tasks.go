package assemble

import (
	"context"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// Tasks caches the tasks of recorded contexts, so that an erasure finds the tasks with the words of a turn without reading the record again. Forget drops
// an erased task. A task that another process erased is still found, and erasing it again has no effect.
type Tasks struct {
	record issued.Base
	of     sync.Map // the *tenantTasks of each tenant
}

// NewTasks returns an empty cache of the tasks on record.
func NewTasks(record issued.Base) *Tasks { return &Tasks{record: record} }

// tenantTasks are the tasks of one tenant.
type tenantTasks struct {
	mu   sync.Mutex
	upTo uint64 // the number of the last record that was read
	of   map[slice.SliceID]string
	size int // bytes of these texts
}

// mostTaskWords is the maximum size of the cached tasks of a tenant, in bytes. If they are larger, they are dropped and each erasure reads the record again.
const mostTaskWords = 16 << 20

// fewWords is the minimum length of a normal form, in bytes, that is searched for in longer texts. A shorter one, such as "go on", must equal the whole text.
const fewWords = 24

// hasWords reports whether two normal forms are equal, or one contains the other. The text "" has no words.
func hasWords(a, b string) bool {
	return a != "" && a == b || len(b) >= fewWords && strings.Contains(a, b) || len(a) >= fewWords && strings.Contains(b, a)
}

// With returns the contexts whose tasks have the words of a text, see hasWords. The first call for a tenant reads the whole record, later calls only new records.
func (c *Tasks) With(ctx context.Context, tenant dag.Tenant, text string) (found []slice.SliceID, err error) {
	want := normalize.Words(text)
	if want == "" {
		return nil, nil
	}
	t := c.tenant(tenant)
	t.mu.Lock()
	defer t.mu.Unlock()
	const page = 500
	for {
		list, err := c.record.After(ctx, tenant, t.upTo, page)
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

// Forget drops the task of a context.
func (c *Tasks) Forget(tenant dag.Tenant, id slice.SliceID) {
	t := c.tenant(tenant)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size -= len(t.of[id])
	delete(t.of, id)
}

func (c *Tasks) tenant(tenant dag.Tenant) *tenantTasks {
	t, _ := c.of.LoadOrStore(tenant, &tenantTasks{of: map[slice.SliceID]string{}})
	return t.(*tenantTasks)
}
