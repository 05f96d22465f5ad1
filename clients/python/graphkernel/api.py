"""The types and the operations of the service. Made from server/openapi.json by package api/clients; not to be edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NotRequired, TypedDict, Union

from .transport import Event, Transport

#: What kinds of problems there are.
Code = Literal[
    "invalid_request",  # The request does not have its form
    "malformed_json",  # The body is not strict JSON
    "unauthenticated",  # No valid key
    "forbidden",  # The key's role does not permit this
    "no_such_route",  # There is no such route
    "not_found",  # Not found
    "unknown_policy",  # The policy is not known
    "method_not_allowed",  # The route does not have this method
    "slow_client",  # The body came too slowly
    "alias_conflict",  # The aliases contradict each other
    "ambiguous",  # The name fits several turns
    "belief_conflict",  # The statements contradict a belief
    "conflict",  # The turn was admitted with other content
    "not_believed",  # The statement is not believed
    "policy_conflict",  # The policy id is bound to other parameters
    "standing_changed",  # Another standing policy is in force by now
    "erased",  # Text was erased since
    "too_large",  # The request is too large
    "unsupported_media_type",  # The body is of another media type
    "beyond_head",  # The view does not exist yet
    "cycle",  # Turns are each other's ancestors
    "malformed_bundle",  # The bytes are no bundle
    "not_continued",  # The log does not continue what was signed
    "persona_refused",  # The persona is not accepted
    "slice_too_large",  # The slice is too large
    "too_many_constraints",  # The space has too many constraints
    "too_many_settings",  # The tenant has too many settings of its standing policy
    "too_many_waiting",  # Too many proposals wait
    "unknown_evidence",  # The evidence of a fact is not known
    "unknown_parent",  # A parent is not known
    "unknown_version",  # The bundle is of an unknown version
    "working_full",  # Working memory is full
    "rate_limited",  # Too many requests
    "client_gone",  # The client is gone
    "damaged",  # A store is damaged
    "internal",  # Internal error
    "keys_unavailable",  # Keys cannot be looked up
    "ledger_forked",  # The ledger is not the history that was signed
    "model_unavailable",  # A model cannot be used
    "no_identity",  # The kernel has no identity
    "no_signing_key",  # There is no signing key
    "overloaded",  # The service is busy
    "store_unavailable",  # The store is not available
    "timeout",  # The request took too long
]


class APIKey(TypedDict):
    admits_authors: str
    """Patterns of the authors whose turns it may admit; empty: none."""
    admits_roles: str
    """The roles of the turns that it may admit; empty: none."""
    created_at: str
    id: str
    note: NotRequired[str]
    revoked_at: NotRequired[str]
    role: str
    spaces: NotRequired[str]
    """Patterns of the spaces of beliefs that it sees; absent: no limit."""
    speaks_for: NotRequired[str]
    """Patterns of the authors for whom it speaks; absent: nobody, or everybody if its role is admin."""


class APIKeys(TypedDict):
    keys: list[APIKey]
    tenant: str


Abstraction = TypedDict(
    "Abstraction",
    {
        "from": "list[str]",
        "kept": "bool",
        "outcome": "BeliefOutcome",
    },
)


AbstractionRequest = TypedDict(
    "AbstractionRequest",
    {
        "confidence": "NotRequired[float]",
        "dry_run": "NotRequired[bool]",
        "from": "list[str]",
        "item": "NotRequired[str]",
        "key": "NotRequired[str]",
        "kind": "NotRequired[str]",
        "reason": "NotRequired[str]",
        "space": "str",
        "specificity": "float",
        "statements": "list[BeliefStatement]",
        "summary": "NotRequired[str]",
        "title": "NotRequired[str]",
    },
)


Admission = TypedDict(
    "Admission",
    {
        "cost": "NotRequired[int]",
        "distance": "int",
        "from": "NotRequired[str]",
        "number": "NotRequired[int]",
        "rule": "NotRequired[int]",
        "score_nano": "int",
        "standing": "NotRequired[Literal['outside', 'guest', 'agent', 'member', 'owner', 'system']]",
        "via": "Literal['anchor', 'parent', 'child', 'sibling', 'prompt', 'touch']",
        "voice": "NotRequired[Literal['person', 'agent', 'tool', 'harness']]",
    },
)


class Alias(TypedDict):
    alias: str
    canonical: str


class AliasList(TypedDict):
    """What of a list was not used. The counts, and what was added or existing, sum up to the entries."""

    ambiguous: int
    """Several names claim the alias."""
    chained: int
    """A name is both an alias and a canonical name."""
    entries: int
    examples: list[AliasSkip]
    repeated: int
    """The same entry occurred before."""
    same: int
    """Alias and canonical name have the same form."""
    skipped: int
    """One side has no name."""


class AliasSkip(TypedDict):
    place: str
    why: str


class Aliases(TypedDict):
    aliases: list[Alias]
    as_of: int
    next: NotRequired[str]
    total: int


class AliasesAdded(TypedDict):
    added: int
    existing: int
    list: NotRequired[AliasList]
    outcomes: NotRequired[list[KnowledgeOutcome]]
    """One outcome for each alias, in order; absent for a list."""


class Archive(TypedDict):
    document: NotRequired[str]
    """The file: lines of canonical JSON, gkarchive/1. Absent once it is saved."""
    items: list[ArchivedItem]
    left: int
    """Items for which this file has no room: archive them next."""
    sha256: str


class ArchiveRequest(TypedDict):
    sha256: NotRequired[str]
    """The digest of the document, which the caller has saved. If left out, nothing is recorded."""
    space: str


class ArchivedItem(TypedDict):
    confidence: float
    item: str
    last_used: str
    revisions: int
    seq: NotRequired[int]
    """The number of its deprecation; absent if nothing was recorded."""
    sha256: str
    """The digest of its line, which its deprecation records."""


class Artifact(TypedDict):
    location: str
    media_type: str
    name: str
    sha256: str
    """Of the content."""
    size: int
    """Bytes."""


class Attributes(TypedDict):
    cwd: NotRequired[str]
    """The folder in which the agent worked, or one above it."""
    git_branch: NotRequired[str]
    model: NotRequired[str]
    title: NotRequired[str]
    """The title of the conversation."""


BaseDiff = TypedDict(
    "BaseDiff",
    {
        "added": "list[HeldStatement]",
        "from": "int",
        "removed": "list[HeldStatement]",
        "to": "int",
    },
)


class BatchResult(TypedDict):
    """The bundle with its digest, a rendering, or a problem."""

    bundle: NotRequired[dict[str, Any]]
    bundle_sha256: NotRequired[str]
    markdown: NotRequired[str]
    messages: NotRequired[list[dict[str, Any]]]
    problem: NotRequired[ProblemDocument]
    slice_id: NotRequired[str]
    status: int
    """The HTTP status that the request alone would have had."""


class BatchResults(TypedDict):
    results: list[BatchResult]


class BeliefBase(TypedDict):
    as_of: int
    policy: str
    space: str
    statements: list[HeldStatement]


class BeliefLink(TypedDict):
    to: str
    type: str
    """depends_on, derived_from, supersedes, referenced, contains, created_from, or another word."""


class BeliefLoss(TypedDict):
    conflict: list[WrittenStatement]
    """A minimal set that cannot be believed together, or from which a statement to be given up would still follow; the statement is in it."""
    item: str
    premises: NotRequired[list[WrittenStatement]]
    """The statement was the conclusion of a rule with these premises."""
    revision: int
    statement: WrittenStatement
    until: NotRequired[str]
    """The statement holds until this time, at which the statement that it gave way to begins."""


class BeliefOutcome(TypedDict):
    fell: list[WrittenStatement]
    """Conclusions that no longer follow."""
    gave_way: list[BeliefLoss]
    """The statements that gave way; for a refused request, the statements that would have given way."""
    item: NotRequired[str]
    kept: int
    """The number of kept elements that rules and constraints connect with the request. All unconnected elements are kept, too."""
    outcome: Literal["changed", "unchanged", "refused"]
    """If the outcome is not changed, no link and no tag is recorded."""
    reason: NotRequired[Literal["conflict", "protected", "vouched"]]
    """Why it was refused. vouched: a person vouches for statements of the item that it would change."""
    repeated: NotRequired[bool]
    """The request was answered before, and this answer only says where; or the same proposer proposed the same before: if unchanged, it is believed; if refused, it waits."""
    review: list[str]
    """Revisions that depend on what gave way by a link that is not a rule: a person should review them."""
    revision: NotRequired[int]
    seq: NotRequired[int]
    """Absent if nothing was recorded."""


BeliefProofRequest = TypedDict(
    "BeliefProofRequest",
    {
        "as_of": "NotRequired[int]",
        "not": "NotRequired[bool]",
        "object": "str",
        "predicate": "str",
        "space": "str",
        "subject": "str",
        "valid_at": "NotRequired[str]",
    },
)


class BeliefRequest(TypedDict):
    artifacts: NotRequired[list[Artifact]]
    """The artifacts of the revision; their names are unique in it."""
    beside: NotRequired[bool]
    """What the named item states stays beside the statements. Without it, they take its place."""
    confidence: NotRequired[float]
    """1 if left out."""
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    item: NotRequired[str]
    """The item whose revision this becomes. If left out, the item with a conflicting or an equal statement, or a new one."""
    key: NotRequired[str]
    """A name for the request: a request with the same key is carried out once."""
    keywords: NotRequired[list[str]]
    kind: NotRequired[str]
    """The kind of a new item, which the policy of the space must list."""
    links: NotRequired[list[BeliefLink]]
    """The links from the revision, each once. They are recorded in the same change, or not at all if the outcome is not changed. A contraction has none."""
    new_space: NotRequired[bool]
    """Make the space, under beliefs@2, if there is none. This needs the permission to revise."""
    premises: NotRequired[list[BeliefStatement]]
    """The statements follow from these: they are believed as long as all of these are."""
    reason: NotRequired[str]
    slot: NotRequired[str]
    """A name for what the text settles: a newer text with the same name replaces it."""
    source: NotRequired[str]
    """manual if left out, or inference for a proposal."""
    space: str
    statements: list[BeliefStatement]
    """At least one, unless there is a text."""
    summary: NotRequired[str]
    tags: NotRequired[list[str]]
    """The tags that point to the revision from then on, each once; current does anyway. They are recorded like links. current and published need the permission to revise."""
    text: NotRequired[str]
    """What is to be remembered, byte for byte. Without statements, the request makes the statement of the text, by which texts replace and contradict each other."""
    title: NotRequired[str]
    topics: NotRequired[list[str]]
    turns: NotRequired[list[str]]
    """The turns that the statements rest on: the statements lose their text when these turns lose theirs."""
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]


BeliefStatement = TypedDict(
    "BeliefStatement",
    {
        "not": "NotRequired[bool]",
        "object": "str",
        "predicate": "str",
        "subject": "str",
    },
)


class BeliefUse(TypedDict):
    ref: str
    success: bool


class Blame(TypedDict):
    as_of: int
    """The sequence number of the graph."""
    handed_out: list[Issued]
    """What was handed out for the turn: slices and contexts around the turns that it follows, from before it existed."""
    in_all: list[str]
    """Turns that all of these contained."""
    issued: int
    """The number of the newest record of what was handed out."""
    minimal: list[str]
    """A smallest set of turns with this effect, or a set from which no turn can be left out; empty if the others would be selected in any case."""
    pivots: list[Pivot]
    """The selected turns whose absence would change which others are selected, those with the greatest effect first."""
    policy: str
    selected: int
    """Turns that the policy selects around the turn that it follows."""
    tried: int
    """How many times slices were cut again."""
    turn: str


class BundleVerdict(TypedDict):
    admissible: bool
    bundle_sha256: str
    checks: list[Check]
    key_id: str
    outcome: Literal["verified", "tampered", "key_unknown", "key_retired", "malformed", "unknown_version"]
    reason: str
    redacted: list[str]
    slice_id: NotRequired[str]


class Caller(TypedDict):
    head: int
    """The newest sequence number of the tenant."""
    role: str
    standing: Literal["outside", "guest", "agent", "member", "owner", "system"]
    """How much what the caller asks for counts, under the standing policy in force."""
    tenant: str


class Cascade(TypedDict):
    excepted: list[str]
    """Published revisions, which keep their confidence."""
    lowered: list[LoweredBelief]
    seq: NotRequired[int]
    """The sequence number as of which all results are visible; absent if nothing was recorded."""


class CascadeRequest(TypedDict):
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    space: str


class Check(TypedDict):
    detail: str
    expected: NotRequired[str]
    found: NotRequired[str]
    id: str
    status: Literal["ok", "fail", "skipped"]


class ChosenBefore(TypedDict):
    belief: NotRequired[str]
    cost: int
    """Tokens that it takes of the budget."""
    fact: NotRequired[str]
    score: int
    """The score in millionths."""
    turn: NotRequired[str]


class Communities(TypedDict):
    as_of: int
    communities: list[Community]
    """The communities, the largest first."""
    contexts: int
    """Contexts that were examined."""
    issued: int
    """The number of the newest record of what was handed out."""
    modularity: int
    """The share of edges inside communities, less the share that chance would give, in millionths."""
    older: int
    """Older records that were not examined: only the newest 10 000 are."""
    slices: int
    """Slices of turns that were examined."""
    total: int
    """The total number."""


class Community(TypedDict):
    central: str
    """The member with the most edges."""
    members: list[str]
    """The first 20, ascending: ids of turns, or names."""
    size: int


Conflict = TypedDict(
    "Conflict",
    {
        "at": "str",
        "by": "NotRequired[str]",
        "confidence": "float",
        "erased": "NotRequired[bool]",
        "item": "NotRequired[str]",
        "premises": "NotRequired[list[WrittenStatement]]",
        "reason": "NotRequired[str]",
        "seq": "int",
        "statements": "list[WrittenStatement]",
        "turns": "NotRequired[list[str]]",
        "valid_from": "NotRequired[str]",
        "valid_until": "NotRequired[str]",
        "with": "list[str]",
    },
)


class ConflictAdvice(TypedDict):
    advice: Literal["keep_both", "ask_person", "prefer_new", "prefer_old"]
    believed: float
    proposed: float
    """The score of the proposal: confidence, weighted by recency."""
    reason: str


class ConflictResolution(TypedDict):
    conflict: int
    """The conflict's number in the list of conflicts."""
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    how: Literal["taken", "dropped", "deferred"]
    """taken revises with the proposal, by the authority of the caller."""
    reason: NotRequired[str]
    space: str


class Conflicts(TypedDict):
    conflicts: list[Conflict]


class Consolidated(TypedDict):
    admitted: int
    """Turns that are new."""
    conversation: str
    existing: int
    """Turns that were there already."""
    head: int
    """The newest sequence number of the tenant."""
    held: int
    """Messages that are still in the session."""
    session: str
    turns: list[str]
    """The turns, in the order of the session."""


class ConstraintLoad(TypedDict):
    bytes: int
    """The bytes of all texts together."""
    count: int
    longest: int
    """The bytes of the longest text."""
    over: bool
    """There are more than 64 constraints, one of more than 2048 bytes, or more than 16384 bytes together."""
    proposed: NotRequired[int]
    """Items of these kinds that are not constraints, because no person vouches for everything that they state."""


class Context(TypedDict):
    as_of: int
    beliefs: list[str]
    """The revisions that were chosen, ascending."""
    body: NotRequired[dict[str, Any]]
    """The prompt, in the formats openai and anthropic (members of a request to these APIs) and json."""
    bundle_sha256: str
    candidates: int
    """The number of turns, facts and beliefs that it was chosen from."""
    context_id: str
    cost: int
    """Tokens of the prompt, markup included."""
    facts: list[str]
    """The statements that were chosen, ascending."""
    format: str
    overfull: NotRequired[list[OverfullSpace]]
    """Spaces with too many constraints, not all of which are in the context."""
    policy_id: str
    prompt: NotRequired[str]
    """The prompt, in the formats markdown, xml and text."""
    rules_as_of: int
    """The number as of which rules, beliefs and standings are."""
    sufficiency: Sufficiency
    turns: list[str]
    """The turns that were chosen, by ascending id."""


