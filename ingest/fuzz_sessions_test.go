package ingest

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

// FuzzSessionFiles puts any bytes in the place of one file of a session that is made of several: a sub-agent's file or its description, the session that a fork goes on from, a saved result. There is no panic, the accounts are exact,
// and every draft is fit for admission.
func FuzzSessionFiles(f *testing.F) {
	var sets []map[string]string
	for _, tc := range joinedFiles() {
		sets = append(sets, tc.files)
	}
	for _, tc := range tooLargeResults() {
		sets = append(sets, tc.sessionFiles())
	}
	for i, files := range sets {
		for j, name := range slices.Sorted(maps.Keys(files)) {
			f.Add(i, j, []byte(files[name][:min(len(files[name]), 4096)]))
			f.Add(i, j, []byte(`{"toolUseId":"t1"}`))
		}
	}
	f.Fuzz(func(t *testing.T, set, at int, text []byte) {
		if set < 0 || at < 0 {
			return
		}
		files := maps.Clone(sets[set%len(sets)])
		names := slices.Sorted(maps.Keys(files))
		files[names[at%len(names)]] = string(text)
		for _, path := range []string{layOut(t, files), zipped(t, files)} {
			if _, _, err := tryCollect(t, path, Options{}); err != nil && !isFormatError(err) {
				t.Fatal(err)
			}
		}
	})
}

func isFormatError(err error) bool { return errors.Is(err, ErrFormat) || errors.Is(err, ErrArchive) }
