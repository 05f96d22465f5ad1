package console

import (
	"net/http"
	"slices"

	"github.com/graphkernel/graphkernel/api"
)

// The parts of an atlas, each on a page of its own.
var atlasParts = []place{{"", "Counts"}, {"influence", "Influence"}, {"overlap", "Overlap"}, {"turns", "Communities of turns"}, {"facts", "Communities of facts"}}

type atlasData struct {
	Part, By, AsOf string
	Of             api.AtlasOf
	Snapshot       *api.Snapshot
	Influence      *api.Influence
	Overlap        *api.Overlap
	Communities    *api.Communities
}

// atlasPage shows a part of the graph of what was used.
func atlasPage(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := atlasData{Part: q.Get("part"), By: q.Get("by"), AsOf: q.Get("as_of")}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	of := api.AtlasView{AsOf: n}
	list := api.AtlasQuery{AtlasView: of, Limit: 50}
	switch d.Part {
	case "":
		s, err := ask(v, api.AtlasSnapshot, of)
		if err != nil {
			return nil, err
		}
		d.Snapshot, d.Of = &s, s.AtlasOf
	case "influence":
		i, err := ask(v, api.AtlasInfluence, api.InfluenceQuery{AtlasQuery: list, By: d.By})
		if err != nil {
			return nil, err
		}
		d.Influence, d.Of = &i, i.AtlasOf
	case "overlap":
		o, err := ask(v, api.AtlasOverlap, list)
		if err != nil {
			return nil, err
		}
		d.Overlap, d.Of = &o, o.AtlasOf
	case "turns", "facts":
		c, err := ask(v, api.AtlasCommunities, api.CommunityQuery{AtlasQuery: list, Of: d.Part})
		if err != nil {
			return nil, err
		}
		d.Communities, d.Of = &c, c.AtlasOf
	default:
		return nil, refused(http.StatusNotFound, "an atlas has no part %.40q", d.Part)
	}
	i := slices.IndexFunc(atlasParts, func(p place) bool { return p.Path == d.Part })
	return &page{"Atlas: " + atlasParts[i].Name, "atlas", &d, ""}, nil
}
