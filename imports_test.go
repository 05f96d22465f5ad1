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
	"dag":                 {"github.com/google/uuid"},
	"internal/canon":      {},
	"internal/pgtest":     {"github.com/jackc/pgx/v5"},
	"internal/pgstore":    {"internal/pgtest", "store/postgres"},
	"internal/faultproxy": {},
	"internal/mac":        {},
	"internal/secretfile": {},
	"identity":            {"dag", "ledger", "internal/canon", "internal/secretfile", "golang.org/x/mod/sumdb/note"},
	"policy":              {"dag", "knowledge", "normalize", "internal/canon", "github.com/cespare/xxhash/v2"},
	"slice":               {"dag", "policy", "internal/canon", "github.com/cespare/xxhash/v2", "golang.org/x/mod/sumdb/tlog"},
	"token":               {"dag", "factslice", "knowledge", "slice", "internal/canon", "internal/mac", "internal/secretfile", "github.com/hashicorp/golang-lru/v2"},
	"access":              {"dag"},
	"attest":              {"dag", "ledger", "policy", "slice", "internal/canon", "github.com/google/uuid"},
	"ledger":              {"access", "dag", "policy", "slice", "internal/canon", "golang.org/x/mod/sumdb"},
	"golden":              {"dag", "policy", "slice", "token"},
	"ingest":              {"dag", "internal/canon"},
	"ingest/extract":      {"dag", "normalize"},
	"ingest/llm":          {"dag", "knowledge", "normalize", "internal/canon"},
	"normalize":           {"internal/canon", "golang.org/x/text"},
	"knowledge":           {"dag", "normalize", "internal/canon"},
	"factslice":           {"dag", "knowledge", "normalize", "policy", "slice", "internal/canon", "github.com/cespare/xxhash/v2"},
	"store":               {"access", "dag", "factslice", "ledger", "policy", "slice", "knowledge", "normalize"},
	"store/transfer":      {"access", "dag", "ledger", "store", "knowledge"},
	"store/fsck":          {"dag", "factslice", "ledger", "policy", "slice", "store", "knowledge", "normalize"},
	"store/storetest":     {"golang.org/x/mod/sumdb/tlog", "access", "dag", "ledger", "policy", "slice", "store", "store/fsck", "pgregory.net/rapid", "github.com/google/go-cmp/cmp", "knowledge", "normalize"},
	"store/memory":        {"access", "dag", "ledger", "policy", "slice", "store", "knowledge", "normalize"},
	"store/packed":        {"dag", "ledger", "store", "knowledge", "internal/canon"},
	"store/postgres":      {"access", "dag", "ledger", "policy", "slice", "store", "store/packed", "github.com/jackc/pgx/v5", "knowledge"},
	"store/sqlite":        {"access", "dag", "ledger", "policy", "slice", "store", "store/packed", "modernc.org/sqlite", "knowledge"},
	"kernel":              {"access", "attest", "dag", "factslice", "identity", "ledger", "monitor", "witness", "policy", "slice", "token", "ingest", "store", "github.com/hashicorp/golang-lru/v2", "knowledge", "normalize"},
	"wire":                {},
	"evidence":            {"attest", "dag", "factslice", "ledger", "slice", "token"},
	"monitor":             {"ledger", "golang.org/x/mod/sumdb/tlog"},
	"witness":             {"dag", "ledger"},
	"client":              {"attest", "dag", "evidence", "factslice", "knowledge", "normalize", "ledger", "monitor", "policy", "slice", "token", "internal/canon", "wire"},
	"server/view":         {"dag", "factslice", "policy", "slice", "store", "token", "kernel", "internal/canon", "render", "wire", "knowledge", "normalize"},
	"examples/guard":      {"access", "dag", "store/memory", "token", "kernel", "server", "client"},
	"render":              {"dag", "policy", "slice", "knowledge"},
	"store/observed":      {"access", "dag", "ledger", "policy", "slice", "store", "knowledge"},
	"server/certs":        {},
	"server": {
		"access", "attest", "dag", "identity", "ledger", "witness", "golang.org/x/mod/sumdb/tlog", "policy", "slice", "ingest", "store", "token", "kernel", "knowledge", "normalize", "internal/canon", "render", "wire", "server/view",
		"github.com/labstack/echo/v4", "github.com/getkin/kin-openapi/openapi3", "github.com/hashicorp/golang-lru/v2", "golang.org/x/time/rate",
		"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/common/expfmt", "go.opentelemetry.io/otel",
	},
	"server/oidc": {"access", "dag", "internal/canon", "github.com/lestrrat-go/jwx/v3"},
	"server/mcp": {
		"access", "dag", "policy", "slice", "ingest", "store", "token", "kernel", "internal/canon", "render", "wire", "server/view",
		"github.com/modelcontextprotocol/go-sdk", "golang.org/x/text",
		"knowledge", "normalize",
	},
	"cmd/graphkernel": {
		"access", "attest", "client", "dag", "evidence", "golden", "identity", "internal/secretfile", "ledger", "monitor", "witness", "policy", "slice", "token", "ingest", "store", "store/fsck", "store/sqlite", "store/transfer", "store/postgres", "kernel", "internal/canon",
		"render", "store/observed", "server", "server/mcp", "server/oidc", "server/certs",
		"github.com/spf13/cobra", "github.com/jedib0t/go-pretty/v6", "github.com/knadh/koanf",
		"github.com/prometheus/client_golang/prometheus", "go.opentelemetry.io/otel",
		"knowledge", "normalize", "ingest/extract", "ingest/llm",
	},
	"bench": {
		"dag", "evidence", "identity", "ledger", "policy", "slice", "token", "ingest", "store", "store/sqlite", "store/postgres", "store/observed", "kernel",
		"bench/plain", "internal/pgtest",
		"github.com/jedib0t/go-pretty/v6",
		"knowledge",
	},
	"bench/eval":  {"dag", "github.com/jedib0t/go-pretty/v6/table", "kernel", "knowledge", "normalize", "store/sqlite", "token"},
	"bench/plain": {"dag", "policy", "github.com/jackc/pgx/v5", "modernc.org/sqlite"},
	"bench/http": {
		"dag", "store/sqlite", "token", "kernel", "wire",
		"github.com/labstack/echo/v4",
	},
}

// pure packages do no I/O and read no clock.
var pure = []string{"access", "attest", "dag", "evidence", "factslice", "internal/canon", "knowledge", "ledger", "policy", "render", "slice", "normalize", "wire"}

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
				t.Errorf("%s imports %s, which %s may not", path, own, folder)
			}
		}
	})
	for folder := range mayImport {
		if !seen[folder] {
			t.Errorf("the table names %s, which has no files", folder)
		}
	}
}

// TestLightCore makes sure that whoever embeds the core gets no database and no
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
		if folder == "internal/canon" || folder == "cmd/graphkernel" || strings.HasPrefix(folder, "bench") {
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
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return filepath.SkipDir
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
