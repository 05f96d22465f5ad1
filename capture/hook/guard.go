package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// Blocked is the exit code that blocks a tool call; any other code does not.
const Blocked = 2

// keptRules are the rules of a registered policy, stored in a file next to a spool.
type keptRules struct {
	Policy string       `json:"policy"`
	Rules  []guard.Rule `json:"rules"`
}

const maxRulesFile = 4 << 20 // 256 rules of three texts

func rulesFile(spool *capture.Spool, policy string) string {
	sum := sha256.Sum256([]byte(policy))
	return spool.Folder() + ".rules-" + hex.EncodeToString(sum[:8]) + ".json"
}

// KeepRules stores the rules of a registered policy for hooks.
func KeepRules(spool *capture.Spool, policy string, rules guard.DenyRules) error {
	data, err := json.Marshal(keptRules{policy, rules.Rules()})
	if err == nil {
		path := rulesFile(spool, policy)
		if before, failed := secretfile.Load(path, maxRulesFile); failed == nil && bytes.Equal(before, data) {
			return nil
		}
		err = secretfile.Save(path, data, false)
	}
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// errNotKept is returned if no valid rules are stored, so that the kernel's program has to judge.
var errNotKept = errors.New("the rules are not kept")

func loadRules(spool *capture.Spool, policy string) (guard.DenyRules, error) {
	data, err := secretfile.Load(rulesFile(spool, policy), maxRulesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return guard.DenyRules{}, errNotKept
	}
	var kept keptRules
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Policy != policy {
		return guard.DenyRules{}, errNotKept
	}
	rules := guard.NewDenyRules(kept.Rules...)
	if rules.Check() != nil {
		return guard.DenyRules{}, errNotKept
	}
	return rules, nil
}

// judge answers PreToolUse. Any error blocks the call.
func (p *Program) judge(a *arguments) int {
	type decision struct {
		code  int
		event []byte
		err   error
	}
	done := make(chan decision, 1) // a disk that does not respond ignores deadlines
	go func() {
		event, err := io.ReadAll(io.LimitReader(p.Stdin, capture.MaxEvent+1))
		if err != nil {
			done <- decision{err: err}
			return
		}
		rules, err := loadRules(a.spool, *a.guard)
		if err != nil {
			done <- decision{event: event, err: err}
			return
		}
		v := Verdict{Spool: a.spool, Policy: *a.guard, Stdout: p.Stdout, Stderr: p.Stderr, Now: p.Now}
		done <- decision{code: v.Give(a.agent, event, func() (guard.DenyRules, error) { return rules, nil })}
	}()
	select {
	case d := <-done:
		if errors.Is(d.err, errNotKept) {
			d.err = p.kernel(append([]string{"hook", string(a.agent), a.spool.Folder(), "--guard", *a.guard}, a.flags...), d.event)
			if d.err == nil {
				return 0
			}
			if ended := (*exec.ExitError)(nil); errors.As(d.err, &ended) && ended.ExitCode() == Blocked {
				return Blocked
			}
		}
		if d.err != nil {
			p.say("this call is blocked, since it could not be judged by %s: %v", *a.guard, d.err)
			return Blocked
		}
		return d.code
	case <-time.After(guardDeadline):
		p.say("this call is blocked, since it could not be judged by %s: no decision within %s", *a.guard, guardDeadline)
		return Blocked
	}
}

// A Verdict judges one tool call.
type Verdict struct {
	Spool          *capture.Spool // nil: unreadable events are not recorded
	Policy         string
	Stdout, Stderr io.Writer
	Now            func() time.Time
}

// Give judges the call in an event by the rules, writes the agent's answer, and returns the exit code. An error blocks the
// call.
func (v *Verdict) Give(agent capture.Agent, event []byte, rules func() (guard.DenyRules, error)) int {
	call, err := capture.ReadCall(agent, bytes.NewReader(event))
	if v.Spool != nil {
		if failed := v.Spool.DidRead(agent, capture.HookGuard, err, v.Now()); failed != nil {
			fmt.Fprintf(v.Stderr, "graphkernel: %v\n", failed)
		}
	}
	var matches []guard.Match
	if err == nil {
		var by guard.DenyRules
		if by, err = rules(); err == nil {
			matches, err = by.Decide(guard.Call{Tool: call.Tool, Arguments: call.Input})
		}
	}
	if err != nil {
		fmt.Fprintf(v.Stderr, "graphkernel: this call is blocked, since it could not be judged by %s: %v\n", v.Policy, err)
		return Blocked
	}
	if len(matches) == 0 {
		return 0
	}
	reason := denial(v.Policy, matches)
	answer, err := call.Denial(reason)
	if err == nil {
		_, err = v.Stdout.Write(answer)
	}
	if err != nil { // the call would proceed if the agent could not read the refusal
		fmt.Fprintf(v.Stderr, "graphkernel: this call is blocked: %s; and the agent could not be told so: %v\n", reason, err)
		return Blocked
	}
	return 0
}

func denial(policy string, matches []guard.Match) string {
	var b strings.Builder
	for i, m := range matches {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (rule %d of %s", m.Reason, m.Rule, policy)
		if m.Where != "" {
			fmt.Fprintf(&b, ", at %.200s", m.Where)
		}
		b.WriteString(")")
	}
	return b.String()
}
