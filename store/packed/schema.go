package packed

import "io/fs"

// Schema gives the texts of a back end's files schema/*.sql in the order of their names, which
// is that of their numbers. Files of one number mean the same in every back end.
func Schema(files fs.FS) ([]string, error) {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}