ContextExplanation = TypedDict(
    "ContextExplanation",
    {
        "beaten_by": "NotRequired[ChosenBefore]",
        "belief": "NotRequired[str]",
        "candidates": "int",
        "chosen": "int",
        "context_id": "str",
        "cost": "NotRequired[int]",
        "explanation": "str",
        "fact": "NotRequired[str]",
        "features": "NotRequired[list[Feature]]",
        "from": "NotRequired[list[Literal['beliefs', 'constraints', 'facts', 'prompts', 'recent', 'search', 'slice']]]",
        "left": "NotRequired[int]",
        "outcome": "Literal['chosen', 'required', 'too_costly', 'worthless', 'no_candidate']",
        "rank": "NotRequired[int]",
        "score": "NotRequired[int]",
        "turn": "NotRequired[str]",
    },
)


class ContextPolicy(TypedDict):
    """What a context is chosen by. Parameters that are left out have the values of context@1. Weights are of features, quotas of sources."""

    alike: NotRequired[float]
    budget: NotRequired[int]
    facts: NotRequired[str]
    half_life_hours: NotRequired[int]
    novelty: NotRequired[float]
    penalties: NotRequired[dict[str, Any]]
    quotas: NotRequired[dict[str, Any]]
    rules: NotRequired[str]
    search: NotRequired[str]
    slice: NotRequired[str]
    type: Literal["context_policy_v1"]
    weights: NotRequired[dict[str, Any]]


class ContextPolicyV2(TypedDict):
    """As ContextPolicy, with calls among the sources. Parameters that are left out have the values of context@2."""

    alike: NotRequired[float]
    budget: NotRequired[int]
    facts: NotRequired[str]
    half_life_hours: NotRequired[int]
    novelty: NotRequired[float]
    penalties: NotRequired[dict[str, Any]]
    quotas: NotRequired[dict[str, Any]]
    rules: NotRequired[str]
    search: NotRequired[str]
    sections: NotRequired[dict[str, Any]]
    slice: NotRequired[str]
    type: Literal["context_policy_v2"]
    weights: NotRequired[dict[str, Any]]


ContextRequest = TypedDict(
    "ContextRequest",
    {
        "anchor": "NotRequired[str]",
        "as_of": "NotRequired[int]",
        "budget": "NotRequired[int]",
        "except": "NotRequired[list[str]]",
        "fit": "NotRequired[int]",
        "folders": "NotRequired[list[str]]",
        "format": "NotRequired[Literal['bundle', 'markdown', 'xml', 'text', 'openai', 'anthropic', 'json', 'brief']]",
        "non_empty": "NotRequired[bool]",
        "policy": "NotRequired[str]",
        "present": "NotRequired[bool]",
        "prompt": "NotRequired[Literal['markdown', 'xml', 'text', 'openai', 'anthropic', 'json', 'brief']]",
        "recipient": "NotRequired[Recipient]",
        "rules_as_of": "NotRequired[int]",
        "spaces": "NotRequired[list[str]]",
        "task": "NotRequired[str]",
        "task_of": "NotRequired[list[str]]",
    },
)


class Conversation(TypedDict):
    first: int
    first_at: str
    id: str
    last: int
    last_at: str
    title: NotRequired[str]
    """The title in the first turn, if it has one and its text was not erased."""
    turns: int


class ConversationTurns(TypedDict):
    conversation: str
    next: NotRequired[str]
    turns: list[StoredTurn]


class Conversations(TypedDict):
    conversations: list[Conversation]
    next: NotRequired[str]


class Converted(TypedDict):
    files: dict[str, str]


class Counterpart(TypedDict):
    author: str
    content: str
    """The text of the turn without the spaces around it, at most 400 bytes."""
    created_at: str
    seq: int
    shortened: NotRequired[bool]
    """The text of the turn goes on."""
    standing: Literal["outside", "guest", "agent", "member", "owner", "system"]
    """How much its words count, as of the number of the search."""
    turn: str


class Cutting(TypedDict):
    anchor: str
    as_of: NotRequired[int]
    """The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present."""
    policy: NotRequired[str]


class D3Graph(TypedDict):
    as_of: int
    cut: Literal["", "results", "work"]
    links: list[D3Link]
    nodes: list[D3Node]


class D3Link(TypedDict):
    confidence: float
    predicate: str
    since: int
    source: str
    statement: str
    target: str


class D3Node(TypedDict):
    hops: int
    id: str


class Decay(TypedDict):
    excepted: list[str]
    """Published revisions, which keep their confidence."""
    lowered: list[DecayedBelief]
    seq: NotRequired[int]
    """The sequence number as of which all results are visible; absent if nothing was recorded."""


class DecayRequest(TypedDict):
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    least: NotRequired[float]
    """A revision that would lose less than this is not changed yet. 0.01 if left out."""
    space: str


class DecayedBelief(TypedDict):
    after: float
    before: float
    origin: str
    """The last revision that decay did not make; the new confidence is computed from its confidence and time."""
    reason: str
    ref: str


class DenyRule(TypedDict):
    argument: NotRequired[str]
    """Matches a part of any text, number or name in the arguments; every call of the tool if left out."""
    reason: str
    """The reason that the agent is given."""
    tool: str
    """Matches the whole name of a tool."""


class DenyRules(TypedDict):
    """What may stop a tool call before it runs. There is no default."""

    rules: list[DenyRule]
    type: Literal["deny_rules_v1"]


class Dependent(TypedDict):
    deprecated: NotRequired[bool]
    """The item is deprecated, so none of its statements is believed."""
    depth: int
    ref: str
    to: str
    type: str


class Deprecation(TypedDict):
    reason: NotRequired[str]
    ref: str


class Difference(TypedDict):
    expected: str
    found: str
    offset: int
    """Bytes before the first difference."""
    path: str


class EndedBelief(TypedDict):
    at: str
    """When it ended."""
    by: NotRequired[str]
    """The caller who ended it."""
    derived: NotRequired[bool]
    """At the end it followed from other statements, and no item stated it."""
    ending: Literal["given_up", "contradicted", "deprecated", "moved", "policy"]
    """given_up: the item that stated it, or a premise, was contracted. contradicted: it gave way to a contradicting statement. deprecated: the item was deprecated. moved: current points to another revision of the item. policy: the space came under another policy."""
    instead: NotRequired[WrittenStatement]
    """The contradicting statement that was believed from then on."""
    lost: list[Support]
    """The elements that ended with it: those that stated it, or the part of its premises that fell."""
    reason: NotRequired[str]
    since: int
    until: int
    """The number of the entry that ended it."""


class EnrichRequest(TypedDict):
    alpha: NotRequired[float]
    """The share of the facts in the combined score, from 0 to 1; 0.5 if left out."""
    as_of: NotRequired[int]
    """The knowledge as of this sequence number; 0 is the present."""
    facts: NotRequired[int]
    """The most facts for each hit."""
    hits: list[HitScore]
    """Turns with their scores, from a search or from elsewhere; each turn once."""
    hops: NotRequired[int]
    """The largest distance from the entities of a hit."""
    query: NotRequired[str]
    """The query of the search. A fact counts by the share of these words that its names have; without a query all facts count alike."""


class Enriched(TypedDict):
    as_of: int
    hits: list[EnrichedHit]
    """The hits, the best combined score first."""


class EnrichedHit(TypedDict):
    combined: float
    """The score as a share of the best one, times 1 - alpha, plus graph times alpha."""
    entities: list[str]
    """The entities that the turn mentions: the ends of facts that were learned from it, and known names in its first words."""
    facts: list[NearFact]
    """The facts around these entities, the nearest first."""
    graph: float
    """The score of its facts, as a share of the best hit's."""
    score: int
    """The score that was given."""
    turn: str


class ErasedRevision(TypedDict):
    erasure: NotRequired[int]
    """The number of the erasure."""
    item: str
    revision: int
    seq: int
    turn: NotRequired[str]
    """The turn that was erased."""


class ErasedTurn(TypedDict):
    as_of: NotRequired[int]
    """The number of the last entry of the change: in an event, and in the answer to an erasure; absent in a list."""
    at: str
    by: NotRequired[str]
    """Who asked for it. Absent if that was not recorded."""
    kind: Literal["erasure"]
    reason: str
    seq: int
    tasks: NotRequired[list[str]]
    """The contexts whose tasks contained words of the turn and were erased with it."""
    turn: str
    unguarded: NotRequired[str]
    """Why copies of the text under other ids are not held back. Absent if they are."""


class ErasureRequest(TypedDict):
    reason: str


class Erasures(TypedDict):
    erasures: list[Event]
    next: NotRequired[str]


class Event(TypedDict):
    as_of: NotRequired[int]
    """The number of the last entry of the change: in an event, and in the answer to an erasure; absent in a list."""
    at: str
    by: NotRequired[str]
    """Who asked for it. Absent if that was not recorded."""
    kind: Literal["erasure"]
    reason: str
    seq: int
    turn: str


class Evidence(TypedDict):
    """What convinces a third party of a bundle, beside it. docs/evidence.md has the forms."""

    attestation: dict[str, Any]
    """A DSSE envelope around an in-toto statement. Its bytes here are canonical."""
    bundle_sha256: str
    index: int
    """The index of the leaf in the ledger."""
    issued_at: str
    """When the bundle was issued, as the attestation says."""
    key_id: str
    """The id of the key that signed the attestation."""
    origin: str
    """The origin of the ledger."""
    proof: str
    """A file (C2SP tlog-proof) with the leaf, its path and a checkpoint."""
    slice_id: str


class ExplainCutting(TypedDict):
    anchor: str
    as_of: NotRequired[int]
    """The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present."""
    policy: NotRequired[str]
    turn: str


class Explanation(TypedDict):
    admission: NotRequired[Admission]
    anchor: str
    as_of: int
    beaten_by: NotRequired[Rival]
    counts_by: NotRequired[str]
    """Under slice_policy_v3: the standing policy that decides what the turn counts for."""
    edges_away: int
    """The fewest edges from the anchor; -1 if no path was found."""
    explanation: str
    """The same in a sentence."""
    instead: NotRequired[list[str]]
    """If without was asked for: turns that would have been selected instead."""
    lost: NotRequired[list[str]]
    """If without was asked for: other turns that would not have been selected without it."""
    outcome: Literal["selected", "beaten", "too_costly", "too_far", "later", "unreached", "unconnected", "not_in_view"]
    policy_id: str
    rank: NotRequired[int]
    """Its place in the order of selection, from 1."""
    selected: bool
    slice_id: NotRequired[str]
    turn: str
    turns_in_slice: int


class Fact(TypedDict):
    """A statement that is believed, in canonical names. Source and turn are those of the assertion that gave the confidence."""

    asserted: NotRequired[Written]
    """The names in the statement itself, if aliases replace them."""
    confidence: float
    evidence: list[FactEvidence]
    evidence_total: int
    object: str
    predicate: str
    since: int
    source: str
    statement: str
    subject: str
    turn: NotRequired[str]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    written: NotRequired[Written]


class FactEvidence(TypedDict):
    """An assertion that counts for a fact."""

    at: str
    confidence: float
    seq: int
    slice: NotRequired[str]
    source: str
    turn: NotRequired[str]
    written: NotRequired[Written]


class FactHistory(TypedDict):
    acts: list[KnowledgeAct]
    next: NotRequired[str]
    statement: str


class FactPolicy(TypedDict):
    """What a slice of facts is gathered under. Parameters that are left out have the values of facts@1."""

    direction: NotRequired[Literal["outgoing", "incoming", "both"]]
    max_hops: NotRequired[int]
    max_results: NotRequired[int]
    min_confidence: NotRequired[float]
    predicates: NotRequired[list[str]]
    """The predicates that are followed; all if left out."""
    type: Literal["fact_policy_v1"]


class FactSliceRequest(TypedDict):
    as_of: NotRequired[int]
    policy: NotRequired[str]
    start: Union[str, list[str]]
    valid_at: NotRequired[str]


class Facts(TypedDict):
    as_of: int
    facts: list[Fact]
    next: NotRequired[str]
    total: int
    """The total of all pages."""


class Feature(TypedDict):
    name: Literal["confidence", "contested", "evidence", "prompt", "recency", "recent", "salience", "slice", "task"]
    value: int
    """The value in millionths."""


class Folder(TypedDict):
    conversations: int
    digest: NotRequired[str]
    """The SHA-256 of the path, if only that is known."""
    folder: NotRequired[str]
    """Absent if only its digest is known, as for Gemini CLI."""
    last_at: str
    """The latest time at which something was said there."""
    newest: list[RecentConversation]
    """The conversations with the latest turns, up to 5, the newest first."""


class Folders(TypedDict):
    folders: list[Folder]
    not_indexed: NotRequired[int]
    """The number of the newest sequence numbers that were not examined, because their index is still being made."""
    total: int
    """The total number."""


class Forgotten(TypedDict):
    forgotten: Memory
    result: Literal["changed", "unchanged"]
    seq: NotRequired[int]


class Found(TypedDict):
    approximate: NotRequired[bool]
    """The search used a graph of vectors, because there are many, and may have missed turns. A search with as_of compares all vectors."""
    as_of: int
    damaged: NotRequired[int]
    """Turns that were left out, because the store is damaged and does not have their texts as they were admitted. An index that is read whole from the store does not know of them until one is found."""
    hits: list[Hit]
    """The hits, the best first."""
    not_indexed: NotRequired[int]
    """The number of sequence numbers above as_of that were not searched, because their index is still being made. A later search covers them."""
    not_reranked: NotRequired[str]
    """Why the policy's cross-encoder did not judge the hits; they then keep the order from before it."""
    policy: str
    sessions: NotRequired[list[FoundSession]]
    """The conversations of the first 200 hits, in the order of their best hits, if exchanges was set."""


class FoundSession(TypedDict):
    begins: NotRequired[Counterpart]
    """The first prompt of the conversation, if it has no title."""
    conversation: str
    first_at: str
    """When the first turn of the conversation was created."""
    folder: NotRequired[str]
    """The folder in which the agent worked at the best hit."""
    title: NotRequired[str]
    """The title of the conversation, if its first turn has one."""


class GrowthStep(TypedDict):
    authors: list[NameShare]
    """The 20 authors with the most turns."""
    conversations: int
    phases: list[NameShare]
    """Turns of each phase."""
    roles: list[NameShare]
    """Turns of each role."""
    turns: int
    upto: int


class Health(TypedDict):
    checks: NotRequired[dict[str, str]]
    status: Literal["ok", "starting", "unavailable", "stopping"]


class HeldBack(TypedDict):
    at: str
    by: NotRequired[str]
    """Who brought it."""
    erased: str
    """The erased turn with the same text."""
    place: NotRequired[str]
    """The place that it came from, such as a file and a line."""
    released: bool
    """The turn is admitted with its text when it comes again."""
    rule: Literal["place", "reply", "words"]
    """Why it was held back: the same text at the same instant, after the same text, or of 64 bytes and more."""
    seq: int
    turn: str


class HeldBackTurns(TypedDict):
    held_back: list[HeldBack]
    next: NotRequired[str]


HeldStatement = TypedDict(
    "HeldStatement",
    {
        "derived": "NotRequired[bool]",
        "item": "str",
        "not": "NotRequired[bool]",
        "object": "str",
        "predicate": "str",
        "revision": "int",
        "since": "NotRequired[int]",
        "standing": "Literal['outside', 'guest', 'agent', 'member', 'owner']",
        "subject": "str",
        "summary": "NotRequired[str]",
        "text": "NotRequired[str]",
        "title": "NotRequired[str]",
        "valid_from": "NotRequired[str]",
        "valid_until": "NotRequired[str]",
        "written": "NotRequired[Written]",
    },
)


