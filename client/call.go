package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// Do calls an operation of package api whose answer is JSON.
func Do[In, Out any](ctx context.Context, c *Client, op api.Operation[In, Out], in In) (Out, error) {
	return call(ctx, c.conn, op, in)
}

// call calls an operation and decodes the answer.
func call[In, Out any](ctx context.Context, c *conn, op api.Operation[In, Out], in In) (Out, error) {
	q, err := asking(&op.Spec, in)
	if err != nil {
		var zero Out
		return zero, err
	}
	return get[Out](ctx, c, q)
}

// asking returns the request for an operation, with each field of in at its place. It leaves out optional fields that
// have the zero value.
func asking(spec *api.Spec, in any) (*request, error) {
	q := &request{method: spec.Method, path: spec.Path, query: url.Values{}, health: spec.May == 0, alone: spec.Once}
	v := reflect.ValueOf(in)
	if err := whole(v, ""); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	body := map[string]any{}
	for _, f := range api.Fields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		place := spec.Place(&f)
		if !f.Required && value.IsZero() {
			continue
		}
		switch place {
		case api.InBody:
			raw, isRaw := value.Interface().(json.RawMessage)
			if q.body = raw; !isRaw {
				q.body = encode(value.Interface())
			}
		case api.InMember:
			body[f.Key] = value.Interface()
		case api.InPath:
			text := textOf(value)
			if text == "" || text == "." || text == ".." || f.Tag.Get("is") != "Name" && strings.Contains(text, "/") { // it would change the path
				return nil, fmt.Errorf("client: %s: %w: %.80q is no %s", spec.ID, dag.ErrForm, text, f.Key)
			}
			q.path = strings.NewReplacer("{"+f.Key+"}", url.PathEscape(text), "{"+f.Key+"...}", text).Replace(q.path)
		case api.InQuery:
			q.query.Set(f.Key, textOf(value))
		}
	}
	switch takes, required := spec.HasBody(); {
	case len(body) == v.NumField() && len(body) > 0:
		q.body = encode(in) // in the order of the fields
	case takes && (required || len(body) > 0) && q.body == nil:
		q.body = encode(body)
	}
	return q, nil
}

// whole returns an error for text that is not UTF-8. encoding/json would replace the invalid bytes, so another name
// would be recorded than was meant.
func whole(v reflect.Value, at string) error {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%s: %.80q is not UTF-8", at, v.String())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := whole(v.Field(i), v.Type().Field(i).Name); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := whole(v.Index(i), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// textOf returns the text of a parameter.
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(v.Interface())
}
