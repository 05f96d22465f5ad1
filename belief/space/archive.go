package space

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// ErrArchive is wrapped if the archive that the caller saved differs from the one that would be written now. The caller should write it again.
var ErrArchive = errors.New("the items to archive were changed meanwhile; write the file again")

// Archive writes an archive of a space's items that are no longer believed or that another item supersedes, that were unused for 90 days,
// and whose confidence is below rules.InvalidBelow. It records nothing unless the request has the digest of this document. In that case the
// caller has saved the file, so each item is deprecated, with the digest of its line in the reason.
func (k Upkeep) Archive(ctx context.Context, tenant dag.Tenant, in api.ArchiveRequest) (out api.Archive, _ error) {
	if err := k.mayBelieve(ctx, tenant, "archive"); err != nil {
		return out, err
	}
	w, err := k.web(ctx, tenant, in.Space)
	if err != nil {
		return out, err
	}
	out.Items = []api.ArchivedItem{}
	file := journal.Archive{Tenant: tenant, Space: in.Space}
	room := journal.MaxArchive - len(file.Append(nil))
	for after := ""; ; {
		const page = 1000
		names, err := k.journal().Names(ctx, tenant, in.Space, after, page, w.asOf)
		if err != nil {
			return out, err
		}
		for _, name := range names {
			item, line, err := k.archivable(ctx, tenant, w, name)
			if err != nil {
				return out, err
			}
			if item == nil {
				continue
			}
			need := len(line.Append(nil)) + 1
			if need > room || len(out.Items) == journal.MaxArchived {
				out.Left++
				continue
			}
			room -= need
			out.Items, file.Items = append(out.Items, *item), append(file.Items, line)
		}
		if len(names) < page {
			break
		}
		after = names[len(names)-1].Name()
	}
	slices.SortFunc(file.Items, func(a, b journal.Archived) int { return strings.Compare(string(a.Item), string(b.Item)) })
	slices.SortFunc(out.Items, func(a, b api.ArchivedItem) int { return strings.Compare(string(a.Item), string(b.Item)) })
	document := file.Append(nil)
	out.SHA256 = sha256.Sum256(document)
	switch in.SHA256 {
	case dag.Digest{}:
		out.Document = string(document)
		return out, nil
	case out.SHA256:
	default:
		return out, fmt.Errorf("%w: its sha256 would now be %s, but the saved file has %s", ErrArchive, out.SHA256, in.SHA256)
	}
	for i := range out.Items {
		item := &out.Items[i]
		done, err := k.catalog().Act(ctx, tenant, journal.Act{Item: item.Item, Deprecates: true, Newest: item.Revisions, Reason: journal.ArchivedReason(item.SHA256)})
		if err != nil {
			return out, err
		}
		item.Seq = done.Seq
	}
	return out, nil
}

// archivable returns an item and its line of the file, or nil if the item should not be archived.
func (k Upkeep) archivable(ctx context.Context, tenant dag.Tenant, w *web, name belief.Item) (item *api.ArchivedItem, line journal.Archived, _ error) {
	record, err := k.journal().Item(ctx, tenant, name, w.asOf)
	if err != nil {
		return nil, line, err
	}
	newest, current := record.Revisions[len(record.Revisions)-1], record.Tagged(journal.Current)
	superseded := current == nil || ended(current, w.now)
	if !superseded {
		if superseded, err = k.superseded(ctx, tenant, w, name); err != nil {
			return nil, line, err
		}
	}
	if current == nil {
		current = newest
	}
	if record.Deprecated || !superseded || current.Erased || record.Tagged(journal.Published) != nil || current.Confidence >= rules.InvalidBelow {
		return nil, line, nil
	}
	last, err := k.lastUsed(ctx, tenant, record, w.asOf)
	if err != nil || !rules.Archives(last, current.Confidence, superseded, w.now) {
		return nil, line, err
	}
	entries, err := k.journal().RevisionEntries(ctx, tenant, name, w.asOf)
	if err != nil {
		return nil, line, err
	}
	line = journal.Archived{Item: name, Entries: entries}
	return &api.ArchivedItem{Item: name, Revisions: newest.Number, Confidence: current.Confidence, LastUsed: last, SHA256: line.Digest()}, line, nil
}

// ended reports whether all statements of a revision have ended.
func ended(r *journal.Revision, now dag.Time) bool {
	return !slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Span.Until > now })
}

// superseded reports whether the believed revision of another item supersedes an item.
func (k Upkeep) superseded(ctx context.Context, tenant dag.Tenant, w *web, item belief.Item) (bool, error) {
	at, ok := w.of[item]
	if !ok {
		return false, nil
	}
	for _, l := range w.in[at] {
		from, believed := w.at[l.From.String()]
		if l.Type != "supersedes" || !believed || w.revisions[from].Item == item {
			continue
		}
		if counts, err := k.lends(ctx, tenant, w, w.revisions[at], l); err != nil || counts {
			return counts, err
		}
	}
	return false, nil
}

