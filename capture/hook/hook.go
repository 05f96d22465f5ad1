// Package hook implements the small program that an agent runs at each step of its work. The program leaves a mark in a spool,
// judges a tool call, or answers a prompt or the start of a session with a context.
//
// The program opens no store, so it never waits for a store. A context comes from a process that has the store open (package
// resident), or else from the contexts that were prepared (internal/ready). The rules of a guard are in a file next to the
// spool, since a registered policy never changes. If that file is missing, the kernel's program judges the call.
package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/resident"
	"github.com/graphkernel/graphkernel/internal/ready"
)

// A Program is one run of the small program.
type Program struct {
	Args   []string // AGENT SPOOL [--context POLICY | --guard POLICY] [FLAG VALUE]...
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Now    func() time.Time
	Self   string // the path of the small program; the kernel's program is in the same folder
}

// DefaultPolicy stands in the arguments for the id of the kernel's default policy.
const DefaultPolicy = "default"

// ResidentVariable is the environment variable that, set to "off", keeps hooks from starting a process that answers later
// hooks.
const ResidentVariable = "GRAPHKERNEL_RESIDENT"

// A hook waits at most askDeadline for a process that answers hooks; a guard takes at most guardDeadline. An agent goes on
// without a hook that takes longer than capture.HookTimeout.
const (
	askDeadline   = time.Second
	guardDeadline = 3 * time.Second
)

type arguments struct {
	agent          capture.Agent
	spool          *capture.Spool
	context, guard *string
	flags          []string // for the kernel's program
}

const usage = "usage: graphkernel-hook AGENT SPOOL [--context POLICY | --guard POLICY] [FLAG VALUE]..., as graphkernel setup writes it"

func parse(args []string) (a arguments, err error) {
	if len(args) < 2 || len(args)%2 != 0 {
		return a, errors.New(usage)
	}
	if a.agent, err = capture.ParseAgent(args[0]); err != nil {
		return a, err
	}
	a.spool = capture.At(args[1])
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		switch name, value := rest[0], rest[1]; {
		case !strings.HasPrefix(name, "--"):
			return a, errors.New(usage)
		case name == "--context":
			a.context = &value
		case name == "--guard":
			a.guard = &value
		default:
			a.flags = append(a.flags, name, value)
		}
	}
	if a.context != nil && a.guard != nil {
		return a, errors.New(usage)
	}
	return a, nil
}

// Run returns the exit code: 0 lets the agent go on, and 2 blocks a tool call because it could not be judged.
func (p *Program) Run() int {
	a, err := parse(p.Args)
	if err != nil {
		p.say("%v", err)
		if strings.Contains(" "+strings.Join(p.Args, " "), " --guard") {
			return Blocked
		}
		return 0
	}
	if a.guard != nil {
		return p.judge(&a)
	}
	if a.context == nil {
		capture.Receive(a.spool, a.agent, p.Stdin, p.Stderr, p.Now())
		return 0
	}
	event, err := io.ReadAll(io.LimitReader(p.Stdin, capture.MaxEvent+1))
	if err != nil {
		p.say("this event was not captured: %v", err)
		return 0
	}
	e := capture.Receive(a.spool, a.agent, bytes.NewReader(event), p.Stderr, p.Now())
	if e == nil || e.Name != capture.SessionStart && e.Name != capture.UserPromptSubmit || e.Name == capture.UserPromptSubmit && capture.IsSmallTalk(e.Prompt) {
		return 0
	}
	if err := p.tell(&a, e, event); err != nil {
		p.say("the session goes on without a context: %v", err)
	}
	return 0
}

func (p *Program) say(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "graphkernel: "+format+"\n", args...)
}

