package evidence_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/knowledge"
)

// namedFacts are cases of names under normalize/2, learned by a kernel of their own: signs that carry
// meaning, literals of each type, and texts, whose names are digests.
func namedFacts(t testing.TB) []corpusCase {
	c := &corpus{world: newWorld(t)}
	const hub = "the service"
	long := "text:" + strings.Repeat("ü", 1500)
	objects := []string{
		"timeout < 30s", "the limit is -5", "the limit is 5", "C#", "C++", "a..b", "lodash@^4.17.0", "foo@>=1.2.3 <2.0.0", "~0.3.1", "!important", "x != y", "50%", "3.14", ".5 l", "v1.2.3-rc.1",
		"./x/...", "/src/a-b.go", "/src/a/b.go", "C:\\Temp\\x", "https://example.org/a?b=c#d", "file:README.md", "pkg:npm:left-pad", "cmd:go test ./...", "commit:0a1b2c", "version:1.0.0+build.5",
		"branch:main", "test:TestX/y z", "url:x", "conversation:1", "turn:2", "text: the limit is -5 ", "text:", long, "Überlauf >= 80 %", "½ l", "№ 9!", "wait...", "... then", "\U0001F600 + \U0001F600",
	}
	acts := make([]knowledge.Act, len(objects))
	for i, object := range objects {
		acts[i] = knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact(hub, "Says That", object, "user"))}
	}
	for _, o := range must(c.kernel.Facts().Learn(c.ctx(), tenant, acts)) {
		if o.Seq == 0 {
			panic(fmt.Sprintf("%+v", o))
		}
	}
	issued := must(c.kernel.Facts().Slice(c.ctx(), tenant, api.FactSliceRequest{Start: []string{hub}}))
	if len(issued.Facts.Facts) != len(objects) {
		t.Fatalf("%d facts of %d", len(issued.Facts.Facts), len(objects))
	}
	b := issued.Bundle
	c.add("good_names_signs", evidence.Verified, "Names under normalize/2: signs that carry meaning, literals of each type, and texts, one of them empty and one of 3 000 bytes.", map[string][]byte{bundleFile: b}, "", c.secret)
	bad := func(name, why, old, next string) {
		c.add("malformed_names_"+name+"_fail", evidence.Malformed, why, map[string][]byte{bundleFile: firstOf(b, old, next)}, "", c.secret)
	}
	must(c.kernel.Facts().Learn(c.ctx(), tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("grown", "says that", strings.Repeat("⁗", 600)+"x", "user"))}}))
	grown := must(c.kernel.Facts().Slice(c.ctx(), tenant, api.FactSliceRequest{Start: []string{"grown"}})).Bundle
	c.add("good_names_grown", evidence.Verified, "A name whose spelling has more than 2 048 bytes once it is folded, and one byte once its words are joined.", map[string][]byte{bundleFile: grown}, "", c.secret)
	empty := bytes.Index(b, []byte(`"object":"text:e3b0c442`))
	c.add("malformed_names_text_written_fail", evidence.Malformed, "An empty text that is said to be written as nothing.", map[string][]byte{bundleFile: slices.Concat(b[:empty], firstOf(b[empty:], `"written":{`, `"written":{"object":"",`))}, "", c.secret)
	const rule = `"normalize":"normalize/2"`
	bad("rule", "A fact whose names are under a rule that nobody knows.", rule, `"normalize":"normalize/3"`)
	bad("rule_1", "A fact that says normalize/1, which is said by saying nothing.", rule, `"normalize":"normalize/1"`)
	bad("rule_gone", "A fact that does not say its rule, with a name that normalize/1 does not make.", `"confidence":1,`+rule+`,"object":"the-limit-is--5"`, `"confidence":1,"object":"the-limit-is--5"`)
	bad("sign", "A name with white space beside an operator.", `"object":"timeout<30s"`, `"object":"timeout-<30s"`)
	bad("sign_lost", "A name whose sign of a number is gone, beside its spelling.", `"object":"the-limit-is--5"`, `"object":"the-limit-is-5x"`)
	bad("case", "A name in capitals.", `"object":"c#"`, `"object":"C#"`)
	bad("literal_space", "A literal whose value begins with white space is none.", `"object":"pkg:npm:left-pad"`, `"object":"pkg: npm:left-pad"`)
	bad("path", "A path without its type.", `"object":"file:/src/a-b.go"`, `"object":"/src/a-b.go"`)
	bad("text_digits", "A text whose digest is in capitals.", `"object":"text:e3b0c442`, `"object":"text:E3b0c442`)
	bad("text", "A text whose digest is another's.", `"written":{"object":"ü`, `"written":{"object":"u`)
	bad("text_short", "A text without its digest.", `"object":"text:e3b0c442`, `"object":"text:3b0c442`)
	return c.cases
}
