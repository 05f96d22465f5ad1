package server

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/describe"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Media types.
const (
	typeJSON     = "application/json"
	typeLines    = "application/x-ndjson"
	typeProblem  = "application/problem+json"
	typeMarkdown = "text/markdown"
	typeText     = "text/plain"
	typeCSV      = "text/csv"
	anyType      = "*/*" // in the contract: a body of any type, which the handler gets as bytes
)

// A contract is the operations that package api declares, with their description.
type contract struct {
	json       []byte
	operations []*operation
}

// An operation is one method on one path.
type operation struct {
	*api.Spec
	path         string // in the syntax of echo
	params       []param
	rest         string          // the path parameter that takes the rest of the path
	bodies       map[string]body // by media type; nil without a body
	bodyRequired bool
	members      []string // the members that a JSON body may have
	required     []string // the members that every JSON body has, whatever the query has
	handle       handler
}

// open reports whether everybody may call the operation.
func (op *operation) open() bool { return op.May == 0 }

// A param is a parameter of an operation.
type param struct {
	api.Field
	in    api.Place
	place string // in problems
}

// A body says how a body of one media type is read.
type body struct {
	anything bool // the handler gets the body as bytes
	stream   bool // the handler reads the body as it arrives
}

// readContract returns the contract of all servers of this process. The first call makes it, which takes longer than
// everything else in New.
var readContract = sync.OnceValues(makeContract)

func makeContract() (*contract, error) {
	specs := make([]*api.Spec, len(routes))
	c := &contract{}
	for i := range routes {
		specs[i] = routes[i].spec
		c.operations = append(c.operations, readOperation(&routes[i]))
	}
	var err error
	if c.json, err = describe.Document(specs); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	slices.SortFunc(c.operations, func(a, b *operation) int { return strings.Compare(a.path+" "+a.Method, b.path+" "+b.Method) })
	return c, nil
}

func readOperation(r *route) *operation {
	op := &operation{Spec: r.spec, handle: r.handle, rest: r.spec.Rest()}
	op.path = strings.NewReplacer("{"+op.rest+"...}", "*", "{", ":", "}", "").Replace(op.Path)
	takes, required := op.HasBody()
	if op.bodyRequired = required; takes {
		op.bodies = map[string]body{}
	}
	for media := range op.Takes {
		op.bodies[media] = body{anything: media != typeLines, stream: media == typeLines && op.Lines}
	}
	for _, f := range api.Fields(op.In) {
		switch in := op.Place(&f); {
		case in == api.InMember:
			op.bodies[typeJSON] = body{}
			op.members = append(op.members, f.Key)
		case in != api.InBody:
			op.params = append(op.params, param{f, in, string(in) + " parameter " + f.Key})
		case f.Type.Kind() == reflect.Struct:
			op.bodies[typeJSON] = body{}
			for _, member := range api.Fields(f.Type) {
				op.members = append(op.members, member.Key)
				if member.Required {
					op.required = append(op.required, member.Key)
				}
			}
		default:
			op.bodies[typeJSON] = body{anything: true}
		}
	}
	return op
}

