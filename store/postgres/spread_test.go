package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// A spread is a store whose partitions lie on three servers, by the SQL of
// docs/scaling.md.
type spread struct {
	t       *testing.T
	primary *pgtest.Server
	shards  []*pgtest.Server
	blocks  []string // of the document
	url     string   // of the primary's database, as a role that is no superuser
}

// The places that the document names for its blocks.
const (
	blockShardOnce = iota
	blockPrimaryOnce
	blockShardTables
	blockMove
	blocks
)

// local is the number of the first partition that stays; the others go to the shards by turns.
const local = 12

func newSpread(t *testing.T) *spread {
	t.Helper()
	pgtest.Need(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Partitions on other servers\n")
	if _, rest, found := strings.Cut("\n"+string(text), "\n## Partitions on other servers\n"); found {
		section, _, _ = strings.Cut(rest, "\n## ")
	}
	s := &spread{t: t}
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1) {
		s.blocks = append(s.blocks, found[1])
	}
	if len(s.blocks) != blocks {
		t.Fatalf("docs/scaling.md has %d blocks of SQL on partitions, want %d", len(s.blocks), blocks)
	}
	settings := map[string]string{"max_connections": "200"}
	s.primary = pgtest.Run(t, pgtest.Options{Settings: settings})
	if err := s.primary.Exec(t.Context(), "postgres", "CREATE ROLE kernel LOGIN; CREATE DATABASE kernel OWNER kernel"); err != nil {
		t.Fatal(err)
	}
	s.url = as("kernel", s.primary.URL("kernel"))
	if _, err := postgres.Migrate(t.Context(), s.url, false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		shard := pgtest.Run(t, pgtest.Options{Settings: settings})
		askPassword(t, shard)
		s.shards = append(s.shards, shard)
		s.run(blockShardOnce, shard.URL("postgres"), 0)
		s.run(blockPrimaryOnce, s.primary.URL("kernel"), 0)
	}
	return s
}

// as gives a URL with another user, and the password.
func as(user, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.User = url.UserPassword(user, "secret")
	return u.String()
}

// askPassword makes a server ask the role graphkernel for its password, as one of
// another machine would.
func askPassword(t *testing.T, s *pgtest.Server) {
	t.Helper()
	file := filepath.Join(s.Folder(), "pg_hba.conf")
	rules, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("host all graphkernel 127.0.0.1/32 scram-sha-256\n"), rules...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
}

// shard gives the shard of a partition, or the last one that was started.
func (s *spread) shard(partition int) int {
	if len(s.shards) < 2 {
		return 0
	}
	return partition % 2
}

// run runs a block of the document, with its placeholders filled in.
func (s *spread) run(block int, address string, partition int) {
	s.t.Helper()
	n := s.shard(partition)
	if block == blockPrimaryOnce {
		n = len(s.shards) - 1
	}
	text := s.blocks[block]
	for _, p := range []struct{ name, value string }{
		{"SHARD", fmt.Sprintf("shard%d", n+1)}, {"HOST", "127.0.0.1"}, {"PORT", strconv.Itoa(s.shards[n].Port())},
		{"ROLE", "kernel"}, {"PASSWORD", "secret"}, {"NN", fmt.Sprintf("%02d", partition)}, {"N", strconv.Itoa(partition)},
	} {
		// CREATE ROLE and PASSWORD 'PASSWORD' are SQL; a placeholder follows neither.
		text = placeholder(p.name).ReplaceAllString(text, "${1}"+p.value)
	}
	if err := execute(s.t.Context(), address, text); err != nil {
		s.t.Fatalf("block %d of docs/scaling.md, partition %d: %v\n%s", block, partition, err, text)
	}
}

// placeholder matches a name where it does not stand for itself.
func placeholder(name string) *regexp.Regexp {
	switch name {
	case "ROLE":
		return regexp.MustCompile(`((?:FOR|TO|AUTHORIZATION) )ROLE\b`)
	case "PASSWORD":
		return regexp.MustCompile(`(')PASSWORD\b`)
	case "NN":
		return regexp.MustCompile(`(_)NN(?:\b|(_))`)
	case "N":
		return regexp.MustCompile(`(REMAINDER )N\b`)
	}
	return regexp.MustCompile(`()\b` + name + `\b`)
}

