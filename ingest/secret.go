package ingest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// ErrSecret is wrapped by Read's error about a secret in a line of the project's own format that the policy refuses.
var ErrSecret = errors.New("a secret")

// screened has the secrets of a draft that is not yet admitted, and the policy that was applied to them.
type screened struct {
	found []secrets.Found
	done  secrets.Policy
}

// screen searches a draft for secrets, before anything is computed from its text. It returns false if the reading must end.
func (r *reading) screen(d *dag.Draft) (s screened, ok bool) {
	if s.done = r.opts.Secrets.Policy(); s.done == secrets.Redact && d.Salt != nil {
		s.done = secrets.Report
	}
	found, err := r.opts.Secrets.Draft(d)
	if err != nil {
		r.failed = fmt.Errorf("ingest: turn %s has a secret, and no token could be made to replace it: %w", d.ID, err)
		return s, false
	}
	for _, f := range found {
		name, _ := strings.CutPrefix(f.In, "attr ")
		if s.done == secrets.Redact && len(d.Attrs[name]) > dag.MaxAttrValue { // a token may be longer than the secret
			delete(d.Attrs, name)
			r.note(noteAttrLeftOut)
		}
	}
	s.found = found
	return s, true
}

// refused reports whether the policy refuses the draft.
func (s *screened) refused() bool { return len(s.found) > 0 && s.done == secrets.Refuse }

// tell counts the secrets of a draft that was admitted or refused.
func (r *reading) tell(s *screened, d *dag.Draft, place string) {
	if len(s.found) == 0 {
		return
	}
	if r.report.Secrets == nil {
		r.report.Secrets = map[string]int{}
	}
	if s.done == secrets.Report && r.opts.Secrets.Policy() == secrets.Redact {
		r.note(noteSecretKept)
	}
	for _, f := range s.found {
		r.report.Secrets[f.Rule]++
		if r.opts.Secret != nil {
			r.opts.Secret(Secret{place, d.ID, f.Rule, f.In, s.done})
		}
	}
}

// screenLines is screen for the project's own lines. They name their parents, so a refused line ends the import.
func (r *reading) screenLines(b *Batch) error {
	for i := range b.Drafts {
		d := &b.Drafts[i]
		s, ok := r.screen(d)
		if !ok {
			return r.failed
		}
		r.tell(&s, d, b.Places[i])
		if s.refused() {
			return fmt.Errorf("%s: %w: turn %s has a secret in its %s (%s), and the policy for secrets is refuse; remove the line, or import with another policy", b.Places[i], ErrSecret, d.ID, s.found[0].In, s.found[0].Rule)
		}
	}
	return nil
}
