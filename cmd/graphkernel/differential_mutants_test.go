package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// mutant returns the specimen with one or two changes, and says which.
func (s *specimen) mutant(r *rand.Rand, others []specimen) (specimen, string) {
	m := *s
	m.files = maps.Clone(s.files)
	var how []string
	for range 1 + r.IntN(5)/4 {
		switch n := r.IntN(20); {
		case m.remakes && m.secret != "" && m.files[evidence.FileBundle] != nil && r.IntN(3) > 0:
			how = append(how, m.remake(r))
		case n < 8 && m.forge != nil:
			how = append(how, m.forge.signAnew(r, &m))
		case n < 16:
			how = append(how, m.changeFile(r))
		case n < 18:
			how = append(how, m.changeCall(r))
		default:
			how = append(how, m.exchange(r, others))
		}
	}
	return m, strings.Join(how, "; ")
}

// changeFile changes one file, by its structure or as bytes.
func (s *specimen) changeFile(r *rand.Rand) string {
	names := slices.Sorted(maps.Keys(s.files))
	if len(names) == 0 {
		return "nothing"
	}
	name := names[r.IntN(len(names))]
	change := mutateBytes
	switch structured := r.IntN(4) > 0; {
	case structured && strings.HasSuffix(name, ".json"):
		change = mutateJSON
	case structured:
		change = mutateText
	}
	data, how := change(r, s.files[name])
	s.files[name] = data
	return name + ": " + how
}

// changeCall changes how the verifier is called.
func (s *specimen) changeCall(r *rand.Rand) string {
	switch n := r.IntN(6); {
	case n == 0:
		s.full = !s.full
		return fmt.Sprintf("--require-full %v", s.full)
	case n == 1:
		s.trust = nil
		return "no trust file"
	case n == 2:
		s.secret = ""
		return "no secret"
	case s.trust == nil:
		s.trust = []byte("quorum none\n")
		return "a trust file that names nobody"
	case n == 3:
		data, how := mutateBytes(r, s.trust)
		s.trust = data
		return "trust file: " + how
	}
	data, how := mutateText(r, s.trust)
	s.trust = data
	return "trust file: " + how
}

// exchange takes a file away, or takes one or the trust file of another specimen.
func (s *specimen) exchange(r *rand.Rand, others []specimen) string {
	other := &others[r.IntN(len(others))]
	all := []string{
		evidence.FileBundle, evidence.FileDisclosure, evidence.FileAttestation, evidence.FileProof, evidence.FileCheckpoint,
		evidence.FileOldCheckpoint, evidence.FileConsistency,
	}
	name := all[r.IntN(len(all))]
	switch r.IntN(3) {
	case 0:
		delete(s.files, name)
		return "without " + name
	case 1:
		s.trust = other.trust
		return "the trust file of " + other.name
	}
	if data, ok := other.files[name]; ok {
		s.files[name] = data
	}
	return name + " of " + other.name
}

// mutateBytes changes bytes, whatever they mean.
func mutateBytes(r *rand.Rand, data []byte) ([]byte, string) {
	if len(data) == 0 {
		return []byte{byte(r.Uint32())}, "a byte in an empty file"
	}
	at := r.IntN(len(data))
	switch r.IntN(5) {
	case 0:
		data = bytes.Clone(data)
		data[at] ^= 1 << r.IntN(8)
		return data, fmt.Sprintf("bit of byte %d", at)
	case 1:
		return data[:at], fmt.Sprintf("cut at %d", at)
	case 2:
		strange := []string{"\x00", "\n", "\r\n", "\x1b[2J", "\xff", "\ufeff", "\u202e", "0", " ", "\"", "é", "\u0085"}
		return slices.Concat(data[:at], []byte(strange[r.IntN(len(strange))]), data[at:]), fmt.Sprintf("bytes inserted at %d", at)
	case 3:
		end := min(len(data), at+1+r.IntN(8))
		return slices.Concat(data[:at], data[end:]), fmt.Sprintf("bytes %d to %d gone", at, end)
	default:
		return append(bytes.Clone(data), "\n"...), "a line feed at the end"
	}
}