class Hit(TypedDict):
    answer: NotRequired[Counterpart]
    """The agent's last words before the next prompt, if exchanges was set and the turn is a prompt. Calls and reasoning are no words."""
    author: str
    content: str
    """The text of the turn."""
    conversation: str
    created_at: str
    parts: NotRequired[HitParts]
    """What the score consists of, if explain was set."""
    question: NotRequired[Counterpart]
    """The last prompt before the turn in its conversation, if exchanges was set and the turn is no prompt itself. A prompt is a turn of role user that a person said, or an agent that called this one."""
    role: Literal["user", "assistant", "system", "tool"]
    score: int
    """The score for this query; scores of other queries are not comparable."""
    seq: int
    standing: Literal["outside", "guest", "agent", "member", "owner", "system"]
    """How much its words count, as of the number of the search: an order from member on, else information or data."""
    title: NotRequired[str]
    """The title of the conversation, if its first turn has one."""
    turn: str


class HitParts(TypedDict):
    author: int
    """Half of the sum of the other parts, if the query names the turn's author and no other."""
    conversation: int
    """For words in the conversation: BM25, 100000 for the best."""
    dates: int
    """For dates in the turn, and of it: 300000 for the best."""
    judged: NotRequired[int]
    """The score of the policy's cross-encoder: 1000000 for the hit that it prefers, 0 for the last."""
    like: NotRequired[int]
    """For the similarity of the turn's vector to the query's, if the policy uses vectors."""
    like_rank: NotRequired[int]
    """The turn's rank by similarity, likewise."""
    when: int
    """200000 if the query asks when and the turn has an expression of time."""
    word_rank: NotRequired[int]
    """The turn's rank by words, from 1, if the policy joins lists by rank."""
    words: int
    """For words in the turn and its neighbours: BM25, 1000000 for the best turn."""


class HitScore(TypedDict):
    score: int
    """At most 2^40."""
    turn: str


class Holding(TypedDict):
    contexts: list[Issued]
    looked: int
    """How many records, the newest ones, were examined for slices."""
    older: int
    """How many older records were not examined."""
    slices: list[Issued]


class Impact(TypedDict):
    as_of: int
    falls: list[WrittenStatement]
    """Conclusions that would no longer follow without it."""
    links: list[Dependent]
    """Revisions that link to it, over any number of links."""
    ref: str


class ImportedItem(TypedDict):
    id: str
    """The item's id in the persona."""
    outcomes: list[BeliefOutcome]
    """One outcome for each time of its statements, and for each rule."""


class ImportedPersona(TypedDict):
    items: list[ImportedItem]
    links: int
    """Links between imported items."""
    origin: PersonaOrigin
    sha256: str
    """The digest of the document."""


class Influence(TypedDict):
    as_of: int
    bridges: int
    """Edges without which turns would not be connected."""
    contexts: int
    """Contexts that were examined."""
    cuts: int
    """Turns without which others would not be connected."""
    issued: int
    """The number of the newest record of what was handed out."""
    older: int
    """Older records that were not examined: only the newest 10 000 are."""
    sampled: NotRequired[bool]
    """There are more than 5 000 turns, so betweenness is computed from 256 of them, drawn with a fixed seed."""
    slices: int
    """Slices of turns that were examined."""
    turns: list[InfluencedTurn]


class InfluencedTurn(TypedDict):
    betweenness: int
    """Pairs of other turns whose shortest paths lead through it, in thousandths."""
    contexts: int
    """Contexts that showed the turn."""
    cut: NotRequired[bool]
    """Other turns would not be connected without it."""
    degree: int
    """Turns with which it has an edge."""
    rank: int
    """PageRank, in millionths of a millionth: the ranks of all turns add up to 10^12, less rounding."""
    slices: int
    """Slices that contained the turn."""
    turn: str
    weight: int
    """The sum of its scores in slices, plus one for each context, in millionths."""


class Issued(TypedDict):
    """The record of one bundle that was handed out. It holds no text."""

    anchor: str
    """For a slice of facts, it names the question and not a turn."""
    as_of: int
    asked: NotRequired[str]
    """The task of a context, or the names that a slice of facts starts from, in lists and records of slices. Absent once erased."""
    bundle_sha256: str
    by: NotRequired[str]
    """The first caller that was handed it. Absent if that was not recorded."""
    folders: NotRequired[list[str]]
    """The turns were chosen only from conversations that were held in these folders."""
    graph_snapshot_hash: str
    holds: NotRequired[int]
    """The number of facts in a slice of facts, or of turns in a context or in a slice of turns; for slices of turns only if counted was asked for."""
    issued_at: str
    key_id: str
    leaf: int
    """The index of its leaf in the ledger."""
    not_given: NotRequired[int]
    """The number under which it is recorded that the context did not reach its recipient."""
    number: int
    """The tenant's first issued slice is 1."""
    policy_id: str
    policy_params_hash: str
    recipient: NotRequired[Recipient]
    """The session of an agent for which a context was made. Absent if no hook asked for it."""
    schema_version: str
    slice_id: str
    token: str


class ItemRevision(TypedDict):
    artifacts: NotRequired[list[Artifact]]
    at: str
    by: NotRequired[str]
    confidence: float
    erased: NotRequired[bool]
    """The content was erased with the turns that it rested on."""
    keywords: NotRequired[list[str]]
    reason: NotRequired[str]
    revision: int
    seq: int
    source: NotRequired[str]
    statements: list[RevisionElement]
    summary: NotRequired[str]
    supersedes: NotRequired[int]
    title: NotRequired[str]
    topics: NotRequired[list[str]]
    withheld: NotRequired[bool]
    """Title and summary may contain something that was given up, so contexts leave them out."""


class ItemTag(TypedDict):
    revision: int
    since: int
    tag: str
    until: NotRequired[int]
    """The number until which the tag pointed to it; absent while it does."""


class Items(TypedDict):
    items: list[ListedItem]
    left_out: NotRequired[int]
    """The number of deprecated items of the page that are not listed because they were not asked for."""
    next: NotRequired[str]


class JWKS(TypedDict):
    """RFC 7517, section 5."""

    keys: list[dict[str, Any]]


class KernelKeys(TypedDict):
    """A kernel's public keys, canonical JSON."""

    attestation: list[dict[str, Any]]
    log: list[str]
    name: str
    sigstore: NotRequired[dict[str, Any]]
    version: Literal["gkk/1"]


class KindPolicy(TypedDict):
    """Which predicates of a space are limited, and what its kinds of items mean. Members that are left out have the values of beliefs@1."""

    exclusive: NotRequired[list[dict[str, Any]]]
    """Objects of which a subject can have one under a predicate."""
    functional: NotRequired[list[str]]
    """Predicates that have one object for each subject."""
    kinds: NotRequired[list[dict[str, Any]]]
    """The kinds of items. docs/belief.md has the members."""
    type: Literal["kind_policy_v1"]


class Knowledge(TypedDict):
    facts: NotRequired[list[NewFact]]
    retractions: NotRequired[list[Retraction]]


class KnowledgeAct(TypedDict):
    """A change of what is known, as it was recorded. Names are as they were asserted, without aliases."""

    alias: NotRequired[str]
    at: str
    canonical: NotRequired[str]
    confidence: NotRequired[float]
    erased: NotRequired[bool]
    """The act was erased with its turn; only its number, its leaf and the turn are left."""
    kind: Literal["assert", "retract", "alias", "unalias"]
    leaf: str
    object: NotRequired[str]
    predicate: NotRequired[str]
    reason: NotRequired[str]
    seq: int
    slice: NotRequired[str]
    source: NotRequired[str]
    statement: NotRequired[str]
    subject: NotRequired[str]
    supersedes: NotRequired[list[str]]
    turn: NotRequired[str]
    until: NotRequired[int]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    version: NotRequired[bool]
    """The assertion gave the statement its confidence."""
    written: NotRequired[Written]


class KnowledgeChanges(TypedDict):
    acts: list[KnowledgeAct]
    next: NotRequired[str]


class KnowledgeOutcome(TypedDict):
    """What became of a fact, a retraction or an alias. Without seq nothing changed."""

    result: Literal["asserted", "confirmed", "existing", "retracted", "absent", "aliased", "unaliased"]
    seq: NotRequired[int]
    statement: NotRequired[str]


class KnowledgeOutcomes(TypedDict):
    facts: list[KnowledgeOutcome]
    retractions: list[KnowledgeOutcome]


class KnowledgeStats(TypedDict):
    aliases: int
    as_of: int
    entities: int
    facts: int
    predicates: list[NameCount]
    predicates_total: int
    sources: list[NameCount]
    sources_total: int


class KrefChange(TypedDict):
    conflict: NotRequired[list[WrittenStatement]]
    """A set of statements that contradict each other."""
    outcome: Literal["changed", "unchanged", "refused"]
    seq: NotRequired[int]


class LinkedMemories(TypedDict):
    cut: NotRequired[bool]
    """There are more than 1000 links; only these were followed."""
    links: list[MemoryLink]
    """The nearest first; of a way, in its order."""
    of: Memory


class ListedItem(TypedDict):
    deprecated: NotRequired[bool]
    erased: NotRequired[bool]
    """The content of the revision was erased with the turns that it rested on."""
    item: str
    revision: NotRequired[int]
    """The revision that current points to. Absent if nothing of the item is believed."""
    statements: list[RevisionElement]
    """The statements of that revision. They are not believed while the item is deprecated."""
    title: NotRequired[str]


class LoweredBelief(TypedDict):
    after: float
    """The confidence that the remaining evidence leaves."""
    before: float
    fell: list[str]
    """Evidence that fell."""
    invalid: NotRequired[bool]
    """Its statements end now, because too little supports them."""
    reason: str
    ref: str


class MadeAPIKey(TypedDict):
    admits_authors: str
    admits_roles: str
    id: str
    key: str
    """The key itself. Only its hash is stored."""
    role: str
    spaces: NotRequired[str]
    speaks_for: NotRequired[str]
    tenant: str


class Manifest(TypedDict):
    document: dict[str, Any]
    """Canonical JSON (RFC 8785) of all parts, with the lists at their default lengths."""
    envelope: NotRequired[dict[str, Any]]
    """An in-toto statement that names the digest, signed by the attestation key (DSSE). Absent without an identity, and if unsigned was asked for."""
    sha256: str
    """The digest of the document."""


class Memories(TypedDict):
    memories: list[Memory]
    next: NotRequired[str]


class Memory(TypedDict):
    by: NotRequired[str]
    ends: NotRequired[list[str]]
    """Of a proposal that waits: the texts that hold no longer if it is accepted."""
    id: str
    """The name of its item, or w and a number for a proposal that contradicts what a person said and waits."""
    kind: str
    project: str
    """The space that it is in."""
    proposed: NotRequired[bool]
    """No person vouches for it: it is the word of an agent."""
    revision: NotRequired[int]
    """Which revision of the item it is; absent for a proposal that waits."""
    since: str
    """When it was said."""
    standing: NotRequired[Literal["outside", "guest", "agent", "member", "owner"]]
    """Whose word it counts as."""
    text: str
    """What was said, byte for byte; of a memory that was stated in names, the names as they were written."""
    turns: NotRequired[list[str]]


class MemoryEnd(TypedDict):
    at: str
    by: NotRequired[str]
    how: Literal["forgotten", "replaced", "contradicted", "erased"]
    instead: NotRequired[str]
    """What holds instead."""
    reason: NotRequired[str]


MemoryLink = TypedDict(
    "MemoryLink",
    {
        "back": "NotRequired[bool]",
        "depth": "int",
        "ended": "NotRequired[bool]",
        "from": "str",
        "memory": "NotRequired[Memory]",
        "to": "str",
        "type": "str",
    },
)


class MemoryReasons(TypedDict):
    against: NotRequired[list[Memory]]
    """Proposals that contradict it and wait for a person."""
    ended: NotRequired[MemoryEnd]
    """How it ended, if it holds no longer."""
    holds: bool
    memory: Memory
    reason: NotRequired[str]
    """The reason that was given when it was said."""
    replaced: list[MemoryState]
    """What the same memory said before, the newest first."""
    turns: list[MemoryTurn]
    """What it rests on; none: the word of who said it."""


class MemoryState(TypedDict):
    at: str
    by: NotRequired[str]
    erased: NotRequired[bool]
    holds: NotRequired[bool]
    proposed: NotRequired[bool]
    reason: NotRequired[str]
    revision: int
    text: str


class MemoryStates(TypedDict):
    ended: NotRequired[MemoryEnd]
    id: str
    kind: str
    states: list[MemoryState]


class MemoryTurn(TypedDict):
    at: str
    author: NotRequired[str]
    text: NotRequired[str]
    """The first 400 bytes of what it says; absent if it was erased."""
    turn: str
    whole: NotRequired[bool]
    """The text of the memory is a whole sentence of the turn."""


class Messages(TypedDict):
    messages: list[dict[str, Any]]


class MovedStanding(TypedDict):
    after: Literal["outside", "guest", "agent", "member", "owner", "system"]
    author: NotRequired[str]
    before: Literal["outside", "guest", "agent", "member", "owner", "system"]
    held: NotRequired[bool]
    """It keeps the standing that it had, since the setting is not retroactive."""
    turn: str


class NameCount(TypedDict):
    facts: int
    name: str


class NameShare(TypedDict):
    count: int
    name: str


class NearFact(TypedDict):
    fact: Step
    hops: int


class NewAPIKey(TypedDict):
    admits_authors: NotRequired[str]
    """Patterns of the authors whose turns it may admit, separated by commas; any if absent."""
    admits_roles: NotRequired[str]
    """The roles of the turns that it may admit, separated by commas; those of its role if absent."""
    note: NotRequired[str]
    role: Literal["verifier", "agent", "auditor", "admin"]
    spaces: NotRequired[str]
    """Patterns of the spaces of beliefs that it sees, separated by commas; all if absent. Only for the role agent."""
    speaks_for: NotRequired[str]
    """Patterns of the authors for whom it speaks, separated by commas; nobody if absent. A turn that a key of role agent brings in the name of another person is data; a key of role admin speaks for everybody. PATTERN=owner and PATTERN=member say what the author counts for. Only for these two roles."""


class NewAliases(TypedDict):
    aliases: list[Alias]


class NewFact(TypedDict):
    """A fact to be recorded. The confidence is 1 if it is absent, the source api. It holds from valid_from on and before valid_until."""

    confidence: NotRequired[float]
    object: str
    object_text: NotRequired[str]
    """A text to be stored byte for byte. Its name is object: text: and its SHA-256."""
    predicate: str
    slice: NotRequired[str]
    source: NotRequired[str]
    subject: str
    supersedes: NotRequired[list[str]]
    turn: NotRequired[str]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]


NewLink = TypedDict(
    "NewLink",
    {
        "from": "str",
        "to": "str",
        "type": "str",
    },
)


class NewMemory(TypedDict):
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    instead: NotRequired[str]
    """The id of the memory that it replaces."""
    keywords: NotRequired[list[str]]
    """Other words by which it is found."""
    kind: NotRequired[str]
    """fact if left out. hard_rule is a rule: every context has it."""
    project: NotRequired[str]
    """The space of the project; projects/general if left out."""
    reason: NotRequired[str]
    slot: NotRequired[str]
    """A name for what the text settles, such as deploy-day: a newer text with the same name replaces it. If left out, texts that settle the same in the usual ways, such as tabs or spaces, replace each other."""
    text: str
    """What is to be remembered. It is kept and shown byte for byte."""
    turns: NotRequired[list[str]]
    """The turns that say so: the memory loses its text when all of them lose theirs."""


class NewMessage(TypedDict):
    author: str
    """The author, in printable ASCII."""
    content: str
    key: NotRequired[str]
    """Messages with the same key in a session are the same message, so repeating a request is safe."""
    role: Literal["user", "assistant", "system", "tool"]


class NewSpace(TypedDict):
    policy: NotRequired[str]
    """A registered policy of the type kind_policy_v1. If left out, a space keeps its policy, and a new space is under beliefs@2."""
    space: str


class NewStanding(TypedDict):
    dry_run: NotRequired[bool]
    """Change nothing, and answer what would change."""
    policy_id: str
    retroactive: NotRequired[bool]
    """Raise the standings of turns that are there, too."""
    seen: NotRequired[int]
    """The number of the newest setting that the caller knows, 0 if there was none: since in a dry run, or seq of the last of settings. If another setting has been made since, nothing is changed, and the error says what is in force. Absent: put the policy in force in place of whichever is."""


