package secrets

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkScan scans prose, code and logs with many keywords and no secret, in texts of 2 KB, and looks for the same without windows.
func BenchmarkScan(b *testing.B) {
	random := rand.New(rand.NewPCG(9, 10))
	words := strings.Fields(`the key of a token is that access to the api needs auth, so func (k *Key) String() string { return k.id } and "session_id": "5e55" or level=info
		msg="request served" path=/api/turns status=200 they said that secret plans for github and npm packages are discussed elsewhere; key: value, author = "nobody" passes`)
	var texts []string
	size := int64(0)
	for range 200 {
		var t strings.Builder
		for t.Len() < 2_000 {
			t.WriteString(words[random.IntN(len(words))])
			t.WriteByte(" \n"[random.IntN(8)/7])
		}
		texts = append(texts, t.String())
		size += int64(t.Len())
	}
	s := Standard()
	for _, way := range []struct {
		name string
		scan func(string) []Finding
	}{{"windows", s.Scan}, {"everywhere", s.everywhere}} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				for _, text := range texts {
					if found := way.scan(text); len(found) > 0 {
						b.Fatal(found)
					}
				}
			}
		})
	}
}
