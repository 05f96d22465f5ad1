// Package atlas owns the analysis of the graph of use: turns with their edges, and the slices and contexts that contained
// the turns. It is pure. All results are integers, depend on the input alone, and are the same for any order of the input and any number of workers.
//
//	g := atlas.New(turns)
//	ranks, err := g.PageRank(ctx)
//	c, err := g.Communities(ctx)
//
// Numbers that are shares are millionths. Turns are numbered by ascending id, and every tie is decided by that number.
//
// Sources: Page, Brin, Motwani and Winograd 1999 (PageRank); Brandes 2001 (betweenness); Tarjan 1974 (bridges) and Hopcroft and Tarjan 1973 (cut vertices); Broder 1997 (MinHash); Traag,
// Waltman and van Eck 2019 (Leiden).
package atlas
