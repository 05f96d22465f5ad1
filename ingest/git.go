package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/project"
)

// sourceGit is the source of commits' ids.
const sourceGit = "git"

// A commit has the imported properties of a commit, read from git or from a JSON line.
type commit struct {
	hash    string
	parents []string
	author  string
	time    dag.Time
	noTime  bool // the commit's time is outside the range of GKP/1
	message string
	place   string
	noted   counts
}

// commits makes turns of commits, which must come after their parents.
type commits struct {
	batches
	known map[string]knownCommit
}

// A knownCommit has the properties of a commit that later commits need.
type knownCommit struct {
	conversation dag.ConversationID
	time         dag.Time
	missing      []string     // the missing parents, if the commit is not a turn
	attach       []dag.TurnID // the turns to which children attach: the commit's, or its ancestors' if the commit is not a turn
}

func newCommits(r *reading, source string) *commits {
	return &commits{batches: newBatches(r, source, Git), known: map[string]knownCommit{}}
}

// add makes a turn of a commit. The commit continues the line of its first parent and gets its conversation, which is named
// after the hash of that line's root; the other parents are merged.
func (c *commits) add(cm *commit) error {
	if _, again := c.known[cm.hash]; again {
		c.r.skip(skipRepeated)
		return nil
	}
	d := dag.Draft{
		ID:      dag.ExternalTurnID(sourceGit, cm.hash),
		Role:    dag.RoleUser,
		Content: strings.TrimRight(cm.message, "\n"),
	}
	k := knownCommit{conversation: dag.ExternalConversationID(sourceGit, cm.hash)}
	setAttr(&d, dag.AttrExternalID, cm.hash, &cm.noted)
	setAttr(&d, "commit", "true", &cm.noted)
	if len(cm.parents) > 1 {
		setAttr(&d, "merge", "true", &cm.noted)
	}
	kind := dag.Reply
	var missing []string
	for i, p := range cm.parents {
		parent, ok := c.known[p]
		if !ok {
			missing = append(missing, p)
			cm.noted.add(noteParentMissing)
			continue
		}
		if kind == dag.Reply {
			k.conversation = parent.conversation
		}
		k.time = max(k.time, parent.time)
		missing = append(missing, parent.missing...)
		for range parent.missing {
			cm.noted.add(noteParentMissing)
		}
		for _, id := range parent.attach {
			addParent(&d, id, kind, &cm.noted)
		}
		if i == 0 || kind == dag.Reply {
			kind = dag.Merge
		}
	}
	setAttr(&d, attrMissingParent, strings.Join(missing, ","), &cm.noted)
	d.Conversation = k.conversation
	if cm.noTime {
		cm.noted.add(noteTimeInferred)
		setAttr(&d, attrTimeBy, timeByEarlierContext, &cm.noted)
	} else {
		k.time = cm.time
	}
	d.CreatedAt = k.time
	if strings.HasSuffix(cm.author, "[bot]") {
		d.Role, d.Author = dag.RoleAssistant, authorName("agent", strings.TrimSuffix(cm.author, "[bot]"), &cm.noted)
	} else {
		d.Author = authorName("human", cm.author, &cm.noted)
	}
	if c.admit(&d, "", cm.place, cm.noted) {
		k.attach = []dag.TurnID{d.ID}
	} else {
		k.missing = missing
		for i := range d.Parents {
			k.attach = append(k.attach, d.Parents[i].ID)
		}
	}
	c.known[strings.Clone(cm.hash)] = k // cloned, so that it does not keep the line in memory
	return c.handFull()
}

// isRepository reports whether a folder contains a repository: a working tree with .git, which may be a file, or a bare
// repository.
func isRepository(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil || project.IsRepository(dir)
}

// gitForm has gitFields fields of a commit, separated by NUL.
const (
	gitForm   = "--format=%H%x00%P%x00%at%x00%an%x00%B"
	gitFields = 5
)

