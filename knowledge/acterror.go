package knowledge

import "fmt"

// An ActError is about one act of several that were to be recorded together.
type ActError struct {
	Index, Of int // the act, from 0 on, of so many
	Err       error
}

func (e *ActError) Error() string { return e.Where() + ": " + e.Err.Error() }
func (e *ActError) Unwrap() error { return e.Err }

// Where says which act it is, as the text of the error does.
func (e *ActError) Where() string { return fmt.Sprintf("act %d of %d", e.Index+1, e.Of) }