class NewTag(TypedDict):
    reason: NotRequired[str]
    ref: str
    revision: int
    """The revision that the tag is to point to; 0 removes the tag."""
    tag: str


class NotGiven(TypedDict):
    at: str
    bundle_sha256: str
    by: NotRequired[str]
    """Who reported it. Absent if that was not recorded."""
    context_id: str
    reason: str
    seq: int


class OldMemory(TypedDict):
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    id: str
    """Its id, or a beginning of at least 4 characters that no other one has."""
    reason: NotRequired[str]
    revision: NotRequired[int]
    """The revision that the caller has seen. If it is another one by now, nothing is recorded."""


class OverfullSpace(TypedDict):
    count: int
    """The number of its constraints."""
    left: int
    """The number of its newest constraints that are not in the context as constraints."""
    space: str


class Overlap(TypedDict):
    as_of: int
    contexts: int
    """Contexts that were examined."""
    issued: int
    """The number of the newest record of what was handed out."""
    older: int
    """Older records that were not examined: only the newest 10 000 are."""
    pairs: list[OverlapPair]
    """The pairs, the most alike first."""
    sampled: NotRequired[bool]
    """There are more than 10 000 slices and contexts, so pairs were found by MinHash and some may be missing: a pair that shares half of its turns with a probability of 1 in 8, a pair that shares 7 of 10 with 1 in 10 000."""
    slices: int
    """Slices of turns that were examined."""


class OverlapPair(TypedDict):
    a: str
    b: str
    jaccard: int
    """The turns that both contained, as a share of the turns that either contained, in millionths."""
    shared: int
    """Turns that both contained."""


class Parent(TypedDict):
    id: str
    kind: Literal["reply", "spawn", "merge", "reference"]


class Persona(TypedDict):
    envelope: dict[str, Any]
    """A DSSE envelope around a document gkpersona/1, signed by the attestation key. Its bytes here are canonical."""
    items: int
    left: list[PersonaLeft]
    """Items that were left out, and names that could not be replaced."""
    links: int
    sha256: str
    """The digest of the document."""


class PersonaAlias(TypedDict):
    alias: str
    """The alias must not contain a name that is replaced."""
    name: str


class PersonaImport(TypedDict):
    dry_run: NotRequired[bool]
    """Show for each item by itself what would happen, and record nothing."""
    envelope: dict[str, Any]
    """The envelope of an export."""
    revise: NotRequired[bool]
    """Revise with the authority of the caller. Otherwise everything is proposed."""
    signers: list[str]
    """The keys whose signatures count, in the form of a trust file. The key that signed must belong to the kernel that the persona names as its origin."""
    space: str


class PersonaLeft(TypedDict):
    item: str
    name: NotRequired[str]
    """The name that could not be replaced. Absent: the item may not leave the space."""
    reason: str
    taken: NotRequired[bool]
    """The item is in the document, with the name in it."""


class PersonaOrigin(TypedDict):
    as_of: int
    at: str
    kernel: str
    """The name that its key signs as."""
    space: str
    tenant: str


class PersonaRequest(TypedDict):
    aliases: NotRequired[list[PersonaAlias]]
    """The aliases that replace names of people, in statements and texts, however they are spelled."""
    people: NotRequired[list[str]]
    """Names of people, in addition to those that the space knows as such. Names without an alias are listed."""
    space: str


class PhaseWeights(TypedDict):
    consolidation: NotRequired[float]
    debugging: NotRequired[float]
    exploration: NotRequired[float]
    planning: NotRequired[float]
    synthesis: NotRequired[float]


class Pivot(TypedDict):
    added: int
    """Other turns that would have been selected without it."""
    dropped: int
    """Other turns that would not have been selected without it."""
    turn: str


class Policies(TypedDict):
    policies: list[RegisteredPolicy]
    registry_fingerprint: str


class PolicyRegistration(TypedDict):
    policy: Union[SlicePolicy, SlicePolicyV2, SlicePolicyV3, FactPolicy, RetrievalPolicy, ContextPolicy, ContextPolicyV2, DenyRules, Retention, KindPolicy, PromotionPolicy, StandingPolicy]
    policy_id: str


class Preview(TypedDict):
    as_of: int
    turns: list[Rival]


class ProblemDocument(TypedDict):
    admitted: NotRequired[int]
    """For a stream, the number of turns that were acknowledged before the fault."""
    arriving: NotRequired[str]
    """With conflict, the digest of what arrived."""
    candidates: NotRequired[list[str]]
    """With ambiguous, some of the turns that match."""
    code: str
    detail: str
    """The value, the rule and the place, in one sentence."""
    existing: NotRequired[int]
    place: NotRequired[str]
    """Where in the request the fault lies, such as turns[3].salience, a query parameter or a line."""
    request_id: str
    status: int
    stored: NotRequired[str]
    """With conflict, the digest of what is stored."""
    title: str
    turn: NotRequired[str]
    """With conflict and cycle, the turn; with unknown_parent, the parent."""
    type: str
    """Where the code is explained, relative to the service."""


Promotion = TypedDict(
    "Promotion",
    {
        "from": "str",
        "outcome": "Literal['changed', 'unchanged', 'refused']",
        "reason": "str",
        "seq": "NotRequired[int]",
        "sources": "list[str]",
        "support_ppm": "int",
        "tag": "NotRequired[str]",
        "threshold": "int",
        "to": "str",
    },
)


class PromotionPolicy(TypedDict):
    """When what is believed becomes something of another kind, or gets a tag. Without steps it has those of promotion@2; of several steps to a kind the first that applies is taken."""

    steps: NotRequired[list[dict[str, Any]]]
    """docs/belief.md has the members."""
    type: Literal["promotion_policy_v1"]


class PromotionRequest(TypedDict):
    dry_run: NotRequired[bool]
    """Show what would happen, and record nothing."""
    policy: NotRequired[str]
    """A policy of the type promotion_policy_v1."""
    space: str


class Promotions(TypedDict):
    promotions: list[Promotion]


class Provenance(TypedDict):
    anchor_turn_id: str
    graph_snapshot_hash: str
    policy_id: str
    policy_params_hash: str
    schema_version: str
    slice_id: str


class PutMessage(TypedDict):
    existing: NotRequired[bool]
    """The session already had a message with this key, which stays as it was."""
    expires_at: NotRequired[str]
    """Absent if the message is already a turn."""
    id: str
    """The id of the message, and of the turn that it may become."""
    turn: NotRequired[bool]
    """The message was consolidated before, and was not put again."""


Reached = TypedDict(
    "Reached",
    {
        "entity": "str",
        "from": "str",
        "hops": "int",
        "min_confidence": "float",
        "path": "list[Step]",
    },
)


class Receipt(TypedDict):
    admitted: int
    """Turns that are new."""
    brought: NotRequired[int]
    """Turns of the request that are stored as data and as nobody's word, because they are in the name of a person for whom the key does not speak."""
    edges: int
    """Edges of the new turns."""
    erased_before: NotRequired[int]
    """New turns in which a person says again what was erased. They have their text."""
    existing: int
    """Turns that were there already."""
    head: int
    held_back: NotRequired[int]
    """New turns that were admitted without their text, because it was erased under another id."""


class RecentConversation(TypedDict):
    conversation: str
    last_at: str
    """The latest time of its turns."""
    turn: str
    """The turn that was admitted last."""


class Recipient(TypedDict):
    agent: str
    event: str
    session: str


class RegisteredPolicy(TypedDict):
    policy: Union[SlicePolicy, SlicePolicyV2, SlicePolicyV3, FactPolicy, RetrievalPolicy, ContextPolicy, ContextPolicyV2, DenyRules, Retention, KindPolicy, PromotionPolicy, StandingPolicy]
    policy_id: str
    policy_params_hash: str


class Released(TypedDict):
    released: int
    """Turns that were not released before."""


class Remembered(TypedDict):
    against: NotRequired[list[Memory]]
    """What the proposal contradicts, so that it waits for a person."""
    gave_way: list[Memory]
    """What holds no longer because of it; with against, nothing."""
    id: NotRequired[str]
    """Absent for a dry run of a new memory."""
    nearest: NotRequired[Memory]
    """If nothing gave way: the memory of the project that is most alike. To replace it, remember the text instead of it."""
    result: Literal["changed", "unchanged", "proposed"]
    """proposed: it is a proposal until a person accepts it."""
    seq: NotRequired[int]


class Replay(TypedDict):
    as_of: int
    checks: list[Check]
    difference: NotRequired[Difference]
    erased: list[str]
    lost: list[str]
    """Turns whose text is gone although no erasure is on record."""
    outcome: Literal["identical", "erased", "lost", "different"]
    provenance: Provenance
    reason: str
    redacted: list[str]
    slice_id: str


class ResolvedConflict(TypedDict):
    advice: list[ConflictAdvice]
    """The advice for each revision that the proposal contradicts."""
    conflict: int
    how: Literal["taken", "dropped", "deferred"]
    outcome: NotRequired[BeliefOutcome]
    """The outcome of the revision, if the proposal was to be taken."""
    seq: NotRequired[int]
    """Absent if the conflict keeps waiting, because of dry_run or because revising was refused."""


class ResolvedKref(TypedDict):
    artifact: NotRequired[Artifact]
    """The artifact that the address names."""
    as_of: int
    deprecated: bool
    item: str
    ref: str
    revision: NotRequired[ItemRevision]
    """Absent if the tag points to no revision."""
    revisions: int
    """The total number."""
    tags: list[ItemTag]
    """Each period in which a tag pointed to a revision, by tag and number."""


class ResolvedTurn(TypedDict):
    id: str


class Retention(TypedDict):
    rules: list[RetentionRule]
    type: Literal["retention_v1"]


class RetentionRule(TypedDict):
    author: NotRequired[str]
    cwd: NotRequired[str]
    """Turns said while the agent worked in this folder, or below it."""
    days: NotRequired[int]
    """The days from the turn's created_at on; for ever if left out."""
    role: NotRequired[Literal["user", "assistant", "system", "tool"]]


class Retracted(TypedDict):
    """The assertions that gave the facts their confidence."""

    acts: list[KnowledgeAct]
    dry_run: bool
    total: int


class Retraction(TypedDict):
    reason: NotRequired[str]
    statement: str


class RetrievalPolicy(TypedDict):
    """How turns are found by words. Parameters that are left out have the values of recall@1."""

    analyzer: NotRequired[Literal["english", "none"]]
    author: NotRequired[float]
    conversation: NotRequired[dict[str, Any]]
    dates: NotRequired[dict[str, Any]]
    dense: NotRequired[dict[str, Any]]
    floor: NotRequired[float]
    fusion: NotRequired[dict[str, Any]]
    max_hits: NotRequired[int]
    names_by_use: NotRequired[bool]
    near_terms: NotRequired[bool]
    people: NotRequired[bool]
    reach: NotRequired[int]
    rerank: NotRequired[dict[str, Any]]
    type: Literal["retrieval_policy_v1"]
    when: NotRequired[float]
    words: NotRequired[dict[str, Any]]


RevisionElement = TypedDict(
    "RevisionElement",
    {
        "class": "Literal['inferred', 'tool', 'verified', 'human', 'published', 'hard_rule']",
        "not": "NotRequired[bool]",
        "object": "str",
        "predicate": "str",
        "premises": "NotRequired[list[WrittenStatement]]",
        "subject": "str",
        "turns": "NotRequired[list[str]]",
        "valid_from": "NotRequired[str]",
        "valid_until": "NotRequired[str]",
        "written": "NotRequired[Written]",
    },
)


class RevokedAPIKey(TypedDict):
    admits_authors: str
    """Patterns of the authors whose turns it may admit; empty: none."""
    admits_roles: str
    """The roles of the turns that it may admit; empty: none."""
    already: bool
    """The key was already revoked."""
    created_at: str
    id: str
    note: NotRequired[str]
    revoked_at: NotRequired[str]
    role: str
    spaces: NotRequired[str]
    """Patterns of the spaces of beliefs that it sees; absent: no limit."""
    speaks_for: NotRequired[str]
    """Patterns of the authors for whom it speaks; absent: nobody, or everybody if its role is admin."""
    tenant: str


class Rival(TypedDict):
    admission: Admission
    id: str


class Search(TypedDict):
    as_of: NotRequired[int]
    """Search the graph as of this sequence number; 0 is the present."""
    attributes: NotRequired[Attributes]
    """Only turns that have each of these attributes."""
    author: NotRequired[str]
    """Only turns of this author, written as in the turns."""
    conversation: NotRequired[str]
    """Only turns of this conversation."""
    exchanges: NotRequired[bool]
    """Return what was asked before each of the first 200 hits, or what was answered to it, and the sessions of these hits. Hits, their order and their scores stay the same."""
    explain: NotRequired[bool]
    """Return what each score consists of."""
    limit: NotRequired[int]
    """The most hits to return."""
    policy: NotRequired[str]
    """The policy of the search; find@2 if left out."""
    query: str
    role: NotRequired[Literal["user", "assistant", "system", "tool"]]
    """Only turns of this role."""
    since: NotRequired[str]
    """Only turns that were created at this time or later."""
    space: NotRequired[str]
    """Only turns that support something that is believed in this space, as of the number of the search."""
    standing: NotRequired[Literal["outside", "guest", "agent", "member", "owner", "system"]]
    """Only turns of this standing as of the number of the search, among the hits that the policy allows: whose words count."""
    until: NotRequired[str]
    """Only turns that were created before this time."""
    within: NotRequired[Any]
    """A bundle that the kernel handed out, byte for byte. Only its turns are searched, as if there were no others, as of its number unless as_of is given."""


class SlicePolicy(TypedDict):
    """What a slice of turns is cut under. Parameters that are left out have the values of default@1."""

    distance_decay: NotRequired[float]
    include_siblings: NotRequired[bool]
    max_nodes: NotRequired[int]
    max_radius: NotRequired[int]
    max_siblings: NotRequired[int]
    phase_weights: NotRequired[PhaseWeights]
    salience_weight: NotRequired[float]
    type: Literal["slice_policy_v1"]


class SlicePolicyV2(TypedDict):
    """What a slice of turns is cut under, by what they were marked with: voice, cost and things touched. Parameters that are left out have the values of default@2. A max_cost of 0 is none."""

    direction: NotRequired[Literal["past", "both"]]
    distance_decay: NotRequired[float]
    max_cost: NotRequired[int]
    max_nodes: NotRequired[int]
    max_radius: NotRequired[int]
    max_siblings: NotRequired[int]
    max_touching: NotRequired[int]
    phase_weights: NotRequired[dict[str, Any]]
    salience_weight: NotRequired[float]
    spine: NotRequired[bool]
    type: Literal["slice_policy_v2"]
    voice_weights: NotRequired[dict[str, Any]]


class SlicePolicyV3(TypedDict):
    """What a slice of turns is cut under, by what they count for under the standing policy, cost and things touched. Parameters that are left out have the values of default@3. A max_cost of 0 is none."""

    direction: NotRequired[Literal["past", "both"]]
    distance_decay: NotRequired[float]
    max_cost: NotRequired[int]
    max_nodes: NotRequired[int]
    max_radius: NotRequired[int]
    max_siblings: NotRequired[int]
    max_touching: NotRequired[int]
    phase_weights: NotRequired[dict[str, Any]]
    salience_weight: NotRequired[float]
    spine: NotRequired[bool]
    standing_weights: NotRequired[dict[str, Any]]
    type: Literal["slice_policy_v3"]


class SliceRecord(TypedDict):
    issued: list[Issued]
    slice_id: str


class SliceRequest(TypedDict):
    anchor: str
    as_of: NotRequired[int]
    """The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present."""
    format: NotRequired[Literal["bundle", "markdown", "messages"]]
    """bundle is evidence; markdown and messages (OpenAI chat form) are for people and prompts."""
    policy: NotRequired[str]


class SliceRequests(TypedDict):
    requests: list[SliceRequest]


class Slices(TypedDict):
    next: NotRequired[str]
    slices: list[Issued]


