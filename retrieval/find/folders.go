package find

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/retrieval"
)

// MaxNewest is the maximum number of conversations that are listed for a folder.
const MaxNewest = 5

// A Folder is a folder in which agents worked, as named by the first turns of conversations.
type Folder struct {
	Path          string // "" if only its digest is known, as with Gemini CLI
	Digest        string // the SHA-256 of the path in hexadecimal digits, if the path is not known
	Conversations int
	LastAt        dag.Time                 // the latest time of a turn in the folder
	Newest        []retrieval.Conversation // the conversations with the latest turns, up to MaxNewest, the newest first
}

// Folders lists the folders in which agents worked, by descending LastAt. Conversations without a folder, and conversations whose first turn was erased, are
// not counted. It reads the index of search; notIndexed is how many of the newest numbers the index does not have yet, as in [Found].NotIndexed.
func (k Turns) Folders(ctx context.Context, tenant dag.Tenant) (list []Folder, notIndexed dag.Seq, err error) {
	ctx, observed := k.kernel.Observe(ctx, "folders")
	defer func() { observed(err) }()
	list, err = read(k.kernel, func(e epoch) (list []Folder, err error) {
		list, notIndexed, err = e.folders(ctx, tenant)
		return list, err
	})
	return list, notIndexed, err
}

func (e epoch) folders(ctx context.Context, tenant dag.Tenant) (list []Folder, notIndexed dag.Seq, err error) {
	head, err := e.Head(ctx, tenant)
	if err != nil || head == 0 {
		return nil, 0, err
	}
	registered, err := e.Policy(ctx, tenant, retrieval.FindPolicyID)
	if err != nil {
		return nil, 0, err
	}
	p, err := retrieval.PolicyOf(registered)
	if err != nil {
		return nil, 0, err
	}
	words, err := e.Words(tenant).Of(&p)
	if err != nil {
		return nil, 0, err
	}
	of := map[[2]string][]retrieval.Conversation{}
	err = words.ReadReached(ctx, head, func(x *retrieval.Index, reached dag.Seq) {
		notIndexed = head - reached
		x.EachConversation(func(c *retrieval.Conversation) {
			path, _ := c.First.Value(ingest.AttrFolder)
			digest := ""
			if path == "" {
				digest, _ = c.First.Value(ingest.AttrFolderDigest)
			}
			if path != "" || digest != "" {
				key := [2]string{path, digest}
				of[key] = append(of[key], *c)
			}
		})
	})
	if err != nil {
		return nil, 0, err
	}
	list = make([]Folder, 0, len(of))
	for key, all := range of {
		slices.SortFunc(all, func(a, b retrieval.Conversation) int {
			return cmp.Or(cmp.Compare(b.LastAt, a.LastAt), bytes.Compare(a.ID[:], b.ID[:]))
		})
		f := Folder{Path: key[0], Digest: key[1], Conversations: len(all), LastAt: all[0].LastAt, Newest: all[:min(len(all), MaxNewest)]}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Folder) int {
		return cmp.Or(cmp.Compare(b.LastAt, a.LastAt), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Digest, b.Digest))
	})
	return list, notIndexed, nil
}

func (k Turns) listFolders(ctx context.Context, tenant dag.Tenant, in api.FolderQuery) (w api.Folders, err error) {
	list, behind, err := k.Folders(ctx, tenant)
	if err != nil {
		return w, err
	}
	w.Total, w.Folders, w.NotIndexed = len(list), []api.Folder{}, uint64(behind)
	for _, f := range list[:min(len(list), cmp.Or(in.Limit, 1000))] {
		folder := api.Folder{Folder: f.Path, Digest: f.Digest, Conversations: f.Conversations, LastAt: f.LastAt}
		for i := range f.Newest {
			c := &f.Newest[i]
			folder.Newest = append(folder.Newest, api.RecentConversation{Conversation: c.ID, LastAt: c.LastAt, Turn: c.Last})
		}
		w.Folders = append(w.Folders, folder)
	}
	return w, nil
}
