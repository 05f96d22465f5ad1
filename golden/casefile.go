package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"unicode/utf8"
)

// CaseSuffix ends the name of a case's file.
const CaseSuffix = ".json"

// A blob is the content of a file that is no UTF-8.
type blob struct {
	Base64 []byte `json:"base64"`
}

// MarshalCase returns the file of a case: a JSON object that has the content of each of the case's files under the file's path. A content is a string, or
// {"base64":…} if it is no UTF-8. The same files make the same bytes.
func MarshalCase(files map[string][]byte) ([]byte, error) {
	object := map[string]any{}
	for name, data := range files {
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("golden: %q is no path of a file in a case", name)
		}
		if object[name] = string(data); !utf8.Valid(data) {
			object[name] = blob{data}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(object); err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	return b.Bytes(), nil
}

// ParseCase returns the files of a case by their paths, from the bytes that MarshalCase made.
func ParseCase(data []byte) (map[string][]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("golden: a case: %w", err)
	}
	files := map[string][]byte{}
	for name, value := range object {
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("golden: %q is no path of a file in a case", name)
		}
		var text string
		if err := json.Unmarshal(value, &text); err == nil && string(value) != "null" {
			files[name] = []byte(text)
			continue
		}
		var b blob
		d := json.NewDecoder(bytes.NewReader(value))
		d.DisallowUnknownFields()
		if err := d.Decode(&b); err != nil || b.Base64 == nil {
			return nil, fmt.Errorf("golden: %s is neither a text nor {\"base64\":…}", name)
		}
		files[name] = b.Base64
	}
	return files, nil
}