// readRepository reads the history of HEAD, parents first.
func readRepository(r *reading, path string) error {
	r.total = 0
	r.beginFile(path, Git)
	repo, err := project.RepositoryOf(path)
	if err != nil {
		return fmt.Errorf("ingest: git: %w", err)
	}
	tip, err := repo.Head()
	if err != nil {
		return fmt.Errorf("ingest: git: %w", err)
	}
	if tip == "" {
		return fmt.Errorf("ingest: git log in %s: HEAD is no commit yet, or its branch is not kept in a file", path)
	}
	shallow, err := repo.Shallow()
	if err != nil {
		return fmt.Errorf("ingest: git: %w", err)
	}
	git, err := repo.Borrow(tip, shallow)
	if err != nil {
		return fmt.Errorf("ingest: git: %w", err)
	}
	defer git.Close()
	grafts, err := hiddenParents(r.ctx, git, shallow)
	if err != nil {
		return err
	}
	var own error // an error of readGitLog, not of git
	err = git.Run(r.ctx, func(out io.Reader) error {
		own = readGitLog(r, bufio.NewReaderSize(out, 256<<10), path, grafts)
		return own
	}, "log", "-z", "--topo-order", "--reverse", "--no-patch", "--no-color", "--no-decorate",
		"--no-notes", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", gitForm, tip, "--")
	if err == nil || own != nil || r.ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("ingest: %w", err)
}

// hiddenParents returns the parents of the last commits of a shallow clone, which git log does not show.
func hiddenParents(ctx context.Context, git *project.Git, shallow []string) (map[string][]string, error) {
	grafts := map[string][]string{}
	for _, hash := range shallow {
		raw, err := git.Output(ctx, "cat-file", "commit", hash)
		if err != nil {
			return nil, fmt.Errorf("ingest: %w", err)
		}
		grafts[hash] = rawParents(raw)
	}
	return grafts, nil
}

// rawParents returns the parents in a commit object.
func rawParents(raw []byte) (parents []string) {
	head, _, _ := bytes.Cut(raw, []byte("\n\n"))
	for _, line := range bytes.Split(head, []byte("\n")) {
		if hash, ok := bytes.CutPrefix(line, []byte("parent ")); ok {
			parents = append(parents, string(hash))
		}
	}
	return parents
}

// readGitLog reads the output of git log.
func readGitLog(r *reading, in *bufio.Reader, path string, grafts map[string][]string) error {
	c := newCommits(r, path)
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		cm, size, err := readCommit(in)
		if err == io.EOF {
			return c.hand()
		}
		if err != nil {
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			return fmt.Errorf("ingest: git log in %s: %w", path, err)
		}
		r.record()
		r.advance(int64(size))
		if hidden := grafts[cm.hash]; len(cm.parents) == 0 {
			cm.parents = hidden
		}
		cm.place = cm.hash
		if err := c.add(cm); err != nil {
			return err
		}
	}
}

// errGitOutput is the error for output of git that does not have the form of gitForm.
var errGitOutput = errors.New("the output of git does not have the requested form")

// readCommit reads the fields of one commit and returns its size in bytes. Invalid UTF-8 is repaired.
func readCommit(in *bufio.Reader) (*commit, int, error) {
	var fields [gitFields]string
	cm, size := &commit{}, 0
	for i := range fields {
		field, err := in.ReadString(0)
		size += len(field)
		switch {
		case err == io.EOF && i == 0 && field == "":
			return nil, 0, io.EOF
		case err == io.EOF && i == gitFields-1: // no NUL after the last commit
		case err == io.EOF:
			return nil, 0, errGitOutput
		case err != nil:
			return nil, 0, err
		}
		fields[i] = strings.TrimSuffix(field, "\x00")
	}
	if !project.IsHash(fields[0]) {
		return nil, 0, errGitOutput
	}
	cm.hash, cm.parents = fields[0], strings.Fields(fields[1])
	seconds, err := strconv.ParseInt(fields[2], 10, 64)
	if err == nil && seconds >= 0 && seconds <= int64(dag.MaxTime/1e6) {
		cm.time = dag.Time(seconds) * 1e6
	} else {
		cm.noTime = true
	}
	cm.author = validUTF8(fields[3], &cm.noted)
	cm.message = validUTF8(fields[4], &cm.noted)
	return cm, size, nil
}

func validUTF8(s string, noted *counts) string {
	valid := strings.ToValidUTF8(s, "\uFFFD")
	if valid != s {
		noted.add(noteInvalidUTF8)
	}
	return valid
}
