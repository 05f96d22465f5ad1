package knowledge

import "fmt"

// An ActError is an error about one of several acts that were to be recorded together.
type ActError struct {
	Index, Of int // the index of the act, from 0 on, and the number of acts
	Err       error
}

func (e *ActError) Error() string { return e.Where() + ": " + e.Err.Error() }
func (e *ActError) Unwrap() error { return e.Err }

// Where returns the position of the act, as in the text of the error.
func (e *ActError) Where() string { return fmt.Sprintf("act %d of %d", e.Index+1, e.Of) }
