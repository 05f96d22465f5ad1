// Package markup renders HTML from Go values.
//
// Text and attribute values are escaped. Links and forms lead to the page's own service, whatever text their addresses were
// made from: see Address. There is no attribute for a style or a handler. Only Raw writes its text unescaped.
//
// Elements and attributes are variables: a call of a library function is inlined together with everything that it calls, which
// made the console a megabyte larger.
package markup

import (
	"fmt"
	"strings"
	"unicode"

	"maragu.dev/gomponents"
)

type (
	// A Node is an element, an attribute or text. Nil renders nothing.
	Node = gomponents.Node
	// A Group is a list of nodes that counts as one node.
	Group = gomponents.Group
)

// Elements.
var (
	A, Article, Bdi, Body, Br, Button               = element("a"), element("article"), element("bdi"), element("body"), element("br"), element("button")
	Caption, Circle, Code, Dd, Del, Details         = element("caption"), element("circle"), element("code"), element("dd"), element("del"), element("details")
	Div, Dl, Dt, Figure, FigCaption, Footer         = element("div"), element("dl"), element("dt"), element("figure"), element("figcaption"), element("footer")
	Form, H1, H2, H3, Head, Header                  = element("form"), element("h1"), element("h2"), element("h3"), element("head"), element("header")
	HTML, Input, Ins, Label, Li, Line, Link         = element("html"), element("input"), element("ins"), element("label"), element("li"), element("line"), element("link")
	Main, Meta, Nav, NoScript, Ol, Option, P        = element("main"), element("meta"), element("nav"), element("noscript"), element("ol"), element("option"), element("p")
	Path, Pre, Script, Section, Select, Span        = element("path"), element("pre"), element("script"), element("section"), element("select"), element("span")
	Strong, Style, Summary, SVG, SVGText, Table     = element("strong"), element("style"), element("summary"), element("svg"), element("text"), element("table")
	TBody, Td, Textarea, Th, THead, Time, Title, Tr = element("tbody"), element("td"), element("textarea"), element("th"), element("thead"), element("time"), element("title"), element("tr")
	Ul                                              = element("ul")
	AutoComplete, Charset, Class, Content, D        = attribute("autocomplete"), attribute("charset"), attribute("class"), attribute("content"), attribute("d")
	DateTime, Dir, Download, EncType, For           = attribute("datetime"), attribute("dir"), attribute("download"), attribute("enctype"), attribute("for")
	Height, ID, InputMode, Lang, MaxLength, Method  = attribute("height"), attribute("id"), attribute("inputmode"), attribute("lang"), attribute("maxlength"), attribute("method")
	Name, Pattern, Placeholder, Rel, Role, Rows     = attribute("name"), attribute("pattern"), attribute("placeholder"), attribute("rel"), attribute("role"), attribute("rows")
	Scope, Size, SpellCheck, TabIndex, Tip, Type    = attribute("scope"), attribute("size"), attribute("spellcheck"), attribute("tabindex"), attribute("title"), attribute("type")
	Value, ViewBox, Width                           = attribute("value"), attribute("viewBox"), attribute("width")
	AutoFocus, Checked, Hidden, Open                = flag("autofocus"), flag("checked"), flag("hidden"), flag("open")
	Required, Selected                              = flag("required"), flag("selected")
	Href, Action, Src                               = address("href"), address("action"), address("src")
	CX, CY, R, X, Y, X1, Y1, X2, Y2                 = length("cx"), length("cy"), length("r"), length("x"), length("y"), length("x1"), length("y1"), length("x2"), length("y2")
)

func element(name string) func(...Node) Node {
	return func(nodes ...Node) Node { return gomponents.El(name, nodes...) }
}

func attribute(name string) func(string) Node {
	return func(value string) Node { return gomponents.Attr(name, value) }
}

func flag(name string) func() Node {
	return func() Node { return gomponents.Attr(name) }
}

func length(name string) func(int) Node {
	return func(n int) Node { return gomponents.Attr(name, fmt.Sprint(n)) }
}

func address(name string) func(string) Node {
	return func(to string) Node { return gomponents.Attr(name, Address(to)) }
}

// Address returns an address within the service unchanged: a path, a query or a fragment. For any other address it returns "#",
// the page itself.
func Address(to string) string {
	if to == "" || !strings.ContainsRune("/?#", rune(to[0])) || strings.HasPrefix(to, "//") || strings.ContainsRune(to, '\\') || strings.ContainsFunc(to, unicode.IsControl) {
		return "#"
	}
	return to
}

// Aria returns an attribute for assistive technology.
func Aria(name, value string) Node { return attribute("aria-" + name)(value) }

// Data returns an attribute that scripts read.
func Data(name, value string) Node { return attribute("data-" + name)(value) }

// Refresh makes a browser go to an address by itself.
func Refresh(to string) Node {
	return Meta(attribute("http-equiv")("refresh"), Content("0;url="+Address(to)))
}

// Document returns a whole page.
func Document(nodes ...Node) Node {
	return Group{Raw("<!doctype html>"), HTML(Lang("en"), Group(nodes))}
}

// Text returns escaped text, and Raw returns markup as it is.
var Text, Raw = gomponents.Text, gomponents.Raw

// Textf returns formatted and escaped text.
func Textf(format string, args ...any) Node { return Text(fmt.Sprintf(format, args...)) }

// If returns the nodes if a condition holds, else nil. The nodes are built in either case.
func If(condition bool, nodes ...Node) Node {
	if condition {
		return Group(nodes)
	}
	return nil
}

// Either returns yes if a condition holds, else no. Both nodes are built.
func Either(condition bool, yes, no Node) Node {
	if condition {
		return yes
	}
	return no
}

// Map returns a node for each member of a list.
func Map[T any](list []T, of func(T) Node) Group { return gomponents.Map(list, of) }

// Join is like Map, with a text between the nodes.
func Join[T any](between string, list []T, of func(T) Node) Group {
	var nodes Group
	for i, one := range list {
		nodes = append(nodes, If(i > 0, Text(between)), of(one))
	}
	return nodes
}
