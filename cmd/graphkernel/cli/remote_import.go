package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
)

// mostHeld is the most lines that wait for parents further down in a file: as many as one request may admit.
const mostHeld = 10_000

// Import reads files, folders and repositories on this machine, and sends their turns to a service.
func (r remoteTurns) Import(ctx context.Context, paths []string, opts ingest.Options) (admission.ImportReport, error) {
	im := &remoteImport{client: r, conversations: map[dag.ConversationID]bool{}}
	read, err := ingest.ReadAll(ctx, paths, opts, func(b *ingest.Batch) error { return im.admit(ctx, b) })
	if err == nil {
		err = im.last(ctx)
	}
	im.report.Read, im.report.Conversations = read, len(im.conversations)
	who, headErr := told(r.Caller(ctx))
	if headErr == nil {
		im.report.Head = who.Head
	} else if err == nil {
		err = headErr
	}
	return im.report, err
}

// A remoteImport is a running Import.
type remoteImport struct {
	client        remoteTurns
	held          []dag.Draft // lines that wait for their parents
	places        []string    // places of the held lines
	report        admission.ImportReport
	conversations map[dag.ConversationID]bool
}

func (im *remoteImport) admit(ctx context.Context, b *ingest.Batch) error {
	for i := range b.Drafts {
		im.conversations[b.Drafts[i].Conversation] = true
	}
	if b.Repeats {
		return im.admitRepeating(ctx, b.Drafts, b.Places)
	}
	if !b.Ordered {
		return im.send(ctx, b.Drafts, b.Places)
	}
	if len(im.held) == 0 {
		err := im.sendLines(ctx, b.Drafts, b.Places)
		if !errors.Is(err, api.CodeParent) {
			return err
		}
	}
	im.held, im.places = append(im.held, b.Drafts...), append(im.places, b.Places...)
	if len(im.held) > mostHeld {
		return im.last(ctx)
	}
	if err := im.last(ctx); !errors.Is(err, api.CodeParent) {
		return err
	}
	return nil
}

// last admits the held lines, or returns an error that names one without a parent.
func (im *remoteImport) last(ctx context.Context) error {
	if len(im.held) == 0 {
		return nil
	}
	err := im.send(ctx, im.held, im.places)
	if errors.Is(err, api.CodeParent) {
		return fmt.Errorf("%w; %s not admitted", err, Was(len(im.held), "line"))
	}
	if err == nil {
		im.held, im.places = nil, nil
	}
	return err
}

// send admits a batch atomically.
func (im *remoteImport) send(ctx context.Context, drafts []dag.Draft, places []string) error {
	receipt, err := im.client.Turns().Admit(ctx, drafts)
	im.countErased(ctx, receipt, drafts)
	return im.count(receipt, err, places)
}

// sendLines admits lines in their order, atomically.
func (im *remoteImport) sendLines(ctx context.Context, drafts []dag.Draft, places []string) (err error) {
	var lines []byte
	for i := range drafts {
		if lines, err = ingest.AppendLine(lines, &drafts[i]); err != nil {
			return fmt.Errorf("%s: %w", places[i], err)
		}
	}
	receipt, err := im.client.Turns().AdmitLines(ctx, bytes.NewReader(lines))
	im.countErased(ctx, receipt, drafts)
	return im.count(receipt, err, places)
}

// countErased counts the existing turns whose text was erased. If the key may not read, they are not counted.
func (im *remoteImport) countErased(ctx context.Context, r api.Receipt, drafts []dag.Draft) {
	if r.Existing == 0 {
		return
	}
	sent := make(map[dag.TurnID]bool, len(drafts)) // with text
	ids := make([]dag.TurnID, len(drafts))
	for i := range drafts {
		ids[i] = drafts[i].ID
		sent[ids[i]] = !drafts[i].Redacted
	}
	here, _ := im.client.session.LookUp(ctx, ids) // the turns are admitted even if this fails
	for i := range here {
		if here[i].Redacted && sent[here[i].ID] {
			im.report.Erased++
		}
	}
}

func (im *remoteImport) count(r api.Receipt, err error, places []string) error {
	im.report.Add(r)
	var p *client.Problem
	if !errors.As(err, &p) {
		return err
	}
	var index int
	for _, form := range [...]string{"turns[%d]", "line %d"} {
		if n, _ := fmt.Sscanf(p.Place, form, &index); n == 0 {
			continue
		}
		if form == "line %d" {
			index--
		}
		if 0 <= index && index < len(places) {
			return fmt.Errorf("%s: %w", places[index], refused(err))
		}
	}
	return refused(err)
}

// admitRepeating admits turns, except for those that are stored with the same text. If a turn is stored with another text, its record has changed since: the
// stored turn stays, and the record is named.
func (im *remoteImport) admitRepeating(ctx context.Context, drafts []dag.Draft, places []string) error {
	for len(drafts) > 0 {
		err := im.send(ctx, drafts, places)
		if !errors.Is(err, api.CodeConflict) {
			return err
		}
		ids := make([]dag.TurnID, len(drafts))
		for i := range drafts {
			ids[i] = drafts[i].ID
		}
		here, lookErr := im.client.session.LookUp(ctx, ids)
		switch {
		case errors.Is(lookErr, api.CodeForbidden): // the key may admit but not read
			return err
		case lookErr != nil:
			return lookErr
		case len(here) == 0:
			return err
		}
		drafts, places = im.dropStored(here, drafts, places)
	}
	return nil
}

func (im *remoteImport) dropStored(here []Turn, drafts []dag.Draft, places []string) (fresh []dag.Draft, at []string) {
	stored := make(map[dag.TurnID]*Turn, len(here))
	for i := range here {
		stored[here[i].ID] = &here[i]
	}
	for i := range drafts {
		d := &drafts[i]
		was := stored[d.ID]
		if was == nil {
			fresh, at = append(fresh, *d), append(at, places[i])
			continue
		}
		countStored(&im.report, was, d, places[i])
	}
	return fresh, at
}

// countStored counts a stored turn: as existing, or as changed if the record has other content.
func countStored(r *admission.ImportReport, was *Turn, d *dag.Draft, place string) {
	changed := ""
	switch {
	case was.Redacted || d.Redacted: // erased text does not come back
	case was.Role != d.Role:
		changed = "role"
	case was.Author != d.Author:
		changed = "author"
	case was.Content != d.Content:
		changed = "content"
	}
	if changed == "" {
		r.Existing++
		if was.Redacted && !d.Redacted {
			r.Erased++
		}
		return
	}
	if r.Changed++; r.Changed <= admission.MaxChangedNamed {
		r.ChangedTurns = append(r.ChangedTurns, admission.ChangedTurn{ID: d.ID, Place: place, Field: changed})
	}
}