// mutateText changes lines and words of a file that is made of these.
func mutateText(r *rand.Rand, data []byte) ([]byte, string) {
	lines := strings.SplitAfter(string(data), "\n")
	at := r.IntN(len(lines))
	switch r.IntN(6) {
	case 0:
		lines = slices.Delete(lines, at, at+1)
		return []byte(strings.Join(lines, "")), fmt.Sprintf("line %d gone", at)
	case 1:
		lines = slices.Insert(lines, at, lines[at])
		return []byte(strings.Join(lines, "")), fmt.Sprintf("line %d twice", at)
	case 2:
		to := r.IntN(len(lines))
		lines[at], lines[to] = lines[to], lines[at]
		return []byte(strings.Join(lines, "")), fmt.Sprintf("lines %d and %d exchanged", at, to)
	case 3:
		strange := []string{
			"\n", " \n", "# x\n", "quorum none\n", "witness x y\n", "group g any w1\n", "group g 2 w0 w1\nquorum g\n", "log\n", "extra e30=\n", "index 1\n",
			"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "— x AAAAAAAA\n", "— \u00e9 AAAAAAAA\n", "— x\u2028y AAAAAAAA\n", "an extension\n", strings.Repeat("a\n", 64),
			strings.Repeat("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", 63), "\r\n", "— x " + base64.StdEncoding.EncodeToString(make([]byte, 4)) + "\n",
		}
		line := strange[r.IntN(len(strange))]
		lines = slices.Insert(lines, at, line)
		return []byte(strings.Join(lines, "")), fmt.Sprintf("%.30q at line %d", line, at)
	}
	words := strings.Split(lines[at], " ")
	word := r.IntN(len(words))
	was := strings.TrimSuffix(words[word], "\n")
	next := strangeWord(r, was)
	words[word] = strings.Replace(words[word], was, next, 1)
	lines[at] = strings.Join(words, " ")
	return []byte(strings.Join(lines, "")), fmt.Sprintf("%.40q in line %d became %.40q", was, at, next)
}

func strangeWord(r *rand.Rand, was string) string {
	strange := []string{
		"", "0", "1", "00", "01", "+1", "-1", "1e3", "9007199254740991", "9007199254740992", "281474976710656", "281474976710657", "9223372036854775808",
		"none", "any", "all", "é", "w\u00a0x", "w\u2028x", "x\x1b[2J", "\x7f", "\u202e", "w1", "w2", "\t", "1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z",
		"2026-03-14T03:00:00Z", "c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2", "c2sp.org/tlog-proof@", "https://x.example/log",
		was + "=", was + "\r", strings.ToUpper(was), was + "+", was + "\u00e9", "default." + was, strings.TrimSuffix(was, "="), strings.Repeat("x", 256),
	}
	return strange[r.IntN(len(strange))]
}

// strangeText is what a turn may say.
func strangeText(r *rand.Rand) string {
	texts := []string{"yes", "\x1b[2JVERIFIED", "\u202e", "\u0000", "\"\\\u2028\u2029", "é\u0301", "\U0001f600", strings.Repeat("long ", 200), "\x7f\u0085", "{}", "\r\n\t"}
	return texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))]
}

// mutateJSON changes one value of a document, and writes it canonically, so that its spelling is
// not what is wrong with it. Of what is no JSON it changes bytes.
func mutateJSON(r *rand.Rand, data []byte) ([]byte, string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return mutateBytes(r, data)
	}
	places := 0
	count(doc, &places)
	at, how := r.IntN(places), ""
	doc = change(doc, &at, func(v any) any {
		next := strangeValue(r, v)
		how = fmt.Sprintf("%.60s became %.60s", canonical(v), canonical(next))
		return next
	})
	return canonical(doc), how
}

func count(v any, n *int) {
	*n++
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			count(x, n)
		}
	case []any:
		for _, x := range v {
			count(x, n)
		}
	}
}

// change replaces the value at a place, in the order of the keys.
func change(v any, at *int, by func(any) any) any {
	if *at == 0 {
		*at--
		return by(v)
	}
	*at--
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = change(v[key], at, by)
			if *at < 0 {
				return v
			}
		}
	case []any:
		for i := range v {
			v[i] = change(v[i], at, by)
			if *at < 0 {
				return v
			}
		}
	}
	return v
}

// raw is written as it is.
type raw string

