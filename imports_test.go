// Package graphkernel_test keeps the house in order: which room may use which.
package graphkernel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/graphkernel/graphkernel"

// mayImport lists, for each package, the packages of this module and the modules
// of others that its own files (not its tests) may import. The standard library
// is free, but for what never names.
var mayImport = map[string][]string{
	"dag":                    {"github.com/google/uuid"},
	"internal/bom":           {"golang.org/x/text/encoding/unicode"},
	"internal/canon":         {},
	"internal/pgtest":        {"github.com/jackc/pgx/v5"},
	"internal/pgstore":       {"internal/pgtest", "store/postgres", "github.com/jackc/pgx/v5"},
	"internal/faultproxy":    {},
	"internal/modeltest":     {},
	"internal/bytelru":       {"github.com/hashicorp/golang-lru/v2"},
	"internal/mac":           {},
	"internal/turnstile":     {},
	"internal/kerneltest":    {"api", "belief", "belief/journal", "belief/kinds", "belief/space", "dag", "golden", "history", "evidence", "history/heldback", "internal/pgstore", "kernel", "knowledge", "ledger", "ledger/identity", "ledger/witness", "policy", "store", "store/fsck", "store/inmem", "store/postgres", "store/sqlite", "token", "github.com/jackc/pgx/v5"},
	"internal/race":          {},
	"internal/userdir":       {},
	"internal/project":       {},
	"internal/ready":         {"internal/secretfile"},
	"internal/walk":          {},
	"capture":                {"internal/bom", "internal/project", "internal/secretfile", "internal/walk"},
	"capture/resident":       {},
	"capture/hook":           {"capture", "capture/resident", "guard", "internal/ready", "internal/secretfile"},
	"guard":                  {"dag", "internal/canon", "policy", "golang.org/x/text/unicode/norm"},
	"retention":              {"dag", "internal/canon", "policy"},
	"standing":               {"access", "dag", "internal/canon", "policy"},
	"standing/settings":      {"standing", "access", "dag", "history", "internal/canon", "policy"},
	"standing/census":        {"access", "api", "dag", "policy", "slice", "standing", "standing/settings", "store"},
	"internal/secretfile":    {},
	"internal/loopback":      {},
	"internal/markup":        {"maragu.dev/gomponents"},
	"internal/endpoint":      {"internal/loopback"},
	"ledger/identity":        {"dag", "history", "ledger", "internal/canon", "internal/secretfile", "golang.org/x/mod/sumdb/note"},
	"policy":                 {"dag", "internal/canon", "github.com/cespare/xxhash/v2"},
	"policy/standard":        {"belief/kinds", "belief/rules", "guard", "policy", "retention", "retrieval", "slice/contexts", "slice/facts", "standing"},
	"policy/registry":        {"internal/canon", "policy/standard", "dag", "history", "ledger", "policy"},
	"slice":                  {"standing", "dag", "policy", "internal/canon", "github.com/cespare/xxhash/v2", "golang.org/x/mod/sumdb/tlog"},
	"slice/issued":           {"slice/kinds", "history/erasures", "access", "internal/canon", "policy", "knowledge", "slice/facts", "dag", "history", "ledger", "slice"},
	"token":                  {"slice/kinds", "slice/beliefs", "slice/contexts", "dag", "slice/facts", "slice", "internal/canon", "internal/mac", "internal/secretfile", "github.com/hashicorp/golang-lru/v2"},
	"access":                 {"dag"},
	"access/apikeys":         {"access", "dag", "history", "ledger", "store", "internal/canon"},
	"ledger/notary":          {"api", "dag", "history", "history/erasures", "internal/bytelru", "ledger", "ledger/attest", "ledger/identity", "ledger/witness", "projection", "slice", "slice/issued", "slice/kinds", "store", "token"},
	"ledger/attest":          {"slice/kinds", "dag", "history", "ledger", "policy", "slice", "internal/canon", "github.com/google/uuid"},
	"ledger":                 {"dag", "internal/canon", "golang.org/x/mod/sumdb"},
	"golden":                 {"standing", "standing/settings", "dag", "policy", "slice", "token", "github.com/klauspost/compress/zstd"},
	"ingest":                 {"dag", "ingest/secrets", "internal/bom", "internal/canon", "internal/project", "internal/walk", "github.com/klauspost/compress/zstd"},
	"ingest/secrets":         {"dag"},
	"ingest/extract":         {"dag", "normalize"},
	"ingest/admission":       {"standing", "access", "api", "dag", "history", "history/erasures", "history/heldback", "ingest", "ingest/marks", "internal/bytelru", "projection", "slice", "store"},
	"ingest/marks":           {"dag", "history", "ingest", "ingest/extract", "internal/mac"},
	"ingest/llm":             {"internal/endpoint", "dag", "knowledge", "normalize", "internal/canon"},
	"normalize":              {"internal/bom", "internal/canon", "golang.org/x/text"},
	"history":                {"dag"},
	"history/follow":         {"dag", "history"},
	"history/erasures":       {"access", "dag", "history", "ledger", "internal/canon"},
	"history/heldback":       {"access", "dag", "history", "store", "internal/canon", "internal/mac", "normalize"},
	"belief":                 {"dag", "normalize"},
	"belief/journal":         {"belief", "dag", "history", "internal/canon", "knowledge", "normalize", "belief/said"},
	"belief/kinds":           {"belief", "dag", "internal/canon", "normalize", "policy", "belief/said"},
	"belief/persona":         {"belief", "belief/journal", "dag", "internal/canon", "ledger", "ledger/attest"},
	"belief/space":           {"access", "api", "belief", "belief/journal", "belief/kinds", "belief/persona", "belief/rules", "dag", "history", "history/erasures", "history/follow", "internal/bytelru", "knowledge", "ledger", "ledger/attest", "ledger/identity", "normalize", "policy", "retrieval/analysis", "slice", "slice/contexts", "standing", "store", "belief/said", "retrieval/embed", "retrieval/embed/static", "retrieval/vector"},
	"belief/said":            {"belief", "normalize", "golang.org/x/text/unicode/norm"},
	"belief/rules":           {"belief", "belief/kinds", "dag", "internal/canon", "normalize", "policy", "retrieval"},
	"knowledge":              {"dag", "history", "normalize", "internal/canon"},
	"slice/facts":            {"dag", "knowledge", "normalize", "policy", "slice", "internal/canon", "github.com/cespare/xxhash/v2"},
	"slice/kinds":            {"slice", "slice/beliefs", "slice/contexts", "slice/facts"},
	"slice/beliefs":          {"belief", "belief/journal", "belief/kinds", "dag", "internal/canon", "policy", "slice"},
	"slice/contexts/overlap": {"dag", "slice/contexts"},
	"slice/contexts":         {"belief", "belief/journal", "dag", "internal/canon", "knowledge", "policy", "render", "retrieval", "retrieval/analysis", "retrieval/bm25", "slice", "slice/facts", "standing", "github.com/cespare/xxhash/v2"},
	"slice/contexts/quote":   {"dag", "ingest", "ingest/extract", "slice/contexts"},
	"store":                  {"access", "dag", "history", "ledger", "slice"},
	"store/kinds":            {"belief/journal", "ingest/marks", "ledger", "access/apikeys", "dag", "history", "knowledge", "history/erasures", "history/heldback", "ledger/attest", "ledger/identity", "ledger/witness", "policy/registry", "retrieval/segments", "slice/issued", "standing/settings"},
	"store/transfer":         {"dag", "history", "history/erasures", "ledger", "slice/issued", "store", "store/kinds"},
	"store/fsck":             {"ingest/marks", "policy/standard", "standing", "standing/settings", "retrieval", "retrieval/analysis", "retrieval/embed/static", "retrieval/segments", "access/apikeys", "history/erasures", "access", "dag", "policy/registry", "history", "store/kinds", "slice/facts", "slice/issued", "ledger", "policy", "slice", "store", "knowledge", "normalize"},
	"store/storetest":        {"access/apikeys", "history/erasures", "ledger/attest", "ledger/identity", "slice/facts", "slice/issued", "history", "store/kinds", "golang.org/x/mod/sumdb/tlog", "access", "dag", "ledger", "ledger/witness", "policy", "policy/registry", "slice", "store", "store/fsck", "pgregory.net/rapid", "github.com/google/go-cmp/cmp", "knowledge", "normalize"},
	"store/inmem":            {"dag", "history", "ledger", "store"},
	"store/packed":           {"dag", "history", "store"},
	"store/postgres":         {"dag", "history", "ledger", "store", "store/packed", "github.com/jackc/pgx/v5"},
	"store/sqlite":           {"internal/ready", "dag", "history", "ledger", "store", "store/packed", "modernc.org/libc", "modernc.org/sqlite"},
	"atlas":                  {"dag"},
	"atlas/survey":           {"standing", "api", "atlas", "dag", "history/erasures", "internal/canon", "internal/turnstile", "knowledge", "ledger/attest", "ledger/identity", "normalize", "policy", "slice", "slice/issued", "store"},
	"kernel":                 {"guard", "standing", "standing/census", "standing/settings", "retrieval/find", "knowledge/query", "internal/bytelru", "internal/canon", "render", "slice/kinds", "atlas/survey", "internal/turnstile", "api", "working", "slice/beliefs", "belief", "belief/journal", "belief/kinds", "slice/contexts", "retrieval", "retrieval/embed", "store/kinds", "access/apikeys", "history/erasures", "history/heldback", "access", "history", "ledger/attest", "dag", "slice/facts", "slice/issued", "ledger/identity", "ledger", "ledger/witness", "policy", "policy/registry", "slice", "token", "ingest", "store", "github.com/hashicorp/golang-lru/v2", "knowledge", "normalize", "belief/space", "projection", "slice/contexts/assemble", "working/session", "ingest/admission", "ledger/notary"},
	"projection":             {"standing", "standing/settings", "api", "dag", "history", "history/erasures", "history/follow", "internal/bytelru", "internal/turnstile", "knowledge", "normalize", "policy", "policy/registry", "policy/standard", "retrieval", "retrieval/analysis", "retrieval/embed", "retrieval/embed/static", "retrieval/segments", "slice", "slice/contexts", "store"},
	"working":                {"dag", "history"},
	"working/session":        {"access", "api", "dag", "slice", "store", "working"},
	"retrieval/analysis":     {"github.com/clipperhouse/uax29/v2", "github.com/kljensen/snowball", "golang.org/x/text/unicode/norm"},
	"retrieval/enrich":       {"dag"},
	"retrieval/segments":     {"dag", "history", "ingest/extract", "retrieval", "retrieval/analysis", "retrieval/embed", "slice", "store"},
	"internal/cursor":        {},
	"retrieval/bm25":         {"dag", "internal/cursor"},
	"retrieval/vector":       {"dag"},
	"retrieval/embed":        {"dag"},
	"retrieval":              {"dag", "internal/canon", "internal/cursor", "policy", "retrieval/analysis", "retrieval/bm25", "retrieval/embed", "retrieval/vector"},
	"evidence":               {"slice/kinds", "policy/registry", "slice/issued", "ledger/attest", "dag", "ledger", "slice", "token"},
	"ledger/monitor":         {"ledger", "golang.org/x/mod/sumdb/tlog"},
	"ledger/witness":         {"dag", "history", "ledger"},
	"client":                 {"slice/kinds", "belief", "slice/beliefs", "slice/contexts", "slice/issued", "policy/standard", "ledger/attest", "dag", "evidence", "slice/facts", "normalize", "ledger", "ledger/monitor", "policy", "slice", "token", "internal/canon", "internal/loopback", "api"},
	"api":                    {"access", "belief", "slice/issued", "dag", "internal/canon", "knowledge", "normalize", "policy", "slice", "belief/said", "slice/contexts"},
	"api/fault":              {"standing/settings", "ledger/notary", "ingest/admission", "retrieval/find", "knowledge/query", "belief/space", "belief/persona", "belief/rules", "working", "belief", "belief/journal", "slice/contexts", "access", "api", "dag", "ingest", "internal/canon", "kernel", "knowledge", "ledger", "ledger/attest", "ledger/identity", "ledger/witness", "normalize", "policy", "projection", "slice", "store", "store/transfer", "token", "slice/contexts/assemble", "slice/issued", "working/session"},
	"api/clients":            {"api"},
	"api/describe":           {"api", "dag", "internal/canon", "knowledge", "policy", "retrieval", "slice/contexts"},
	"examples/guard":         {"access", "dag", "store/inmem", "token", "kernel", "server", "client"},
	"render":                 {"dag", "policy", "slice"},
	"store/observed":         {"dag", "history", "ledger", "store"},
	"server/certs":           {},
	"console":                {"belief", "policy", "internal/loopback", "internal/markup", "access", "api", "client", "dag", "ingest", "ingest/extract", "slice", "slice/contexts", "verifiers/js", "github.com/rogpeppe/go-internal", "golang.org/x/oauth2"},
	"verifiers/js":           {},
	"knowledge/query":        {"access", "api", "dag", "knowledge", "normalize", "projection", "slice", "store", "token"},
	"retrieval/find":         {"api", "belief", "dag", "ingest", "ingest/extract", "knowledge", "policy", "projection", "retrieval", "retrieval/analysis", "retrieval/enrich", "retrieval/segments", "slice", "store", "token"},
	"slice/contexts/assemble": {
		"api", "belief", "belief/journal", "dag", "ingest", "internal/turnstile", "knowledge", "normalize", "policy", "retrieval", "retrieval/analysis", "retrieval/embed", "slice", "slice/contexts",
		"slice/contexts/overlap", "slice/contexts/quote", "slice/facts", "slice/issued", "standing", "store",
	},
	"server": {
		"ledger/notary", "knowledge/query",
		"api/fault", "api/describe", "policy/standard", "access", "ledger/attest", "dag", "ledger/identity", "ledger", "ledger/witness", "golang.org/x/mod/sumdb/tlog", "policy", "slice", "slice/issued", "ingest", "store", "token", "kernel", "knowledge", "normalize", "internal/bytelru", "internal/canon", "internal/markup", "render", "api",
		"github.com/labstack/echo/v4", "github.com/hashicorp/golang-lru/v2", "golang.org/x/time/rate",
		"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/common/expfmt", "go.opentelemetry.io/otel",
	},
	"retrieval/crossencoder":   {"internal/endpoint"},
	"retrieval/trajectory":     {"dag"},
	"retrieval/embed/remote":   {"internal/endpoint", "retrieval/embed"},
	"retrieval/embed/static":   {"dag", "retrieval/embed", "golang.org/x/text/unicode/norm"},
	"server/oidc":              {"internal/loopback", "access", "dag", "internal/canon", "github.com/lestrrat-go/jwx/v3"},
	"server/mcp":               {"slice/contexts", "knowledge/query", "api/fault", "access", "dag", "policy", "slice", "ingest", "store", "token", "kernel", "internal/bom", "internal/canon", "internal/loopback", "render", "api", "api/describe", "github.com/modelcontextprotocol/go-sdk", "golang.org/x/text", "knowledge", "normalize", "belief"},
	"cmd/graphkernel-hook":     {"capture/hook"},
	"cmd/graphkernel/capture":  {"belief", "projection", "api", "capture", "capture/hook", "capture/resident", "internal/ready", "ingest/secrets", "kernel", "store", "client", "cmd/graphkernel/cli", "dag", "guard", "ingest", "policy", "render", "slice", "slice/contexts", "slice/contexts/assemble", "slice/issued", "token", "github.com/rogpeppe/go-internal", "github.com/spf13/cobra"},
	"cmd/graphkernel/cli":      {"ingest/admission", "ledger/notary", "ledger/notary", "retrieval/find", "projection", "retrieval/segments", "access", "belief", "capture", "ingest/secrets", "internal/userdir", "slice/contexts", "slice/contexts/assemble", "retrieval", "retrieval/embed", "retrieval/embed/remote", "retrieval/crossencoder", "internal/secretfile", "internal/ready", "slice/issued", "api/fault", "slice/facts", "ledger/monitor", "api", "policy/standard", "client", "dag", "evidence", "ingest", "ingest/llm", "internal/canon", "kernel", "knowledge", "ledger", "ledger/attest", "ledger/identity", "normalize", "policy", "render", "slice", "store", "store/postgres", "store/sqlite", "store/transfer", "token", "github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term", "internal/project"},
	"cmd/graphkernel/overview": {"api", "capture", "capture/resident", "cmd/graphkernel/capture", "cmd/graphkernel/cli", "policy", "render", "store/fsck", "token", "github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra"},
	"cmd/graphkernel/turns": {"standing", "ingest/admission", "slice/kinds", "capture", "cmd/graphkernel/capture", "internal/bom", "working", "belief", "belief/kinds", "belief/rules", "guard", "retention", "ingest/secrets", "slice/contexts", "slice/contexts/assemble", "retrieval", "retrieval/analysis",
		"knowledge",
		"client", "api", "slice/facts", "policy/standard", "access", "cmd/graphkernel/cli", "cmd/graphkernel/beliefs", "cmd/graphkernel/facts", "dag", "ingest", "kernel", "policy", "render", "slice", "store", "token",
		"github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra",
	},
	"cmd/graphkernel/facts": {
		"knowledge/query",
		"client", "api", "slice/facts", "cmd/graphkernel/cli", "dag", "ingest", "ingest/extract", "ingest/llm", "internal/bom", "internal/canon", "kernel", "knowledge", "normalize", "policy", "render", "server/mcp", "store", "token",
		"github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra",
	},
	"cmd/graphkernel/beliefs": {"cmd/graphkernel/capture", "policy", "belief/journal", "internal/bom", "internal/secretfile", "belief/persona", "internal/canon", "ledger", "ledger/attest", "client",
		"api", "belief", "belief/kinds", "cmd/graphkernel/cli", "dag", "knowledge", "normalize", "render", "token",
		"github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra",
	},
	"cmd/graphkernel/memories": {"api", "belief", "belief/kinds", "cmd/graphkernel/capture", "cmd/graphkernel/cli", "dag", "render", "slice/contexts", "token", "github.com/spf13/cobra"},
	"cmd/graphkernel/audit": {"slice/kinds", "belief", "slice/beliefs", "slice/contexts", "internal/userdir",
		"api", "policy/standard", "client", "cmd/graphkernel/cli", "dag", "evidence", "golden", "ingest", "internal/secretfile", "kernel", "ledger", "ledger/attest", "ledger/monitor", "policy", "render", "slice", "slice/facts", "token",
		"github.com/spf13/cobra",
	},
	"cmd/graphkernel/signing": {
		"ledger/notary", "api", "access", "cmd/graphkernel/cli", "dag", "ledger", "ledger/identity", "render", "slice", "store", "token",
		"github.com/jedib0t/go-pretty/v6", "github.com/spf13/cobra",
	},
	"cmd/graphkernel/storage": {
		"ledger/notary", "api", "access/apikeys", "cmd/graphkernel/cli", "dag", "policy/registry", "render", "slice/issued", "store", "store/fsck", "store/postgres", "store/sqlite", "store/transfer",
		"github.com/spf13/cobra",
	},
	"cmd/graphkernel/service": {
		"api", "ingest/admission", "ledger/notary", "retrieval/segments", "working", "capture", "access", "cmd/graphkernel/capture", "cmd/graphkernel/cli", "console", "internal/loopback", "internal/secretfile", "ingest/secrets", "cmd/graphkernel/facts", "dag", "ingest", "kernel", "ledger", "ledger/identity", "ledger/witness", "server", "server/certs", "server/mcp", "server/oidc", "store", "store/observed", "token",
		"github.com/jedib0t/go-pretty/v6", "github.com/prometheus/client_golang/prometheus", "github.com/spf13/cobra", "go.opentelemetry.io/otel", "go.yaml.in/yaml/v3",
	},
	"cmd/graphkernel/demo": {
		"api", "policy", "policy/standard", "cmd/graphkernel/cli", "cmd/graphkernel/facts", "cmd/graphkernel/service", "cmd/graphkernel/turns", "dag", "evidence", "ingest", "internal/canon", "kernel", "knowledge", "ledger", "render", "slice", "store/sqlite", "token",
		"github.com/spf13/cobra",
	},
	"cmd/graphkernel": {"cmd/graphkernel/capture", "cmd/graphkernel/overview", "cmd/graphkernel/audit", "cmd/graphkernel/beliefs", "cmd/graphkernel/cli", "cmd/graphkernel/demo", "cmd/graphkernel/facts", "cmd/graphkernel/service", "cmd/graphkernel/signing", "cmd/graphkernel/storage", "cmd/graphkernel/turns", "github.com/spf13/cobra", "cmd/graphkernel/memories"},
}

