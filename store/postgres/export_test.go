package postgres

// Queries are the statements that look something up, by their names.
var Queries = map[string]string{
	"Head": queryHead, "Tenants": queryTenants, "Turns": queryTurns, "Stored": queryStored, "Placed": queryPlaced,
	"ScanTenant": queryScanTenant, "ScanConversation": queryScanConversation,
	"Segment": querySegment, "Segments": querySegments,
	"Match": queryMatch, "External": queryExternal, "Conversations": queryConversations,
	"Parents": queryParents, "Tails": queryTails, "TakeRun": queryTakeRun, "Lock": queryLock,
	"Find": queryFind, "EventOf": queryEventOf, "Events": queryEvents, "Erase": queryErase, "Erased": queryErased,
	"IssuedBySlice": queryIssuedBySlice, "IssuedBundles": queryIssuedBundles, "IssuedAfter": queryIssuedAfter,
	"Policy": queryPolicy, "Key": queryKey,
	"Log": queryLog, "LogHashes": queryLogHashes, "LogLeaves": queryLogLeaves, "LogIndex": queryLogIndex, "Witnessed": queryWitnessed, "Origins": queryOrigins,
	"Acts": queryActs, "ActsOf": queryActsOf, "ActsIn": queryActsIn, "Aliases": queryAliases, "Believed": queryBelieved, "Asserted": queryAsserted,
	"EndAct": queryEndAct, "EndEdge": queryEndEdge, "Edges": queryEdges,
	"VersionsOf": queryVersionsOf, "Versions": queryVersions,
	"BySubject": queryBySubject, "ByObject": queryByObject, "ByEither": queryByEither,
}

// MaxConnections is the size of the store's pool.
func (s *Store) MaxConnections() int { return int(s.pool.Config().MaxConns) }
