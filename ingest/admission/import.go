package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// An ImportReport says what an import did with the records that it read.
type ImportReport struct {
	Read ingest.Report

	// Receipt sums up all admissions. Its head is the tenant's newest sequence number when the import ended. After a
	// failed import the head is the number that the import reached.
	api.Receipt

	Erased        int // existing turns whose text was erased since; the text is not admitted again
	Conversations int // conversations of the turns read

	// Changed counts the records whose role, author or content differs from the stored
	// turn with the same id. They are not admitted. ChangedTurns names the first
	// [MaxChangedNamed].
	Changed      int
	ChangedTurns []ChangedTurn

	// Guests are the people of chats, traces and lines who are guests under the standing policy in force although no rule of it says so: those with the most
	// turns first, then by name, at most [MaxGuests]. MoreGuests counts the others.
	Guests     []Guest
	MoreGuests int
}

// A Guest is a person who is a guest in conversations of an import.
type Guest struct {
	Author string
	Turns  int // of the records read
}

// MaxGuests bounds [ImportReport].Guests.
const MaxGuests = 1_000

// MaxChangedNamed bounds [ImportReport].ChangedTurns.
const MaxChangedNamed = 100

// A ChangedTurn is a record that differs from the stored turn with the same id.
type ChangedTurn struct {
	ID    dag.TurnID
	Place string // of the record
	Field string // the field that differs: role, author or content
}

// Import is ImportAll for one path.
func (k Admissions) Import(ctx context.Context, tenant dag.Tenant, path string, opts ingest.Options) (ImportReport, error) {
	return k.ImportAll(ctx, tenant, []string{path}, opts)
}

// ImportAll reads files, folders and repositories, as [ingest.ReadAll] does, and admits their turns. Each
// batch is admitted whole or not at all. The first error ends the import; the
// batches before it stay. Another import continues from there, because turns that
// are stored count as existing. The report is also valid if there is an error.
//
// Reading, digests and storage overlap. Memory contains a few batches, and the
// lines that precede their parents in a file.
func (k Admissions) ImportAll(ctx context.Context, tenant dag.Tenant, paths []string, opts ingest.Options) (ImportReport, error) {
	im := &importing{k: k, tenant: tenant, conversations: map[dag.ConversationID]struct{}{}, companies: map[dag.ConversationID]*company{}, authors: map[dag.Thing]string{}, work: make(chan work, 1), done: make(chan error, 1)}
	var err error
	if im.report.Head, err = k.store.Head(ctx, tenant); err != nil {
		return im.report, err
	}
	im.before = im.report.Head
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go im.write(ctx, stop)
	read, err := ingest.ReadAll(ctx, paths, opts, func(b *ingest.Batch) error { return im.prepare(ctx, b) })
	close(im.work)
	failed := <-im.done
	if err == nil && failed == nil {
		failed = im.last(ctx)
	}
	if failed != nil { // this error stopped the reading
		err = failed
	}
	im.report.Read = read
	im.report.Conversations = len(im.conversations)
	if guestsErr := im.guests(ctx); err == nil {
		err = guestsErr
	}
	im.report.HeldBack, im.report.ErasedBefore = len(im.recognised.held), len(im.recognised.erasedBefore)
	// A store that has failed may not return its head. The report then keeps the head of
	// the last receipt.
	if head, headErr := k.store.Head(context.WithoutCancel(ctx), tenant); headErr == nil {
		im.report.Head = head
	} else if err == nil {
		err = headErr
	}
	return im.report, err
}

// An importing is one running ImportAll. prepare runs on the goroutine that reads;
// write runs on its own goroutine. Only write may use held, report, conversations and
// recognised until it has sent to done; prepare alone uses names, companies and authors.
type importing struct {
	k             Admissions
	tenant        dag.Tenant
	work          chan work
	done          chan error
	held          []store.Arrival // lines that wait for their parents
	report        ImportReport
	conversations map[dag.ConversationID]struct{}
	recognised    holding
	before        dag.Seq // the head when the import began
	names         marks.Names
	companies     map[dag.ConversationID]*company
	authors       map[dag.Thing]string // of turns of people
}

// A company is who takes part in a conversation.
type company struct {
	by     dag.Channel
	people standing.Conversation
	turns  map[dag.Thing]int // of each person
}

