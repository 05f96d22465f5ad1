package api

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

//go:embed shapes.json
var shapesJSON []byte

// Shapes maps each name that the struct tag is may contain to a JSON Schema. A schema with the name of a type is merged into the
// schema of that type.
var Shapes = func() (list map[string]map[string]any) {
	if err := json.Unmarshal(shapesJSON, &list); err != nil {
		panic("api: shapes.json: " + err.Error())
	}
	return list
}()

var shapeOf = map[reflect.Type]string{
	reflect.TypeFor[dag.TurnID]():          "AnyUUID",
	reflect.TypeFor[dag.ConversationID]():  "AnyUUID",
	reflect.TypeFor[dag.Digest]():          "AnyDigest",
	reflect.TypeFor[dag.Seq]():             "Seq",
	reflect.TypeFor[dag.PPM]():             "Fraction",
	reflect.TypeFor[dag.Time]():            "Time",
	reflect.TypeFor[dag.Role]():            "Role",
	reflect.TypeFor[knowledge.Direction](): "Direction",
	reflect.TypeFor[Names]():               "Names",
	reflect.TypeFor[Bundle]():              "Bundle",
	reflect.TypeFor[FactBundle]():          "FactBundle",
	reflect.TypeFor[BeliefBundle]():        "BeliefBundle",
	reflect.TypeFor[Keys]():                "Keys",
	reflect.TypeFor[JWKS]():                "JWKS",
	reflect.TypeFor[TokenClaim]():          "TokenClaim",
}

var nameOf = map[reflect.Type]string{
	reflect.TypeFor[KnowledgeOutcome](): "KnowledgeOutcome",
	reflect.TypeFor[BeliefStatement]():  "BeliefStatement",
}

// NameOf returns the name of a type in the description. A type that this package declares as an alias has the name of the alias.
func NameOf(t reflect.Type) string { return cmp.Or(nameOf[t], t.Name()) }

// ShapeOf returns the name of a type's shape, or "" if it has none.
func ShapeOf(t reflect.Type) string { return shapeOf[t] }

// OneOf lists the allowed texts of a field, or of an item of its list; nil means any text.
func (f *Field) OneOf() (texts []string) {
	is, t := f.Tag.Get("is"), f.Type
	if strings.Contains(is, "|") {
		return strings.Split(is, "|")
	}
	if is == "" && shapeOf[t] == "" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) {
		t = t.Elem()
	}
	if is == "" {
		is = shapeOf[t]
	}
	return textsOf(Shapes[is]["enum"])
}

func textsOf(list any) (texts []string) {
	all, _ := list.([]any)
	for _, v := range all {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

var patterns sync.Map // compiled, by shape

// checkShape checks the value at a cursor against a shape.
func checkShape(c *canon.Cursor, shape string) { failIf(c, fits(c.Value(), shape)) }

// fits returns an error if a value does not fit the schema of a shape. The form of a text or a number is checked by its reader.
// Lengths are counted in characters, as in JSON Schema.
func fits(v *canon.Value, shape string) error {
	s := Shapes[shape]
	switch {
	case v.Kind == canon.String:
		return textFits(v.Text, shape, s)
	case v.Kind == canon.Number:
		n, _ := strconv.ParseFloat(v.Text, 64) // the reader of numbers refuses other texts
		if most, ok := s["maximum"].(float64); ok && n > most {
			return fmt.Errorf("%.40s, want at most %.0f", v.Text, most)
		}
	case s["type"] == "object":
		c := canon.Open(v)
		names, _ := s["required"].([]any)
		for _, name := range names {
			c.Field(name.(string))
		}
		return c.Err()
	}
	return nil
}

func textFits(text, shape string, s map[string]any) error {
	n := float64(utf8.RuneCountInString(text))
	if least, ok := s["minLength"].(float64); ok && n < least {
		return fmt.Errorf("%.0f characters, want at least %.0f", n, least)
	}
	if most, ok := s["maxLength"].(float64); ok && n > most {
		return fmt.Errorf("%.0f characters, want at most %.0f", n, most)
	}
	if kinds := textsOf(s["enum"]); kinds != nil {
		return oneOf(text, kinds)
	}
	pattern, ok := s["pattern"].(string)
	if !ok {
		return nil
	}
	compiled, ok := patterns.Load(shape)
	if !ok {
		compiled, _ = patterns.LoadOrStore(shape, regexp.MustCompile(pattern))
	}
	if !compiled.(*regexp.Regexp).MatchString(text) { //nolint:forcetypeassert // nothing else is stored
		return fmt.Errorf("%.80q does not match %s", text, pattern)
	}
	return nil
}