// lastUsed returns the time when an item was last used, or last changed other than by decay.
func (k Upkeep) lastUsed(ctx context.Context, tenant dag.Tenant, record *journal.ItemRecord, asOf dag.Seq) (dag.Time, error) {
	addresses := make([]string, len(record.Revisions))
	for i, r := range record.Revisions {
		addresses[i] = r.Address().String()
	}
	links, err := k.journal().Links(ctx, tenant, addresses, false, asOf)
	if err != nil {
		return 0, err
	}
	faded := map[dag.Seq]bool{} // revisions made by decay; tags ended or began with them
	for i, r := range record.Revisions {
		faded[r.Seq] = decayedFrom(r, links[i]) != 0
	}
	last, err := k.journal().Touched(ctx, tenant, record, faded)
	if err != nil {
		return 0, err
	}
	uses, err := k.journal().Used(ctx, tenant, []belief.Item{record.Item}, asOf)
	if err != nil {
		return 0, err
	}
	for _, u := range uses[0] {
		last = max(last, u.At)
	}
	return last, nil
}

// Unarchive restores the items of an archive. If a revision in the file differs from the recorded one, the error is journal.ErrArchive and
// nothing is recorded. An item is restored if it was archived with this file and no current belief contradicts it. A dry run reports
// which items were archived with this file, and records nothing.
func (k Upkeep) Unarchive(ctx context.Context, tenant dag.Tenant, in api.UnarchiveRequest) (out api.Unarchived, _ error) {
	if err := k.mayBelieve(ctx, tenant, "restore from an archive"); err != nil {
		return out, err
	}
	file, err := journal.ParseArchive([]byte(in.Document))
	if err != nil {
		return out, err
	}
	if file.Tenant != tenant {
		return out, fmt.Errorf("%w: it belongs to tenant %s, not to %s", journal.ErrArchive, file.Tenant, tenant)
	}
	out.Items = []api.UnarchivedItem{}
	for i := range file.Items {
		item := &file.Items[i]
		if err := k.recorded(ctx, tenant, item); err != nil {
			return out, fmt.Errorf("%w: line %d: %w", journal.ErrArchive, i+2, err)
		}
		one, err := k.unarchivable(ctx, tenant, item)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, one)
	}
	if in.DryRun {
		return out, nil
	}
	for i := range out.Items {
		one := &out.Items[i]
		if one.Outcome != journal.Changed {
			continue
		}
		done, err := k.catalog().Act(ctx, tenant, journal.Act{Item: one.Item, Reason: "restored, " + journal.ArchivedReason(file.Items[i].Digest())})
		if err != nil {
			return out, err
		}
		if one.Outcome, one.Seq = done.Result, done.Seq; done.Result == journal.Refused {
			one.Reason = "it contradicts a current belief"
		}
		for _, e := range done.Conflict {
			one.Conflict = append(one.Conflict, worded(e.Literal, done.Wording))
		}
	}
	return out, nil
}

// recorded refuses an archived item whose revisions differ from the recorded ones. A revision that was erased since is compared by its digest.
func (k Upkeep) recorded(ctx context.Context, tenant dag.Tenant, item *journal.Archived) error {
	entries, err := k.journal().RevisionEntries(ctx, tenant, item.Item, history.Forever-1)
	if err != nil {
		return err
	}
	for n := range item.Entries {
		if n < len(entries) {
			entries[n].Part, entries[n].Parts = 0, 0 // the file lacks them
		}
		if n >= len(entries) || !item.Entries[n].SameButErased(&entries[n]) {
			return fmt.Errorf("revision %d of %s differs from the recorded one", n+1, item.Item)
		}
	}
	return nil
}

func (k Upkeep) unarchivable(ctx context.Context, tenant dag.Tenant, item *journal.Archived) (one api.UnarchivedItem, _ error) {
	one = api.UnarchivedItem{Item: item.Item, Outcome: journal.Changed}
	record, err := k.journal().Item(ctx, tenant, item.Item, history.Forever-1)
	if err != nil {
		return one, err
	}
	lapsed, err := k.journal().Lapsed(ctx, tenant, record)
	switch {
	case err != nil:
		return one, err
	case lapsed == nil:
		one.Outcome, one.Reason = journal.Unchanged, "it is not archived"
	case lapsed.Reason != journal.ArchivedReason(item.Digest()):
		one.Outcome, one.Reason = journal.Refused, fmt.Sprintf("number %d deprecated the item for a different reason than this file: %.200q", lapsed.Seq, lapsed.Reason)
	}
	return one, nil
}