// pure packages do no I/O and read no clock.
var pure = []string{"belief/persona", "access", "atlas", "belief", "belief/journal", "belief/kinds", "belief/rules", "ingest/secrets", "guard", "retention", "standing", "standing/settings", "working", "ledger/attest", "dag", "evidence", "history", "history/erasures", "history/heldback", "history/follow", "slice/facts", "slice/issued", "internal/canon", "knowledge", "ledger", "policy", "policy/registry", "render", "slice", "normalize", "retrieval/trajectory", "api", "api/describe"}

// effects are what a pure package cannot import.
var effects = []string{"os", "net", "net/http", "database/sql", "math/rand", "math/rand/v2", "crypto/rand", "os/exec", "io/fs", "log", "log/slog"}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	eachFile(t, func(folder, path string, file *ast.File) {
		seen[folder] = true
		allowed, known := mayImport[folder]
		if !known {
			t.Errorf("%s: package %s is not in the table; say what it may import", path, folder)
			return
		}
		for _, imp := range file.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(pure, folder) && slices.Contains(effects, name) {
				t.Errorf("%s imports %s; %s is pure", path, name, folder)
			}
			own, ours := strings.CutPrefix(name, module+"/")
			if first, _, _ := strings.Cut(name, "/"); !ours && !strings.Contains(first, ".") {
				continue // the standard library
			}
			if !ours {
				own = name
			}
			if !slices.ContainsFunc(allowed, func(a string) bool { return own == a || !ours && strings.HasPrefix(own, a+"/") }) {
				t.Errorf("%s imports %s, which %s may not: go through a package that it may import, or, if that is meant, add it to the table in imports_test.go", path, own, folder)
			}
		}
	})
	for folder := range mayImport {
		if !seen[folder] {
			t.Errorf("the table names %s, which has no files", folder)
		}
	}
}