// inQuery lists the query parameters of an operation in words.
func (op *operation) inQuery() string {
	var names []string
	for i := range op.params {
		if op.params[i].in == api.InQuery {
			names = append(names, op.params[i].Key)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// readParams reads the parameters of a request, and returns the given ones as texts and as members of the operation's
// In. An unknown query parameter is an error: it may be misspelt.
func (op *operation) readParams(r *http.Request, path func(string) string) (texts map[string]string, members []canon.Member, err error) {
	if len(op.params) == 0 && r.URL.RawQuery == "" {
		return nil, nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, nil, &problem{code: api.CodeInvalid, place: "query", detail: "the query cannot be read: " + err.Error()}
	}
	texts = map[string]string{}
	for i := range op.params {
		p := &op.params[i]
		var values []string
		switch p.in {
		case api.InPath:
			if p.Key == op.rest { // unescaped: its form allows no characters that need escaping
				values = []string{path("*")}
				break
			}
			value := path(p.Key)
			if r.URL.RawPath != "" { // otherwise it is already unescaped
				if value, err = url.PathUnescape(value); err != nil {
					return nil, nil, &problem{code: api.CodeInvalid, place: p.place, detail: "the path cannot be read: " + err.Error()}
				}
			}
			values = []string{value}
		case api.InQuery:
			values = query[p.Key]
			delete(query, p.Key)
		case api.InHeader:
			values = r.Header.Values(p.Key)
		}
		switch {
		case len(values) == 0 && p.Required:
			return nil, nil, &problem{code: api.CodeInvalid, place: p.place, detail: p.place + " is missing"}
		case len(values) == 0:
			continue
		case len(values) > 1:
			return nil, nil, &problem{code: api.CodeInvalid, place: p.place, detail: p.place + " is given twice"}
		}
		value, err := p.ReadText(values[0])
		if err != nil {
			return nil, nil, &problem{code: api.CodeInvalid, place: p.place, detail: fmt.Sprintf("%s is %.80q: %s", p.place, values[0], err), cause: err}
		}
		texts[p.Key] = values[0]
		members = append(members, canon.Member{Key: p.Key, Value: value})
	}
	for name := range query {
		return nil, nil, &problem{code: api.CodeInvalid, place: "query parameter", detail: fmt.Sprintf("query parameter %.80q is not known to this operation, which takes %s", name, op.inQuery())}
	}
	return texts, members, nil
}

// media returns the media type of a request's body, if the operation accepts it.
func (op *operation) media(r *http.Request) (string, body, error) {
	if b, ok := op.bodies[anyType]; ok {
		return anyType, b, nil
	}
	given := strings.Join(r.Header["Content-Type"], ", ")
	media, params, err := mime.ParseMediaType(given)
	if charset, ok := params["charset"]; err == nil && ok && !strings.EqualFold(charset, "utf-8") {
		return "", body{}, &problem{code: api.CodeMediaType, place: "Content-Type", detail: fmt.Sprintf("Content-Type is %.80q; bodies are UTF-8", given)}
	}
	if err != nil {
		media = "" // no media type, or several
	}
	if s, ok := op.bodies[media]; ok {
		return media, s, nil
	}
	known := make([]string, 0, len(op.bodies))
	for m := range op.bodies {
		known = append(known, m)
	}
	slices.Sort(known)
	return "", body{}, &problem{code: api.CodeMediaType, place: "Content-Type", detail: fmt.Sprintf("Content-Type is %.80q, want %s", given, strings.Join(known, " or "))}
}

// The maximum number of values parsed in a body and in a line. A full batch of turns has some hundred thousand
// values; a turn with the maximum of parents and attributes has some thousands. A value takes up to three hundred
// bytes of memory, and as little as two bytes of the body.
const (
	mostValues = 1 << 20
	lineValues = 1 << 15
)

func readStrictly(text []byte, place string, most int) (*canon.Value, error) {
	v, err := canon.ParseSparse(text, most)
	if errors.Is(err, canon.ErrMany) {
		return nil, &problem{code: api.CodeTooLarge, place: place, detail: fmt.Sprintf("%s: at most %d", err, most)}
	}
	if err != nil {
		return nil, &problem{code: api.CodeSyntax, place: place, detail: err.Error()}
	}
	return v, nil
}

// misread returns a problem for a fault found while reading a body.
func misread(err error) error {
	var fault *canon.FieldError
	if !errors.As(err, &fault) {
		return err
	}
	place := fault.Place()
	return &problem{code: api.CodeInvalid, place: place, detail: cmp.Or(place, "the body") + ": " + fault.Err.Error(), cause: fault}
}

func join(place, below string) string {
	switch {
	case place == "":
		return below
	case below == "":
		return place
	case below[0] == '[':
		return place + below
	}
	return place + "." + below
}
