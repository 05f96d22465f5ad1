package packed

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// MostHashes bounds the hashes of a ledger that are read at once: sixteen tiles.
const MostHashes = 4096

// CheckLevel refuses a level of hashes that no ledger has.
func CheckLevel(level int) error {
	if most := 6; level < 0 || level > most { // 256^7 is more than ledger.MaxSize
		return fmt.Errorf("%w: level %d of a ledger, want 0 to %d", dag.ErrForm, level, most)
	}
	return nil
}
