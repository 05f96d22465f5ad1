package evidence_test

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/graphkernel/graphkernel/evidence"
)

// mostDeep is how deep arrays and objects may nest (docs/protocol.md, section 1.6).
const mostDeep = 256

// nested are arrays, one in the other.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// valuesIn counts the values of a file.
func valuesIn(data []byte) int {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	var count func(v any) int
	count = func(v any) int {
		n := 1
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				n += count(x)
			}
		case map[string]any:
			for _, x := range v {
				n += count(x)
			}
		}
		return n
	}
	return count(v)
}

// full adds numbers to an array of a file until the file holds as many values as its length allows, and more further ones.
func full(more int, most func(size int) int, file func(numbers string) []byte) []byte {
	empty := file("")
	values, n := valuesIn(empty), 1
	for values+n+1 <= most(len(empty)+2*(n+1)-1) {
		n++
	}
	data := file(strings.Repeat(",0", n+more)[1:])
	if got, want := valuesIn(data), most(len(data)); got != want+more && got != want+more-1 {
		panic("the file is not full")
	}
	return data
}

func valuesOfBundle(size int) int    { return size/12 + 256 }
func valuesOfContext(size int) int   { return min(size/3, max(size/12, 4<<20)) + 256 }
func valuesOfStatement(size int) int { return size/8 + 64 }

// deepFile adds what a file of another version is read as if its values nest as deep as they may, and one deeper. The file
// is of a version that is known; old stands in it once, next is what stands there in a later one.
func (c *corpus) deepFile(name, file string, files map[string][]byte, data []byte, old, next, trust, secret string) {
	most := valuesOfBundle
	if next == `"gkc/9"` {
		most = valuesOfContext
	}
	later := once(data, old, next)
	at := func(n int) map[string][]byte {
		return with(files, file, once(later, `,"tenant":`, `,"nested":`+nested(n)+`,"tenant":`))
	}
	c.add("version_"+name+"deep_fail", evidence.UnknownVersion, "A later version, with a member that nests 256 deep, its object included: as deep as any file may.", at(mostDeep-1), trust, secret)
	c.add("malformed_"+name+"deep_fail", evidence.Malformed, "A later version, with a member that nests 257 deep, its object included: no file may.", at(mostDeep), trust, secret)
	many := func(more int) map[string][]byte {
		return with(files, file, full(more, most, func(numbers string) []byte { return once(later, `,"tenant":`, `,"numbers":[`+numbers+`],"tenant":`) }))
	}
	c.add("version_"+name+"many_fail", evidence.UnknownVersion, "A later version, with as many values as a file of its length may hold.", many(0), trust, secret)
	c.add("malformed_"+name+"many_fail", evidence.Malformed, "A later version, with more values than a file of its length may hold.", many(2), trust, secret)
}

// deepStatement does the same for statements, whose predicates may have members that nobody knows.
func (c *corpus) deepStatement(signed map[string][]byte, trust string) {
	tier := func(values string) []byte {
		return firstOf(c.payload(signed[attestFile]), `"tokenKeyId":`, `"tier":[`+values+`],"tokenKeyId":`)
	}
	at := func(n int) map[string][]byte {
		return with(signed, attestFile, c.sealText(tier(nested(n-1)+`,"`+strings.Repeat("x", 8*mostDeep)+`"`)))
	}
	many := func(more int) map[string][]byte {
		return with(signed, attestFile, c.sealText(full(more, valuesOfStatement, tier)))
	}
	c.add("statement_many", evidence.Verified, "A member of the predicate that is not known has as many values as a statement of its length may hold.", many(0), trust, "")
	c.add("malformed_statement_many_fail", evidence.Malformed, "A member of the predicate that is not known has more values than a statement of its length may hold.", many(2), trust, "")
	c.add("statement_deep", evidence.Verified, "A member of the predicate that is not known nests as deep as any may: 256 arrays and objects, with the statement and the predicate.", at(mostDeep-2), trust, "")
	c.add("malformed_statement_deep_fail", evidence.Malformed, "A member of the predicate that is not known nests one deeper than any may.", at(mostDeep-1), trust, "")
}

// deepTurns are those of bundles of turns, their parts and proofs.
func (c *corpus) deepTurns(files map[string][]byte) {
	bundle := map[string][]byte{}
	c.deepFile("", bundleFile, bundle, files[bundleFile], `"gkp/1"`, `"gkp/9"`, "", c.secret)
	whole := parsed(files[bundleFile])
	part := must(whole.Disclose(sum(files[bundleFile]), c.firstTurns(whole, 2))).Append(nil)
	c.deepFile("part_", partFile, bundle, part, `"gkd/1"`, `"gkd/9"`, "", c.secret)
	c.deepStatement(with(files, proofFile, nil), c.trustSigner())
	leaf := func(n int) map[string][]byte {
		return with(files, attestFile, nil, proofFile, c.onlyLeaf([]byte(`{"nested":`+nested(n)+`,"type":"other"}`)))
	}
	c.add("leaf_deep_fail", evidence.NotInLog, "A leaf of another type nests as deep as any may: it is not read, and does not match.", leaf(mostDeep-1), c.trustLog(), "")
	c.add("malformed_leaf_deep_fail", evidence.Malformed, "A leaf of another type nests one deeper than any may.", leaf(mostDeep), c.trustLog(), "")
}
