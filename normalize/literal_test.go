package normalize

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A nameSpace finds different things of one name.
type nameSpace struct {
	names map[string]string // what was written, by its name
	old   map[string]string // by its name under normalize/1
	lost  int               // things that normalize/1 made one with others
}

func (n *nameSpace) add(t *testing.T, written string) {
	t.Helper()
	if n.names == nil {
		n.names, n.old = map[string]string{}, map[string]string{}
	}
	name, err := Name(written)
	if err != nil {
		t.Fatalf("%q: %v", written, err)
	}
	if other, ok := n.names[name]; ok && other != written {
		t.Fatalf("%q and %q are both %q", other, written, name)
	}
	n.names[name] = written
	old, err := V1.Name(written)
	if other, ok := n.old[old]; err != nil || ok && other != written {
		n.lost++
	}
	n.old[old] = written
}

// TestPathsOfGo names every path of Go's own tree, absolute and as a literal.
func TestPathsOfGo(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("there is no tree of Go: %v", err)
	}
	root := strings.TrimSpace(string(out))
	absolute, relative := &nameSpace{}, &nameSpace{}
	err = filepath.WalkDir(filepath.Join(root, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		absolute.add(t, filepath.ToSlash(path))
		relative.add(t, string(File)+":"+filepath.ToSlash(within))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []*nameSpace{absolute, relative} {
		t.Logf("%d paths, %d of which are one with others under normalize/1", len(n.names), n.lost)
		if len(n.names) < 5000 || n.lost == 0 {
			t.Errorf("%d paths, %d: this test shows less than it should", len(n.names), n.lost)
		}
	}
}

// lockFile makes a lock file of npm of n packages. Their names are made of few parts, so that many
// differ in a sign alone.
func lockFile(n int) []byte {
	r := rand.New(rand.NewPCG(12, 13))
	parts := []string{"a", "b", "core", "js", "node", "x", "2", "10"}
	signs := []string{"-", "_", ".", "", "--", "~"}
	part := func() string { return parts[r.IntN(len(parts))] }
	sign := func() string { return signs[r.IntN(len(signs))] }
	packages := map[string]map[string]any{"": {"name": "root"}}
	for len(packages) <= n {
		name := part() + sign() + part() + sign() + part()
		if r.IntN(3) == 0 {
			name = "@" + part() + "/" + name
		}
		version := fmt.Sprintf("%d.%d.%d", r.IntN(3), r.IntN(12), r.IntN(12))
		if r.IntN(4) == 0 {
			version += []string{"-rc.1", "-rc-1", "-rc1", "+build"}[r.IntN(4)]
		}
		constraint := []string{"^", "~", ">=", "<", ">", "=", ""}[r.IntN(7)] + version
		packages["node_modules/"+name] = map[string]any{"version": version, "dependencies": map[string]string{part(): constraint}}
	}
	data, err := json.Marshal(map[string]any{"lockfileVersion": 3, "packages": packages})
	if err != nil {
		panic(err)
	}
	return data
}

// TestNamesOfLockFile names the packages, the versions and the constraints of a lock file.
func TestNamesOfLockFile(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version      string
			Dependencies map[string]string
		}
	}
	if err := json.Unmarshal(lockFile(1000), &lock); err != nil {
		t.Fatal(err)
	}
	packages, versions, folders := &nameSpace{}, &nameSpace{}, &nameSpace{}
	for path, p := range lock.Packages {
		name, ok := strings.CutPrefix(path, "node_modules/")
		if !ok {
			continue
		}
		packages.add(t, "pkg:npm:"+name)
		folders.add(t, "./"+path)
		versions.add(t, "version:npm:"+name+"@"+p.Version)
		for other, constraint := range p.Dependencies {
			versions.add(t, "version:npm:"+other+"@"+constraint)
		}
	}
	for what, n := range map[string]*nameSpace{"packages": packages, "folders": folders, "versions": versions} {
		t.Logf("%d %s, %d of which are one with others under normalize/1", len(n.names), what, n.lost)
		if len(n.names) < 1000 || n.lost < 50 {
			t.Errorf("%d %s, %d: this test shows less than it should", len(n.names), what, n.lost)
		}
	}
}

// TestUntypedConstraints has constraints and numbers that no one typed: those that mean something
// else have other names.
func TestUntypedConstraints(t *testing.T) {
	n := &nameSpace{}
	for _, sign := range []string{"", "<", ">", "=", "<=", ">=", "!=", "==", "~", "^", "~=", "~>", "-", "+", "#", "@", "!", "%"} {
		for _, number := range []string{"1", "1.2", "12", "1.20", "1-2"} {
			n.add(t, "x "+sign+number)
		}
	}
	for _, s := range []string{"C", "C++", "C#", "C!=", "5%", "5", "a..b", "a.b", "a...b", "./x", "./x/...", "x", "x/..."} {
		n.add(t, s)
	}
	if n.lost < 50 {
		t.Errorf("%d of %d are one with others under normalize/1: this test shows less than it should", n.lost, len(n.names))
	}
}

// TestAliasesOfWords makes sure that aliases of names without signs work under either rule.
func TestAliasesOfWords(t *testing.T) {
	table := mustWith(t, nil, Change{Alias: "NYC", Canonical: "New York City"}, Change{Alias: "/src/a.go", Canonical: "the main file"})
	for written, want := range map[string]string{"nyc": "new-york-city", " N.Y.C. ": "n-y-c", "(nyc)": "new-york-city", "/src/a.go": "the-main-file", "/src/a-go": "file:/src/a-go"} {
		name, err := Name(written)
		if got := table.Resolve(name); err != nil || got != want {
			t.Errorf("%q stands for %q, %v, want %q", written, got, err, want)
		}
	}
	for _, tt := range nameTests {
		if strings.ContainsAny(tt.in, signs+"/:…") {
			continue
		}
		if got, err := Name(tt.in); err != nil || got != tt.want {
			t.Errorf("Name(%q) = %q, %v, under normalize/1 %q", tt.in, got, err, tt.want)
		}
	}
}