// move moves all partitions below local.
func (s *spread) move() {
	s.t.Helper()
	for partition := range local {
		s.run(blockShardTables, as("graphkernel", s.shards[s.shard(partition)].URL("graphkernel")), partition)
		s.run(blockMove, s.url, partition)
	}
}

// execute runs statements, separated by semicolons.
func execute(ctx context.Context, address, sql string) error {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = c.PgConn().Exec(ctx, sql).ReadAll()
	return errors.Join(err, c.Close(ctx))
}

// onShards counts the rows of turns and runs on the shards that a condition on their
// numbers meets.
func (s *spread) onShards(condition string) (count int) {
	s.t.Helper()
	for partition := range local {
		for _, table := range []struct{ name, number string }{{"turns", "seq"}, {"runs", "last"}} {
			sql := fmt.Sprintf("SELECT count(*) FROM %s_%02d WHERE %s", table.name, partition, strings.ReplaceAll(condition, "NUMBER", table.number))
			text, err := s.shards[s.shard(partition)].Value(s.t.Context(), "graphkernel", sql)
			if err != nil {
				s.t.Fatal(err)
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				s.t.Fatal(err)
			}
			count += n
		}
	}
	return count
}

func (s *spread) open(o postgres.Options) *postgres.Store {
	s.t.Helper()
	o.Connections = 8
	st, err := postgres.Open(s.t.Context(), s.url, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = st.Close() })
	return st
}

// check lets the suite's checker look at all there is.
func (s *spread) check(when string, st store.Store) {
	s.t.Helper()
	if err := storetest.Check(s.t.Context(), st, dag.DefaultTenant); err != nil {
		s.t.Fatalf("%s: %v", when, err)
	}
}

// kernelOver gives a kernel that has nothing in its caches.
func kernelOver(t *testing.T, st store.Store, ring token.Keyring) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(kernel.Config{Store: st, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const talks = 24

func talk(n int) dag.ConversationID { return dag.ExternalConversationID("spread", strconv.Itoa(n)) }

func said(n, turn int) dag.TurnID {
	return dag.ExternalTurnID("spread", fmt.Sprintf("%d/%d", n, turn))
}

// turnsOf gives drafts of each conversation, the first of which is numbered from, with
// an edge from each conversation to the next.
func turnsOf(from, to int) (drafts []dag.Draft) {
	for n := range talks {
		for turn := from; turn < to; turn++ {
			d := dag.Draft{
				ID: said(n, turn), Conversation: talk(n), Role: dag.RoleUser, CreatedAt: dag.Time(turn + 1), Author: "human:guest",
				Content: fmt.Sprintf("turn %d of %d", turn, n), Attrs: map[string]string{dag.AttrExternalID: fmt.Sprintf("%d/%d", n, turn%7)},
			}
			if turn > 0 {
				d.Parents = append(d.Parents, dag.Parent{ID: said(n, turn-1), Kind: dag.Reply})
			}
			if turn == 5 && n > 0 {
				d.Parents = append(d.Parents, dag.Parent{ID: said(n-1, 3), Kind: dag.Branch})
			}
			drafts = append(drafts, d)
		}
	}
	return drafts
}

func ringOf(t *testing.T) token.Keyring {
	t.Helper()
	ring, err := token.EphemeralKeyring()
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// cutAll cuts a slice at each of two turns of each conversation.
func cutAll(t *testing.T, k *kernel.Kernel) (bundles [][]byte) {
	t.Helper()
	for n := range talks {
		for _, turn := range []int{2, 9} {
			issued, err := k.Slice(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: said(n, turn)})
			if err != nil {
				t.Fatal(err)
			}
			bundles = append(bundles, issued.Bundle)
		}
	}
	return bundles
}

// sameAgain cuts the slices of bundles again, as of then, and wants the same bytes.
func sameAgain(t *testing.T, k *kernel.Kernel, bundles [][]byte) {
	t.Helper()
	for _, bundle := range bundles {
		b, err := parseBundle(bundle)
		if err != nil {
			t.Fatal(err)
		}
		issued, err := k.Slice(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: b.Anchor, AsOf: b.AsOf})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(issued.Bundle, bundle) {
			t.Fatalf("the slice of %s as of %d has other bytes than before", b.Anchor, b.AsOf)
		}
	}
}
