// Package api declares the operations of the service: what each takes, what it answers, who
// may ask for it, and where. The types are the one source. The HTTP server reads requests into
// them, package client sends and reads them, the tools for agents have their schemas from them,
// and package api/describe makes the description of the service from them.
//
//	var FindPaths = declare[PathQuery, Traversal](Spec{ID: "findPaths", Method: "GET",
//		Path: "/api/knowledge/path", Tag: "knowledge", Tool: "knowledge_path", May: access.Recall})
//
// A field of an In is a path parameter if the path names it, or what its tag in says (path,
// query, header, or body for a field that is the whole body), or else a query parameter of GET
// and DELETE and a member of the body of POST. These tags describe a field further:
//
//	json  its name; it is required unless it is omitempty or omitzero
//	is    a shape of api/describe/shapes.json, or a|b|c for one of some texts, or 1..8 for an
//	      integer in a range; without it, the shape of its Go type
//	min   the fewest items of a list or bytes of a text, and max the most
//	default, doc
//	tool  what it is to a model; - if no model is told of it
//	flag  NAME: PURPOSE on the command line, each if it is another there; - if no flag is made of it
//
// Ids and digests are lowercase hex as in GKP/1, and are read in any case; times are RFC 3339 in UTC, sequence numbers
// are integers below 2^53. Bundles and turns have their own canonical form, which passes
// through as raw bytes.
package api

import (
	"reflect"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/access"
)

// A Spec says where an operation is found and who may ask for it.
type Spec struct {
	ID     string // unique
	Method string
	Path   string            // {name} is a path parameter, and {name...} takes all that is left
	Tag    string            // the group that it is described in
	Tool   string            // the tool for agents that does the same; "": none
	Sets   []string          // the sets of tools that it is in, if package mcp makes the tool of the operation
	May    access.Permission // 0: open to everybody
	Says   string            // its summary, and after an empty line its description; "" if api/describe/operations.md has them
	Curl   string            // a shell command that asks the operation; only together with Says

	Limited bool // open, and yet limited by address
	Alone   bool // computed from the request alone, so it does not wait for others
	Plain   bool // its errors are plain text: the protocol is not ours
	Once    bool // clients do not send it again: each time makes something

	Fails   []int                     // statuses that do not follow from the rest
	Takes   map[string]string         // shapes of bodies of other media types than JSON
	Lines   bool                      // the body of lines is left to the handler, which reads it as it comes
	Answers map[string]string         // shapes of answers by media type; nil: Out as JSON
	Other   map[int]map[string]string // answers of other statuses than 200
	Headers map[string]string         // shapes of an answer's headers

	In, Out reflect.Type
}

// An Operation is a Spec whose types are known.
type Operation[In, Out any] struct{ Spec }

func declare[In, Out any](s Spec) Operation[In, Out] {
	s.In, s.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	declared = append(declared, &s)
	return Operation[In, Out]{s}
}

// A Place is where a field of an In comes from.
type Place string

// The places of fields.
const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "body"   // it is the body
	InMember Place = "member" // it is a member of the body
)

// A Field is a field of a type as JSON sees it.
type Field struct {
	reflect.StructField
	Key      string
	Required bool
}

var known sync.Map // the fields of types

// Fields lists the fields of a struct in their order, those of embedded structs among them. The
// list is shared.
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

// Place says where a field of the operation's In comes from.
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

// HasBody reports whether the operation takes a body, and whether there must be one.
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

// Rest returns the name of the path parameter that takes all that is left, or "".
func (s *Spec) Rest() string {
	name, found := strings.CutSuffix(s.Path[strings.LastIndex(s.Path, "{")+1:], "...}")
	if !found {
		return ""
	}
	return name
}
