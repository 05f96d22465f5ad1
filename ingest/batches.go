package ingest

import "github.com/graphkernel/graphkernel/dag"

// batches hand over the turns of a source as they are read, so that memory does not grow with its length. Every turn follows its
// parents, so a batch never depends on a later one.
type batches struct {
	r     *reading
	batch *Batch
	size  int // bytes of the contents of the batch
}

// Bounds of a batch; it ends at whichever is reached first.
const (
	batchLines = 1000
	batchBytes = 4 << 20
)

// newBatches returns batches of a source whose turns may be stored already.
func newBatches(r *reading, source string, format Format) batches {
	return batches{r: r, batch: &Batch{Source: source, Format: format, Repeats: true}}
}

// admit adds a turn to the batch, unless the reading leaves it out.
func (b *batches) admit(d *dag.Draft, session, place string, noted counts) bool {
	if !b.r.admit(b.batch, d, session, place, noted) {
		return false
	}
	b.size += len(d.Content)
	return true
}

// handFull hands over a full batch.
func (b *batches) handFull() error {
	if len(b.batch.Drafts) < batchLines && b.size < batchBytes {
		return nil
	}
	return b.hand()
}

// hand hands over the batch and begins the next one.
func (b *batches) hand() error {
	full := b.batch
	b.batch, b.size = &Batch{Source: full.Source, Format: full.Format, Repeats: true}, 0
	return b.r.hand(full)
}
