package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
)

// boundPage is what a page of the console may take at the 95th percentile, however large the store is.
const boundPage = 300 * time.Millisecond

// pagesHandedOut is how many slices and contexts a store has whose pages are measured.
const pagesHandedOut = 500

// pagesBelieved is how many statements are believed in a space of that store. Each is a fact, too.
const pagesBelieved = 10_000

// pages measures the console's pages over HTTP, on a SQLite store of so many turns.
func pages(ctx context.Context, r *report, y *yard, turns, length, rounds int) (err error) {
	l := newLibrary(turns, length)
	s, a, err := y.keyed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	id, err := identity.New(rand.NewChaCha8([32]byte{1}), "bench.example", 0)
	if err != nil {
		return err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: a, Clock: time.Now, Identity: id})
	if err != nil {
		return err
	}
	if err := l.admit(ctx, k); err != nil {
		return err
	}
	b, err := newBeliever(ctx, k, dag.DefaultTenant)
	if err != nil {
		return err
	}
	if err := b.load(ctx, pagesBelieved); err != nil {
		return err
	}
	shown, err := l.handOut(ctx, k)
	if err != nil {
		return err
	}
	site, err := serve(ctx, k)
	if err != nil {
		return err
	}
	defer site.stop()
	var candidates []*candidate
	for _, p := range l.addresses(shown) {
		c := &candidate{name: p.name, run: func(ctx context.Context, i int) error { return read(ctx, site.url+p.path(i), site.key) }}
		if err := c.warm(ctx, 1); err != nil {
			return err
		}
		candidates = append(candidates, c)
	}
	if err := inTurn(ctx, rounds, candidates); err != nil {
		return err
	}
	rows := make([]row, len(candidates))
	for i, c := range candidates {
		rows[i] = rowOf(c, nil, bound{"p95 ≤ " + boundPage.String(), c.sample[len(c.sample)*95/100] <= boundPage})
	}
	r.table(fmt.Sprintf("Pages of the console, %d turns in SQLite", turns), rows)
	return nil
}

// A site is a service over HTTP, with its console.
type site struct {
	url, key string
	stop     func()
}

// serve serves a kernel on loopback.
func serve(ctx context.Context, k *kernel.Kernel) (*site, error) {
	service, err := server.New(ctx, server.Config{
		Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Limits: server.Limits{Rate: -1},
		Pages: func(service http.Handler) ([]string, server.Pages, error) {
			c, err := console.New(console.Config{Service: service, Clock: time.Now, Version: "bench"})
			return c.Paths(), c, err
		},
	})
	if err != nil {
		return nil, err
	}
	key, _, err := k.Keys().Create(ctx, dag.DefaultTenant, access.Admin, "")
	if err != nil {
		service.Stop()
		return nil, err
	}
	at := httptest.NewServer(service)
	return &site{at.URL, key, func() {
		at.Close()
		service.Stop()
	}}, nil
}

// handedOut are ids of what was handed out.
type handedOut struct{ slices, contexts []string }

// handOut hands out slices and contexts of turns all over the store.
func (l *library) handOut(ctx context.Context, k *kernel.Kernel) (h handedOut, err error) {
	for i := range min(pagesHandedOut, len(l.turns)/2) {
		anchor := l.turns[(i*7919+len(l.turns)/2)%len(l.turns)].ID
		if i%5 > 0 {
			issued, err := k.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: anchor})
			if err != nil {
				return h, err
			}
			h.slices = append(h.slices, string(issued.Slice.Provenance.SliceID))
			continue
		}
		issued, err := k.Contexts().Assemble(ctx, dag.DefaultTenant, api.ContextRequest{Task: l.queries[i%len(l.queries)], Anchor: anchor.String()})
		if err != nil {
			return h, err
		}
		h.contexts = append(h.contexts, string(issued.Context.Provenance.SliceID))
	}
	return h, nil
}

// An address is a page with the path that is asked for the i-th time.
type address struct {
	name string
	path func(i int) string
}

// addresses are all pages, each of another turn, slice or query every time.
func (l *library) addresses(h handedOut) []address {
	always := func(path string) func(int) string { return func(int) string { return path } }
	turn := func(i int) string { return l.turns[(i*104_729)%len(l.turns)].ID.String() }
	sliced := func(i int) string { return h.slices[i*7%len(h.slices)] }
	put := func(i int) string { return h.contexts[i*7%len(h.contexts)] }
	search := func(more ...string) func(int) string {
		return func(i int) string {
			q := url.Values{"q": {l.queries[i%len(l.queries)]}}
			for j := 0; j+1 < len(more); j += 2 {
				q.Set(more[j], more[j+1])
			}
			return "/search?" + q.Encode()
		}
	}
	conversation := func(i int) string { return l.turns[(i*104_729)%len(l.turns)].Conversation.String() }
	return []address{
		{"/", always("/")},
		{"/search", search()},
		{"/search, of an author and a role, with reasons", search("author", "agent:a3", "role", "user", "explain", "1")},
		{"/search, since a date", search("since", "2023-11-20")},
		{"/search, the beginning of an id", func(i int) string { return "/search?q=" + turn(i)[:8] }},
		{"/conversations", always("/conversations")},
		{"/conversations/ID", func(i int) string { return "/conversations/" + conversation(i) }},
		{"/conversations/ID, from its middle", func(i int) string {
			return fmt.Sprintf("/conversations/%s?after=%d", conversation(i), l.turns[(i*104_729)%len(l.turns)].Seq)
		}},
		{"/turns/ID", func(i int) string { return "/turns/" + turn(i) }},
		{"/turns/ID, shortened", func(i int) string { return "/turns/" + turn(i)[:13] }},
		{"/slices", always("/slices")},
		{"/slices, contexts alone", always("/slices?kind=context")},
		{"/slices/ID", func(i int) string { return "/slices/" + sliced(i) }},
		{"/slices/ID, replayed", func(i int) string { return "/slices/" + sliced(i) + "?replay=1" }},
		{"/slices/ID, why a turn is out", func(i int) string { return "/slices/" + sliced(i) + "?explain=" + turn(i) }},
		{"/contexts/ID", func(i int) string { return "/contexts/" + put(i) }},
		{"/contexts/ID, replayed", func(i int) string { return "/contexts/" + put(i) + "?replay=1" }},
		{"/compare", func(i int) string { return "/compare?a=" + sliced(i) + "&b=" + put(i) }},
		{"/facts", always("/facts")},
		{"/facts/NAME", func(i int) string { return fmt.Sprintf("/facts/thing-%d", i*7919%pagesBelieved) }},
		{"/beliefs", always("/beliefs")},
		{"/beliefs, a space", always("/beliefs?space=" + string(spaceOf(pagesBelieved)))},
		{"/beliefs/why", func(i int) string {
			v := valued(i*7919%pagesBelieved, 0)
			return "/beliefs/why?" + url.Values{"space": {string(spaceOf(pagesBelieved))}, "subject": {v.Subject}, "predicate": {v.Predicate}, "object": {v.Object}}.Encode()
		}},
		{"/ledger, with proofs", func(i int) string { return fmt.Sprintf("/ledger?from=%d&leaf=%d", 1+i, i) }},
		{"/policies", always("/policies")},
		{"/policies/ID", always("/policies/default@2")},
		{"/keys", always("/keys")},
	}
}

// read asks for a page and reads all of it.
func read(ctx context.Context, address, key string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "</main>") {
		return fmt.Errorf("%s: status %d: %.300s", address, answer.StatusCode, text)
	}
	return nil
}
