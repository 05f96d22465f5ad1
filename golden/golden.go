// Package golden carries the test vectors of GKP/1, GKP/2 and GKP/3, for this kernel and for
// anybody else's, and says what a conforming kernel makes of each.
//
// A [Case] is a graph, an anchor, a policy and a secret, and what must come out:
// the turns in the order of selection, the reading order, the fingerprints, the
// token and the digest of the bundle. [Cases] gives those that ship with the
// project; [Read] reads others of the same form, one JSON object a line.
// [Compute] is this kernel's answer; another implementation compares its own
// with Case.Expect.
package golden

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

// A Case is one vector.
type Case struct {
	Name     string          `json:"name"`
	Turns    []Turn          `json:"turns"`
	Edges    [][3]string     `json:"edges"` // parent, child, kind
	Anchor   string          `json:"anchor"`
	PolicyID string          `json:"policy_id"`
	Policy   json.RawMessage `json:"policy"` // canonical form, in ppm
	Settings []Setting       `json:"standings,omitempty"`
	Tenant   string          `json:"tenant"`
	KeyID    string          `json:"key_id"`
	Secret   string          `json:"secret"`             // hex
	Redacted []string        `json:"redacted,omitempty"` // turns whose body the bundle does not show
	Expect   Expect          `json:"expect"`
}

// A Turn is a turn of a vector.
type Turn struct {
	ID           string            `json:"id"`
	Conversation string            `json:"conversation"`
	Role         string            `json:"role"`
	Phase        string            `json:"phase"`
	SaliencePPM  uint32            `json:"salience_ppm"`
	CreatedAtUS  int64             `json:"created_at_us"`
	Author       string            `json:"author"`
	Content      string            `json:"content"`
	Attrs        map[string]string `json:"attrs"`
	Salt         string            `json:"salt"`
	Marks        *Marks            `json:"marks,omitempty"` // from GKP/2 on
}

// An Expect is what a conforming kernel computes. What is empty in a vector is
// not compared.
type Expect struct {
	Selected            []Selected        `json:"selected"` // in the order of selection
	Order               []string          `json:"order"`
	Edges               [][3]string       `json:"edges"`
	Provenance          map[string]string `json:"provenance"`
	Token               string            `json:"token"`
	PolicyCanonical     string            `json:"policy_canonical"`
	RegistryFingerprint string            `json:"registry_fingerprint"`
	TokenCanonical      string            `json:"token_canonical"`
	AdmissionsLeaf      string            `json:"admissions_leaf,omitempty"`
	LeafExample         string            `json:"leaf_example,omitempty"` // of the first selected turn by id
	LeafHashes          []string          `json:"leaf_hashes,omitempty"`  // of the selected turns by ascending id
	Bundle              string            `json:"bundle,omitempty"`
	BundleSHA256        string            `json:"bundle_sha256"`
}

// A Selected is a turn and the reason why it was let in.
type Selected struct {
	ID       string `json:"id"`
	Score    uint64 `json:"score_nano"`
	Distance int    `json:"distance"`
	Via      string `json:"via"`
	From     string `json:"from,omitempty"`
}

// Cases returns the vectors of GKP/1 that ship with the project.
func Cases() ([]Case, error) { return readCases("testdata/gkp-1.jsonl") }

func readCases(name string) ([]Case, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	return Read(bytes.NewReader(data))
}

