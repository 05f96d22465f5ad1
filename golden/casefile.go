package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// FileSuffix ends the name of the file with the cases of a subject.
const FileSuffix = ".json"

// SubjectOf returns the subject of a case: its name up to the first underscore.
func SubjectOf(name string) string {
	subject, _, _ := strings.Cut(name, "_")
	return subject
}

// A blob is the content of a file that is no UTF-8.
type blob struct {
	Base64 []byte `json:"base64"`
}

// MarshalCases returns the file of the cases of a subject: a JSON object that has each case under its name, and a case is an object that has the content of each of its
// files under the file's path. A content is a string, or {"base64":…} if it is no UTF-8. The same cases make the same bytes.
func MarshalCases(cases map[string]map[string][]byte) ([]byte, error) {
	object := map[string]map[string]any{}
	for name, files := range cases {
		if err := checkName(name); err != nil {
			return nil, err
		}
		of := map[string]any{}
		for path, data := range files {
			if !fs.ValidPath(path) {
				return nil, fmt.Errorf("golden: case %s: %q is no path of a file", name, path)
			}
			if of[path] = string(data); !utf8.Valid(data) {
				of[path] = blob{data}
			}
		}
		object[name] = of
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

// ParseCases returns the files of each case by their paths, from the bytes that MarshalCases made.
func ParseCases(data []byte) (map[string]map[string][]byte, error) {
	var object map[string]map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("golden: cases: %w", err)
	}
	cases := map[string]map[string][]byte{}
	for name, of := range object {
		if err := checkName(name); err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for path, value := range of {
			if !fs.ValidPath(path) {
				return nil, fmt.Errorf("golden: case %s: %q is no path of a file", name, path)
			}
			content, err := parseContent(value)
			if err != nil {
				return nil, fmt.Errorf("golden: case %s: %s %w", name, path, err)
			}
			files[path] = content
		}
		cases[name] = files
	}
	return cases, nil
}

// checkName refuses a name that is no name of a folder.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "/") {
		return fmt.Errorf("golden: %q is no name of a case", name)
	}
	return nil
}

func parseContent(value json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(value, &text); err == nil && string(value) != "null" {
		return []byte(text), nil
	}
	var b blob
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || b.Base64 == nil {
		return nil, fmt.Errorf("is neither a text nor {\"base64\":…}")
	}
	return b.Base64, nil
}