class Snapshot(TypedDict):
    as_of: int
    authors: list[NameShare]
    """The 20 authors with the most turns. A turn whose text was erased has no author."""
    branches: int
    """Turns that several turns continue."""
    contexts: int
    """Contexts that were examined."""
    conversations: int
    depth: int
    """The largest number of edges from a turn that continues no other."""
    depths: list[NameShare]
    """Turns by their depth."""
    edges: int
    growth: list[GrowthStep]
    """The growth at each tenth of the sequence numbers."""
    issued: int
    """The number of the newest record of what was handed out."""
    kinds: list[NameShare]
    """Edges by their kind."""
    largest: list[NameShare]
    """The 20 conversations with the most turns."""
    leaves: int
    """Turns that no other turn continues."""
    merges: int
    """Turns that continue several turns."""
    older: int
    """Older records that were not examined: only the newest 10 000 are."""
    phases: list[NameShare]
    roles: list[NameShare]
    roots: int
    """Turns that continue no other turn."""
    slices: int
    """Slices of turns that were examined."""
    turns: int


class Space(TypedDict):
    constraints: NotRequired[ConstraintLoad]
    """The constraints, if they were asked for."""
    policy: str
    seq: NotRequired[int]
    """The number since which the space has this policy."""
    space: str


class Spaces(TypedDict):
    spaces: list[Space]


class Standing(TypedDict):
    as_of: int
    policy_id: str
    policy_params_hash: str
    settings: list[StandingSetting]
    """The oldest first; none if the tenant has the policy that every tenant begins with."""


class StandingChange(TypedDict):
    already: NotRequired[bool]
    """The policy was in force before, so nothing was changed."""
    before: str
    """The policy in force before."""
    dry_run: NotRequired[bool]
    held: int
    """How many turns would count more with retroactive, and keep the standing that they have."""
    lowered: int
    """How many turns count less."""
    moved: list[MovedStanding]
    """The newest 20 turns that are raised or held, and then the newest 20 that are lowered."""
    policy_id: str
    raised: int
    """How many turns count more."""
    set: NotRequired[StandingSetting]
    """The entry; absent if nothing was changed."""
    since: int
    """The number of the setting that put it in force; 0 if nobody has made a setting."""
    turns: int
    """How many turns there are."""


class StandingPolicy(TypedDict):
    rules: list[StandingRule]
    type: Literal["standing_policy_v1"]


class StandingRule(TypedDict):
    author: NotRequired[str]
    channel: NotRequired[Literal["import", "program", "command", "harness", "chat", "trace", "lines", "commits", "api", "agent"]]
    """The way by which they came in; import is every way of importing conversations."""
    conversation: NotRequired[str]
    grant: NotRequired[Literal["refused", "speaks", "member", "owner", "operator"]]
    """What the key that brought them was granted for the author."""
    key: NotRequired[str]
    """Turns that this credential brought: the id of an API key, or jwt: and a subject."""
    role: NotRequired[Literal["user", "assistant", "system", "tool"]]
    standing: Literal["outside", "guest", "agent", "member", "owner"]


class StandingSetting(TypedDict):
    at: str
    by: NotRequired[str]
    policy_id: str
    policy_params_hash: str
    retroactive: NotRequired[bool]
    """It also raised the standings of turns that were there."""
    seq: int


class Standings(TypedDict):
    as_of: int
    next: NotRequired[str]
    turns: list[TurnStanding]


class Step(TypedDict):
    """A fact on a way. An outgoing one leads from its subject to its object."""

    asserted: NotRequired[Written]
    """The names in the statement itself, if aliases replace them."""
    confidence: float
    direction: Literal["outgoing", "incoming"]
    object: str
    predicate: str
    since: int
    source: str
    statement: str
    subject: str
    turn: NotRequired[str]
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    written: NotRequired[Written]


class StoredTurn(TypedDict):
    body_digest: str
    key: NotRequired[str]
    leaf: str
    redacted: bool
    """The text was withheld or erased."""
    seq: int
    turn: Turn


class StoredTurns(TypedDict):
    next: NotRequired[str]
    turns: list[StoredTurn]


class Sufficiency(TypedDict):
    left_out: list[str]
    """Words of the task for which something was found that did not fit into the budget, or was worth too little."""
    level: Literal["healthy", "low", "critical"]
    """healthy above 700000, low above 400000, critical below."""
    missing: list[str]
    """Words of the task for which nothing was found."""
    ppm: int
    """The share of the task's words that occur in the chosen items, in millionths."""


Support = TypedDict(
    "Support",
    {
        "by": "NotRequired[str]",
        "class": "Literal['inferred', 'tool', 'verified', 'human', 'published', 'hard_rule']",
        "item": "str",
        "premises": "NotRequired[list[WrittenStatement]]",
        "revision": "int",
        "since": "int",
        "statement": "WrittenStatement",
        "turns": "NotRequired[list[str]]",
    },
)


class TaskErased(TypedDict):
    as_of: NotRequired[int]
    """The number of the last entry of the change."""
    at: str
    by: NotRequired[str]
    """Who asked for it. Absent if that was not recorded."""
    context: str
    reason: str
    seq: int


class TokenClaim(TypedDict):
    """The six fields of a slice's provenance, its token, and the key that is said to have signed. Any value is taken and judged. Without `key_id` every live key is tried."""

    anchor_turn_id: NotRequired[Any]
    """The anchor's id."""
    graph_snapshot_hash: NotRequired[Any]
    """As it stands in the bundle."""
    key_id: NotRequired[Any]
    """The key's id; optional."""
    policy_id: NotRequired[Any]
    """Such as default@1."""
    policy_params_hash: NotRequired[Any]
    """As it stands in the bundle."""
    schema_version: NotRequired[Any]
    """As it stands in the bundle."""
    slice_id: NotRequired[Any]
    """16 lowercase hex digits."""
    token: NotRequired[Any]
    """32 lowercase hex digits."""


class TokenVerdict(TypedDict):
    admissible: bool
    key_id: str
    """The key that signed; if not admissible, the key that the token names."""
    outcome: Literal["verified", "tampered", "key_unknown", "key_retired", "malformed", "unknown_version"]
    reason: str
    """Why it is not admissible; empty if it is."""


class Traversal(TypedDict):
    as_of: int
    cut: Literal["", "results", "work"]
    """Why the answer is not complete; empty if it is."""
    looked: int
    """The number of edges that were examined."""
    reached: list[Reached]


class TraverseRequest(TypedDict):
    as_of: NotRequired[int]
    direction: NotRequired[Literal["outgoing", "incoming", "both"]]
    max_hops: NotRequired[int]
    max_results: NotRequired[int]
    min_confidence: NotRequired[float]
    predicates: NotRequired[list[str]]
    start: Union[str, list[str]]
    valid_at: NotRequired[str]
    within: NotRequired[Any]
    """A bundle that the kernel handed out, byte for byte. The traversal follows facts that are in it or were learned from its turns, as of its number unless as_of is given."""


class Turn(TypedDict):
    """A turn as it arrives."""

    attrs: NotRequired[dict[str, str]]
    author: NotRequired[str]
    body_digest: NotRequired[str]
    content: NotRequired[str]
    conversation: str
    created_at: str
    id: str
    parents: NotRequired[list[Parent]]
    phase: NotRequired[Literal["exploration", "debugging", "planning", "consolidation", "synthesis"]]
    redacted: NotRequired[Literal[True]]
    role: Literal["user", "assistant", "system", "tool"]
    salience: NotRequired[float]
    salt: NotRequired[str]


class TurnIDs(TypedDict):
    ids: list[str]


class TurnStanding(TypedDict):
    author: NotRequired[str]
    """Absent if the text was erased."""
    channel: Literal["program", "command", "harness", "chat", "trace", "lines", "commits", "api", "agent"]
    """The way by which the turn came in."""
    conversation: str
    grant: NotRequired[Literal["refused", "speaks", "member", "owner", "operator"]]
    """What the key that brought it was granted for its author."""
    key: NotRequired[str]
    policy_id: str
    reason: str
    """Why it has this standing, in words."""
    role: Literal["user", "assistant", "system", "tool"]
    rule: NotRequired[int]
    """The number of the policy's rule that matched, from 1; absent if none did."""
    seq: int
    standing: Literal["outside", "guest", "agent", "member", "owner", "system"]
    turn: str
    voice: Literal["person", "agent", "tool", "harness"]


class Turns(TypedDict):
    turns: list[Turn]


class UnarchiveRequest(TypedDict):
    document: str
    """The file."""
    dry_run: NotRequired[bool]
    """Show which items were archived with this file, and record nothing."""


class Unarchived(TypedDict):
    items: list[UnarchivedItem]


class UnarchivedItem(TypedDict):
    conflict: NotRequired[list[WrittenStatement]]
    """A set of statements that contradict each other."""
    item: str
    outcome: Literal["changed", "unchanged", "refused"]
    reason: NotRequired[str]
    """Why it was refused, or has not changed."""
    seq: NotRequired[int]
    """Absent if nothing was recorded."""


class UseRecord(TypedDict):
    rate: float
    """Successes in uses, rounded down."""
    ref: str
    """The revision that was used."""
    seq: int
    successes: int
    uses: int


class Why(TypedDict):
    as_of: int
    believed: bool
    ended: list[EndedBelief]
    """Past periods in which it was believed, among the newest 512 changes of the elements that it could follow from."""
    erased: NotRequired[list[ErasedRevision]]
    """For the state erased: revisions that may have stated it. Their words are gone."""
    state: Literal["believed", "ended", "erased", "never"]
    """ended: it was believed. erased: no remaining revision ever made it believed, but erased revisions of the space may have. never: no revision made it believed."""
    statement: WrittenStatement
    """The statement that was asked about."""
    support: list[Support]
    """A set of elements from which it follows."""


class WorkingCleared(TypedDict):
    cleared: int
    owner: NotRequired[str]
    session: str


class WorkingMessage(TypedDict):
    at: str
    """The time at which the message was put."""
    author: str
    content: str
    expires_at: str
    id: str
    role: Literal["user", "assistant", "system", "tool"]


class WorkingMessages(TypedDict):
    messages: list[WorkingMessage]
    owner: NotRequired[str]
    session: str


class WorkingOutcome(TypedDict):
    bytes: int
    """The bytes of the session that count against the limit, now."""
    dropped: int
    """The number of oldest messages that were dropped for the messages of the request."""
    expired: int
    """The number of messages that expired since the session changed last."""
    held: int
    """The number of messages of the session now."""
    messages: list[PutMessage]
    """The messages, in the order of the request."""
    session: str


class WorkingSession(TypedDict):
    bytes: int
    expires_at: str
    """When the last message expires."""
    messages: int
    """The number of messages. Some may have expired by now."""
    owner: NotRequired[str]
    """The caller whose session it is."""
    session: str


class WorkingSessions(TypedDict):
    sessions: list[WorkingSession]


class Written(TypedDict):
    """How names were spelled, where that is not the canonical name."""

    object: NotRequired[str]
    predicate: NotRequired[str]
    subject: NotRequired[str]


WrittenStatement = TypedDict(
    "WrittenStatement",
    {
        "not": "NotRequired[bool]",
        "object": "str",
        "predicate": "str",
        "subject": "str",
        "written": "NotRequired[Written]",
    },
)


