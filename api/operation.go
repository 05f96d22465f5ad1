// Package api declares the operations of the service: the input, the answer, the permission and the path of each. The types are
// the single source. The HTTP server reads requests into them, package client sends and reads them, the schemas of the tools for
// agents come from them, and package api/describe makes the description of the service from them.
//
//	var FindPaths = declare[PathQuery, Traversal](Spec{ID: "findPaths", Method: "GET",
//		Path: "/api/knowledge/path", Tag: "knowledge", Tool: "knowledge_path", May: access.Recall})
//
// The tag in of a field of an In is its place: path, query, header, or body for a field that is the whole body. A field that the
// path names is a path parameter. Any other field without the tag is a query parameter for GET and DELETE and a member of the
// body for POST. These tags describe a field further:
//
//	json  its name; it is required unless it is omitempty or omitzero
//	is    a shape of api/describe/shapes.json, or a|b|c for one of some texts, or 1..8 for an
//	      integer in a range; without it, the shape of its Go type
//	min   the fewest items of a list or bytes of a text, and max the most
//	default, doc
//	tool  the description for a model; - hides the field from models
//	flag  NAME: PURPOSE on the command line, each if it is different there; - if there is no flag for it
//
// Ids and digests are lowercase hex as in GKP/1, and are read in any case; times are RFC 3339 in UTC, sequence numbers are
// integers below 2^53. Bundles and turns have their own canonical form and pass through as raw bytes.
package api

import (
	"reflect"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/access"
)

// A Spec is the declaration of an operation.
type Spec struct {
	ID     string // unique
	Method string
	Path   string            // {name} is a path parameter, and {name...} is the whole rest of the path
	Tag    string            // the group in the description
	Tool   string            // the tool for agents with the same function; "": none
	Sets   []string          // the tool sets of the operation, if package mcp makes its tool from this declaration
	May    access.Permission // 0: open to everybody
	Says   string            // the summary and, after an empty line, the description; "" if api/describe/operations.md has them
	Curl   string            // a shell command that calls the operation; only together with Says

	Limited bool // open to everybody, but limited per address
	Alone   bool // computed from the request alone, so it does not queue behind other requests
	Plain   bool // its errors are plain text, because the protocol is not ours
	Once    bool // clients do not repeat it, because each call makes something new

	Fails   []int                     // statuses that the other fields do not imply
	Takes   map[string]string         // shapes of bodies by media type, other than JSON
	Lines   bool                      // the handler reads the lines of the body itself, as they arrive
	Answers map[string]string         // shapes of answers by media type; nil: Out as JSON
	Other   map[int]map[string]string // answers with other statuses than 200
	Headers map[string]string         // shapes of an answer's headers

	In, Out reflect.Type
}

// An Operation is a Spec with its types as type parameters.
type Operation[In, Out any] struct{ Spec }

func declare[In, Out any](s Spec) Operation[In, Out] {
	s.In, s.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	declared = append(declared, &s)
	return Operation[In, Out]{s}
}

// A Place is the part of a request that holds a field of an In.
type Place string

// The places of fields.
const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "body"   // the field is the body
	InMember Place = "member" // the field is a member of the body
)

// A Field is a field of a type, with its JSON name.
type Field struct {
	reflect.StructField
	Key      string
	Required bool
}

var known sync.Map // []Field by reflect.Type

// Fields lists the fields of a struct in order, including those of embedded structs. The list is shared and must not be changed.
func Fields(t reflect.Type) []Field {
	if list, ok := known.Load(t); ok {
		return list.([]Field) //nolint:forcetypeassert // nothing else is stored
	}
	var list []Field
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || key == "" || key == "-" {
			continue
		}
		list = append(list, Field{f, key, !strings.HasPrefix(options, "omit")})
	}
	known.Store(t, list)
	return list
}

// Place returns the place of a field of the operation's In.
func (s *Spec) Place(f *Field) Place {
	switch in := f.Tag.Get("in"); {
	case strings.Contains(s.Path, "{"+f.Key+"}"), strings.Contains(s.Path, "{"+f.Key+"...}"):
		return InPath
	case in != "":
		return Place(in)
	case s.Method == "POST":
		return InMember
	}
	return InQuery
}

// HasBody reports whether the operation takes a body, and whether the body is required.
func (s *Spec) HasBody() (takes, required bool) {
	takes = len(s.Takes) > 0
	required = takes
	for _, f := range Fields(s.In) {
		switch s.Place(&f) {
		case InBody:
			takes, required = true, f.Required
		case InMember:
			takes, required = true, s.Method == "POST"
		}
	}
	return takes, required
}

// Rest returns the name of the path parameter that takes the rest of the path, or "".
func (s *Spec) Rest() string {
	name, found := strings.CutSuffix(s.Path[strings.LastIndex(s.Path, "{")+1:], "...}")
	if !found {
		return ""
	}
	return name
}