// Read reads vectors, one JSON object a line.
func Read(r io.Reader) ([]Case, error) {
	var cases []Case
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c Case
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("golden: line %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	return cases, nil
}

// A Graph is the input of a case in the kernel's own types.
type Graph struct {
	Turns  map[dag.TurnID]*dag.Turn
	Bodies map[dag.TurnID]*dag.Body
	Edges  []dag.Edge
	View   dag.View // of all turns, whose number is its sequence number
}

// Load reads the graph of a case. The turns are admitted in topological order.
func (c *Case) Load() (*Graph, error) {
	g := &Graph{Turns: map[dag.TurnID]*dag.Turn{}, Bodies: map[dag.TurnID]*dag.Body{}}
	ids := make([]dag.TurnID, len(c.Turns))
	index := map[dag.TurnID]int32{}
	for i := range c.Turns {
		t, b, err := c.Turns[i].parse()
		if err != nil {
			return nil, fmt.Errorf("golden: %s: turns[%d]: %w", c.Name, i, err)
		}
		ids[i], index[t.ID] = t.ID, int32(i)
		g.Turns[t.ID], g.Bodies[t.ID] = t, b
	}
	pairs := make([][2]int32, len(c.Edges))
	parents := map[dag.TurnID][]dag.SkeletonParent{}
	for i, e := range c.Edges {
		edge, err := parseEdge(e)
		if err != nil {
			return nil, fmt.Errorf("golden: %s: edges[%d]: %w", c.Name, i, err)
		}
		g.Edges = append(g.Edges, edge)
		pairs[i] = [2]int32{index[edge.Parent], index[edge.Child]}
		parents[edge.Child] = append(parents[edge.Child], dag.SkeletonParent{
			ID: edge.Parent, Conversation: g.Turns[edge.Parent].Conversation, Kind: edge.Kind, Leaf: slice.EdgeLeaf(edge),
		})
	}
	before := func(a, b int32) bool {
		x, y := g.Turns[ids[a]], g.Turns[ids[b]]
		if x.CreatedAt != y.CreatedAt {
			return x.CreatedAt < y.CreatedAt
		}
		return x.ID.Compare(y.ID) < 0
	}
	graph := dag.NewGraph()
	for n, i := range dag.Topological(len(ids), pairs, before) {
		t := g.Turns[ids[i]]
		marks, err := c.Turns[i].Marks.parse()
		if err != nil {
			return nil, fmt.Errorf("golden: %s: turns[%d]: %w", c.Name, i, err)
		}
		if err := graph.Add(&dag.Skeleton{
			Seq: dag.Seq(n + 1), ID: t.ID, Conversation: t.Conversation, CreatedAt: t.CreatedAt, Salience: t.Salience,
			Role: t.Role, Phase: t.Phase, Leaf: slice.TurnLeaf(t), Parents: parents[t.ID], Marks: marks,
		}); err != nil {
			return nil, fmt.Errorf("golden: %s: %w", c.Name, err)
		}
	}
	g.View = graph.At(dag.Seq(len(ids)))
	return g, nil
}

func (t *Turn) parse() (*dag.Turn, *dag.Body, error) {
	id, err := dag.ParseTurnID(t.ID)
	if err != nil {
		return nil, nil, err
	}
	conversation, err := dag.ParseConversationID(t.Conversation)
	if err != nil {
		return nil, nil, err
	}
	role, err := dag.ParseRole(t.Role)
	if err != nil {
		return nil, nil, err
	}
	phase, err := dag.ParsePhase(t.Phase)
	if err != nil {
		return nil, nil, err
	}
	salt, err := dag.ParseSalt(t.Salt)
	if err != nil {
		return nil, nil, err
	}
	body := &dag.Body{Author: t.Author, Content: t.Content, Attrs: t.Attrs, Salt: salt}
	if err := body.Check(); err != nil {
		return nil, nil, err
	}
	turn := &dag.Turn{
		ID: id, Conversation: conversation, Role: role, Phase: phase, Salience: dag.PPM(t.SaliencePPM),
		CreatedAt: dag.Time(t.CreatedAtUS), BodyDigest: slice.DigestBody(slice.AppendBody(nil, body), salt),
	}
	return turn, body, turn.Check()
}

func parseEdge(e [3]string) (dag.Edge, error) {
	parent, err := dag.ParseTurnID(e[0])
	if err != nil {
		return dag.Edge{}, err
	}
	child, err := dag.ParseTurnID(e[1])
	if err != nil {
		return dag.Edge{}, err
	}
	kind, err := dag.ParseEdgeKind(e[2])
	return dag.Edge{Parent: parent, Child: child, Kind: kind}, err
}

// Registered returns the policy of a case.
func (c *Case) Registered() (policy.Registered, error) {
	p, err := registered(c.PolicyID, c.Policy)
	if err != nil {
		return policy.Registered{}, fmt.Errorf("golden: %s: %w", c.Name, err)
	}
	return p, nil
}

// registered binds an id to parameters in their canonical form.
func registered(id string, params json.RawMessage) (policy.Registered, error) {
	var canonical bytes.Buffer
	if err := json.Compact(&canonical, params); err != nil {
		return policy.Registered{}, err
	}
	hash := sha256.Sum256(canonical.Bytes())
	return policy.Forms{policy.SliceForm, policy.SliceFormV2, policy.SliceFormV3, standing.Form}.Restore(policy.ID(id), hash[:], canonical.Bytes())
}

// Authority returns an authority with the secret of a case.
func (c *Case) Authority() (*token.Authority, error) {
	secret, err := token.ParseSecret(c.Secret)
	if err != nil {
		return nil, fmt.Errorf("golden: %s: %w", c.Name, err)
	}
	ring, err := token.Keyring{}.Import(token.KeyID(c.KeyID), secret, 0)
	if err != nil {
		return nil, fmt.Errorf("golden: %s: %w", c.Name, err)
	}
	return token.NewAuthority(ring), nil
}

// Bundle cuts, seals and encodes the slice of a case: its bundle's bytes.
func (c *Case) Bundle() (*slice.Slice, []byte, error) {
	g, err := c.Load()
	if err != nil {
		return nil, nil, err
	}
	return c.bundle(g)
}

func (c *Case) bundle(g *Graph) (*slice.Slice, []byte, error) {
	p, err := c.Registered()
	if err != nil {
		return nil, nil, err
	}
	anchor, err := dag.ParseTurnID(c.Anchor)
	if err != nil {
		return nil, nil, err
	}
	course, err := c.course()
	if err != nil {
		return nil, nil, err
	}
	s, err := slice.Cut(g.View, anchor, p, standing.WordsOf(g.View, course))
	if err != nil {
		return nil, nil, err
	}
	a, err := c.Authority()
	if err != nil {
		return nil, nil, err
	}
	seal, err := a.Seal(dag.Tenant(c.Tenant), s)
	if err != nil {
		return nil, nil, err
	}
	encoded := make([]slice.EncodedTurn, len(s.Turns))
	for i := range s.Turns {
		id := s.Turns[i].ID
		var body []byte
		if !slices.Contains(c.Redacted, id.String()) {
			body = slice.AppendBody(nil, g.Bodies[id])
		}
		if encoded[i], err = slice.EncodeTurn(g.Turns[id], body, g.Bodies[id].Salt); err != nil {
			return nil, nil, err
		}
	}
	return s, slice.AppendBundle(nil, s, seal, func(i int) slice.EncodedTurn { return encoded[i] }), nil
}
