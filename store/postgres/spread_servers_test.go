package postgres_test

import (
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
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
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
	blockShardGuards
	blockPrimaryOnce
	blockShardTables
	blockMove
	blocks
)

// local is the number of the first partition that stays; the others go to the shards by turns.
const local = 4

func newSpread(t *testing.T) *spread {
	t.Helper()
	pgtest.Need(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut("\n"+string(text), "\n## Partitions on other servers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	s := &spread{t: t}
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1) {
		s.blocks = append(s.blocks, found[1])
	}
	if len(s.blocks) != blocks {
		t.Fatalf("docs/scaling.md has %d blocks of SQL on partitions, want %d", len(s.blocks), blocks)
	}
	settings := map[string]string{"max_connections": "200"}
	s.primary = pgtest.Run(t, pgtest.Options{Settings: settings})
	if err := execute(t.Context(), s.primary.URL("postgres"), "CREATE ROLE kernel LOGIN;\nCREATE DATABASE kernel OWNER kernel"); err != nil {
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
		s.run(blockShardGuards, as("graphkernel", shard.URL("graphkernel")), 0)
		s.run(blockPrimaryOnce, s.primary.URL("kernel"), 0)
	}
	return s
}

// as returns a URL with another user, and the password.
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

// shard returns the shard of a partition, or the last one that was started.
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
	if block == blockPrimaryOnce { // of the last one that was started
		n = len(s.shards) - 1
	}
	filled := map[string]string{
		"SHARD": fmt.Sprintf("shard%d", n+1), "HOST": "127.0.0.1", "PORT": strconv.Itoa(s.shards[n].Port()),
		"KERNEL": "kernel", "SECRET": "secret", "NN": fmt.Sprintf("%02d", partition), "N": strconv.Itoa(partition),
	}
	text := placeholders.ReplaceAllStringFunc(s.blocks[block], func(name string) string { return filled[name] })
	if err := execute(s.t.Context(), address, text); err != nil {
		s.t.Fatalf("block %d of docs/scaling.md, partition %d: %v\n%s", block, partition, err, text)
	}
}

var placeholders = regexp.MustCompile(`SHARD|\bHOST\b|\bPORT\b|KERNEL|SECRET|NN|\bN\b`)

// move moves all partitions below local.
func (s *spread) move() {
	s.t.Helper()
	for partition := range local {
		s.run(blockShardTables, as("graphkernel", s.shards[s.shard(partition)].URL("graphkernel")), partition)
		s.run(blockMove, s.url, partition)
	}
}

// execute runs statements one after the other, as psql does: each ends with a
// semicolon at the end of its line.
func execute(ctx context.Context, address, sql string) error {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	for statement := range strings.SplitAfterSeq(sql, ";\n") {
		if _, failed := c.Exec(ctx, statement); failed != nil {
			err = fmt.Errorf("%w in %s", failed, statement)
			break
		}
	}
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

// check looks at all there is.
func (s *spread) check(when string, st store.Store) {
	s.t.Helper()
	s.checkTenant(when, st, dag.DefaultTenant)
}

func (s *spread) checkTenant(when string, st store.Store, tenant dag.Tenant) {
	s.t.Helper()
	report, err := fsck.Tenant(s.t.Context(), st, tenant, fsck.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		s.t.Fatalf("%s: %v", when, err)
	}
}

// kernelOver returns a kernel that has nothing in its caches.
func kernelOver(t *testing.T, st store.Store, ring token.Keyring) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(kernel.Config{Store: st, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return k
}