// namesKinds are the packages of which no back end may know: a kind of entry is a package of its
// own, and stores keep entries and terms.
var namesKinds = []string{"access", "access/apikeys", "belief", "belief/journal", "belief/kinds", "belief/rules", "knowledge", "normalize", "policy", "policy/registry", "slice", "slice/facts", "slice/issued", "history/erasures", "history/heldback", "standing", "standing/settings", "token", "kernel"}

// TestBackEndsNameNoKind makes sure that a new kind of entry needs no line in a back end.
func TestBackEndsNameNoKind(t *testing.T) {
	looked := 0
	eachFile(t, func(folder, path string, file *ast.File) {
		if !slices.Contains([]string{"history", "store", "store/sqlite", "store/postgres", "store/inmem", "store/packed", "store/observed"}, folder) {
			return
		}
		looked++
		for _, imp := range file.Imports {
			name := strings.TrimPrefix(strings.Trim(imp.Path.Value, `"`), module+"/")
			if turns := folder == "store" && (name == "access" || name == "slice"); slices.Contains(namesKinds, name) && !turns { // turns have leaves, and say who brought them
				t.Errorf("%s imports %s, which is of a kind", path, name)
			}
		}
	})
	if looked < 40 {
		t.Errorf("looked at %d files only", looked)
	}
}

