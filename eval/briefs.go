package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// briefs makes the brief with which each session would have begun that the same person held after another one, and prints its lines without their texts, each with the
// verdicts of two readers who were shown the session that followed, if they judged it.
func (e *Evaluation) briefs(ctx context.Context, out io.Writer) error {
	verdicts, err := e.verdicts()
	if err != nil {
		return err
	}
	people, err := e.heldBy()
	if err != nil {
		return err
	}
	var useful [2]int
	judged, lines, most, empty, made := 0, 0, 0, 0, 0
	for n, sessions := range people {
		tenant, err := dag.ParseTenant(fmt.Sprint("briefs-", n))
		if err != nil {
			return err
		}
		for i, s := range sessions {
			if i > 0 {
				made++
				b, err := e.instance.kernel.Contexts().Preview(ctx, tenant, api.ContextRequest{Task: s.branch, Policy: contexts.BriefID, Format: string(contexts.Brief)})
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if len(b.Turns) == 0 {
					empty++
				}
				most = max(most, len(b.Render()))
				for _, c := range b.Candidates {
					if c.Excerpt == nil || !slices.ContainsFunc(b.Turns, func(t contexts.ChosenTurn) bool { return t.ID.String() == c.ID }) {
						continue
					}
					lines++
					fmt.Fprintf(out, "%s %s %s", s.name, c.ID[:8], c.Excerpt.As)
					if v, ok := verdicts[s.name+c.ID[:8]+c.Excerpt.As.String()]; ok {
						judged++
						useful[0] += v[0]
						useful[1] += v[1]
						fmt.Fprintf(out, " %d %d", v[0], v[1])
					}
					fmt.Fprintln(out)
				}
			}
			if _, err := e.instance.kernel.Turns().Import(ctx, tenant, s.path, ingest.Options{}); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(out, "%d briefs, %d of them without a line, at most %d bytes; %d turns, of which %d were judged: %d and %d useful\n", made, empty, most, lines, judged, useful[0], useful[1])
	return err
}

// verdicts reads what readers said of the lines of briefs: by session, beginning of the turn's id and label, 1 if useful and 0 if not, for each of the two.
func (e *Evaluation) verdicts() (map[string][2]int, error) {
	path := filepath.Join(e.own, "briefs.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, fmt.Errorf("%s: %d rows: %w", path, len(rows), err)
	}
	found := map[string][2]int{}
	for _, row := range rows[1:] {
		found[row[0]+row[1]+row[2]] = [2]int{strings.Count(row[3], "1"), strings.Count(row[4], "1")}
	}
	return found, nil
}

// A heldSession is a session of a person.
type heldSession struct{ name, path, branch, who, at string }

// heldBy returns the sessions of each person who held more than one, in their order. Who held a session follows from the folder in which it began.
func (e *Evaluation) heldBy() (people [][]heldSession, err error) {
	var all []heldSession
	for _, folder := range []string{"entire/claude-*.jsonl", "claude-code/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(e.data, filepath.FromSlash(folder)))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			s, err := beginning(path)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no sessions in %s", e.data)
	}
	slices.SortFunc(all, func(a, b heldSession) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	places := map[string]int{}
	for _, s := range all {
		at, ok := places[s.who]
		if !ok {
			at, places[s.who] = len(people), len(people)
			people = append(people, nil)
		}
		people[at] = append(people[at], s)
	}
	return slices.DeleteFunc(people, func(of []heldSession) bool { return len(of) < 2 }), nil
}

// beginning reads who held a session, when, and on which branch, from the first records that say so.
func beginning(path string) (s heldSession, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	s = heldSession{name: strings.TrimSuffix(filepath.Base(path), ".jsonl"), path: path}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() && (s.who == "" || s.at == "" || s.branch == "") {
		var r struct{ CWD, GitBranch, Timestamp string }
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		if parts := strings.Split(r.CWD, "/"); len(parts) > 2 {
			s.who = cmp.Or(s.who, strings.ToLower(parts[2]))
		}
		s.at, s.branch = cmp.Or(s.at, r.Timestamp), cmp.Or(s.branch, r.GitBranch)
	}
	return s, lines.Err()
}
