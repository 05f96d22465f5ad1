package view

import (
	"context"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/notes"
	"github.com/graphkernel/graphkernel/kernel"
)

// The operations on notes.
var (
	AddNote   = answered(api.AddNote, addNote)
	ListNotes = answered(api.ListNotes, listNotes)
)

func note(n *notes.Note) api.Note {
	return api.Note{Seq: uint64(n.Seq), Turn: n.Turn.String(), At: n.At.String(), Text: n.Text}
}

func addNote(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.NewNote) (api.Note, error) {
	turn, err := TurnNamed(ctx, k, tenant, in.Turn)
	if err != nil {
		return api.Note{}, err
	}
	n, err := k.Turns().Note(ctx, tenant, turn, in.Text)
	return note(&n), err
}

func listNotes(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.NotesOf) (w api.Notes, err error) {
	turn, err := k.Turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	after, err := PageAfter(in.After)
	if err != nil {
		return w, err
	}
	limit := PageOf(in.Limit)
	list, err := k.Turns().Notes(ctx, tenant, turn, dag.Seq(after), limit+1)
	if err != nil {
		return w, err
	}
	if len(list) > limit {
		list = list[:limit]
		w.Next = strconv.FormatUint(uint64(list[limit-1].Seq), 10)
	}
	w.Notes = make([]api.Note, len(list))
	for i := range list {
		w.Notes[i] = note(&list[i])
	}
	return w, nil
}