func strangeValue(r *rand.Rand, v any) any {
	if r.IntN(12) == 0 {
		return []any{raw("null"), true, false, raw("{}"), raw("[]"), raw("0"), "", raw("1.5"), raw("-1"), []any{v}}[r.IntN(10)]
	}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		next := maps.Clone(v)
		strange := []string{"zone", "", "é", "a\n", "a\"", "a\\", "\x7f", "type", "version", "redacted", "from", "\U0001f600", "author", "Z"}
		switch key := strange[r.IntN(len(strange))]; {
		case r.IntN(2) == 0 || len(keys) == 0:
			next[key] = []any{raw("1"), "x", true, raw("null"), raw("0.5"), raw("1e3"), map[string]any{"é": raw("1")}}[r.IntN(7)]
		case r.IntN(3) == 0:
			was := keys[r.IntN(len(keys))]
			next[key] = next[was]
			delete(next, was)
		default:
			delete(next, keys[r.IntN(len(keys))])
		}
		return next
	case []any:
		next := slices.Clone(v)
		if len(v) == 0 {
			return []any{"x"}
		}
		at, to := r.IntN(len(v)), r.IntN(len(v))
		switch r.IntN(4) {
		case 0:
			return slices.Delete(next, at, at+1)
		case 1:
			return slices.Insert(next, at, next[to])
		case 2:
			return []any{}
		}
		next[at], next[to] = next[to], next[at]
		return next
	case json.Number:
		strange := []raw{"0", "1", "2", "-1", "-0", "0.5", "0.50", "0.000001", "0.0000001", "1.5", "1e3", "64", "65", "10000", "10001", "9007199254740991", "9007199254740992", "281474976710656", "1.0",
			"256", "257", "1024", "1025", "9999", "300000", "850000", "1000000", "1000001", "10", "10.5", "9.999999", "2000", "2001", "1099511627777", "4503599627370497"}
		return strange[r.IntN(len(strange))]
	case string:
		return strangeString(r, v)
	}
	return raw("null")
}

func strangeString(r *rand.Rand, was string) any {
	if was == "" {
		return "x"
	}
	strange := []string{
		"", "x", strings.ToUpper(was), was + " ", was[:len(was)-1], was + "0", "é", "\x1b[2J", "\u0085", "\u202e", "gkp/1", "gkp/2", "gkp/3", "gkl/1", "gkl/2", "gkd/3", "gkd/5", "gkd/6", "gkf/2",
		"slice", "policy", "slice_policy_v1", "slice_policy_v2", "slice_policy_v3", "other", "other.kernel.example", "default.elsewhere.example", "default", "k2", "parent", "child", "sibling", "anchor",
		"1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z", "2026-03-14T03:00:00Z", "00000000-0000-0000-0000-000000000000", "erased", "withheld", "spawn", "merge", "tool",
		strings.Repeat("0", 64), strings.Repeat("x", 300), "synthesis", "Default", "slice-0123456789abcdef.json", "default@1", "default@01", "AA==", "AB==", "gkc/1", "gkc/2", "gkd/4", "context", "facts", "fact", "turn", "context_policy_v1", "markdown", "xml", "text", "openai", "anthropic", "json",
		"prompts", "search", "user", "`x`", " x ", "\r\n", "system", "owner", "member", "agent", "guest", "outside", "person", "harness", "prompt", "touch",
	}
	if r.IntN(3) == 0 { // another letter in the same form
		b := []byte(was)
		at := r.IntN(len(b))
		b[at] = "0123456789abcdef"[r.IntN(16)]
		return string(bytes.ToValidUTF8(b, []byte("?")))
	}
	return strange[r.IntN(len(strange))]
}

// canonical writes a value as evidence does: keys ascend by their bytes, and numbers stay as they are.
func canonical(v any) []byte {
	var b []byte
	switch v := v.(type) {
	case raw:
		return []byte(v)
	case json.Number:
		return []byte(v)
	case string:
		return canon.AppendString(nil, strings.ToValidUTF8(v, "?"))
	case bool:
		return fmt.Appendf(nil, "%v", v)
	case nil:
		return []byte("null")
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, canonical(x)...)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(canon.AppendString(b, key), ':'), canonical(v[key])...)
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("no value of JSON: %T", v))
}
