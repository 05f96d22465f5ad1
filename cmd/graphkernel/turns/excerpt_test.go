package turns

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("nothing of it here, ", 40)
	for _, tc := range []struct{ text, query, want string }{
		{"The table was deleted.", "why was the table deleted", "The table was deleted."},
		{long + "At last the orders table was deleted by a migration. And so on.", "why was the table deleted", "… At last the orders table was deleted by a migration. And so on."},
		{long + "a table. " + long + "Deleting the table " + long, "deleted tables", "… nothing of it here, Deleting the table " + long},
		{long, "xyzzy", long},
		{long + "İ table", "table", long + "İ table"}, // its small form is longer
		{"", "table", ""},
		{long + "日本語のテキスト table", "table", "… table"},
	} {
		if got := excerpt(tc.text, tc.query, 96); got != tc.want {
			t.Errorf("%q: got %.120q, want %.120q", tc.query, got, tc.want)
		}
	}
}
