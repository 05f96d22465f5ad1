// Package static owns the vectors that need no model: a built-in table with a vector for each piece of a word.
// The vector of a text is the normalized sum of the vectors of its pieces.
//
// The table was distilled from all-MiniLM-L6-v2; distil/README.md has the method, the command and the licence.
package static

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

//go:embed vocabulary.txt
var pieces string

//go:embed table.bin
var table string // rows of int8, in the order of the vocabulary

// A Table embeds texts by the table. It never fails, unless the context ends.
type Table struct {
	parts func() *parts
}

// parts are made from the two files.
type parts struct {
	model      embed.Model
	vocabulary *vocabulary
}

var _ embed.Embedder = (*Table)(nil)

// Load returns the built-in table. It is read once, when its model or a vector is first needed; most commands need neither.
var Load = sync.OnceValue(func() *Table { return &Table{sync.OnceValue(read)} })

func read() *parts {
	lines := strings.Split(strings.TrimSuffix(pieces, "\n"), "\n")
	return &parts{
		model:      embed.Model{ID: embed.StaticID, Dimensions: len(table) / len(lines), Digest: dag.Digest(sha256.Sum256([]byte(pieces + table)))},
		vocabulary: newVocabulary(lines),
	}
}

// Model describes the table.
func (t *Table) Model() embed.Model { return t.parts().model }

// Embed returns the vector of each text.
func (t *Table) Embed(ctx context.Context, texts []string) ([][]int8, error) {
	p := t.parts()
	vectors := make([][]int8, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := make([]int64, p.model.Dimensions)
		p.vocabulary.rows(text, func(row int32) {
			at := table[int(row)*len(sum):]
			for k := range sum {
				sum[k] += int64(int8(at[k]))
			}
		})
		vectors[i] = embed.Normalize(sum)
	}
	return vectors, nil
}
