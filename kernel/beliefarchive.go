package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// ErrArchive is wrapped if what was written to an archive is not what would be written now. Write it again.
var ErrArchive = errors.New("what is to be archived has changed meanwhile; write the file again")

// A BeliefArchive is what of a space is to be archived, or was.
type BeliefArchive struct {
	Document []byte // the file, as package journal has it
	SHA256   dag.Digest
	Items    []ArchivedItem
	Left     int // items that qualify and have no room in the file
}

// An ArchivedItem is an item in an archive.
type ArchivedItem struct {
	Item       belief.Item
	Revisions  int
	Confidence dag.PPM // of what is current, or of the newest revision
	LastUsed   dag.Time
	SHA256     dag.Digest // of its line, which its deprecation keeps
	Seq        dag.Seq    // of its deprecation; 0: it was not recorded

	candidate journal.Archived
}

// Archive writes what of a space is to be archived: items that nothing is believed of any more, or that another item supersedes, that are unused for 90 days and of little confidence. It
// records nothing unless saved is the digest of the document that it writes: then the caller has the file, and each item is deprecated, with the digest of its line as the reason.
func (k Beliefs) Archive(ctx context.Context, tenant dag.Tenant, space belief.Space, saved *dag.Digest) (*BeliefArchive, error) {
	if err := mayBelieve(ctx, "archive"); err != nil {
		return nil, err
	}
	if _, _, err := k.kindsOf(ctx, tenant, space, history.Forever-1); err != nil {
		return nil, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	out := &BeliefArchive{}
	file := journal.Archive{Tenant: tenant, Space: space}
	room := journal.MaxArchive - len(file.Append(nil))
	for after := ""; ; {
		const page = 1000
		names, err := k.journal().Names(ctx, tenant, space, after, page, w.asOf)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			item, err := k.archivable(ctx, tenant, w, name, now)
			if err != nil {
				return nil, err
			}
			if item == nil {
				continue
			}
			need := len(item.candidate.Append(nil)) + 1
			if need > room || len(out.Items) == journal.MaxArchived {
				out.Left++
				continue
			}
			room -= need
			out.Items, file.Items = append(out.Items, *item), append(file.Items, item.candidate)
		}
		if len(names) < page {
			break
		}
		after = names[len(names)-1].Name()
	}
	slices.SortFunc(file.Items, func(a, b journal.Archived) int { return strings.Compare(string(a.Item), string(b.Item)) })
	slices.SortFunc(out.Items, func(a, b ArchivedItem) int { return strings.Compare(string(a.Item), string(b.Item)) })
	out.Document = file.Append(nil)
	out.SHA256 = sha256.Sum256(out.Document)
	switch {
	case saved == nil:
		return out, nil
	case *saved != out.SHA256:
		return nil, fmt.Errorf("%w: its sha256 would be %s, and %s was saved", ErrArchive, out.SHA256, *saved)
	}
	for i := range out.Items {
		item := &out.Items[i]
		done, err := k.Act(ctx, tenant, journal.Act{Item: item.Item, Deprecates: true, Newest: item.Revisions, Reason: journal.ArchivedReason(item.SHA256)})
		if err != nil {
			return nil, err
		}
		item.Seq = done.Seq
	}
	return out, nil
}

// archivable returns an item if it is to be archived, else nil.
func (k Beliefs) archivable(ctx context.Context, tenant dag.Tenant, w *web, name belief.Item, now dag.Time) (*ArchivedItem, error) {
	record, err := k.journal().Item(ctx, tenant, name, w.asOf)
	if err != nil {
		return nil, err
	}
	newest, current := record.Revisions[len(record.Revisions)-1], record.Tagged(journal.Current)
	superseded := current == nil || ended(current, now)
	if !superseded {
		if superseded, err = k.superseded(ctx, tenant, w, name); err != nil {
			return nil, err
		}
	}
	if current == nil {
		current = newest
	}
	if record.Deprecated || !superseded || current.Erased || record.Tagged(journal.Published) != nil || current.Confidence >= rules.InvalidBelow {
		return nil, nil
	}
	last, err := k.lastUsed(ctx, tenant, record, w.asOf)
	if err != nil || !rules.Archives(last, current.Confidence, superseded, now) {
		return nil, err
	}
	entries, err := k.journal().RevisionEntries(ctx, tenant, name, w.asOf)
	if err != nil {
		return nil, err
	}
	item := &ArchivedItem{Item: name, Revisions: newest.Number, Confidence: current.Confidence, LastUsed: last, candidate: journal.Archived{Item: name, Entries: entries}}
	item.SHA256 = item.candidate.Digest()
	return item, nil
}

