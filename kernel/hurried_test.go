package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/observed"
	"github.com/graphkernel/graphkernel/token"
)

// TestHurried asks for contexts while the index is behind, and while somebody else reads what it lacks: a hurried request is refused with the number that the index reaches, waits for
// nobody, and as of that number is what a patient kernel gives.
func TestHurried(t *testing.T) {
	ctx := t.Context()
	blocks := make(chan struct{}, 1) // holds a value while texts are not to be read
	reading := make(chan struct{}, 100)
	backing := inmem.Open(&inmem.Disk{}, inmem.Options{})
	watched := observed.New(backing, func(ctx context.Context, call string) (context.Context, func(error)) {
		if call == "scan" || call == "turns" {
			select {
			case reading <- struct{}{}:
			default:
			}
			blocks <- struct{}{}
			<-blocks
		}
		return ctx, func(error) {}
	})
	open := func(texts int) *kernel.Kernel {
		k, err := kernel.Open(kernel.Config{Store: watched, Authority: token.NewAuthority(ring(t, "k1")), Clock: time.Now, IndexTexts: texts})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := open(segments.TextsOfRequest)
	for n := range 20 {
		talk(t, k, fmt.Sprint("before ", n))
	}
	r := api.ContextRequest{Task: "why did migration 042 delete the orders table"}
	if _, err := k.Contexts().Preview(ctx, tenant, r); err != nil {
		t.Fatal(err)
	}
	reached := must(k.Turns().Head(ctx, tenant))
	for n := range 20 {
		talk(t, k, fmt.Sprint("after ", n))
	}
	head := must(k.Turns().Head(ctx, tenant))

	var behind *projection.IndexingError
	if _, err := k.Contexts().Preview(projection.Hurried(ctx, 100), tenant, r); !errors.As(err, &behind) || behind.Reached != reached || behind.Wanted != head || !errors.Is(err, projection.ErrIndexing) {
		t.Fatalf("%d texts behind: %v", head-reached, err)
	}
	asOf := func(k *kernel.Kernel, ctx context.Context, n dag.Seq) []byte {
		t.Helper()
		r := r
		r.AsOf = n
		return must(k.Contexts().Preview(ctx, tenant, r)).Render()
	}
	patient := asOf(open(0), ctx, reached)
	if got := asOf(k, projection.Hurried(ctx, 100), reached); !bytes.Equal(got, patient) {
		t.Errorf("as of %d:\n%s\nand a patient kernel\n%s", reached, got, patient)
	}

	// Somebody else reads, and is held up. A hurried request neither waits nor reads.
	for len(reading) > 0 {
		<-reading
	}
	blocks <- struct{}{}
	other := make(chan error, 1)
	go func() {
		_, err := k.Contexts().Preview(ctx, tenant, r)
		other <- err
	}()
	<-reading
	if _, err := k.Contexts().Preview(projection.Hurried(ctx, 1000), tenant, r); !errors.As(err, &behind) || behind.Reached != reached {
		t.Errorf("while others read: %v", err)
	}
	<-blocks
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	if got, want := asOf(k, projection.Hurried(ctx, 0), head), asOf(open(0), ctx, head); !bytes.Equal(got, want) {
		t.Error("a hurried request over a whole index gives another context")
	}

	// As few as it may read, it reads.
	talk(t, k, "one more")
	if _, err := k.Contexts().Preview(projection.Hurried(ctx, 5), tenant, r); !errors.Is(err, projection.ErrIndexing) {
		t.Errorf("six texts behind, and five may be read: %v", err)
	}
	if _, err := k.Contexts().Preview(projection.Hurried(ctx, 6), tenant, r); err != nil {
		t.Errorf("six texts behind, and six may be read: %v", err)
	}

	// An index whose segments nobody makes is not waited for, either.
	plain := retrieval.DefaultPolicy()
	plain.Analyzer = analysis.None.String()
	if err := k.Policies().Register(ctx, tenant, must(policy.Bind("plain@1", plain))); err != nil {
		t.Fatal(err)
	}
	head = must(k.Turns().Head(ctx, tenant))
	asked := find.Request{Policy: "plain@1", Query: retrieval.Query{Text: "orders", Limit: 1}}
	if found := must(k.Turns().Search(projection.Hurried(ctx, 0), tenant, asked)); found.NotIndexed != head || len(found.Hits) != 0 {
		t.Errorf("a search in an index that nobody makes: %+v", found)
	}
	if found := must(k.Turns().Search(ctx, tenant, asked)); found.NotIndexed != 0 || len(found.Hits) != 1 {
		t.Errorf("a patient search in it: %+v", found)
	}
}