// meets notes who said a turn. The arrival has its origin.
func (im *importing) meets(ctx context.Context, author string, a *store.Arrival) error {
	by := a.Marks.Origin.Channel
	if by != dag.ChannelChat && by != dag.ChannelTrace && by != dag.ChannelLines {
		return nil
	}
	in := im.companies[a.Turn.Conversation]
	if in == nil {
		in = &company{by: by, turns: map[dag.Thing]int{}}
		im.companies[a.Turn.Conversation] = in
		if err := im.knew(ctx, in, a.Turn.Conversation); err != nil {
			return err
		}
	}
	t := standing.TurnOf(0, &a.Turn, &a.Marks, len(a.Parents))
	if in.people.Add(&t); t.Voice == dag.VoicePerson && author != "" {
		in.turns[t.Origin.Author]++
		im.authors[t.Origin.Author] = author
	}
	return nil
}

// errBefore ends a scan at the first turn that was not there when the import began.
var errBefore = errors.New("the scan has read what was there before")

// knew adds the turns of a conversation that were stored when the import began.
func (im *importing) knew(ctx context.Context, in *company, conversation dag.ConversationID) error {
	if im.before == 0 {
		return nil
	}
	err := im.k.store.Scan(ctx, im.tenant, 0, &conversation, func(r *store.Record) error {
		if r.Seq > im.before {
			return errBefore
		}
		t := standing.TurnOf(r.Seq, &r.Turn, &r.Marks, len(r.Parents))
		in.people.Add(&t)
		return nil
	})
	if errors.Is(err, errBefore) {
		return nil
	}
	return err
}

// guests reports the people who are guests under the policy in force although no rule of it says so.
func (im *importing) guests(ctx context.Context) error {
	if len(im.authors) == 0 {
		return nil
	}
	inForce, err := im.k.kernel.Standing(ctx, im.tenant)
	if err != nil {
		return err
	}
	turns := map[dag.Thing]int{}
	for id, in := range im.companies {
		for author, n := range in.turns {
			t := standing.Turn{Role: dag.RoleUser, Voice: dag.VoicePerson, Conversation: id, Origin: dag.Origin{Channel: in.by, Author: author}, Seq: im.report.Head + 1}
			if ruling := inForce.Of(&t, &in.people); ruling.Standing == standing.Guest && ruling.Rule == 0 {
				turns[author] += n
			}
		}
	}
	for author, n := range turns {
		im.report.Guests = append(im.report.Guests, Guest{im.authors[author], n})
	}
	slices.SortFunc(im.report.Guests, func(a, b Guest) int { return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Author, b.Author)) })
	if more := len(im.report.Guests) - MaxGuests; more > 0 {
		im.report.Guests, im.report.MoreGuests = im.report.Guests[:MaxGuests], more
	}
	return nil
}

// A work is a batch that is prepared for admission.
type work struct {
	arrivals []store.Arrival
	ordered  bool
	repeats  bool
}

// maxHeld and maxHeldBytes bound the lines that wait for parents further down in
// a file.
const (
	maxHeld      = 100_000
	maxHeldBytes = 256 << 20
)

