package knowledge_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/knowledge"
)

func TestReadTime(t *testing.T) {
	for written, want := range map[string]string{
		"2012-06-23":                "2012-06-23T00:00:00.000000Z",
		"1970-01-01":                "1970-01-01T00:00:00.000000Z",
		"2012-06-23T01:02:03+02:00": "2012-06-22T23:02:03.000000Z",
		"1969-12-31":                "",
		"2012-6-23":                 "",
		"2012-13-01":                "",
		"2012/06/23":                "",
		"2012-06":                   "",
		"":                          "",
	} {
		got, err := knowledge.ReadTime(written)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: %s, %v, want %s", written, got, err, want)
		}
	}
}