// TestMap compares the map of CONTRIBUTING.md with the table of imports, and so with the folders.
func TestMap(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		folder := strings.Trim(cells[1], " `")
		if listed[folder] {
			t.Errorf("the map has %s twice", folder)
		}
		listed[folder] = true
		if _, ok := mayImport[folder]; !ok && folder != "internal/cluster" { // which is tests alone
			t.Errorf("the map has %s, and the table has not", folder)
		}
	}
	for folder := range mayImport {
		if !listed[folder] {
			t.Errorf("the map has no %s", folder)
		}
	}
}

// TestLightCore makes sure that a program that embeds the core links no database and no
// web framework with it.
func TestLightCore(t *testing.T) {
	for _, folder := range []string{"slice", "policy", "token"} {
		out, err := exec.Command("go", "list", "-deps", module+"/"+folder).Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := strings.Fields(string(out))
		if len(deps) < 10 {
			t.Fatalf("go list gave only %d packages for %s", len(deps), folder)
		}
		for _, heavy := range []string{"database/sql", "net/http", "modernc.org", "github.com/jackc", "github.com/labstack", "github.com/spf13"} {
			if slices.ContainsFunc(deps, func(d string) bool {
				return d == heavy || strings.Contains(heavy, ".") && strings.HasPrefix(d, heavy+"/")
			}) {
				t.Errorf("%s links %s", folder, heavy)
			}
		}
	}
}

// TestOnlyCanonWritesJSON looks for JSON that is put together by hand: a string
// that opens an object or a key. Format strings for people are told apart by
// their spaces.
func TestOnlyCanonWritesJSON(t *testing.T) {
	looked := 0
	eachFile(t, func(folder, path string, file *ast.File) {
		if folder == "internal/canon" || strings.HasPrefix(folder, "cmd/graphkernel/") {
			return // what programs print is not hashed
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			looked++
			s, err := strconv.Unquote(lit.Value)
			if err == nil && (strings.Contains(s, `":`) || strings.Contains(s, `{"`)) && !strings.Contains(s, " ") {
				t.Errorf("%s writes JSON by hand: %s", path, lit.Value)
			}
			return true
		})
	})
	if looked < 100 {
		t.Errorf("looked at %d strings only", looked)
	}
}

// eachFile parses every Go file of the module that is no test.
func eachFile(t *testing.T, fn func(folder, path string, file *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || err == nil) {
				return filepath.SkipDir // a module of its own among them
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		fn(filepath.ToSlash(filepath.Dir(path)), path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("found only %d files", files)
	}
}
