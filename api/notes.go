package api

import "github.com/graphkernel/graphkernel/access"

// Notes about turns.
var (
	AddNote   = declare[NewNote, Note](Spec{ID: "addNote", Method: "POST", Path: "/api/notes", Tag: "turns", Tool: "add_note", Sets: []string{"audit"}, May: access.Admit, Once: true, Fails: []int{404, 409, 422}})
	ListNotes = declare[NotesOf, Notes](Spec{ID: "listNotes", Method: "GET", Path: "/api/notes", Tag: "turns", Tool: "list_notes", Sets: []string{"audit"}, May: access.Recall, Fails: []int{404, 409}})
)

// NewNote is a note as it is written.
type NewNote struct {
	Turn string `json:"turn" is:"TurnName" tool:"Its id, or a beginning of it."`
	Text string `json:"text" min:"1" max:"4096" doc:"1 to 4096 bytes." tool:"What is noted, 4096 bytes at most."`
}

// NotesOf asks for a page of the notes of a turn.
type NotesOf struct {
	Turn string `json:"turn" is:"TurnName" tool:"Its id, or a beginning of it."`
	Paging
}

// A Note is a short text about a turn.
type Note struct {
	Seq  uint64 `json:"seq" is:"Seq"`
	Turn string `json:"turn" is:"UUID"`
	At   string `json:"at" is:"Time"`
	Text string `json:"text"`
}

// Notes is a page of notes, by ascending number.
type Notes struct {
	Notes []Note `json:"notes"`
	Next  string `json:"next,omitempty" is:"After"`
}
