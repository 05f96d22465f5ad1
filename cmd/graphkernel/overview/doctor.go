package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/resident"
	hooks "github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store/fsck"
)

func doctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose problems and suggest fixes",
		Long: `Checks the store, its file, the room on its disk and its ledger, or the service; spaces with too many
constraints; the keys; the captured sessions that are not imported yet; the hooks in the settings of agents:
whether they are called, could read their events and gave contexts in time; and whether a context would be
refused now. It changes nothing. Each line is "ok", "note" for something that you may want to know, or
"wrong", with a fix. The exit code is 1 if anything is wrong. (graphkernel fsck checks the contents of a
store.)

  {"checks":[{"of","status","found","mend"}]}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d := &diagnosis{a: a}
			for _, look := range []func(context.Context){d.place, d.keys, d.erasures, d.spool, d.unread, d.agents} {
				look(c.Context())
			}
			return d.report()
		},
	}
}

// The statuses of a check.
const (
	fine  = "ok"
	note  = "note"
	wrong = "wrong"
)

// paints are the colours of the statuses.
var paints = map[string]cli.Paint{fine: cli.Good, wrong: cli.Bad, note: cli.Doubt}

type checkJSON struct {
	Of     string `json:"of"`
	Status string `json:"status"`
	Found  string `json:"found"`
	Mend   string `json:"mend,omitempty"`
}

// A diagnosis is a running doctor and its findings.
type diagnosis struct {
	a      *cli.App
	checks []checkJSON
}

func (d *diagnosis) add(of, status, mend, found string, args ...any) {
	d.checks = append(d.checks, checkJSON{of, status, render.OneLine(render.Visible(fmt.Sprintf(found, args...)), 400), mend})
}

// place checks the store, or asks the service.
func (d *diagnosis) place(ctx context.Context) {
	url, err := d.a.Settings.Server()
	if err != nil {
		d.add("service", wrong, "give one of --server and --store, or unset GRAPHKERNEL_SERVER", "%v", err)
		return
	}
	of, where := "store", cli.WithoutPassword(d.a.Settings.StoreName())
	if url != "" {
		of, where = "service", cli.WithoutPassword(url)
	}
	var s statusJSON
	var spaces api.Spaces
	var folders api.Folders
	err = d.a.Stores.ForRequests().WithoutTakingIn(ctx, func(session *cli.Session) (err error) {
		if err = s.look(ctx, session); err == nil {
			spaces, err = cli.Do(ctx, session, api.ListSpaces, api.SpacesQuery{Constraints: true})
		}
		if err == nil { // the list of folders says what the index lacks
			folders, err = cli.Do(ctx, session, api.ListFolders, api.FolderQuery{Limit: 1})
		}
		return err
	})
	switch {
	case errors.Is(err, cli.ErrNoStore):
		d.add(of, note, "graphkernel import PATH makes it", "%s is not there yet", where)
	case cli.Is(err, api.CodeForbidden) && url != "":
		d.add(of, fine, "", "%s answers, and the API key is valid; it may not see more: %v", where, err)
	case err != nil && url != "":
		d.add(of, wrong, "if the message names no cause: start the service, correct the URL, or give the API key in GRAPHKERNEL_KEY", "%s: %v", where, err)
	case err != nil:
		mend := "graphkernel fsck says more; graphkernel restore brings a backup back"
		if cli.IsPostgres(d.a.Settings.StoreName()) {
			mend = "start the database, or correct the URL; an unreachable database does not lose data"
		}
		d.add(of, wrong, mend, "%s: %v", where, err)
	default:
		d.add(of, fine, "", "%s: %s in %s", where, cli.Count(s.Turns, "turn"), cli.Count(s.Conversations, "conversation"))
		if url == "" {
			d.file(ctx)
			d.room()
			d.issuing(ctx)
		}
		if n := folders.NotIndexed; n > 0 {
			mend := "the next import makes it, and so does a service"
			if url != "" {
				mend = "the service is making it; its log says if it cannot"
			}
			d.add("search", note, mend, "the search index lacks the newest %s, so searches and contexts leave them out", cli.Count(n, "number"))
		}
		d.constraints(spaces.Spaces)
	}
}

// fileCheck is the longest time of the check of a store's file: enough for about 200 MB that are not in memory.
const fileCheck = 5 * time.Second

// file makes the database check its own file, as fsck does first.
func (d *diagnosis) file(ctx context.Context) {
	s, err := d.a.Stores.OpenStore(ctx, cli.ToRead)
	if err != nil {
		return // place has reported this
	}
	defer cli.CloseStore(s, &err)
	brief, cancel := context.WithTimeout(ctx, fileCheck)
	defer cancel()
	report := fsck.Database(brief, s, fsck.Options{Findings: 1})
	switch {
	case report.Found > 0:
		d.add("file", wrong, "graphkernel fsck says which turns cannot be read; graphkernel restore brings a backup back", "the store's file is damaged: %s", report.Findings[0].Detail)
	case brief.Err() != nil:
		d.add("file", note, "graphkernel fsck checks all of it", "the check of the store's file did not finish within %v", fileCheck)
	}
}

// room checks whether the disk of the store has room for a write.
func (d *diagnosis) room() {
	if err := d.a.Stores.HasRoom(); err != nil {
		d.add("disk", wrong, "make room on the disk; a service takes writes again by itself then", "%v", err)
	}
}

// issuing checks whether the store may issue: whether its ledger is the history that the identity has signed.
func (d *diagnosis) issuing(ctx context.Context) {
	if err := d.a.Stores.MayIssue(ctx); cli.Is(err, api.CodeForked) { // keys and place report other errors
		d.add("ledger", wrong, "do what the message says, and restart a service of this store; graphkernel fsck checks all of it", "nothing is issued from this store: %v", err)
	}
}

// constraints checks the constraints of each space of beliefs, which every context contains.
func (d *diagnosis) constraints(spaces []api.Space) {
	for _, s := range spaces {
		c := s.Constraints
		if c == nil {
			continue // the service has an older version
		}
		if c.Over {
			d.add("constraints", wrong, "graphkernel belief rules "+string(s.Space)+" lists them; end some with graphkernel belief contract or belief deprecate",
				"the space %s has %d constraints of %d bytes in all, the longest of %d bytes; a context holds at most 64 constraints, 16384 bytes in all and 2048 bytes each. Contexts leave out the newest constraints that do not fit, and a context of this space alone is refused", s.Space, c.Count, c.Bytes, c.Longest)
		}
		if c.Proposed > 0 {
			d.add("constraints", note, "graphkernel belief revise states one as your own; graphkernel belief contract ends one",
				"the space %s has %s of the kinds that every context must have, but an agent proposed them, so they are not constraints", s.Space, cli.Count(c.Proposed, "item"))
		}
	}
}

func (d *diagnosis) keys(context.Context) {
	if d.a.Settings.AsksService() {
		return // a service has its own keys
	}
	ring, err := d.a.Signing.Keyring()
	switch {
	case errors.Is(err, cli.ErrNoSecret):
		d.add("key", note, "graphkernel keys init", "there is no key, so nothing can be signed")
	case err != nil:
		d.add("key", wrong, "correct the file, or name another with --keys", "%v", err)
	default:
		if id, err := ring.Signer(); err != nil {
			d.add("key", wrong, "graphkernel keys rotate", "%v", err)
		} else {
			d.add("key", fine, "", "%s signs, of %s", id, cli.Count(len(ring.Keys()), "key"))
		}
	}
	switch id, err := d.a.Signing.Identity(); {
	case err != nil:
		d.add("identity", wrong, "correct the file, or name another with --identity", "%v", err)
	case id.Name() == "":
		d.add("identity", note, "graphkernel identity init --name HOST, with a host name of yours", "there is no identity, so nothing can be attested for third parties")
	default:
		d.add("identity", fine, "", "%s", id.Name())
	}
}

// erasures checks the key with which erased texts are recognised when they come again.
func (d *diagnosis) erasures(ctx context.Context) {
	if d.a.Settings.AsksService() || d.a.Settings.Dev {
		return // a service has its own key, and a run with --dev none
	}
	secret, err := d.a.Stores.ErasureSecret(false)
	switch {
	case err != nil:
		d.add("erasures", wrong, "correct the file, or name another with "+cli.ErasuresKeyVariable, "erased texts that come again are not recognised: %v", err)
		return
	case secret != nil:
		d.add("erasures", fine, "", "erased texts that come again are held back, by the key in %s", d.a.Settings.Abbreviate(d.a.Settings.ErasuresPath()))
		return
	}
	var some api.Erasures
	err = d.a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) (err error) {
		some, err = cli.Do(ctx, s, api.ListErasures, api.ErasureQuery{Paging: api.Paging{Limit: 1}})
		return err
	})
	if err == nil && len(some.Erasures) > 0 { // place reports errors of the store
		d.add("erasures", note, "restore the file if there was one; otherwise the next erasure makes it, for texts that are erased from then on", "texts were erased, but there is no key to recognise copies of them that come again")
	}
}

// waitsTooLong is the age from which a waiting session is reported.
const waitsTooLong = 24 * time.Hour

func (d *diagnosis) spool(context.Context) {
	spool, err := d.a.Settings.Spool()
	if err != nil {
		d.add("spool", wrong, "set HOME or XDG_STATE_HOME", "%v", err)
		return
	}
	settings, err := spool.Settings()
	if err != nil {
		d.add("spool", wrong, "remove the file; sessions are captured again then", "%v", err)
		return
	}
	if settings.Paused {
		d.add("spool", note, "graphkernel capture on", "capture is off")
	}
	pending, err := spool.Pending()
	if err != nil {
		d.add("spool", wrong, "remove the files; the transcripts themselves are not lost", "%v", err)
	}
	late := 0
	for _, s := range pending {
		if d.a.Clock().Sub(s.Since) > waitsTooLong {
			late++
		}
	}
	switch {
	case late > 0:
		d.add("spool", wrong, "graphkernel capture lists them; graphkernel import TRANSCRIPT says what is wrong with one", "%s waited for more than a day", cli.Count(late, "session"))
	default:
		d.add("spool", fine, "", "%s to be imported", cli.Count(len(pending), "session"))
	}
}

// unread reports events that hooks could not read.
func (d *diagnosis) unread(context.Context) {
	spool, err := d.a.Settings.Spool()
	if err != nil {
		return // spool has reported this
	}
	list, err := spool.Unread()
	if err != nil {
		d.add("hooks", wrong, "remove the file", "%v", err)
	}
	for i := range list {
		status, mend := wrong, "the agent, or a program between, calls the hook without an event on standard input; look in the agent's settings for a program that wraps the hook. This report ends when an event is read"
		if list[i].Hook == capture.HookContext {
			status, mend = note, "this report ends with the next context that is given in time"
		}
		d.add("hooks", status, mend, "%s", hooks.UnreadLine(&list[i]))
	}
}

// resident reports whether a process keeps the store open for hooks.
func (d *diagnosis) resident(ctx context.Context) {
	spool, err := d.a.Settings.Spool()
	if err != nil {
		return // spool has reported this
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if resident.There(ctx, spool.Folder()) {
		d.add("hooks", fine, "", "a process keeps the store open for hooks")
	} else if in, err := spool.ReadyIn(); err == nil && len(in.Policies) > 0 {
		d.add("hooks", fine, "", "no process keeps the store open for hooks; the next session starts one")
	}
}

// agents checks each agent on this machine.
func (d *diagnosis) agents(ctx context.Context) {
	found, hooked := false, false
	for _, agent := range capture.Agents {
		in, err := hooks.Inspect(ctx, d.a, agent)
		if err != nil {
			d.add(string(agent), wrong, "correct the file; graphkernel setup does not change a file that it cannot read", "%v", err)
		}
		if in != nil {
			d.agent(in)
			d.arrivals(in)
			d.context(ctx, in)
		}
		found = found || err != nil || in != nil
		hooked = hooked || in != nil && in.Hooks > 0 && in.Other == ""
	}
	if hooked {
		d.resident(ctx)
	}
	if !found {
		d.add("agent", note, "", "no known agent is on this machine: there are no settings of claude-code, codex or gemini")
	}
}

func (d *diagnosis) agent(in *hooks.Installation) {
	of := string(in.Agent)
	again := "graphkernel setup " + of
	switch {
	case in.Hooks == 0:
		d.add(of, note, again, "its sessions are not captured: %s has no hooks of this program", in.Settings)
	case len(in.Missing) > 0:
		d.add(of, wrong, again, "hooks in %s run a program that is not there: %s", in.Settings, strings.Join(in.Missing, ", "))
	case in.Off != "":
		d.add(of, wrong, "remove that setting if hooks should run", "its hooks are switched off: %s", in.Off)
	case in.Unloaded:
		d.add(of, wrong, again, "version %s does not load the plugin that has its hooks", in.Version)
	case in.Other != "":
		d.add(of, note, again, "its sessions go to another store or service: hooks in %s name the spool %s", in.Settings, in.Other)
	default:
		d.add(of, fine, "", "%s in %s", cli.Count(in.Hooks, "hook"), in.Settings)
	}
	if in.Hooks > 0 {
		d.add(of, fine, "", "tool calls are judged by: %s", cmp.Or(in.Guard, "no guard"))
	}
	switch {
	case in.Version == "":
		d.add(of, note, "", "the version of %s could not be determined", in.Agent)
	case in.Old && in.Guard != "":
		d.add(of, wrong, "update it to 2.1.295 or newer", "version %s runs a tool call even if the guard cannot be started", in.Version)
	case in.Guard != "" && in.Agent != capture.ClaudeCode:
		d.add(of, note, "", "version %s; a tool call runs even if the guard cannot be started", in.Version)
	default:
		d.add(of, fine, "", "version %s", in.Version)
	}
}

// arrivals compares the time at which an agent last wrote a transcript with the time of its last hook.
func (d *diagnosis) arrivals(in *hooks.Installation) {
	spool, err := d.a.Settings.Spool()
	if err != nil || in.Hooks == 0 || in.Off != "" || in.Unloaded || in.Other != "" || len(in.Missing) > 0 {
		return // another check has reported this
	}
	arrived := spool.Arrived(in.Agent)
	written := in.Agent.NewestTranscript(d.a.Settings.Getenv)
	switch {
	case written.IsZero() || written.Before(in.Since.Add(hookSlack)) || written.Before(arrived.Add(hookSlack)):
		if !arrived.IsZero() {
			d.add(string(in.Agent), fine, "", "a hook was called last at %s", arrived.Format(time.RFC3339))
		}
	default:
		mend := "a session uses the hooks that existed when it began: begin a new session"
		if in.Agent == capture.Codex {
			mend = "codex runs hooks once you have trusted them: type /hooks in a session"
		}
		last := "no hook was ever called"
		if !arrived.IsZero() {
			last = "a hook was called last at " + arrived.Format(time.RFC3339)
		}
		d.add(string(in.Agent), wrong, mend, "the agent wrote a transcript at %s, but %s", written.Format(time.RFC3339), last)
	}
}

// hookSlack is how much later than its last hook an agent may write to a transcript.
const hookSlack = 5 * time.Minute

// context checks whether a hook would be given a context now, without assembling one, because that would be recorded.
func (d *diagnosis) context(ctx context.Context, in *hooks.Installation) {
	if in.Context == "" || in.Off != "" {
		return
	}
	of := string(in.Agent)
	err := d.a.Stores.MayGiveContext(ctx, hooks.ContextPolicy(in.Context))
	switch {
	case errors.Is(err, cli.ErrNoStore):
		d.add(of, note, "graphkernel import PATH makes the store", "sessions begin without a context: there is nothing to choose from")
	case errors.Is(err, cli.ErrNoSecret):
		d.add(of, note, "graphkernel keys init", "sessions begin without a context: there is no key to sign it with")
	case err != nil:
		d.add(of, wrong, "correct what the message names; until then sessions begin without a context", "a context would be refused now: %v", err)
	default:
		d.add(of, fine, "", "a session would begin with a brief, and contexts would be given by %s", cmp.Or(string(hooks.ContextPolicy(in.Context)), "the kernel's default policy"))
	}
	if id := hooks.ContextPolicy(in.Context); id != "" {
		d.add(of, note, "graphkernel setup "+of+", unless you chose it", "its hooks name the policy %s, so a better default does not reach them", id)
	}
}

// report prints the checks, and ends the program with exit code 1 if anything is wrong.
func (d *diagnosis) report() error {
	code := 0
	for _, c := range d.checks {
		if c.Status == wrong {
			code = 1
		}
	}
	err := d.a.IO.Print(map[string]any{"checks": d.checks}, func(w io.Writer) {
		for _, c := range d.checks {
			fmt.Fprintf(w, "%s  %-11s  %s\n", paints[c.Status].Paint(w, fmt.Sprintf("%-5s", c.Status)), c.Of, c.Found)
			if c.Mend != "" {
				fmt.Fprintf(w, "%-5s  %-11s  → %s\n", "", "", c.Mend)
			}
		}
	})
	if err != nil {
		return err
	}
	return cli.Finish(code)
}
