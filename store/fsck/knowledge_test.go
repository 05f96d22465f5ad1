package fsck_test

import (
	"crypto/sha256"
	value "database/sql/driver"
	"encoding/binary"
	"fmt"

	driver "modernc.org/sqlite"

	"github.com/graphkernel/graphkernel/store/storetest"
)

// acts changes a column of the act of a number, see storetest.Fill.
func acts(seq int, set string) string {
	return fmt.Sprintf(`UPDATE acts SET %s WHERE tenant = 1 AND seq = %d`, set, seq)
}

// text gives an act another text, as an expression, and makes what is kept of its leaf fit.
func text(seq int, as string) string {
	return acts(seq, fmt.Sprintf(`(act, leaf) = (SELECT made, act_leaf(made) FROM (SELECT %s AS made))`, as))
}

// replaced replaces something in the text of an act.
func replaced(seq int, from, to string) string {
	return text(seq, fmt.Sprintf(`replace(act, '%s', '%s')`, from, to))
}

func init() {
	driver.MustRegisterDeterministicScalarFunction("act_leaf", 1, func(_ *driver.FunctionContext, args []value.Value) (value.Value, error) {
		sum := sha256.Sum256(fmt.Appendf([]byte{0}, "%s", args[0]))
		return int64(binary.BigEndian.Uint64(sum[:])), nil
	})
}

// edges changes an edge of the version that began with a number.
func edges(seq, incoming int, set string) string {
	return fmt.Sprintf(`UPDATE edges SET %s WHERE tenant = 1 AND since = %d AND incoming = %d`, set, seq, incoming)
}

// doubled adds another edge of the version that began with 37, with some of its columns
// replaced.
func doubled(columns string) string {
	return `INSERT INTO edges (tenant, name, incoming, doubt, statement, since, until, predicate, other, valid_from, valid_until, source, turn)
		SELECT ` + columns + `, until, predicate, other, valid_from, valid_until, source, turn FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 0`
}

func turnID(n int) string { return storetest.TurnID(n).String() }

