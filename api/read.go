package api

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Read reads a T from the object at the cursor. A value that does not fit is a fault of the document at that place, and so is a
// member that T does not have. Types with a reader of their own read themselves, and names must be valid for package normalize.
func Read[T any](c *canon.Cursor) (v T) {
	readStruct(c, reflect.ValueOf(&v).Elem())
	return v
}

func readStruct(c *canon.Cursor, v reflect.Value) {
	if !c.Is(canon.Object) {
		c.Failf("want an object, got %s", c.Value().Kind)
		return
	}
	fields := Fields(v.Type())
	for _, f := range fields {
		at := c.Optional(f.Key)
		if at == nil && f.Required {
			at = c.Field(f.Key) // Field records the fault
		}
		if at != nil && c.Err() == nil {
			read(at, v.FieldByIndex(f.Index), &f)
		}
	}
	c.CloseOf(func() []string { return keysOf(fields) })
}

func keysOf(fields []Field) []string {
	keys := make([]string, len(fields))
	for i := range fields {
		keys[i] = fields[i].Key
	}
	return keys
}

func read(c *canon.Cursor, v reflect.Value, f *Field) {
	is := f.Tag.Get("is")
	switch noun := v.Addr().Interface().(type) {
	case *dag.Time: // or a date
		*noun = canon.Parsed(c, knowledge.ReadTime)
		return
	case *knowledge.Direction:
		checkText(c, c.String(), "outgoing|incoming|both")
	case *json.RawMessage:
		checkShape(c, is)
		*noun = canon.AppendValue(nil, c.Value())
		return
	case *json.Number:
		*noun = json.Number(c.Number())
		checkShape(c, is)
		return
	case encoding.TextUnmarshaler:
		if text := c.String(); c.Is(canon.String) {
			failIf(c, noun.UnmarshalText([]byte(text)))
			checkShape(c, is)
		}
		return
	case json.Unmarshaler:
		failIf(c, noun.UnmarshalJSON([]byte(c.Number())))
		return
	case *Names:
		f = &Field{StructField: reflect.StructField{Tag: `is:"Name" min:"1" max:"64"`}}
		switch {
		case c.Is(canon.String):
			*noun = Names{""}
			read(c, v.Index(0), f)
			return
		case !c.Is(canon.Array):
			c.Failf("want a string or an array, got %s", c.Value().Kind)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		read(c, v.Elem(), f)
	case reflect.Struct:
		readStruct(c, v)
	case reflect.Slice:
		items := c.Items()
		least, most := number(f.Tag.Get("min"), 0), number(f.Tag.Get("max"), uint64(len(items)))
		if n := uint64(len(items)); n < least || n > most {
			c.Failf("%d items, want %d to %d", n, least, most)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i := range items {
			read(items[i], v.Index(i), f)
		}
	case reflect.Map: // from names to texts
		v.Set(reflect.MakeMap(v.Type()))
		for _, m := range c.Members() {
			v.SetMapIndex(reflect.ValueOf(m.Key()), reflect.ValueOf(m.String()))
		}
	case reflect.String:
		text := c.String()
		if is == "AnySliceID" || is == "AnyDigest" {
			text = strings.ToLower(text)
		}
		if c.Is(canon.String) {
			checkText(c, text, is)
			least, most := number(f.Tag.Get("min"), 0), number(f.Tag.Get("max"), uint64(len(text)))
			if n := uint64(len(text)); f.Type == v.Type() && (n < least || n > most) {
				c.Failf("%d bytes, want %d to %d", n, least, most)
			}
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(c.Bool())
	case reflect.Int:
		n := c.Uint(canon.MaxInt)
		from, to, _ := strings.Cut(is, "..")
		if least, most := number(from, 0), number(to, math.MaxInt32); n < least || n > most {
			c.Failf("%d, want an integer from %d to %d", n, least, most)
			return
		}
		v.SetInt(int64(n))
	case reflect.Int64:
		v.SetInt(int64(c.Uint(canon.MaxInt)))
	case reflect.Uint64:
		v.SetUint(c.Uint(canon.MaxInt))
		checkShape(c, is)
	default:
		panic("api: no reader of " + v.Type().String())
	}
}

// checkText checks a text of a shape.
func checkText(c *canon.Cursor, text, is string) {
	var err error
	switch is {
	case "Name":
		_, err = normalize.Name(text)
	case "AnySliceID":
		_, err = slice.ParseSliceID(text)
	case "PolicyID":
		_, err = policy.ParseID(text)
	case "TurnName":
		err = inBytes(text, 1, dag.MaxAttrValue)
	case "RetractionReason":
		err = inBytes(text, 0, knowledge.MaxReason)
	case "BeliefSpace":
		_, err = belief.ParseSpace(text)
	case "ItemAddress":
		_, err = belief.ParseItem(text)
	case "Kref":
		_, err = belief.ParseAddress(text)
	default:
		if kinds := strings.Split(is, "|"); len(kinds) > 1 {
			err = oneOf(text, kinds)
		}
	}
	failIf(c, err)
	checkShape(c, is)
}

func oneOf(text string, kinds []string) error {
	if slices.Contains(kinds, text) {
		return nil
	}
	return fmt.Errorf("want %s or %s, got %.40q", strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1], text)
}

func inBytes(text string, least, most int) error {
	if len(text) < least || len(text) > most {
		return fmt.Errorf("%d bytes, want %d to %d", len(text), least, most)
	}
	return nil
}

func number(text string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return otherwise
}

func failIf(c *canon.Cursor, err error) {
	if err != nil {
		c.Fail(err)
	}
}

// ReadText reads the field from the text of a parameter, and returns its JSON value. In a list, names are separated by commas,
// which no normalized name contains.
func (f *Field) ReadText(text string) (canon.Value, error) {
	texts := []string{text}
	switch t := f.Type; {
	case t.Kind() == reflect.Slice:
		texts = strings.Split(text, ",")
		if err := fits(&canon.Value{Kind: canon.String, Text: text}, "Commas"); err != nil {
			return canon.Value{}, err
		}
	case t == reflect.TypeFor[dag.PPM]():
		if err := fits(&canon.Value{Kind: canon.String, Text: text}, "Decimal"); err != nil {
			return canon.Value{}, err
		}
	case t.Kind() == reflect.Bool && text != "true" && text != "false":
		return canon.Value{}, errors.New("want true or false")
	case t.Kind() == reflect.Int, t.Kind() == reflect.Uint64:
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || strconv.FormatInt(n, 10) != text {
			return canon.Value{}, errors.New("want an integer, written plainly")
		}
	}
	v := f.Value(texts...)
	c := canon.Open(&v)
	read(c, reflect.New(f.Type).Elem(), f)
	return v, c.Err()
}

// Value returns the JSON value of a field with the given text, or of a list with one item per text.
func (f *Field) Value(texts ...string) canon.Value {
	t := f.Type
	if t.Kind() == reflect.Slice && shapeOf[t] != "Names" || t == reflect.TypeFor[Names]() && len(texts) > 1 {
		list := canon.Value{Kind: canon.Array, Items: make([]canon.Value, len(texts))}
		for i, text := range texts {
			list.Items[i] = valueOf(t.Elem(), text)
		}
		return list
	}
	return valueOf(t, texts[len(texts)-1])
}

func valueOf(t reflect.Type, text string) canon.Value {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := canon.Value{Kind: canon.String, Text: text}
	switch {
	case t == reflect.TypeFor[dag.PPM](), t.Kind() == reflect.Int, t.Kind() == reflect.Uint64:
		v.Kind = canon.Number
	case t.Kind() == reflect.Bool:
		v.Kind = canon.Bool
	}
	return v
}
