package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store/sqlite"
)

func TestMain(m *testing.M) {
	testscript.Main(withoutAgents{m}, map[string]func(){"graphkernel": main})
}

// withoutAgents runs tests as on a machine whose agents do not tell their versions, whichever are installed.
type withoutAgents struct{ m *testing.M }

func (w withoutAgents) Run() (code int) {
	folder, err := os.MkdirTemp("", "agents")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for _, agent := range capture.Agents {
		if err := os.WriteFile(filepath.Join(folder, agent.Program()), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil { //nolint:gosec // a program
			panic(err)
		}
	}
	if err := os.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return w.m.Run()
}

// TestScripts runs testdata/script. Beside testscript's own commands there are:
//
//	gk CODE ARG...         run graphkernel and require its exit code
//	json [PATH=VALUE]...   require values in the JSON that gk printed; PATH alone must be absent
//	getjson NAME PATH      put such a value into the environment
//	edit FILE OLD NEW      replace what is in a file exactly once
//	edit -sealed FILE OLD NEW
//	                       the same in the file of a SQLite store, whose pages have their checksums afterwards
//	plain stdout|stderr    require that nothing in it acts on a terminal
//	database NAME          put the URL of a new PostgreSQL database into the environment
//
// gk checks after each run that with --output json standard output is exactly one
// JSON object, and that no secret was printed.
func TestScripts(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("hundreds of processes, which are not watched")
	}
	incident, err := filepath.Abs(filepath.Join("demo", "incident.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name == "postgres" {
				return pgtest.Available() == nil || os.Getenv("GKTEST_POSTGRES") == "required", nil
			}
			return false, fmt.Errorf("no condition is called %q", name)
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("LocalAppData", home)
			e.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			e.Setenv("INCIDENT", incident)
			e.Setenv("ESC", "\x1b")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each run under -race ends with a second's sleep
			// The demonstration's turns: the anchor, the plan, the word that is
			// erased, and the visitor.
			e.Setenv("ANCHOR", demo.IncidentAnchor)
			e.Setenv("PLAN", "b31e2079-0dc0-4a11-8ca1-000000000003")
			e.Setenv("WORD", demo.IncidentSecret)
			e.Setenv("VISITOR", demo.IncidentVisitor)
			e.Setenv("MAIN", "1c1de000-0dc0-4a11-8ca1-0000000000a0") // the conversation they lie in
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"gk": gk, "json": wantJSON, "getjson": getJSON, "edit": edit, "plain": plain, "database": database,
		},
	})
}

func database(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: database NAME")
	}
	server, err := sharedServer()
	ts.Check(err)
	name := "script" + strconv.FormatInt(databaseNumber.Add(1), 10)
	ts.Check(server.CreateDatabase(context.Background(), name, ""))
	ts.Setenv(args[0], server.URL(name))
}

var (
	sharedServer   = sync.OnceValues(func() (*pgtest.Server, error) { return pgtest.Start(context.Background(), pgtest.Options{}) })
	databaseNumber atomic.Int64
)

func gk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gk CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec("graphkernel", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	if cli.WantsJSON(args) {
		if _, err := oneObject(ts.ReadFile("stdout")); err != nil {
			ts.Fatalf("standard output is not one JSON object: %v", err)
		}
	}
	for _, secret := range secrets(ts) {
		if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), secret) {
			ts.Fatalf("a secret was printed")
		}
	}
}

// keptSecret matches the secrets of a keyring, and the private keys of an identity.
var keptSecret = regexp.MustCompile(`"(?:secret|private|log|witness|sigstore)":"([0-9a-f]{64,})"`)

// secrets lists what must not be printed: the secrets in the environment, and in the
// keyrings and identities of the script.
func secrets(ts *testscript.TestScript) []string {
	var list []string
	if s := ts.Getenv("GRAPHKERNEL_SECRET"); s != "" {
		list = append(list, s)
	}
	folder := filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "graphkernel")
	files, _ := os.ReadDir(folder) // there may be none
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		ts.Check(err)
		for _, m := range keptSecret.FindAllSubmatch(data, -1) {
			list = append(list, string(m[1]))
		}
	}
	return list
}