// knowledgeDamages are those of acts and edges.
var knowledgeDamages = []damage{
	{"act gone", `DELETE FROM acts WHERE tenant = 1 AND seq = 50`, "number 50", "number"},
	{"acts gone", `DELETE FROM acts WHERE tenant = 1 AND seq BETWEEN 33 AND 38`, "numbers 33 to 38", "number"},
	{"act gone, and its edges are there", `DELETE FROM acts WHERE tenant = 1 AND seq = 37`, "act 37", "edge"},
	{"last act gone", `DELETE FROM acts WHERE tenant = 1 AND seq = 65`, "number 65", "number"},
	{"act of another number", acts(65, `seq = 99`), "number 65", "number"},
	{"act of another number, above the head", acts(65, `seq = 99`), "act 99", "head"},
	{"act of another tenant", acts(50, `tenant = 7`), "number 50", "number"},
	{"act of a turn's number", acts(50, `seq = 7`), "act 7", "number"},
	{"turn of an act's number", `UPDATE turns SET seq = 50 WHERE tenant = 1 AND seq = 48`, "act 50", "number"},
	{"act of an event's number", acts(54, `seq = 55`), "event 55", "number"},
	{"event of an act's number", `UPDATE events SET seq = 54 WHERE tenant = 1 AND seq = 55`, "event 54", "number"},

	{"act, no text", acts(50, `act = 'x'`), "act 1 and on", "readable"},
	{"act, no canonical text", acts(50, `act = act || ' '`), "act 1 and on", "readable"},
	{"act, confidence", replaced(38, `0.9`, `0.8`), "act 38", "edge"},
	{"act, confidence, no higher than before", replaced(38, `0.9`, `0.3`), "act 38", "until"},
	{"act, predicate", replaced(37, `wrote`, `read`), "act 37", "edge"},
	{"act, subject", replaced(53, `"subject":"e1"`, `"subject":"e2"`), "act 53", "edge"},
	{"act, object", replaced(37, `"e1"`, `"e2"`), "act 37", "edge"},
	{"act, source", replaced(37, `user`, `another`), "act 37", "edge"},
	{"act, of a time", replaced(35, `000009Z`, `000008Z`), "act 35", "edge"},
	{"act, evidence", replaced(33, turnID(7), turnID(8)), "act 33", "edge"},
	{"act, evidence that is not there", replaced(33, turnID(7), turnID(99)), "act 33", "evidence"},
	{"act, evidence that came later", replaced(33, turnID(7), turnID(40)), "act 33", "evidence"},
	{"evidence gone", `DELETE FROM turns WHERE tenant = 1 AND substr(kept, 49, 16) = ` + id(7), "act 33", "evidence"},
	{"act, what it superseded", text(53, `json_remove(act, '$.supersedes[0]')`), "act 38", "until"},
	{"act, that it superseded", text(53, `json_remove(act, '$.supersedes')`), "act 49", "until"},
	{"act, supersedes what was not believed", replaced(53, `"supersedes":["1b`, `"supersedes":["0b`), "act 53", "act"},
	{"act, retracts what was not believed", replaced(52, `"statement":"e7`, `"statement":"e8`), "act 52", "act"},
	{"act, a retraction's reason", acts(52, `act = replace(act, 'wrong', 'right')`), "act 1 and on", "readable"},
	{"act, alias", replaced(51, `ee-two`, `ee-ten`), "act 54", "act"},
	{"act, what an alias stands for", replaced(51, `"e2"`, `"e3"`), "act 54", "act"},
	{"act, the same alias again", text(51, `(SELECT act FROM acts WHERE seq = 50)`), "act 51", "act"},
	{"act, the same assertion again", text(38, `(SELECT act FROM acts WHERE seq = 33)`), "act 38", "act"},
	{"act, an assertion again that was confirmed since", text(65, `(SELECT act FROM acts WHERE seq = 61)`), "act 65", "act"},
	{"act, at another time", acts(50, `at = at + 1`), "", ""}, // nothing else tells of it
	{"act, at no time", acts(50, `at = -1`), "act 50", "form"},

	{"act's statement", acts(37, `statement = statement + 1`), "act 37", "found by statement"},
	{"act's statement, of a retraction", acts(60, `statement = statement + 1`), "act 60", "found by statement"},
	{"act's statement, gone", acts(37, `statement = NULL`), "act 37", "found among aliases"},
	{"act's statement, of an alias", acts(50, `statement = 5`), "act 50", "found among aliases"},
	{"act's leaf", acts(37, `leaf = leaf + 1`), "act 1 and on", "readable"},
	{"act's opened", acts(64, `opened = opened + 1`), "act 64", "opened"},
	{"act's opened, of one that began no version", acts(34, `opened = 33`), "act 34", "opened"},
	{"act's opened, of a retraction", acts(52, `opened = 33`), "act 52", "opened"},
	{"act's until", acts(38, `until = until - 1`), "act 38", "until"},
	{"act's until, without an end", acts(38, `until = 9007199254740991`), "act 38", "until"},
	{"act's until, of what is believed", acts(37, `until = 60`), "act 37", "until"},
	{"act's until, above the head", acts(37, `until = 4000`), "act 37", "head"},
	{"act's until, of one that began no version", acts(34, `until = 60`), "act 34", "until"},
	{"act's until, of a retraction", acts(52, `until = 60`), "act 52", "until"},
	{"act's until, gone", acts(37, `until = 0`), "act 37", "until"},

	{"edge gone from the subject", `DELETE FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 0`, "act 37", "edge"},
	{"edge gone from the object", `DELETE FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 1`, "act 37", "edge"},
	{"edges gone of what is believed no longer", `DELETE FROM edges WHERE tenant = 1 AND since = 57`, "act 57", "edge"},
	{"edge doubled under another name", doubled(`tenant, 'e5', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under an alias", doubled(`tenant, 'ee-one', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under a predicate", doubled(`tenant, 'wrote', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under a name that no act has", doubled(`tenant, 'nobody', incoming, doubt, statement, since`), "", ""}, // it cannot be asked for
	{"edge doubled in the other direction", doubled(`tenant, name, 1, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled with another confidence", doubled(`tenant, name, incoming, doubt + 1, statement, since`), "act 37", "edge"},
	{"edge doubled of another statement", doubled(`tenant, name, incoming, doubt, zeroblob(32), since`), "act 37", "edge"},
	{"edge doubled of another version", doubled(`tenant, name, incoming, doubt, statement, 35`), "act 35", "edge"},
	{"edge doubled of a number that began no version", doubled(`tenant, name, incoming, doubt, statement, 34`), "act 34", "edge"},
	{"edge doubled of a turn's number", doubled(`tenant, name, incoming, doubt, statement, 7`), "act 7", "edge"},
	{"edge doubled of no number", doubled(`tenant, name, incoming, doubt, statement, 0`), `name "ada-müller"`, "order"},
	{"edge doubled of a number above the head", doubled(`tenant, name, incoming, doubt, statement, 99`), "act 99", "head"},
	{"edge of another tenant", edges(37, 0, `tenant = 7`), "act 37", "edge"},
	{"edge of another name", edges(37, 0, `name = 'e5'`), "act 37", "edge"},
	{"edge in the other direction", edges(37, 1, `incoming = 0`), "act 37", "edge"},
	{"edge's confidence", edges(38, 0, `doubt = doubt + 1`), "act 38", "edge"},
	{"edge's confidence, none", edges(38, 0, `doubt = 2000000`), "act 38", "edge"},
	{"edge's statement", edges(37, 1, `statement = zeroblob(32)`), "act 37", "edge"},
	{"edge's statement, no digest", edges(37, 1, `statement = x'00'`), `name "e1"`, "readable"},
	{"edge's version", edges(33, 0, `since = 38`), "act 38", "edge"},
	{"edge's until", edges(38, 0, `until = until + 1`), "act 38", "edge"},
	{"edge's until, without an end", edges(38, 1, `until = 9007199254740991`), "act 38", "edge"},
	{"edge's until, of what is believed", edges(37, 1, `until = 60`), "act 37", "edge"},
	{"edge's until, above the head", edges(37, 1, `until = 4000`), "act 37", "head"},
	{"edge's predicate", edges(37, 0, `predicate = 'read'`), "act 37", "edge"},
	{"edge's other end", edges(37, 0, `other = 'e2'`), "act 37", "edge"},
	{"edge's beginning of a time", edges(35, 0, `valid_from = 6`), "act 35", "edge"},
	{"edge's end of a time", edges(35, 1, `valid_until = 10`), "act 35", "edge"},
	{"edge's source", edges(37, 0, `source = 'another'`), "act 37", "edge"},
	{"edge's turn", edges(33, 0, `turn = `+id(8)), "act 33", "edge"},
	{"edge's turn, gone", edges(33, 1, `turn = NULL`), "act 33", "edge"},
	{"edge's turn, where none was", edges(37, 1, `turn = `+id(8)), "act 37", "edge"},
	{"edge's turn, no id", edges(33, 0, `turn = x'00'`), `name "e1"`, "readable"},
}