func (im *importing) prepare(ctx context.Context, b *ingest.Batch) error {
	w := work{arrivals: make([]store.Arrival, len(b.Drafts)), ordered: b.Ordered, repeats: b.Repeats}
	names := make([]Names, len(b.Drafts))
	for i := range b.Drafts {
		a, n, err := Arrival(&b.Drafts[i], im.k.kernel.Draw)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Places[i], err)
		}
		a.Place = b.Places[i]
		b.Drafts[i].Channel = b.Format.Channel()
		a.Marks.Origin = originOf(access.Identity{}, &b.Drafts[i])
		w.arrivals[i], names[i] = a, n
	}
	if err := im.k.mark(ctx, im.tenant, w.arrivals, names, &im.names); err != nil {
		return err
	}
	for i := range w.arrivals {
		if err := im.meets(ctx, b.Drafts[i].Author, &w.arrivals[i]); err != nil {
			return err
		}
	}
	select {
	case im.work <- w:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (im *importing) write(ctx context.Context, stop context.CancelCauseFunc) {
	var err error
	for w := range im.work {
		if err != nil {
			continue // drain the channel; stop has ended the reading
		}
		if err = im.admit(ctx, w); err != nil {
			stop(err)
		}
	}
	im.done <- err
}

func (im *importing) admit(ctx context.Context, w work) error {
	for i := range w.arrivals {
		im.conversations[w.arrivals[i].Turn.Conversation] = struct{}{}
	}
	if w.repeats {
		return im.admitRepeating(ctx, w.arrivals)
	}
	if !w.ordered {
		return im.append(ctx, []store.Batch{w.arrivals})
	}
	if len(im.held) == 0 {
		err := im.append(ctx, oneByOne(w.arrivals))
		var orphan *store.ParentError
		if !errors.As(err, &orphan) {
			return err
		}
	}
	return im.admitReady(ctx, w.arrivals)
}

// oneByOne makes each arrival a batch of its own, so that their order is the
// order of admission.
func oneByOne(arrivals []store.Arrival) []store.Batch {
	batches := make([]store.Batch, len(arrivals))
	for i := range arrivals {
		batches[i] = arrivals[i : i+1 : i+1]
	}
	return batches
}

func (im *importing) append(ctx context.Context, batches []store.Batch) error {
	return im.decided(ctx, batches, func() error { return im.appendHeld(ctx, batches) })
}

// decided calls decided of the room and counts the turns that were held back.
func (im *importing) decided(ctx context.Context, batches []store.Batch, appendHeld func() error) error {
	done, err := im.k.decided(ctx, im.tenant, batches, appendHeld)
	im.recognised.add(done)
	return err
}

// appendHeld appends batches for which hold has already been called.
func (im *importing) appendHeld(ctx context.Context, batches []store.Batch) error {
	r, err := im.k.appendJudged(ctx, im.tenant, batches)
	if err != nil {
		return err
	}
	im.report.Head = r.Head
	im.report.Admitted += r.Admitted
	im.report.Existing += r.Existing
	im.report.Edges += r.Edges
	if r.Existing == 0 {
		return nil
	}
	var ids store.IDs
	for _, b := range batches {
		for i := range b {
			ids = append(ids, b[i].Turn.ID)
		}
	}
	records, err := im.k.store.Turns(ctx, im.tenant, ids)
	for i := range records {
		if isErased(&records[i]) {
			im.report.Erased++
		}
	}
	return err
}

// isErased reports whether a turn was admitted with a text that was erased since.
func isErased(r *store.Record) bool { return r.Body == nil && !r.Withheld }

// admitReady admits the held and new lines whose parents are stored or among them,
// and holds the other lines.
func (im *importing) admitReady(ctx context.Context, came []store.Arrival) error {
	all := append(im.held, came...)
	ready, held, err := im.split(ctx, all)
	if err != nil {
		return err
	}
	size := 0
	for i := range held {
		size += len(held[i].Body)
	}
	if len(held) > maxHeld || size > maxHeldBytes {
		return fmt.Errorf("%w; %d lines of %d bytes wait for parents that did not come, at most %d lines and %d bytes can",
			im.orphan(held), len(held), size, maxHeld, maxHeldBytes)
	}
	if err := im.append(ctx, oneByOne(ready)); err != nil {
		return err
	}
	im.held = held
	return nil
}

// split separates the arrivals that are ready from those that lack a parent. Ready
// arrivals come after their parents and otherwise in the order of the file.
func (im *importing) split(ctx context.Context, all []store.Arrival) (ready, held []store.Arrival, err error) {
	index := make(map[dag.TurnID]int32, len(all))
	for i := range all {
		if _, twice := index[all[i].Turn.ID]; !twice {
			index[all[i].Turn.ID] = int32(i)
		}
	}
	known, err := im.known(ctx, all, index)
	if err != nil {
		return nil, nil, err
	}
	var edges [][2]int32
	for i := range all {
		for _, p := range all[i].Parents {
			if at, here := index[p.ID]; here {
				edges = append(edges, [2]int32{at, int32(i)})
			} else if !known[p.ID] {
				edges = append(edges, [2]int32{int32(i), int32(i)}) // never ready
			}
		}
	}
	isReady := make([]bool, len(all))
	for _, i := range dag.Topological(len(all), edges, func(a, b int32) bool { return a < b }) {
		ready = append(ready, all[i])
		isReady[i] = true
	}
	for i := range all {
		if !isReady[i] {
			held = append(held, all[i])
		}
	}
	return ready, held, nil
}

// known returns the parents that are stored and not among the arrivals.
func (im *importing) known(ctx context.Context, all []store.Arrival, index map[dag.TurnID]int32) (map[dag.TurnID]bool, error) {
	known := map[dag.TurnID]bool{}
	var ask []dag.TurnID
	for i := range all {
		for _, p := range all[i].Parents {
			if _, here := index[p.ID]; !here && !known[p.ID] {
				known[p.ID] = true
				ask = append(ask, p.ID)
			}
		}
	}
	clear(known)
	for some := range slices.Chunk(ask, page) {
		records, err := im.k.store.Turns(ctx, im.tenant, store.IDs(some))
		if err != nil {
			return nil, err
		}
		for i := range records {
			known[records[i].Turn.ID] = true
		}
	}
	return known, nil
}

// last admits the held lines that are ready when the reading has ended. Any other held line is an error.
func (im *importing) last(ctx context.Context) error {
	if len(im.held) == 0 {
		return nil
	}
	ready, held, err := im.split(ctx, im.held)
	if err != nil {
		return err
	}
	if err := im.append(ctx, oneByOne(ready)); err != nil {
		return err
	}
	if len(held) == 0 {
		return nil
	}
	if len(held) == 1 {
		return fmt.Errorf("%w; 1 line was not admitted", im.orphan(held))
	}
	return fmt.Errorf("%w; %d lines were not admitted", im.orphan(held), len(held))
}

// orphan returns an error that names the first held line with a parent that is not held; if there is no such line, the lines form a cycle.
func (im *importing) orphan(held []store.Arrival) error {
	here := make(map[dag.TurnID]bool, len(held))
	for i := range held {
		here[held[i].Turn.ID] = true
	}
	for i := range held {
		for _, p := range held[i].Parents {
			if !here[p.ID] {
				return &store.ParentError{Child: held[i].Turn.ID, Parent: p.ID, Place: held[i].Place}
			}
		}
	}
	return &store.CycleError{ID: held[0].Turn.ID, Place: held[0].Place}
}

// admitRepeating admits the turns of a batch that are not stored yet. If another
// caller admits one of them in the meantime, it reads the stored turns again.
func (im *importing) admitRepeating(ctx context.Context, arrivals []store.Arrival) error {
	batches := []store.Batch{arrivals}
	return im.decided(ctx, batches, func() error {
		for {
			fresh, err := im.dropRepeats(ctx, batches[0])
			if err != nil {
				return err
			}
			batches[0] = fresh
			err = im.appendHeld(ctx, batches)
			var conflict *store.ConflictError
			if !errors.As(err, &conflict) || len(fresh) == 0 || !im.isStored(ctx, conflict.ID) {
				return err
			}
		}
	})
}

func (im *importing) isStored(ctx context.Context, id dag.TurnID) bool {
	records, err := im.k.store.Turns(ctx, im.tenant, store.IDs{id})
	return err == nil && len(records) > 0
}

// dropRepeats removes the arrivals whose turns are stored. An arrival with the same
// role, author and content counts as existing, whatever conversation and parents
// another transcript gave it. Any other arrival is a record that has changed since it was imported:
// the stored turn stays, and the report names the record. A changed record does not end the
// import; otherwise one edited line would keep out all lines after it.
func (im *importing) dropRepeats(ctx context.Context, arrivals []store.Arrival) ([]store.Arrival, error) {
	ids := make([]dag.TurnID, len(arrivals))
	for i := range arrivals {
		ids[i] = arrivals[i].Turn.ID
	}
	records, err := im.k.store.Turns(ctx, im.tenant, store.IDs(ids))
	if err != nil || len(records) == 0 {
		return arrivals, err
	}
	stored := make(map[dag.TurnID]*store.Record, len(records))
	for i := range records {
		stored[records[i].Turn.ID] = &records[i]
	}
	fresh := arrivals[:0]
	for _, a := range arrivals {
		r := stored[a.Turn.ID]
		if r == nil {
			fresh = append(fresh, a)
			continue
		}
		changed, err := changedField(r, &a)
		switch {
		case err != nil:
			return nil, err
		case changed == "":
			im.report.Existing++
			if isErased(r) {
				im.report.Erased++
			}
		default:
			if im.report.Changed++; im.report.Changed <= MaxChangedNamed {
				im.report.ChangedTurns = append(im.report.ChangedTurns, ChangedTurn{a.Turn.ID, a.Place, changed})
			}
		}
	}
	return fresh, nil
}

// changedField returns the name of the first field in which an arrival differs from the stored turn, or "".
func changedField(r *store.Record, a *store.Arrival) (string, error) {
	if r.Body == nil || a.Body == nil {
		return "", nil // without both texts there is nothing to compare, and erased text is not restored
	}
	was, err := slice.ParseBody(r.Body)
	if err != nil {
		return "", fmt.Errorf("kernel: stored turn %s: %w", r.Turn.ID, err)
	}
	is, err := slice.ParseBody(a.Body)
	switch {
	case err != nil:
		return "", err
	case r.Turn.Role != a.Turn.Role:
		return "role", nil
	case was.Author != is.Author:
		return "author", nil
	case was.Content != is.Content:
		return "content", nil
	}
	return "", nil
}