class Operations:
    """One method for each operation."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def abstract_beliefs(self, body: AbstractionRequest) -> Abstraction:
        """State something more general than the beliefs it is drawn from.

        Proposes statements that are more general than those of some items, with links `abstracted_to` from these. It rests on their turns. If it is specific enough to replace them, they are deprecated in the same change. Statements that contradict an original are refused.
        """
        return self._transport.json("POST", "/api/beliefs/abstract", body=body, media="application/json")

    def accept_memory(self, body: OldMemory) -> Remembered:
        """Accept a proposal.

        From then on it is the word of the person who accepts it, and what contradicts it gives way.
        """
        return self._transport.json("POST", "/api/memories/accept", body=body, media="application/json")

    def add_aliases(self, body: NewAliases) -> AliasesAdded:
        """Add aliases, or a CSV list of them.

        From now on each stands for its canonical name, all of them or, on an error,
        none. Facts are kept as they were asserted; names are resolved when they are
        read. An alias that stands for another name already, or that would make a
        chain, is an `alias_conflict` that gives both names. An alias decides under
        which name everybody's statements are recorded from now on, so no key of role
        `agent` adds or removes one.

        With `Content-Type: text/csv` the body is a list, `alias,canonical` on each
        line. What contradicts itself within the list is left out and counted; what
        contradicts the table is an error. At most 10 000 aliases at once.
        """
        return self._transport.json("POST", "/api/knowledge/aliases", body=body, media="application/json")

    def add_aliases_csv(self, body: bytes) -> AliasesAdded:
        """Add aliases, or a CSV list of them.

        From now on each stands for its canonical name, all of them or, on an error,
        none. Facts are kept as they were asserted; names are resolved when they are
        read. An alias that stands for another name already, or that would make a
        chain, is an `alias_conflict` that gives both names. An alias decides under
        which name everybody's statements are recorded from now on, so no key of role
        `agent` adds or removes one.

        With `Content-Type: text/csv` the body is a list, `alias,canonical` on each
        line. What contradicts itself within the list is left out and counted; what
        contradicts the table is an error. At most 10 000 aliases at once.

        The body is text/csv, unchanged.
        """
        return self._transport.json("POST", "/api/knowledge/aliases", body=body, media="text/csv")

    def admit_turns(self, body: Turns) -> Receipt:
        """Admit up to 10 000 turns, all or none, or a stream of lines.

        Admits a batch, all of it or nothing, in any order. A turn that is there
        already with the same content counts as existing, so repeating a request
        is safe. A batch has at most 10 000 turns, unless the service is set up
        otherwise. The same id with other content is a conflict that names both
        digests. A parent that is neither stored nor in the batch is an error.

        With `Content-Type: application/x-ndjson` the body is one turn a line and
        may be of any length. Lines are admitted in batches of up to 1 000 as they
        arrive, each batch whole or not at all, so parents stand before their
        children or within the same batch. Lines that stand after their parents are
        admitted in their order: what `graphkernel export` wrote gets the same numbers. If a line is refused, the problem says
        in `admitted` and `existing` what was acknowledged before it.
        """
        return self._transport.json("POST", "/api/turns", body=body, media="application/json")

    def admit_turns_lines(self, body: bytes) -> Receipt:
        """Admit up to 10 000 turns, all or none, or a stream of lines.

        Admits a batch, all of it or nothing, in any order. A turn that is there
        already with the same content counts as existing, so repeating a request
        is safe. A batch has at most 10 000 turns, unless the service is set up
        otherwise. The same id with other content is a conflict that names both
        digests. A parent that is neither stored nor in the batch is an error.

        With `Content-Type: application/x-ndjson` the body is one turn a line and
        may be of any length. Lines are admitted in batches of up to 1 000 as they
        arrive, each batch whole or not at all, so parents stand before their
        children or within the same batch. Lines that stand after their parents are
        admitted in their order: what `graphkernel export` wrote gets the same numbers. If a line is refused, the problem says
        in `admitted` and `existing` what was acknowledged before it.

        The body is application/x-ndjson, unchanged.
        """
        return self._transport.json("POST", "/api/turns", body=body, media="application/x-ndjson")

    def archive_beliefs(self, body: ArchiveRequest) -> Archive:
        """Archive items that nobody believes or uses any more.

        Writes a file with the revisions of items that nothing is believed of any more, or that others supersede, if they are unused for 90 days and their confidence is below 0.3. Save the file, and ask again with its digest: then each item is deprecated, and its deprecation keeps the digest of its line. If it is another file by then, nothing is recorded.
        """
        return self._transport.json("POST", "/api/beliefs/archive", body=body, media="application/json")

    def assemble_context(self, body: ContextRequest) -> Union[Context, dict[str, Any]]:
        """Assemble a context for a task.

        Chooses what an agent may be given: turns that fit the words of the task, the slice around the anchor, what a person said
        and what was said last in its conversation, and what is known of the names in the task. The policy weighs them, and the
        budget bounds them. The choice is signed, and recorded as shown. With `"format":"bundle"` the answer is the evidence:
        canonical bytes, to be passed on and verified exactly as they are (`/api/verify_bundle`,
        `/api/slices/{slice_id}/replay`), whose `turns` are the chosen ones; anyone can recompute the choice and the prompt from it. In
        the other formats the answer has the prompt. What it says was recorded earlier, and gives no orders.
        """
        return self._transport.json("POST", "/api/context", body=body, media="application/json")

    def atlas_communities(self, *, as_of: int | None = None, issued: int | None = None, limit: int | None = None, of: Literal["turns", "facts"] | None = None) -> Communities:
        """List communities of turns, or of the names in facts.

        Divides turns, or the names in facts, into communities.
        """
        return self._transport.json("GET", "/api/atlas/communities", query={"as_of": as_of, "issued": issued, "limit": limit, "of": of})

    def atlas_influence(self, *, as_of: int | None = None, issued: int | None = None, limit: int | None = None, turn: str | None = None, by: Literal["weight", "rank", "betweenness"] | None = None) -> Influence:
        """List the turns that were used most.

        Says of turns in how many slices and contexts they were, and where they are in the graph.
        """
        return self._transport.json("GET", "/api/atlas/influence", query={"as_of": as_of, "issued": issued, "limit": limit, "turn": turn, "by": by})

    def atlas_manifest(self, *, as_of: int | None = None, issued: int | None = None, unsigned: bool | None = None) -> Manifest:
        """Write the atlas as one signed document.

        The document is the same, byte for byte, whenever it is asked for as of the same numbers, as long as no fact's turn and no author is erased.
        """
        return self._transport.json("GET", "/api/atlas/manifest", query={"as_of": as_of, "issued": issued, "unsigned": unsigned})

    def atlas_overlap(self, *, as_of: int | None = None, issued: int | None = None, limit: int | None = None) -> Overlap:
        """List the slices and contexts that share the most turns.

        Compares slices and contexts by the turns that both contain.
        """
        return self._transport.json("GET", "/api/atlas/overlap", query={"as_of": as_of, "issued": issued, "limit": limit})

    def atlas_snapshot(self, *, as_of: int | None = None, issued: int | None = None) -> Snapshot:
        """Count the graph.

        Counts turns, edges and conversations by what they are, as of a number, and how they grew.
        """
        return self._transport.json("GET", "/api/atlas", query={"as_of": as_of, "issued": issued})

    def attest_bundle(self, body: bytes) -> Evidence:
        """Have a bundle attested.

        Signs for third parties what was issued here, for whoever holds the bundle:
        exactly these bytes. The attestation is the same each time as long as the
        key is; the proof's checkpoint moves on with the ledger. A slice is asked
        for first, with `/api/slice`, and its bytes are sent here as they came.
        """
        return self._transport.json("POST", "/api/attest", body=body, media="application/json")

    def belief_conflicts(self, *, space: str) -> Conflicts:
        """List the proposals that were not taken."""
        return self._transport.json("GET", "/api/beliefs/conflicts", query={"space": space})

    def belief_impact(self, *, ref: str, depth: int | None = None) -> Impact:
        """Show what depends on a revision."""
        return self._transport.json("GET", "/api/beliefs/impact", query={"ref": ref, "depth": depth})

    def belief_rules(self, *, space: str, as_of: int | None = None) -> BeliefBase:
        """List the rules of a space.

        All statements of the constraints of a space: what persons state of the kinds that its policy marks `hard` or `always`. No similarity and no budget shortens the list.
        """
        return self._transport.json("GET", "/api/beliefs/rules", query={"space": space, "as_of": as_of})

    def blame_turn(self, id: str, *, as_of: int | None = None, issued: int | None = None, policy: str | None = None) -> Blame:
        """Show what may have led to a turn.

        Lists what was handed out for it, the turns that all of that held, and those on which the choice of the others hung: the slice is cut again without each.
        """
        return self._transport.json("GET", f"/api/turns/{self._transport.segment(id)}/blame", query={"as_of": as_of, "issued": issued, "policy": policy})

    def cascade_beliefs(self, body: CascadeRequest) -> Cascade:
        """Lower the confidence of beliefs whose evidence fell.

        The confidence of each belief whose evidence fell is computed anew from the evidence that is left; below 0.3 what it states ends now. All of it
        is one change with the reasons, and nothing is deleted. What is published keeps its confidence.
        """
        return self._transport.json("POST", "/api/beliefs/cascade", body=body, media="application/json")

    def clear_working(self, session: str, *, owner: str | None = None) -> WorkingCleared:
        """Clear the messages of a session.

        No record of this is made, and nothing of the text is left in the files of the store.
        """
        return self._transport.json("DELETE", f"/api/working/{self._transport.segment(session)}", query={"owner": owner})

    def consolidate_working(self, session: str, body: dict[str, Any]) -> Consolidated:
        """Make turns of messages.

        The messages are admitted as one batch, as by admitTurns, each a reply to the one before it, and then leave the session. If anything fails, the session is what it
        was. Repeating the request is safe: what is a turn already is not admitted again.
        """
        return self._transport.json("POST", f"/api/working/{self._transport.segment(session)}/consolidate", body=body, media="application/json")

    def contract_beliefs(self, body: BeliefRequest) -> BeliefOutcome:
        """Give up statements.

        Each of them, and of what it follows from as much as is needed, the least entrenched first. Of a revision that states more, a new revision without them is made.
        """
        return self._transport.json("POST", "/api/beliefs/contract", body=body, media="application/json")

    def convert_bundle(self, body: bytes, *, to: Literal["prov", "openlineage", "sigstore"]) -> Converted:
        """Write a bundle as W3C PROV, OpenLineage, or for cosign.

        Writes a bundle that was issued here for other people's tools: W3C PROV-JSON, an
        OpenLineage event, or what cosign verifies.
        """
        return self._transport.json("POST", "/api/convert", query={"to": to}, body=body, media="application/json")

    def create_key(self, body: NewAPIKey) -> MadeAPIKey:
        """Make an API key, whose text is shown this once."""
        return self._transport.json("POST", "/api/keys", body=body, media="application/json", once=True)

    def cut_facts(self, body: FactSliceRequest) -> bytes:
        """Cut and sign a slice of facts.

        Gathers what can be reached from some entities under a policy of the type
        `fact_policy_v1`, signs it, records that it was handed out, and answers with
        the bundle: canonical bytes, to be passed on and verified exactly as they are
        (`/api/verify_bundle`, `/api/slices/{slice_id}/replay`). It holds the paths, the assertions that
        they rest on, and the leaf hashes of the turns that are the evidence. The same
        question as of the same number gives the same bytes, and the same `ETag`.
        """
        return self._transport.raw("POST", "/api/knowledge/slice", body=body, media="application/json")

    def cut_slice(self, body: SliceRequest) -> bytes:
        """Cut and sign a slice.

        Selects the turns that may influence the anchor, signs them, records that
        they were handed out, and answers with the bundle: canonical bytes, to be
        passed on and verified exactly as they are. The same request on the same
        view gives the same bytes, and the same `ETag`. Without `policy` the turns are
        chosen under `default@3`: none that came after the anchor, at most 256 and
        32 000 tokens. An anchor that alone costs more is `slice_too_large`; name a
        policy without such a bound, such as `default@1`.
        """
        return self._transport.raw("POST", "/api/slice", body=body, media="application/json")

    def cut_slices(self, body: SliceRequests) -> BatchResults:
        """Cut up to 100 slices.

        Cuts the slices in parallel. Each has its own bundle or its own problem,
        in the order of the requests; one that fails does not touch the others.
        What passes 64 MiB of answer in all is `too_large`: ask for it alone.
        """
        return self._transport.json("POST", "/api/slice/batch", body=body, media="application/json")

    def decay_beliefs(self, body: DecayRequest) -> Decay:
        """Lower the confidence of old beliefs.

        Lowers the confidence of beliefs by the half-lives of their kinds. Nothing ends, and nothing is deleted. The confidence is computed from the last revision that decay did not make, so it does not depend on how often this is requested. Published revisions keep their confidence.
        """
        return self._transport.json("POST", "/api/beliefs/decay", body=body, media="application/json")

    def deprecate_item(self, body: Deprecation) -> KrefChange:
        """Stop believing an item.

        Nothing is lost: its revisions and tags stay, and it can be restored.
        """
        return self._transport.json("POST", "/api/krefs/deprecate", body=body, media="application/json")

    def diff_beliefs(self, *, space: str, from_: int, to: int | None = None) -> BaseDiff:
        """Compare the beliefs as of two numbers."""
        return self._transport.json("GET", "/api/beliefs/diff", query={"space": space, "from": from_, "to": to})

    def draw_knowledge(self, *, entity: str, format: Literal["d3", "mermaid", "dot", "jsonld"] | None = None, max_hops: int | None = None, max_results: int | None = None, direction: Literal["outgoing", "incoming", "both"] | None = None, predicates: Sequence[str] | None = None, min_confidence: float | None = None, as_of: int | None = None, valid_at: str | None = None) -> bytes:
        """Draw what is around an entity.

        The entity, what can be reached from it, and the facts on the best way to
        each; facts between them beside these ways are not drawn. `d3` is JSON with
        nodes and links, `jsonld` JSON-LD 1.1, `mermaid` and `dot` are text. The same
        question as of the same number gives the same bytes. In drawings for people,
        names are cut to 200 characters and can do nothing but be read.
        """
        return self._transport.raw("GET", "/api/knowledge/graph", query={"entity": entity, "format": format, "max_hops": max_hops, "max_results": max_results, "direction": direction, "predicates": predicates, "min_confidence": min_confidence, "as_of": as_of, "valid_at": valid_at})

    def enrich_hits(self, body: EnrichRequest) -> Enriched:
        """Add what is known to turns that were found.

        Turns that were found, by a search or in any other way, come back with what is known around the entities that they speak of, and with a score that weighs both:
        a turn about things of which much is known that fits the query moves up. The facts around an entity count by confidence and nearness, and of many
        the best few decide.
        """
        return self._transport.json("POST", "/api/enrich", body=body, media="application/json")

    def erase_task(self, slice_id: str, body: ErasureRequest | None = None, *, reason: str | None = None) -> TaskErased:
        """Erase the task of a context for good, with a reason.

        Deletes the words of the task, with the budget, the format, the anchor and the salt that were asked for beside them, from every
        record of the context, and records when, why and who asked. The rest of the record stays: bundles that were handed out hold the task and
        still verify, and a replay of the record reports that the task was erased. Texts of turns are erased with their turns. Erasing again answers with the
        first erasure. The id of a slice is refused, and a task that went with a turn is not found.
        """
        return self._transport.json("DELETE", f"/api/slices/{self._transport.segment(slice_id)}/task", query={"reason": reason}, body=body, media="application/json")

    def erase_turn(self, id: str, body: ErasureRequest | None = None, *, reason: str | None = None) -> ErasedTurn:
        """Erase a turn's text for good, with a reason.

        Deletes the turn's text and salt for good and records when and why. The
        turn's place in the graph stays, and old slices still verify and replay.
        Erasing again answers with the first event. The reason is given in the
        body, or as a query parameter where bodies of DELETE are dropped on the
        way; in an address it may end up in logs.
        """
        return self._transport.json("DELETE", f"/api/turns/{self._transport.segment(id)}", query={"reason": reason}, body=body, media="application/json")

    def expand_beliefs(self, body: BeliefRequest) -> BeliefOutcome:
        """Believe statements that contradict nothing."""
        return self._transport.json("POST", "/api/beliefs/expand", body=body, media="application/json")

    def explain_belief(self, *, space: str, subject: str, predicate: str, object: str, not_: bool | None = None, as_of: int | None = None) -> Why:
        """Explain why a statement is believed, or why it no longer is.

        Times in which it followed from others count as those in which it was stated, and say which premise fell. Where nothing that is left ever made it believed, the revisions that were erased up to then are listed: nobody can know what they stated.
        """
        return self._transport.json("GET", "/api/beliefs/why", query={"space": space, "subject": subject, "predicate": predicate, "object": object, "not": not_, "as_of": as_of})

    def explain_context(self, context_id: str, body: dict[str, Any]) -> ContextExplanation:
        """Say why a turn or a fact is in a context.

        Assembles a context that was issued again, and says of a turn or of a fact (by its statement) whether it was chosen, with
        its rank and what its score is made of, or what it lacked: room, a score above 0, or a source that found it.
        """
        return self._transport.json("POST", f"/api/contexts/{self._transport.segment(context_id)}/explain", body=body, media="application/json")

    def explain_cut(self, body: ExplainCutting) -> Explanation:
        """Say why a turn would be in a slice, or would not.

        Says why a turn is in the slice of an anchor, or is not, whether that was issued
        or not. Nothing is signed or recorded.
        """
        return self._transport.json("POST", "/api/explain", body=body, media="application/json")

    def explain_memory(self, *, id: str | None = None, words: str | None = None, project: str | None = None) -> MemoryReasons:
        """Say why something is remembered, or what became of it.

        Who said it and when, the turns that it rests on, what it replaced, and how it ended if it holds no longer. Give its id, or words that find it.
        """
        return self._transport.json("GET", "/api/memories/why", query={"id": id, "words": words, "project": project})

    def explain_turn(self, slice_id: str, body: dict[str, Any]) -> Explanation:
        """Explain why a turn is in a slice, or is not.

        Answers for the newest bundle on record: the turn's rank, score and
        reason, or what stood in its way.
        """
        return self._transport.json("POST", f"/api/slices/{self._transport.segment(slice_id)}/explain", body=body, media="application/json")

    def export_persona(self, body: PersonaRequest) -> Persona:
        """Sign what of a space may leave it.

        Makes a persona: what is believed in the space, without episodes, models of users and relationships, and observations that are not shared. Names of people are replaced by aliases. What did not leave is listed, and so are names that could not be replaced.
        """
        return self._transport.json("POST", "/api/beliefs/persona/export", body=body, media="application/json")

    def fact_history(self, statement: str, *, after: str | None = None, limit: int | None = None) -> FactHistory:
        """Read all that was said of a statement.

        Assertions and retractions by ascending number. An assertion that has
        `version` gave the statement its confidence, from its number on and up to
        before `until`.
        """
        return self._transport.json("GET", f"/api/knowledge/{self._transport.segment(statement)}/history", query={"after": after, "limit": limit})

    def fact_history_all(self, statement: str) -> Iterator[KnowledgeAct]:
        """Read all that was said of a statement: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.fact_history(statement, after=after, limit=1000)
            yield from page["acts"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def find_paths(self, *, from_: str, to: str, count: int | None = None, predicates: Sequence[str] | None = None, direction: Literal["outgoing", "incoming", "both"] | None = None, max_hops: int | None = None, min_confidence: float | None = None, as_of: int | None = None, valid_at: str | None = None) -> Traversal:
        """Find ways from one entity to another.

        The k shortest, of the same length those of the highest minimum confidence
        first. No entity comes twice on a way. There may be none.
        """
        return self._transport.json("GET", "/api/knowledge/path", query={"from": from_, "to": to, "count": count, "predicates": predicates, "direction": direction, "max_hops": max_hops, "min_confidence": min_confidence, "as_of": as_of, "valid_at": valid_at})

    def forget(self, body: OldMemory) -> Forgotten:
        """Forget a memory, or refuse a proposal.

        It holds no longer, and no context and no list has it. The history keeps what it said, and so do bundles that were handed out. An agent forgets only what it proposed itself.
        """
        return self._transport.json("POST", "/api/memories/forget", body=body, media="application/json")

    def get_belief_base(self, *, space: str, as_of: int | None = None, valid_at: str | None = None, subject: str | None = None) -> BeliefBase:
        """List the beliefs of a space.

        As of any number: what was believed then, whatever came later. A statement that follows by a rule is marked.
        """
        return self._transport.json("GET", "/api/beliefs/base", query={"space": space, "as_of": as_of, "valid_at": valid_at, "subject": subject})

    def get_bundle(self, slice_id: str, *, bundle: str | None = None) -> Union[dict[str, Any]]:
        """Read a bundle that was issued, once more.

        Makes the newest bundle of a slice id again, of turns, of facts or a context, or the one whose SHA-256 is `bundle`, and
        answers with it if the bytes are those that were issued. Where a text was erased since, the answer is 410.
        """
        return self._transport.json("GET", f"/api/slices/{self._transport.segment(slice_id)}/bundle", query={"bundle": bundle})

    def get_caller(self) -> Caller:
        """Say who asks, and how far the tenant has come."""
        return self._transport.json("GET", "/api/caller")

    def get_checkpoint(self) -> str:
        """Read the ledger's newest checkpoint.

        The ledger is that of the key's tenant. With witnesses configured the
        checkpoint may be some seconds old.
        """
        return self._transport.text("GET", "/log/checkpoint")

    def get_consistency(self, *, from_: int, to: int) -> str:
        """Prove that the ledger grew from one size to another.

        The hashes (RFC 6962, section 2.1.2) that lead from the root at one size to
        the root at another: that the second begins with the first. There are none
        if the sizes are equal, or the first is 0. Whoever reads tiles needs no such answer.
        """
        return self._transport.text("GET", "/log/consistency", query={"from": from_, "to": to})

    def get_conversation(self, id: str, *, key: str | None = None, after: str | None = None, limit: int | None = None) -> ConversationTurns:
        """Read the turns of a conversation."""
        return self._transport.json("GET", f"/api/conversations/{self._transport.segment(id)}", query={"key": key, "after": after, "limit": limit})

    def get_conversation_all(self, id: str, *, key: str | None = None) -> Iterator[StoredTurn]:
        """Read the turns of a conversation: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.get_conversation(id, key=key, after=after, limit=1000)
            yield from page["turns"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def get_entries(self, entries: str) -> bytes:
        """Read a tile of the ledger's entries, under another name.

        The same as `/log/tile/entries/`.
        """
        return self._transport.raw("GET", f"/log/entries/{self._transport.segments(entries)}")

    def get_evidence(self, slice_id: str, *, bundle: str | None = None) -> Evidence:
        """Read what convinces third parties of a slice.

        Makes the bundle again, and if the bytes are those that were issued, signs
        an attestation and proves that it is in the ledger. If text was erased
        since, whoever holds the bundle sends it to `/api/attest` instead.
        """
        return self._transport.json("GET", f"/api/slices/{self._transport.segment(slice_id)}/evidence", query={"bundle": bundle})

    def get_log_keys(self) -> KernelKeys:
        """Read the keys that sign for third parties.

        Those of the key's tenant. They tell a person what a trust file should hold; a
        verifier believes no key that comes with the evidence.
        """
        return self._transport.json("GET", "/log/keys")

    def get_policy(self, policy_id: str) -> RegisteredPolicy:
        """Read a policy."""
        return self._transport.json("GET", f"/api/policies/{self._transport.segment(policy_id)}")

    def get_proof(self, *, index: int) -> str:
        """Prove that a leaf is in the ledger."""
        return self._transport.text("GET", "/log/proof", query={"index": index})

    def get_public_checkpoint(self, tenant: str) -> str:
        """Read the newest checkpoint of a public ledger.

        Without a key, of the tenants that the setting `log.public` names. Every other
        one is `not_found`, whether it exists or not.
        """
        return self._transport.text("GET", f"/log/of/{self._transport.segment(tenant)}/checkpoint", keyless=True)

    def get_public_tile(self, tenant: str, tile: str) -> bytes:
        """Read a tile of a public ledger.

        As `/log/tile/`, without a key, and for caches on the way to keep.
        """
        return self._transport.raw("GET", f"/log/of/{self._transport.segment(tenant)}/tile/{self._transport.segments(tile)}", keyless=True)

    def get_slice(self, slice_id: str) -> SliceRecord:
        """Read the record of a slice."""
        return self._transport.json("GET", f"/api/slices/{self._transport.segment(slice_id)}")

    def get_standing(self, *, as_of: int | None = None) -> Standing:
        """The standing policy in force.

        It says whose words count: the operator's, the owner's, a member's, a guest's. Each earlier setting is listed, with who set it.
        """
        return self._transport.json("GET", "/api/standing", query={"as_of": as_of})

    def get_tile(self, tile: str) -> bytes:
        """Read a tile of hashes, or of entries.

        As C2SP tlog-tiles has them: `LEVEL/INDEX` or `entries/INDEX`, and for a part
        of it `.p/WIDTH` behind. The index is written in groups of three digits, all but the
        last with an x: 1234067 is `x001/x234/067`. No other spelling is read. A tile is served
        once it is full, a part of it once there is that much. Entries are
        compressed for those who take gzip, and need the permission `read`.
        """
        return self._transport.raw("GET", f"/log/tile/{self._transport.segments(tile)}")

    def get_turn(self, id: str) -> StoredTurn:
        """Read one turn."""
        return self._transport.json("GET", f"/api/turns/{self._transport.segment(id)}")

    def get_working(self, session: str, *, owner: str | None = None) -> WorkingMessages:
        """Read the messages of a session."""
        return self._transport.json("GET", f"/api/working/{self._transport.segment(session)}", query={"owner": owner})

    def import_persona(self, body: PersonaImport) -> ImportedPersona:
        """Take a persona into a space.

        Takes each item under a new name, with where it is from as the reason. Everything is proposed, unless the caller asks to revise. It needs the permission to revise in any case: whose signature counts is not for an agent to say. A persona that says it is from this kernel must be signed by a key of its own. The signature is checked first, and then all items; if anything is wrong, nothing is recorded. Importing the same persona again changes nothing.
        """
        return self._transport.json("POST", "/api/beliefs/persona/import", body=body, media="application/json")

    def knowledge_changes(self, *, after: str | None = None, limit: int | None = None) -> KnowledgeChanges:
        """Read what changed.

        Acts by ascending number: assertions, retractions, aliases and their ends.
        Without `next` there is no more for now: go on later with the `seq` of the last act
        as `after`.
        """
        return self._transport.json("GET", "/api/knowledge/changes", query={"after": after, "limit": limit})

    def knowledge_changes_all(self) -> Iterator[KnowledgeAct]:
        """Read what changed: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.knowledge_changes(after=after, limit=1000)
            yield from page["acts"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def knowledge_stats(self, *, as_of: int | None = None, brief: bool | None = None) -> KnowledgeStats:
        """Count facts, entities, predicates, sources and aliases.

        Reads every act that is on record up to the number, and so takes as long as
        there are many: some seconds for each million. The 100 predicates and sources
        with the most facts are named.
        """
        return self._transport.json("GET", "/api/knowledge/stats", query={"as_of": as_of, "brief": brief})

    def learn_fact(self, body: NewFact) -> KnowledgeOutcome:
        """Record a fact.

        Asserts a statement: it is believed from now on, or confirmed if it was. Its
        confidence is the highest that was asserted. The same assertion again changes
        nothing. Names may have any spelling; what they become is the canonical name.
        The turn and the slice that are named as evidence must be here. With
        `supersedes` other statements, which must be believed, end with it.
        """
        return self._transport.json("POST", "/api/knowledge", body=body, media="application/json")

    def learn_facts(self, body: Knowledge) -> KnowledgeOutcomes:
        """Record up to 10 000 facts and retractions, all or none.

        Up to 10 000 in all, all of them or, on an error, none. Retractions come
        first. Each has its own outcome: a retraction of what is not believed is
        `absent`, a fact that is recorded already `existing`.

        With `Content-Type: application/x-ndjson` the body is one fact or one
        retraction a line, and they are recorded in the order of the lines, all of
        them or none. It has the bounds that the other form has. If a line is
        refused, the problem's place names it.
        """
        return self._transport.json("POST", "/api/knowledge/batch", body=body, media="application/json")

    def learn_facts_lines(self, body: bytes) -> KnowledgeOutcomes:
        """Record up to 10 000 facts and retractions, all or none.

        Up to 10 000 in all, all of them or, on an error, none. Retractions come
        first. Each has its own outcome: a retraction of what is not believed is
        `absent`, a fact that is recorded already `existing`.

        With `Content-Type: application/x-ndjson` the body is one fact or one
        retraction a line, and they are recorded in the order of the lines, all of
        them or none. It has the bounds that the other form has. If a line is
        refused, the problem's place names it.

        The body is application/x-ndjson, unchanged.
        """
        return self._transport.json("POST", "/api/knowledge/batch", body=body, media="application/x-ndjson")

    def link_kref(self, body: NewLink) -> KrefChange:
        """Link a revision to another revision, to a turn or to a slice."""
        return self._transport.json("POST", "/api/krefs/link", body=body, media="application/json")

    def list_aliases(self, *, as_of: int | None = None, after: str | None = None, limit: int | None = None) -> Aliases:
        """List the aliases.

        Ascending, all pages of the view of the first one.
        """
        return self._transport.json("GET", "/api/knowledge/aliases", query={"as_of": as_of, "after": after, "limit": limit})

    def list_aliases_all(self, *, as_of: int | None = None) -> Iterator[Alias]:
        """List the aliases: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_aliases(as_of=as_of, after=after, limit=1000)
            yield from page["aliases"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_conversations(self, *, newest: bool | None = None, after: str | None = None, limit: int | None = None) -> Conversations:
        """List conversations."""
        return self._transport.json("GET", "/api/conversations", query={"newest": newest, "after": after, "limit": limit})

    def list_conversations_all(self, *, newest: bool | None = None) -> Iterator[Conversation]:
        """List conversations: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_conversations(newest=newest, after=after, limit=1000)
            yield from page["conversations"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_erasures(self, *, turn: str | None = None, after: str | None = None, limit: int | None = None) -> Erasures:
        """List whose text was erased, when, why and at whose request.

        The oldest first. Erasures of the tasks of contexts are not in it: the records of those are in the stream of events.
        """
        return self._transport.json("GET", "/api/erasures", query={"turn": turn, "after": after, "limit": limit})

    def list_erasures_all(self, *, turn: str | None = None) -> Iterator[Event]:
        """List whose text was erased, when, why and at whose request: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_erasures(turn=turn, after=after, limit=1000)
            yield from page["erasures"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_facts(self, *, subject: str | None = None, predicate: str | None = None, object: str | None = None, entity: str | None = None, source: str | None = None, turn: str | None = None, statement: str | None = None, min_confidence: float | None = None, valid_at: str | None = None, as_of: int | None = None, after: str | None = None, limit: int | None = None) -> Facts:
        """List what is believed.

        Facts by the number since when they are believed as they are. Names are
        normalized and resolved: every spelling and every alias of an entity finds
        it. Of each fact the newest 32 assertions that count are given; its history
        has all. All pages are of the view of the first one.
        """
        return self._transport.json("GET", "/api/knowledge", query={"subject": subject, "predicate": predicate, "object": object, "entity": entity, "source": source, "turn": turn, "statement": statement, "min_confidence": min_confidence, "valid_at": valid_at, "as_of": as_of, "after": after, "limit": limit})

    def list_facts_all(self, *, subject: str | None = None, predicate: str | None = None, object: str | None = None, entity: str | None = None, source: str | None = None, turn: str | None = None, statement: str | None = None, min_confidence: float | None = None, valid_at: str | None = None, as_of: int | None = None) -> Iterator[Fact]:
        """List what is believed: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_facts(subject=subject, predicate=predicate, object=object, entity=entity, source=source, turn=turn, statement=statement, min_confidence=min_confidence, valid_at=valid_at, as_of=as_of, after=after, limit=1000)
            yield from page["facts"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_folders(self, *, limit: int | None = None) -> Folders:
        """List the folders in which agents worked.

        Folders as the first turns of conversations spell them, that in which
        something was said last first, and the last conversations of each. Bring them
        to the `folders` of a context to choose from one project alone.
        """
        return self._transport.json("GET", "/api/folders", query={"limit": limit})

    def list_held_back(self, *, after: str | None = None, limit: int | None = None) -> HeldBackTurns:
        """List turns whose text was held back, since it was erased under another id.

        The oldest first. Such a turn is in its place, without its text: a copy of an erased text came under another id, from a fork, a resumed session or an import.
        A person who says the words again is not held back; the answer to the admission counts that as erased_before.
        """
        return self._transport.json("GET", "/api/held-back", query={"after": after, "limit": limit})

    def list_held_back_all(self) -> Iterator[HeldBack]:
        """List turns whose text was held back, since it was erased under another id: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_held_back(after=after, limit=1000)
            yield from page["held_back"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_items(self, *, space: str, as_of: int | None = None, limit: int | None = None, after: str | None = None, deprecated: bool | None = None) -> Items:
        """List the items of a space.

        With what is current of each, as it was written. Deprecated items are counted in `left_out`, and listed with `deprecated`.
        """
        return self._transport.json("GET", "/api/beliefs/items", query={"space": space, "as_of": as_of, "limit": limit, "after": after, "deprecated": deprecated})

    def list_items_all(self, *, space: str, as_of: int | None = None, deprecated: bool | None = None) -> Iterator[ListedItem]:
        """List the items of a space: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_items(space=space, as_of=as_of, deprecated=deprecated, after=after, limit=1000)
            yield from page["items"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_keys(self) -> APIKeys:
        """List API keys."""
        return self._transport.json("GET", "/api/keys")

    def list_memories(self, *, words: str | None = None, project: str | None = None, around: str | None = None, kind: str | None = None, proposed: bool | None = None, as_of: int | None = None, after: str | None = None, limit: int | None = None) -> Memories:
        """List or search what is remembered.

        With words, the best match comes first, and what matches none of them is left out; without, the newest comes first. Without a project, it covers all projects that the caller may see.
        """
        return self._transport.json("GET", "/api/memories", query={"words": words, "project": project, "around": around, "kind": kind, "proposed": proposed, "as_of": as_of, "after": after, "limit": limit})

    def list_memories_all(self, *, words: str | None = None, project: str | None = None, around: str | None = None, kind: str | None = None, proposed: bool | None = None, as_of: int | None = None) -> Iterator[Memory]:
        """List or search what is remembered: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_memories(words=words, project=project, around=around, kind=kind, proposed=proposed, as_of=as_of, after=after, limit=1000)
            yield from page["memories"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_policies(self) -> Policies:
        """List policies."""
        return self._transport.json("GET", "/api/policies")

    def list_slices(self, *, kind: Literal["slice", "facts", "context", "belief"] | None = None, begins: str | None = None, newest: bool | None = None, counted: bool | None = None, after: str | None = None, limit: int | None = None) -> Slices:
        """List what was issued.

        Slices of turns and of facts, and contexts, are one record, in which each has a number.
        """
        return self._transport.json("GET", "/api/slices", query={"kind": kind, "begins": begins, "newest": newest, "counted": counted, "after": after, "limit": limit})

    def list_slices_all(self, *, kind: Literal["slice", "facts", "context", "belief"] | None = None, begins: str | None = None, newest: bool | None = None, counted: bool | None = None) -> Iterator[Issued]:
        """List what was issued: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_slices(kind=kind, begins=begins, newest=newest, counted=counted, after=after, limit=1000)
            yield from page["slices"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_spaces(self, *, constraints: bool | None = None) -> Spaces:
        """List the spaces of beliefs.

        With `constraints=true`, each with what its constraints add up to.
        """
        return self._transport.json("GET", "/api/spaces", query={"constraints": constraints})

    def list_standings(self, *, turn: str | None = None, conversation: str | None = None, only: Literal["outside", "guest", "agent", "member", "owner", "system"] | None = None, as_of: int | None = None, after: str | None = None, limit: int | None = None) -> Standings:
        """The standings of turns, with why.

        Of one turn, or of the turns of one conversation by ascending number. A standing follows from the policy and from how a turn came in, never from its text, so an erased turn keeps the standing that it had.
        """
        return self._transport.json("GET", "/api/standings", query={"turn": turn, "conversation": conversation, "only": only, "as_of": as_of, "after": after, "limit": limit})

    def list_standings_all(self, *, turn: str | None = None, conversation: str | None = None, only: Literal["outside", "guest", "agent", "member", "owner", "system"] | None = None, as_of: int | None = None) -> Iterator[TurnStanding]:
        """The standings of turns, with why: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_standings(turn=turn, conversation=conversation, only=only, as_of=as_of, after=after, limit=1000)
            yield from page["turns"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_turns(self, *, conversation: str | None = None, key: str | None = None, role: Literal["user", "assistant", "system", "tool"] | None = None, after: str | None = None, limit: int | None = None) -> StoredTurns:
        """List turns, of one conversation, of one key, of one role, or all."""
        return self._transport.json("GET", "/api/turns", query={"conversation": conversation, "key": key, "role": role, "after": after, "limit": limit})

    def list_turns_all(self, *, conversation: str | None = None, key: str | None = None, role: Literal["user", "assistant", "system", "tool"] | None = None) -> Iterator[StoredTurn]:
        """List turns, of one conversation, of one key, of one role, or all: all pages, one item after the other."""
        after: str | None = None
        while True:
            page = self.list_turns(conversation=conversation, key=key, role=role, after=after, limit=1000)
            yield from page["turns"]
            last, after = after, page.get("next")
            if not after or after == last:
                return

    def list_working(self) -> WorkingSessions:
        """List sessions.

        An agent sees its own; whoever may read sees those of every caller.
        """
        return self._transport.json("GET", "/api/working")

    def live(self) -> Health:
        """Is the process alive?."""
        return self._transport.json("GET", "/health/live", keyless=True)

    def look_up_turns(self, body: TurnIDs) -> StoredTurns:
        """Read up to 1 000 turns by their ids.

        Reads up to 1 000 turns by their ids. Those that are not there are left out.
        """
        return self._transport.json("POST", "/api/turns/lookup", body=body, media="application/json")

    def memory_history(self, *, id: str | None = None, words: str | None = None, project: str | None = None) -> MemoryStates:
        """List what a memory said, from the first text to the last."""
        return self._transport.json("GET", "/api/memories/history", query={"id": id, "words": words, "project": project})

    def memory_links(self, *, id: str | None = None, words: str | None = None, project: str | None = None, type: str | None = None, direction: Literal["from", "to", "both"] | None = None, depth: int | None = None, until: str | None = None) -> LinkedMemories:
        """List what a memory is linked with.

        The links from and to all that the memory said, and over some steps those of what these lead to, the nearest first. With until, only the shortest way to another memory. A link leads from a revision, which keeps it when the memory says something else.
        """
        return self._transport.json("GET", "/api/memories/links", query={"id": id, "words": words, "project": project, "type": type, "direction": direction, "depth": depth, "until": until})

    def metrics(self) -> str:
        """Metrics in the Prometheus text format.

        No label names a tenant, a key or a turn.
        """
        return self._transport.text("GET", "/metrics", keyless=True)

    def preview_slice(self, body: Cutting) -> Preview:
        """Select what a slice would hold, and issue nothing.

        Selects what a slice of the anchor would hold. Nothing is signed or recorded.
        """
        return self._transport.json("POST", "/api/slice/preview", body=body, media="application/json")

    def promote_beliefs(self, body: PromotionRequest) -> Promotions:
        """Promote items that were found repeatedly.

        Applies the steps of a promotion policy: an item that enough independent sources support becomes a new item of the step's kind, as a
        proposal with the reason, with links `promoted_to` from its sources; or it gets the step's tag. The sources stay. An item that was promoted before is not promoted again.
        """
        return self._transport.json("POST", "/api/beliefs/promote", body=body, media="application/json")

    def propose_beliefs(self, body: BeliefRequest) -> BeliefOutcome:
        """Propose statements, from a source that may be wrong.

        For agents, extraction and imports. It is a revision if all that would give way is less entrenched and not protected, and if it changes no item in which a person vouches for something. Else nothing changes but that a conflict is
        recorded for somebody to decide. What an agent proposes is never a constraint, whatever its kind. What its caller proposed already, in the same words and on no further turn, changes nothing and is `repeated`, whether it is believed or waits. At most 50 proposals of a key wait; another one that would have to wait is `too_many_waiting`.
        """
        return self._transport.json("POST", "/api/beliefs/propose", body=body, media="application/json")

    def prove_belief(self, body: BeliefProofRequest) -> bytes:
        """Hand out signed evidence that a statement is believed.

        The revisions from which it follows, the steps in which it does, and the leaf hashes of the turns that they rest on. It is recorded, and can be verified without the store and replayed.
        """
        return self._transport.raw("POST", "/api/beliefs/evidence", body=body, media="application/json")

    def put_working(self, session: str, body: dict[str, Any]) -> WorkingOutcome:
        """Put messages into a session.

        A session keeps at most 50 messages of 256 KiB, unless the service is set up otherwise. The oldest drop out for new ones, and the answer counts
        them. A message expires an hour after it was put. It is screened and checked as the turn that it may become, under the scope of the key; if one message
        is refused none is put. More at once than a session holds is `too_large`, and more sessions than a tenant may have `working_full`.
        """
        return self._transport.json("POST", f"/api/working/{self._transport.segment(session)}", body=body, media="application/json")

    def ready(self) -> Health:
        """Can it take requests?."""
        return self._transport.json("GET", "/health/ready", keyless=True)

    def register_policy(self, body: PolicyRegistration) -> RegisteredPolicy:
        """Bind a policy's id to parameters for ever.

        Binds an id to parameters for ever. The same again changes nothing; the
        same id with other parameters is a conflict.
        """
        return self._transport.json("POST", "/api/policies", body=body, media="application/json")

    def release_turns(self, body: TurnIDs) -> Released:
        """Release turns whose text was held back.

        All of them or none. The text is stored nowhere: when the turn comes again, by the same import or request, the text is admitted as a reply to
        the turn, under an id that follows from its id. Other copies of the text are held back as before. Releasing again has no effect.
        """
        return self._transport.json("POST", "/api/held-back/release", body=body, media="application/json")

    def remember(self, body: NewMemory) -> Remembered:
        """Remember a text.

        What a person has remembered holds from then on; what contradicts it gives way and is listed. What an agent has remembered is a proposal, shown as the agent's word until a person accepts it. A text that is remembered already changes nothing. The space of a project is made when it is first used.
        """
        return self._transport.json("POST", "/api/memories", body=body, media="application/json")

    def remove_alias(self, alias: str) -> KnowledgeOutcome:
        """Remove an alias.

        From now on the name stands for itself. If it does already, nothing changes
        and the result is `absent`.
        """
        return self._transport.json("DELETE", f"/api/knowledge/aliases/{self._transport.segment(alias)}")

    def replay_slice(self, slice_id: str, body: bytes | None = None) -> Replay:
        """Cut a slice again and compare every byte.

        Cuts the slice again from the view that it was cut from and compares:
        identical, erased (the same but for text erased since), lost (a text is
        gone and no erasure is on record), or the first difference. With a bundle as the body, that bundle is compared byte for
        byte; without one, the newest bundle on record.
        """
        return self._transport.json("POST", f"/api/slices/{self._transport.segment(slice_id)}/replay", body=body, media="application/json")

    def report_not_given(self, context_id: str, body: dict[str, Any]) -> NotGiven:
        """Report that a context did not reach its session.

        A context that names a `recipient` is recorded when it is made. The hook that could not hand it over reports that here: the record stays, says
        `not_given`, and the context no longer counts among those that showed a turn. The caller who asked for the context reports it, or an admin.
        """
        return self._transport.json("POST", f"/api/contexts/{self._transport.segment(context_id)}/not-given", body=body, media="application/json")

    def resolve_conflict(self, body: ConflictResolution) -> ResolvedConflict:
        """Decide a conflict that waits.

        Takes what was proposed, by the authority of the caller, or drops it, or defers it; the conflict then waits no longer. Where revising is
        refused, it goes on waiting. The answer has what the rules advise: they look at the agents, and at confidence and recency.
        """
        return self._transport.json("POST", "/api/beliefs/resolve", body=body, media="application/json")

    def resolve_kref(self, *, ref: str) -> ResolvedKref:
        """Follow an address to a revision.

        An address without a query leads to what is believed of the item: the revision that the tag `current` points to.
        """
        return self._transport.json("GET", "/api/krefs", query={"ref": ref})

    def resolve_turn(self, *, name: str) -> ResolvedTurn:
        """Find the turn that a name means.

        A name is a turn's id, the id that another system gave it such as a commit of git,
        or a beginning of its id or commit that no other turn shares.
        """
        return self._transport.json("GET", "/api/turn", query={"name": name})

    def restore_item(self, body: Deprecation) -> KrefChange:
        """Believe a deprecated item again."""
        return self._transport.json("POST", "/api/krefs/restore", body=body, media="application/json")

    def retract_facts(self, *, subject: str | None = None, predicate: str | None = None, object: str | None = None, entity: str | None = None, source: str | None = None, turn: str | None = None, statement: str | None = None, min_confidence: float | None = None, valid_at: str | None = None, reason: str | None = None, dry_run: bool | None = None) -> Retracted:
        """End the belief in all facts that filters match, or say which those are.

        Ends the belief in every fact that the filters match, all of them or, on an
        error, none. At least one filter beside min_confidence and valid_at is needed.
        With dry_run=true it only says what it would end. Nothing is deleted: who asks
        as of an earlier number still sees it. At most 10 000 facts at once.
        """
        return self._transport.json("DELETE", "/api/knowledge", query={"subject": subject, "predicate": predicate, "object": object, "entity": entity, "source": source, "turn": turn, "statement": statement, "min_confidence": min_confidence, "valid_at": valid_at, "reason": reason, "dry_run": dry_run})

    def revise_beliefs(self, body: BeliefRequest) -> BeliefOutcome:
        """Believe statements, and give up those that contradict them.

        The statements are taken. What is believed beside them is gone through from the most entrenched element to the least, and each is kept unless
        it contradicts them and what is kept. The answer names each element that gave way, with a smallest set that it was in conflict with. It stays in the history. If it
        began to hold before the statements do, it ends where they begin.

        An item whose revision is tagged `published` does not give way: then nothing changes, and `outcome` is `refused`.
        """
        return self._transport.json("POST", "/api/beliefs/revise", body=body, media="application/json")

    def revoke_key(self, id: str) -> RevokedAPIKey:
        """Revoke an API key for good.

        Ends a key for good, here at once and in other processes within a second.
        Revoking again changes nothing.
        """
        return self._transport.json("DELETE", f"/api/keys/{self._transport.segment(id)}")

    def search_turns(self, body: Search) -> Found:
        """Find turns by words.

        Finds the turns that fit words or a question best. Filters choose among the hits; what they leave out counts in the
        statistics that scores rest on. Each hit says how much its words count; the filter `standing` looks at the hits that the policy allows without it, which are
        1000 by default. An erased text counts nowhere, whatever `as_of` says. With `exchanges` a hit also has the last prompt before it, or if it is a prompt, the
        agent's last words before the next one; hits, order and scores stay the same. A hit is not evidence: for that, cut a slice around it.
        """
        return self._transport.json("POST", "/api/search", body=body, media="application/json")

    def set_space(self, body: NewSpace) -> Space:
        """Make a space of beliefs, or put it under another policy.

        What is believed in one space must not contradict itself; what two spaces say does not meet. The policy says which predicates are limited and what
        the kinds of items mean. A policy under which what is believed contradicts itself is a conflict that names the statements.
        """
        return self._transport.json("POST", "/api/spaces", body=body, media="application/json")

    def set_standing(self, body: NewStanding) -> StandingChange:
        """Put a standing policy in force.

        With `dry_run` it changes nothing and answers the difference. The standing of a turn that is there falls with the new policy, and rises only with `retroactive`. What was handed out stays as it was. A policy that is in force already is not set again, except with `retroactive`.
        """
        return self._transport.json("POST", "/api/standing", body=body, media="application/json")

    def startup(self) -> Health:
        """Has it started?."""
        return self._transport.json("GET", "/health/startup", keyless=True)

    def stream_events(self, *, last_event_id: str | None = None, last__event__id: str | None = None) -> Iterator[Event]:
        """Follow admissions, slices, erasures, knowledge and beliefs.

        Server-sent events: `turn` (a turn was admitted; without
        its text), `erasure`, `task_erasure`, `knowledge` (a fact, a retraction or an alias was
        recorded), `belief` (something was recorded of beliefs; without what it says), and `slice` (a bundle was issued). The id of each is
        `SEQ-NUMBER`: the last sequence number and the last number of an issued
        slice that were sent. Sent back as `Last-Event-ID`, the stream goes on
        behind it without loss. A lone `SEQ` goes on after that sequence number
        and sends every slice on record. Without it the stream begins at the
        present, and an id without data says where that is. Comments keep an idle stream open. At most a fixed number of
        streams is open for each key.
        """
        return self._transport.events("GET", "/api/events", headers={"Last-Event-ID": last__event__id}, query={"last_event_id": last_event_id})

    def tag_kref(self, body: NewTag) -> KrefChange:
        """Point a tag to a revision, or remove it.

        The tags `current`, which is what is believed, and `published`, which protects the revision, need the permission to revise. Moving `current` back to an earlier revision
        is refused if that would contradict what is believed beside it.
        """
        return self._transport.json("POST", "/api/krefs/tag", body=body, media="application/json")

    def traverse_knowledge(self, body: TraverseRequest) -> Traversal:
        """Find what can be reached from entities, with a way to each.

        Gives the entities that can be reached from others, each once and by its
        best way: the fewest hops, of those the highest minimum confidence. They
        stand in that order, and ties are decided by the statements' digests, so the
        same question as of the same number has the same answer. What was cut is
        said: `results` if more can be reached than was asked for, `work` if it would
        have looked at more than 200 000 edges. Facts that are newer than as_of do
        not count; if more than 2 000 000 of them are in the way, the question is
        refused.
        """
        return self._transport.json("POST", "/api/knowledge/traverse", body=body, media="application/json")

    def turn_holding(self, id: str) -> Holding:
        """Say which slices and contexts held a turn.

        Contexts are found by an index. No index leads from a turn to the slices of turns that hold it: those among the newest
        1 000 records that can hold it are cut again, and the answer says how many older ones were not looked at.
        """
        return self._transport.json("GET", f"/api/turns/{self._transport.segment(id)}/holding")

    def unarchive_beliefs(self, body: UnarchiveRequest) -> Unarchived:
        """Restore the items of an archive.

        Compares every revision in the file with the one that is recorded, and restores the items that were archived with it. What would contradict what is believed now is refused, item by item.
        """
        return self._transport.json("POST", "/api/beliefs/unarchive", body=body, media="application/json")

    def use_belief(self, body: BeliefUse) -> UseRecord:
        """Record that a belief was used.

        Counts the uses of an item, such as a procedure, and how many of them succeeded.
        """
        return self._transport.json("POST", "/api/beliefs/used", body=body, media="application/json")

    def verify_bundle(self, body: bytes) -> BundleVerdict:
        """Judge a bundle: every check.

        Makes every check on a bundle's bytes, as they were handed out: one
        verdict each. Only canonical bytes are evidence, so another spelling of the
        same values is `malformed`. Whatever is wrong is a verdict, not an error.
        """
        return self._transport.json("POST", "/api/verify_bundle", body=body, media="application/json")

    def verify_token(self, body: TokenClaim) -> TokenVerdict:
        """Judge the six fields that a token covers.

        Says whether a live key of the caller's tenant signed exactly these six
        fields. What is absent, malformed or unknown is not admissible, with a
        reason; it is no error. A token speaks for the six fields alone: whoever
        acts on the turns verifies the bundle.
        """
        return self._transport.json("POST", "/api/verify_token", body=body, media="application/json")

    def well_known_jwks(self) -> JWKS:
        """Read the keys that sign attestations, as a JSON Web Key Set."""
        return self._transport.json("GET", "/.well-known/jwks.json", keyless=True)

    def well_known_keys(self) -> KernelKeys:
        """Read the kernel's name and the keys of public ledgers.

        As `/log/keys`, of the tenants that the setting `log.public` names.
        """
        return self._transport.json("GET", "/.well-known/graphkernel-keys.json", keyless=True)