func oneObject(text string) (map[string]any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the first value")
	}
	return v, nil
}

// lookup finds a value by a path such as checks.0.status; len is a length.
func lookup(v any, path string) (any, bool) {
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			if step == "len" {
				return len(at), true
			}
			next, ok := at[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if step == "len" {
				return len(at), true
			}
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func wantJSON(ts *testscript.TestScript, neg bool, args []string) {
	object, err := oneObject(ts.ReadFile("stdout"))
	ts.Check(err)
	for _, arg := range args {
		path, want, hasValue := strings.Cut(arg, "=")
		if strings.HasSuffix(path, ".") { // what is behind # is a comment: the rest would not be looked at
			ts.Fatalf("the path %q ends with a dot", path)
		}
		got, ok := lookup(object, path)
		switch {
		case !hasValue && ok:
			ts.Fatalf("%s is %v, want it absent", path, got)
		case hasValue && !ok:
			ts.Fatalf("%s is absent, want %s", path, want)
		case hasValue && (fmt.Sprint(got) == want) == neg:
			ts.Fatalf("%s is %v, want %s (negated: %v)", path, got, want, neg)
		}
	}
}

func getJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: getjson NAME PATH")
	}
	object, err := oneObject(ts.ReadFile("stdout"))
	ts.Check(err)
	v, ok := lookup(object, args[1])
	if !ok {
		ts.Fatalf("%s is absent", args[1])
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	sealed := len(args) > 0 && args[0] == "-sealed"
	if sealed {
		args = args[1:]
	}
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit [-sealed] FILE OLD NEW")
	}
	path, from, to := ts.MkAbs(args[0]), []byte(args[1]), []byte(args[2])
	if sealed {
		ts.Check(editSealed(path, from, to))
		return
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	if n := bytes.Count(data, from); n != 1 {
		ts.Fatalf("%q is in %s %d times, want once", from, args[0], n)
	}
	ts.Check(os.WriteFile(path, bytes.Replace(data, from, to, 1), 0o600))
}

// editSealed replaces bytes that occur once in a store's pages by as many others. SQLite itself writes the page, through the store's file layer, so
// it has its checksum. A forger who knows the checksum can do as much.
func editSealed(path string, from, to []byte) (err error) {
	if len(from) != len(to) {
		return fmt.Errorf("%q has %d bytes, and %q has %d: a page keeps its size", from, len(from), to, len(to))
	}
	if err := sqlite.RegisterVFS(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?mode=rw&vfs="+sqlite.VFS)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	type page struct {
		number int
		data   []byte
	}
	var pages []page
	rows, err := db.Query(`SELECT pgno, data FROM sqlite_dbpage WHERE instr(data, ?) > 0`, from)
	if err != nil {
		return err
	}
	for rows.Next() {
		var p page
		if err := rows.Scan(&p.number, &p.data); err != nil {
			return errors.Join(err, rows.Close())
		}
		pages = append(pages, p)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(pages) != 1 || bytes.Count(pages[0].data, from) != 1 {
		return fmt.Errorf("%q is in %d pages of %s, want once in one", from, len(pages), path)
	}
	_, err = db.Exec(`UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, bytes.Replace(pages[0].data, from, to, 1), pages[0].number)
	return err
}

func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain stdout|stderr")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && render.Acts(r) }); i >= 0 {
		ts.Fatalf("%s holds %+q", args[0], text[i:min(len(text), i+10)])
	}
}

// TestScriptsCoverCommands makes sure that every command is run by a script.
func TestScriptsCoverCommands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var all []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	text := strings.Join(all, "\n")
	for _, c := range everyCommand(testApp().Root()) {
		name, ok := strings.CutPrefix(c.CommandPath(), "graphkernel ")
		if ok && !slices.Contains([]string{"completion powershell"}, name) && !regexp.MustCompile(`(?m)^gk \d+ (.* )?`+name+`( |$)`).MatchString(text) {
			t.Errorf("no script runs %s", c.CommandPath())
		}
	}
}