// ended reports whether all statements of a revision have ended.
func ended(r *journal.Revision, now dag.Time) bool {
	return !slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Span.Until > now })
}

// superseded reports whether what is believed of another item supersedes an item.
func (k Beliefs) superseded(ctx context.Context, tenant dag.Tenant, w *web, item belief.Item) (bool, error) {
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

// lastUsed is when an item was last used, or changed by something else than decay.
func (k Beliefs) lastUsed(ctx context.Context, tenant dag.Tenant, record *journal.ItemRecord, asOf dag.Seq) (dag.Time, error) {
	addresses := make([]string, len(record.Revisions))
	for i, r := range record.Revisions {
		addresses[i] = addressOf(r)
	}
	links, err := k.journal().Links(ctx, tenant, addresses, false, asOf)
	if err != nil {
		return 0, err
	}
	faded := map[dag.Seq]bool{} // and what ended or began with them
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

// An Unarchived item is what became of an item of an archive.
type Unarchived struct {
	Item     belief.Item
	Result   string // journal.Changed, Unchanged: it is no longer archived, or Refused
	Seq      dag.Seq
	Conflict []belief.Element // that it was refused for
	Wording  journal.Wording  // of Conflict
	Reason   string           // why it was refused or has not changed
}

// Unarchive restores the items of an archive. Each revision in the file must be the one that is recorded, with its digest, or all of it is journal.ErrArchive and nothing is recorded. An item
// is restored if it was archived with this file, and if nothing that is believed now contradicts it. Dry, it says which were archived, and records nothing.
func (k Beliefs) Unarchive(ctx context.Context, tenant dag.Tenant, document []byte, dry bool) (list []Unarchived, _ error) {
	if err := mayBelieve(ctx, "restore from an archive"); err != nil {
		return nil, err
	}
	file, err := journal.ParseArchive(document)
	if err != nil {
		return nil, err
	}
	if file.Tenant != tenant {
		return nil, fmt.Errorf("%w: it is of tenant %s, not of %s", journal.ErrArchive, file.Tenant, tenant)
	}
	for i := range file.Items {
		item := &file.Items[i]
		if err := k.recorded(ctx, tenant, item); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", journal.ErrArchive, i+2, err)
		}
		one, err := k.unarchivable(ctx, tenant, item)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	if dry {
		return list, nil
	}
	for i := range list {
		one := &list[i]
		if one.Result != journal.Changed {
			continue
		}
		done, err := k.Act(ctx, tenant, journal.Act{Item: one.Item, Reason: "restored, " + journal.ArchivedReason(file.Items[i].Digest())})
		if err != nil {
			return nil, err
		}
		if one.Result, one.Seq, one.Conflict, one.Wording = done.Result, done.Seq, done.Conflict, done.Wording; done.Result == journal.Refused {
			one.Reason = "it contradicts what is believed now"
		}
	}
	return list, nil
}

// recorded makes sure that the revisions of an archived item are those that are recorded. What was erased since is compared by its digest.
func (k Beliefs) recorded(ctx context.Context, tenant dag.Tenant, item *journal.Archived) error {
	entries, err := k.journal().RevisionEntries(ctx, tenant, item.Item, history.Forever-1)
	if err != nil {
		return err
	}
	for n := range item.Entries {
		if n < len(entries) {
			entries[n].Part, entries[n].Parts = 0, 0 // the file does not have them
		}
		if n >= len(entries) || !item.Entries[n].SameButErased(&entries[n]) {
			return fmt.Errorf("revision %d of %s is not the one that is recorded", n+1, item.Item)
		}
	}
	return nil
}

func (k Beliefs) unarchivable(ctx context.Context, tenant dag.Tenant, item *journal.Archived) (one Unarchived, _ error) {
	one = Unarchived{Item: item.Item, Result: journal.Changed}
	record, err := k.journal().Item(ctx, tenant, item.Item, history.Forever-1)
	if err != nil {
		return one, err
	}
	lapsed, err := k.journal().Lapsed(ctx, tenant, record)
	switch {
	case err != nil:
		return one, err
	case lapsed == nil:
		one.Result, one.Reason = journal.Unchanged, "it is not archived"
	case lapsed.Reason != journal.ArchivedReason(item.Digest()):
		one.Result, one.Reason = journal.Refused, fmt.Sprintf("number %d deprecated it for another reason than this file: %.200q", lapsed.Seq, lapsed.Reason)
	}
	return one, nil
}
