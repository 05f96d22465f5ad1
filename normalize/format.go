package normalize

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A Format is the format of a list of aliases.
type Format string

// The formats. All are UTF-8, or UTF-16 after a byte order mark; the mark is skipped.
const (
	// CSV has records of two fields, alias and canonical name (RFC 4180). A first
	// record "alias,canonical" is a header, not an entry.
	CSV Format = "csv"

	// JSON is an object {"alias": "canonical name"}, or an array of objects
	// {"alias": …, "canonical": …}.
	JSON Format = "json"

	// Wikidata is an object from ids to objects with a "label", a string, and
	// "alternatives", strings. Both may be missing or null, and other members are
	// ignored. The id is the canonical name; the label and each alternative are
	// aliases.
	Wikidata Format = "wikidata"
)

// ParseFormat reads the name of a format. The error wraps ErrForm.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case CSV, JSON, Wikidata:
		return f, nil
	}
	return "", fmt.Errorf("%w: format %.40q, want csv, json or wikidata", ErrForm, s)
}

// Detect returns the format of a list by its beginning: an object whose first value is an
// object is Wikidata, any other object and an array are JSON, and everything else is CSV.
// It does not check the rest. Data without any text is an error, which wraps ErrForm.
func Detect(data []byte) (Format, error) {
	data = bytes.TrimLeft(bom.Trim(data), " \t\r\n")
	if len(data) == 0 {
		return "", fmt.Errorf("%w: the list of aliases is empty", ErrForm)
	}
	switch data[0] {
	case '[':
		return JSON, nil
	case '{':
		if firstValue(data[1:]) == '{' {
			return Wikidata, nil
		}
		return JSON, nil
	}
	return CSV, nil
}

// firstValue returns the first byte of an object's first value, or 0. The data begins
// after the brace.
func firstValue(data []byte) byte {
	const space = " \t\r\n"
	data = bytes.TrimLeft(data, space)
	if len(data) == 0 || data[0] != '"' {
		return 0
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			data = bytes.TrimLeft(data[i+1:], space+":")
			if len(data) == 0 {
				return 0
			}
			return data[0]
		}
	}
	return 0
}

// ReadAliases reads a list of at most MaxEntries aliases. A list that cannot be read is an
// error, which wraps ErrForm and names the line or the place. Entries that can be read but
// not used are in the result. It takes a few hundred bytes of memory for each entry.
func ReadAliases(data []byte, format Format) (*List, error) {
	l := &lister{list: &List{Format: format}}
	data = bom.Trim(data)
	var err error
	switch format {
	case CSV:
		err = l.readCSV(data)
	case JSON:
		err = l.readJSON(data, (*lister).json)
	case Wikidata:
		err = l.readJSON(data, (*lister).wikidata)
	default:
		_, err = ParseFormat(string(format))
	}
	if err != nil {
		if !errors.Is(err, ErrForm) {
			err = fmt.Errorf("%w: %w", ErrForm, err)
		}
		return nil, fmt.Errorf("list of aliases: %w", err)
	}
	return l.finish(), nil
}

func (l *lister) readCSV(data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = 2
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	for first := true; ; first = false {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			return fmt.Errorf("%w: got %d fields, want alias,canonical", err, len(record))
		}
		if err != nil {
			return err
		}
		if first && isHeader(record) {
			continue
		}
		line, _ := r.FieldPos(0)
		if err := l.add(place{word: "line", n: line}, record[0], record[1]); err != nil {
			return err
		}
	}
}

func isHeader(record []string) bool {
	return strings.EqualFold(strings.TrimSpace(record[0]), "alias") && strings.EqualFold(strings.TrimSpace(record[1]), "canonical")
}

func (l *lister) readJSON(data []byte, read func(*lister, *canon.Cursor) error) error {
	v, err := canon.Parse(data)
	if err != nil {
		return err
	}
	top := canon.Open(v)
	if err := read(l, top); err != nil {
		return err
	}
	return top.Err()
}

func (l *lister) json(top *canon.Cursor) error {
	if top.Is(canon.Array) {
		return l.jsonItems(top)
	}
	for _, m := range top.Members() {
		canonical := m.String()
		if err := top.Err(); err != nil {
			return err
		}
		if err := l.add(place{word: "member", of: m.Key()}, m.Key(), canonical); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) jsonItems(top *canon.Cursor) error {
	for i, item := range top.Items() {
		alias, canonical := item.Field("alias").String(), item.Field("canonical").String()
		item.Close()
		if err := top.Err(); err != nil {
			return err
		}
		if err := l.add(place{word: "item", n: i + 1}, alias, canonical); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) wikidata(top *canon.Cursor) error {
	things := top.Members()
	ids := map[string][]string{} // ids by canonical name
	for _, thing := range things {
		if name, err := Name(thing.Key()); err == nil {
			ids[name] = append(ids[name], thing.Key())
		}
	}
	collided := map[string]*Collision{}
	for _, thing := range things {
		name, err := Name(thing.Key())
		if err != nil {
			err = fmt.Errorf("id: %w", err)
		}
		add := func(at place, alias string) error { return l.addTo(at, alias, name, err) }
		if same := ids[name]; err == nil && len(same) > 1 {
			if collided[name] == nil {
				collided[name] = newCollision(name, same)
			}
			c := collided[name]
			add = func(place, string) error { c.Entries++; return l.count() }
		}
		if err := readThing(thing, add); err != nil {
			return err
		}
		if err := top.Err(); err != nil {
			return err
		}
	}
	l.list.Collided = sortedCollisions(collided)
	return nil
}

// readThing calls add with the label and with each alternative of a member of a Wikidata list.
func readThing(thing *canon.Cursor, add func(place, string) error) error {
	id := thing.Key()
	if label := present(thing.Optional("label")); label != nil {
		if err := add(place{word: "label", of: id}, label.String()); err != nil {
			return err
		}
	}
	alternatives := present(thing.Optional("alternatives"))
	if alternatives == nil {
		return nil
	}
	for i, alternative := range alternatives.Items() {
		if err := add(place{"alternative", i + 1, id}, alternative.String()); err != nil {
			return err
		}
	}
	return nil
}

// present returns nil for a null member and for a missing one.
func present(c *canon.Cursor) *canon.Cursor {
	if c != nil && c.Is(canon.Null) {
		return nil
	}
	return c
}