// tell answers an event with a context. An error says why the agent has no context.
func (p *Program) tell(a *arguments, e *capture.Event, event []byte) error {
	if e.Session == "" {
		return errors.New("the event has no session_id, which the record of a context names")
	}
	if in, err := a.spool.ReadyIn(); p.Getenv(ResidentVariable) == "off" && (err != nil || in.Folder == "") {
		return p.kernel(append([]string{"hook", string(a.agent), a.spool.Folder(), "--context", *a.context}, a.flags...), event)
	}
	policy := *a.context
	if policy == DefaultPolicy {
		policy = ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), askDeadline)
	defer cancel()
	answer, err := resident.Ask(ctx, a.spool.Folder(), &resident.Request{Build: resident.Build(), Flags: a.flags, Agent: string(a.agent), Policy: policy, Event: event}, p.give)
	none := errors.Is(err, resident.ErrNone)
	if none {
		defer p.start(a)
	} else if err != nil {
		return fmt.Errorf("the context could not be written: %w", err)
	}
	if !none && answer.Late == "" {
		return a.spool.DidRead(a.agent, capture.HookContext, nil, p.Now())
	}
	why := ""
	if !none {
		why = answer.Late
	}
	err = p.giveReady(a, e)
	if errors.Is(err, errNotReady) {
		err = fmt.Errorf("%s%w", cmp.Or(why, "no process answers hooks yet"), err)
	}
	return errors.Join(err, a.spool.DidRead(a.agent, capture.HookContext, err, p.Now()))
}

func (p *Program) give(text []byte) error {
	_, err := p.Stdout.Write(text)
	return err
}

// errNotReady is returned if no prepared context may be used. Its message is empty; an error that wraps it has the message.
var errNotReady = errors.New("")

// giveReady prints the context that was prepared for the project, or else the prepared rules that hold in every folder. It
// returns errNotReady if neither is prepared, and always for a prompt or a resumed session.
func (p *Program) giveReady(a *arguments, e *capture.Event) error {
	in, err := a.spool.ReadyIn()
	if err != nil {
		return err
	}
	if in.Folder == "" || e.Name != capture.SessionStart || e.Source == "resume" {
		return errNotReady
	}
	text, file, err := takeReady(ready.At(in.Folder), capture.ReadyKey(e.Folder))
	if errors.Is(err, ready.ErrNone) {
		text, file, err = takeReady(ready.At(in.Folder), capture.ReadyKey(""))
	}
	switch {
	case errors.Is(err, ready.ErrMoved), errors.Is(err, errOtherKeys):
		return fmt.Errorf("; %w%w", err, errNotReady)
	case errors.Is(err, ready.ErrNone):
		return errNotReady
	case err != nil:
		return err
	}
	answer, err := e.Context(text.Text)
	if err != nil {
		return err
	}
	g := &capture.Given{Agent: a.agent, Session: e.Session, Event: e.Name, At: p.Now().UTC(), File: file}
	if err := a.spool.Give(g); err != nil { // a text without a mark would not be recorded
		return errors.Join(err, os.Remove(file))
	}
	if err := p.give(answer); err != nil {
		g.Failed = fmt.Sprintf("the hook could not write it: %v", err)
		return errors.Join(err, a.spool.Give(g))
	}
	return nil
}

// errOtherKeys is returned if every text that was prepared for a key was signed with keys that may have been retired since.
var errOtherKeys = errors.New("the keys have changed since the prepared contexts were signed")

// takeReady claims a prepared text that was signed with the current keys.
func takeReady(in ready.Folder, key string) (text capture.Prepared, file string, err error) {
	_, file, err = in.Take(key, func(data []byte) error {
		text = capture.Prepared{}
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("a text that was prepared in %s: %w", in.Path(), err)
		}
		if !text.Keys.Same() {
			return errOtherKeys
		}
		return nil
	})
	return text, file, err
}

// start starts the process that answers later hooks and imports captured sessions. It does not wait for the process.
func (p *Program) start(a *arguments) {
	if p.Getenv(ResidentVariable) == "off" {
		return
	}
	err := Start(p.program(), append([]string{"hook", "resident", a.spool.Folder(), "--context", *a.context}, a.flags...))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		p.say("no process could be started that answers hooks: %v", err)
	}
}

// program returns the path of the kernel's program.
func (p *Program) program() string {
	name := "graphkernel"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(p.Self), name)
}

// kernel runs the kernel's program with the same event.
func (p *Program) kernel(args []string, stdin []byte) error {
	c := exec.Command(p.program(), args...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(stdin), p.Stdout, p.Stderr
	return c.Run()
}
