// Package kinds lists the kinds of entries that this program knows, for what goes through all of
// them: checking a store, and copying one.
package kinds

import (
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
)

// All are the codecs of every kind.
func All() history.Codecs { return history.Codecs{knowledge.Codec{}} }
