package api

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/normalize"
)

// Read reads a T from the object that a cursor is at. What does not fit is the document's fault,
// at its place; so is a member that T does not have. Nouns read themselves, and names must be
// such as package normalize takes.
func Read[T any](c *canon.Cursor) (v T) {
	readStruct(c, reflect.ValueOf(&v).Elem())
	return v
}

func readStruct(c *canon.Cursor, v reflect.Value) {
	for _, f := range Fields(v.Type()) {
		at := c.Optional(f.Key)
		if at == nil && f.Required {
			at = c.Field(f.Key) // which is the fault
		}
		if at != nil && c.Err() == nil {
			read(at, v.FieldByIndex(f.Index), &f)
		}
	}
	c.Close()
}

func read(c *canon.Cursor, v reflect.Value, f *Field) {
	switch noun := v.Addr().Interface().(type) {
	case *json.Number:
		*noun = json.Number(c.Number())
		return
	case encoding.TextUnmarshaler:
		if text := c.String(); c.Is(canon.String) {
			failIf(c, noun.UnmarshalText([]byte(text)))
		}
		return
	case json.Unmarshaler:
		failIf(c, noun.UnmarshalJSON([]byte(c.Number())))
		return
	case *Names:
		f = &Field{StructField: reflect.StructField{Tag: `is:"Name"`}}
		if c.Is(canon.String) {
			*noun = Names{""}
			read(c, v.Index(0), f)
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
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i := range items {
			read(items[i], v.Index(i), f)
		}
	case reflect.String:
		text := c.String()
		if f.Tag.Get("is") == "Name" {
			_, err := normalize.Name(text)
			failIf(c, err)
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(c.Bool())
	case reflect.Int:
		v.SetInt(int64(c.Uint(1 << 31)))
	case reflect.Uint64:
		v.SetUint(c.Uint(canon.MaxInt))
	default:
		panic("api: no reader of " + v.Type().String())
	}
}

func failIf(c *canon.Cursor, err error) {
	if err != nil {
		c.Fail(err)
	}
}
