// The types and the operations of the service. Made from server/openapi.json by package api/clients; not to be edited.

import type { ServiceEvent, Transport } from "./transport.js";

/** What kinds of problems there are. */
export type Code =
  | "invalid_request" // The request does not have its form
  | "malformed_json" // The body is not strict JSON
  | "unauthenticated" // No valid key
  | "forbidden" // The key's role does not permit this
  | "no_such_route" // There is no such route
  | "not_found" // Not found
  | "unknown_policy" // The policy is not known
  | "method_not_allowed" // The route does not have this method
  | "slow_client" // The body came too slowly
  | "alias_conflict" // The aliases contradict each other
  | "ambiguous" // The name fits several turns
  | "belief_conflict" // The statements contradict a belief
  | "conflict" // The turn was admitted with other content
  | "not_believed" // The statement is not believed
  | "policy_conflict" // The policy id is bound to other parameters
  | "standing_changed" // Another standing policy is in force by now
  | "erased" // Text was erased since
  | "too_large" // The request is too large
  | "unsupported_media_type" // The body is of another media type
  | "beyond_head" // The view does not exist yet
  | "cycle" // Turns are each other's ancestors
  | "malformed_bundle" // The bytes are no bundle
  | "not_continued" // The log does not continue what was signed
  | "persona_refused" // The persona is not accepted
  | "slice_too_large" // The slice is too large
  | "too_many_constraints" // The space has too many constraints
  | "too_many_settings" // The tenant has too many settings of its standing policy
  | "too_many_waiting" // Too many proposals wait
  | "unknown_evidence" // The evidence of a fact is not known
  | "unknown_parent" // A parent is not known
  | "unknown_version" // The bundle is of an unknown version
  | "working_full" // Working memory is full
  | "rate_limited" // Too many requests
  | "client_gone" // The client is gone
  | "damaged" // A store is damaged
  | "internal" // Internal error
  | "keys_unavailable" // Keys cannot be looked up
  | "ledger_forked" // The ledger is not the history that was signed
  | "model_unavailable" // A model cannot be used
  | "no_identity" // The kernel has no identity
  | "no_signing_key" // There is no signing key
  | "overloaded" // The service is busy
  | "store_unavailable" // The store is not available
  | "timeout" // The request took too long
  ;

export interface APIKey {
  /** Patterns of the authors whose turns it may admit; empty: none. */
  admits_authors: string;
  /** The roles of the turns that it may admit; empty: none. */
  admits_roles: string;
  created_at: string;
  id: string;
  note?: string;
  revoked_at?: string;
  role: string;
  /** Patterns of the spaces of beliefs that it sees; absent: no limit. */
  spaces?: string;
  /** Patterns of the authors for whom it speaks; absent: nobody, or everybody if its role is admin. */
  speaks_for?: string;
}

export interface APIKeys {
  keys: APIKey[];
  tenant: string;
}

export interface Abstraction {
  from: string[];
  /** The originals are still believed. Otherwise they are deprecated. */
  kept: boolean;
  outcome: BeliefOutcome;
}

export interface AbstractionRequest {
  /** The least confidence of the originals if left out. */
  confidence?: number;
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** The originals: items, or their believed revisions. */
  from: string[];
  /** The item whose revision this becomes. If left out, the item with an equal statement, or a new one. */
  item?: string;
  /** A name for the request: a request with the same key is carried out once. */
  key?: string;
  /** The kind of a new item, which the policy of the space must list. */
  kind?: string;
  reason?: string;
  space: string;
  /** How much of the content of the originals it states. From 0.7 on it replaces them. */
  specificity: number;
  statements: BeliefStatement[];
  summary?: string;
  title?: string;
}

export interface Admission {
  /** From slice_policy_v2 on: the cost in tokens of bytes/4@1. */
  cost?: number;
  distance: number;
  from?: string;
  /** From slice_policy_v2 on: the number of the turn. */
  number?: number;
  /** Under slice_policy_v3: the number of the rule of the standing policy that decides, from 1. */
  rule?: number;
  /** The score in billionths. */
  score_nano: number;
  /** Under slice_policy_v3: what the turn counts for. */
  standing?: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  via: "anchor" | "parent" | "child" | "sibling" | "prompt" | "touch";
  /** From slice_policy_v2 on: who produced the words of the turn. */
  voice?: "person" | "agent" | "tool" | "harness";
}

export interface Alias {
  alias: string;
  canonical: string;
}

/** What of a list was not used. The counts, and what was added or existing, sum up to the entries. */
export interface AliasList {
  /** Several names claim the alias. */
  ambiguous: number;
  /** A name is both an alias and a canonical name. */
  chained: number;
  entries: number;
  examples: AliasSkip[];
  /** The same entry occurred before. */
  repeated: number;
  /** Alias and canonical name have the same form. */
  same: number;
  /** One side has no name. */
  skipped: number;
}

export interface AliasSkip {
  place: string;
  why: string;
}

export interface Aliases {
  aliases: Alias[];
  as_of: number;
  next?: string;
  total: number;
}

export interface AliasesAdded {
  added: number;
  existing: number;
  list?: AliasList;
  /** One outcome for each alias, in order; absent for a list. */
  outcomes?: KnowledgeOutcome[];
}

export interface Archive {
  /** The file: lines of canonical JSON, gkarchive/1. Absent once it is saved. */
  document?: string;
  items: ArchivedItem[];
  /** Items for which this file has no room: archive them next. */
  left: number;
  sha256: string;
}

export interface ArchiveRequest {
  /** The digest of the document, which the caller has saved. If left out, nothing is recorded. */
  sha256?: string;
  space: string;
}

export interface ArchivedItem {
  confidence: number;
  item: string;
  last_used: string;
  revisions: number;
  /** The number of its deprecation; absent if nothing was recorded. */
  seq?: number;
  /** The digest of its line, which its deprecation records. */
  sha256: string;
}

export interface Artifact {
  location: string;
  media_type: string;
  name: string;
  /** Of the content. */
  sha256: string;
  /** Bytes. */
  size: number;
}

export interface Attributes {
  /** The folder in which the agent worked, or one above it. */
  cwd?: string;
  git_branch?: string;
  model?: string;
  /** The title of the conversation. */
  title?: string;
}

export interface BaseDiff {
  added: HeldStatement[];
  from: number;
  removed: HeldStatement[];
  to: number;
}

/** The bundle with its digest, a rendering, or a problem. */
export interface BatchResult {
  bundle?: Record<string, unknown>;
  bundle_sha256?: string;
  markdown?: string;
  messages?: Record<string, unknown>[];
  problem?: ProblemDocument;
  slice_id?: string;
  /** The HTTP status that the request alone would have had. */
  status: number;
}

export interface BatchResults {
  results: BatchResult[];
}

export interface BeliefBase {
  as_of: number;
  policy: string;
  space: string;
  statements: HeldStatement[];
}

export interface BeliefLink {
  to: string;
  /** depends_on, derived_from, supersedes, referenced, contains, created_from, or another word. */
  type: string;
}

export interface BeliefLoss {
  /** A minimal set that cannot be believed together, or from which a statement to be given up would still follow; the statement is in it. */
  conflict: WrittenStatement[];
  item: string;
  /** The statement was the conclusion of a rule with these premises. */
  premises?: WrittenStatement[];
  revision: number;
  statement: WrittenStatement;
  /** The statement holds until this time, at which the statement that it gave way to begins. */
  until?: string;
}

export interface BeliefOutcome {
  /** Conclusions that no longer follow. */
  fell: WrittenStatement[];
  /** The statements that gave way; for a refused request, the statements that would have given way. */
  gave_way: BeliefLoss[];
  item?: string;
  /** The number of kept elements that rules and constraints connect with the request. All unconnected elements are kept, too. */
  kept: number;
  /** If the outcome is not changed, no link and no tag is recorded. */
  outcome: "changed" | "unchanged" | "refused";
  /** Why it was refused. vouched: a person vouches for statements of the item that it would change. */
  reason?: "conflict" | "protected" | "vouched";
  /** The request was answered before, and this answer only says where; or the same proposer proposed the same before: if unchanged, it is believed; if refused, it waits. */
  repeated?: boolean;
  /** Revisions that depend on what gave way by a link that is not a rule: a person should review them. */
  review: string[];
  revision?: number;
  /** Absent if nothing was recorded. */
  seq?: number;
}

export interface BeliefProofRequest {
  /** As of this sequence number; 0 is the present. */
  as_of?: number;
  /** The statement is denied. */
  not?: boolean;
  object: string;
  predicate: string;
  space: string;
  subject: string;
  /** The statement must hold at this instant; at any time if left out. */
  valid_at?: string;
}

export interface BeliefRequest {
  /** The artifacts of the revision; their names are unique in it. */
  artifacts?: Artifact[];
  /** What the named item states stays beside the statements. Without it, they take its place. */
  beside?: boolean;
  /** 1 if left out. */
  confidence?: number;
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** The item whose revision this becomes. If left out, the item with a conflicting or an equal statement, or a new one. */
  item?: string;
  /** A name for the request: a request with the same key is carried out once. */
  key?: string;
  keywords?: string[];
  /** The kind of a new item, which the policy of the space must list. */
  kind?: string;
  /** The links from the revision, each once. They are recorded in the same change, or not at all if the outcome is not changed. A contraction has none. */
  links?: BeliefLink[];
  /** Make the space, under beliefs@2, if there is none. This needs the permission to revise. */
  new_space?: boolean;
  /** The statements follow from these: they are believed as long as all of these are. */
  premises?: BeliefStatement[];
  reason?: string;
  /** A name for what the text settles: a newer text with the same name replaces it. */
  slot?: string;
  /** manual if left out, or inference for a proposal. */
  source?: string;
  space: string;
  /** At least one, unless there is a text. */
  statements: BeliefStatement[];
  summary?: string;
  /** The tags that point to the revision from then on, each once; current does anyway. They are recorded like links. current and published need the permission to revise. */
  tags?: string[];
  /** What is to be remembered, byte for byte. Without statements, the request makes the statement of the text, by which texts replace and contradict each other. */
  text?: string;
  title?: string;
  topics?: string[];
  /** The turns that the statements rest on: the statements lose their text when these turns lose theirs. */
  turns?: string[];
  valid_from?: string;
  valid_until?: string;
}

export interface BeliefStatement {
  /** The statement is denied. */
  not?: boolean;
  object: string;
  predicate: string;
  subject: string;
}

export interface BeliefUse {
  ref: string;
  success: boolean;
}

export interface Blame {
  /** The sequence number of the graph. */
  as_of: number;
  /** What was handed out for the turn: slices and contexts around the turns that it follows, from before it existed. */
  handed_out: Issued[];
  /** Turns that all of these contained. */
  in_all: string[];
  /** The number of the newest record of what was handed out. */
  issued: number;
  /** A smallest set of turns with this effect, or a set from which no turn can be left out; empty if the others would be selected in any case. */
  minimal: string[];
  /** The selected turns whose absence would change which others are selected, those with the greatest effect first. */
  pivots: Pivot[];
  policy: string;
  /** Turns that the policy selects around the turn that it follows. */
  selected: number;
  /** How many times slices were cut again. */
  tried: number;
  turn: string;
}

export interface BundleVerdict {
  admissible: boolean;
  bundle_sha256: string;
  checks: Check[];
  key_id: string;
  outcome: "verified" | "tampered" | "key_unknown" | "key_retired" | "malformed" | "unknown_version";
  reason: string;
  redacted: string[];
  slice_id?: string;
}

export interface Caller {
  /** The newest sequence number of the tenant. */
  head: number;
  role: string;
  /** How much what the caller asks for counts, under the standing policy in force. */
  standing: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  tenant: string;
}

export interface Cascade {
  /** Published revisions, which keep their confidence. */
  excepted: string[];
  lowered: LoweredBelief[];
  /** The sequence number as of which all results are visible; absent if nothing was recorded. */
  seq?: number;
}

export interface CascadeRequest {
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  space: string;
}

export interface Check {
  detail: string;
  expected?: string;
  found?: string;
  id: string;
  status: "ok" | "fail" | "skipped";
}

export interface ChosenBefore {
  belief?: string;
  /** Tokens that it takes of the budget. */
  cost: number;
  fact?: string;
  /** The score in millionths. */
  score: number;
  turn?: string;
}

export interface Communities {
  as_of: number;
  /** The communities, the largest first. */
  communities: Community[];
  /** Contexts that were examined. */
  contexts: number;
  /** The number of the newest record of what was handed out. */
  issued: number;
  /** The share of edges inside communities, less the share that chance would give, in millionths. */
  modularity: number;
  /** Older records that were not examined: only the newest 10 000 are. */
  older: number;
  /** Slices of turns that were examined. */
  slices: number;
  /** The total number. */
  total: number;
}

export interface Community {
  /** The member with the most edges. */
  central: string;
  /** The first 20, ascending: ids of turns, or names. */
  members: string[];
  size: number;
}

export interface Conflict {
  at: string;
  by?: string;
  /** 0 if it was erased. */
  confidence: number;
  erased?: boolean;
  /** The item that the proposal named. */
  item?: string;
  /** The premises from which the statements were to follow. */
  premises?: WrittenStatement[];
  reason?: string;
  seq: number;
  statements: WrittenStatement[];
  turns?: string[];
  valid_from?: string;
  valid_until?: string;
  /** Revisions that would have given way. */
  with: string[];
}

export interface ConflictAdvice {
  advice: "keep_both" | "ask_person" | "prefer_new" | "prefer_old";
  believed: number;
  /** The score of the proposal: confidence, weighted by recency. */
  proposed: number;
  reason: string;
}

export interface ConflictResolution {
  /** The conflict's number in the list of conflicts. */
  conflict: number;
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** taken revises with the proposal, by the authority of the caller. */
  how: "taken" | "dropped" | "deferred";
  reason?: string;
  space: string;
}

export interface Conflicts {
  conflicts: Conflict[];
}

export interface Consolidated {
  /** Turns that are new. */
  admitted: number;
  conversation: string;
  /** Turns that were there already. */
  existing: number;
  /** The newest sequence number of the tenant. */
  head: number;
  /** Messages that are still in the session. */
  held: number;
  session: string;
  /** The turns, in the order of the session. */
  turns: string[];
}

export interface ConstraintLoad {
  /** The bytes of all texts together. */
  bytes: number;
  count: number;
  /** The bytes of the longest text. */
  longest: number;
  /** There are more than 64 constraints, one of more than 2048 bytes, or more than 16384 bytes together. */
  over: boolean;
  /** Items of these kinds that are not constraints, because no person vouches for everything that they state. */
  proposed?: number;
}

export interface Context {
  as_of: number;
  /** The revisions that were chosen, ascending. */
  beliefs: string[];
  /** The prompt, in the formats openai and anthropic (members of a request to these APIs) and json. */
  body?: Record<string, unknown>;
  bundle_sha256: string;
  /** The number of turns, facts and beliefs that it was chosen from. */
  candidates: number;
  context_id: string;
  /** Tokens of the prompt, markup included. */
  cost: number;
  /** The statements that were chosen, ascending. */
  facts: string[];
  format: string;
  /** Spaces with too many constraints, not all of which are in the context. */
  overfull?: OverfullSpace[];
  policy_id: string;
  /** The prompt, in the formats markdown, xml and text. */
  prompt?: string;
  /** The number as of which rules, beliefs and standings are. */
  rules_as_of: number;
  sufficiency: Sufficiency;
  /** The turns that were chosen, by ascending id. */
  turns: string[];
}

export interface ContextExplanation {
  beaten_by?: ChosenBefore;
  belief?: string;
  /** The number that they were chosen from. */
  candidates: number;
  /** The number of turns, facts and beliefs that were chosen. */
  chosen: number;
  context_id: string;
  /** Tokens that it takes of the budget; of what was not looked at, those of its text. */
  cost?: number;
  /** The same in a sentence. */
  explanation: string;
  fact?: string;
  features?: Feature[];
  /** The sources that found it. */
  from?: ("beliefs" | "constraints" | "facts" | "prompts" | "recent" | "search" | "slice")[];
  /** Tokens of the budget that the items before it had left. */
  left?: number;
  outcome: "chosen" | "required" | "too_costly" | "worthless" | "no_candidate";
  /** Its place in the order of the choice, from 1. */
  rank?: number;
  /** The score when it was chosen or passed over, in millionths. */
  score?: number;
  turn?: string;
}

/** What a context is chosen by. Parameters that are left out have the values of context@1. Weights are of features, quotas of sources. */
export interface ContextPolicy {
  alike?: number;
  budget?: number;
  facts?: string;
  half_life_hours?: number;
  novelty?: number;
  penalties?: Record<string, unknown>;
  quotas?: Record<string, unknown>;
  rules?: string;
  search?: string;
  slice?: string;
  type: "context_policy_v1";
  weights?: Record<string, unknown>;
}

/** As ContextPolicy, with calls among the sources. Parameters that are left out have the values of context@2. */
export interface ContextPolicyV2 {
  alike?: number;
  budget?: number;
  facts?: string;
  half_life_hours?: number;
  novelty?: number;
  penalties?: Record<string, unknown>;
  quotas?: Record<string, unknown>;
  rules?: string;
  search?: string;
  sections?: Record<string, unknown>;
  slice?: string;
  type: "context_policy_v2";
  weights?: Record<string, unknown>;
}

export interface ContextRequest {
  /** The turn from which the agent goes on. */
  anchor?: string;
  /** The graph as of this sequence number; 0 is the anchor's own, or the present without an anchor. If it is given, rules and beliefs are as of it, too, and the prompt says that it is of the past. */
  as_of?: number;
  /** The most tokens of the prompt, headings and markup included, counted as UTF-8 bytes divided by four; the policy's budget if left out, which is also the limit. */
  budget?: number;
  /** Choose no turns of these conversations, up to 1000. */
  except?: string[];
  /** The most bytes of the prompt: the budget is lowered until the prompt fits. */
  fit?: number;
  /** Choose only from conversations that were held in these folders, up to 200, as their first turns spell them. */
  folders?: string[];
  /** bundle is evidence; the other formats are prompts. markdown if left out. */
  format?: "bundle" | "markdown" | "xml" | "text" | "openai" | "anthropic" | "json" | "brief";
  /** If nothing is chosen, the answer is the error not_found, and no context is recorded. */
  non_empty?: boolean;
  /** context@2 if left out. */
  policy?: string;
  /** The graph as it is now, also with an anchor. */
  present?: boolean;
  /** The format of the prompt that a bundle is evidence of; markdown if left out. */
  prompt?: "markdown" | "xml" | "text" | "openai" | "anthropic" | "json" | "brief";
  /** The session of an agent to which the context is handed. Each such context is recorded separately. */
  recipient?: Recipient;
  /** Asks for the bundle of a context that was handed out, once more: its rules_as_of, with its as_of, if it was asked for without as_of. Left out, rules, beliefs and standings are those of the present, or of as_of if that is given. */
  rules_as_of?: number;
  /** The spaces of beliefs to use, up to 16; all if left out. Their beliefs of kinds that every context contains, such as hard rules, are always in it. */
  spaces?: string[];
  /** What the agent is about to do, in words. It may be left out if there is an anchor. */
  task?: string;
  /** The turns whose words are in the task, up to 100: erasing one of them erases the task. */
  task_of?: string[];
}

export interface Conversation {
  first: number;
  first_at: string;
  id: string;
  last: number;
  last_at: string;
  /** The title in the first turn, if it has one and its text was not erased. */
  title?: string;
  turns: number;
}

export interface ConversationTurns {
  conversation: string;
  next?: string;
  turns: StoredTurn[];
}

export interface Conversations {
  conversations: Conversation[];
  next?: string;
}

export interface Converted {
  files: Record<string, string>;
}

export interface Counterpart {
  author: string;
  /** The text of the turn without the spaces around it, at most 400 bytes. */
  content: string;
  created_at: string;
  seq: number;
  /** The text of the turn goes on. */
  shortened?: boolean;
  /** How much its words count, as of the number of the search. */
  standing: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  turn: string;
}

export interface Cutting {
  anchor: string;
  /** The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present. */
  as_of?: number;
  policy?: string;
}

export interface D3Graph {
  as_of: number;
  cut: "" | "results" | "work";
  links: D3Link[];
  nodes: D3Node[];
}

export interface D3Link {
  confidence: number;
  predicate: string;
  since: number;
  source: string;
  statement: string;
  target: string;
}

export interface D3Node {
  hops: number;
  id: string;
}

export interface Decay {
  /** Published revisions, which keep their confidence. */
  excepted: string[];
  lowered: DecayedBelief[];
  /** The sequence number as of which all results are visible; absent if nothing was recorded. */
  seq?: number;
}

export interface DecayRequest {
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** A revision that would lose less than this is not changed yet. 0.01 if left out. */
  least?: number;
  space: string;
}

export interface DecayedBelief {
  after: number;
  before: number;
  /** The last revision that decay did not make; the new confidence is computed from its confidence and time. */
  origin: string;
  reason: string;
  ref: string;
}

export interface DenyRule {
  /** Matches a part of any text, number or name in the arguments; every call of the tool if left out. */
  argument?: string;
  /** The reason that the agent is given. */
  reason: string;
  /** Matches the whole name of a tool. */
  tool: string;
}

/** What may stop a tool call before it runs. There is no default. */
export interface DenyRules {
  rules: DenyRule[];
  type: "deny_rules_v1";
}

export interface Dependent {
  /** The item is deprecated, so none of its statements is believed. */
  deprecated?: boolean;
  depth: number;
  ref: string;
  to: string;
  type: string;
}

export interface Deprecation {
  reason?: string;
  ref: string;
}

export interface Difference {
  expected: string;
  found: string;
  /** Bytes before the first difference. */
  offset: number;
  path: string;
}

export interface EndedBelief {
  /** When it ended. */
  at: string;
  /** The caller who ended it. */
  by?: string;
  /** At the end it followed from other statements, and no item stated it. */
  derived?: boolean;
  /** given_up: the item that stated it, or a premise, was contracted. contradicted: it gave way to a contradicting statement. deprecated: the item was deprecated. moved: current points to another revision of the item. policy: the space came under another policy. */
  ending: "given_up" | "contradicted" | "deprecated" | "moved" | "policy";
  /** The contradicting statement that was believed from then on. */
  instead?: WrittenStatement;
  /** The elements that ended with it: those that stated it, or the part of its premises that fell. */
  lost: Support[];
  reason?: string;
  since: number;
  /** The number of the entry that ended it. */
  until: number;
}

export interface EnrichRequest {
  /** The share of the facts in the combined score, from 0 to 1; 0.5 if left out. */
  alpha?: number;
  /** The knowledge as of this sequence number; 0 is the present. */
  as_of?: number;
  /** The most facts for each hit. */
  facts?: number;
  /** Turns with their scores, from a search or from elsewhere; each turn once. */
  hits: HitScore[];
  /** The largest distance from the entities of a hit. */
  hops?: number;
  /** The query of the search. A fact counts by the share of these words that its names have; without a query all facts count alike. */
  query?: string;
}

export interface Enriched {
  as_of: number;
  /** The hits, the best combined score first. */
  hits: EnrichedHit[];
}

export interface EnrichedHit {
  /** The score as a share of the best one, times 1 - alpha, plus graph times alpha. */
  combined: number;
  /** The entities that the turn mentions: the ends of facts that were learned from it, and known names in its first words. */
  entities: string[];
  /** The facts around these entities, the nearest first. */
  facts: NearFact[];
  /** The score of its facts, as a share of the best hit's. */
  graph: number;
  /** The score that was given. */
  score: number;
  turn: string;
}

export interface ErasedRevision {
  /** The number of the erasure. */
  erasure?: number;
  item: string;
  revision: number;
  seq: number;
  /** The turn that was erased. */
  turn?: string;
}

export interface ErasedTurn {
  /** The number of the last entry of the change: in an event, and in the answer to an erasure; absent in a list. */
  as_of?: number;
  at: string;
  /** Who asked for it. Absent if that was not recorded. */
  by?: string;
  kind: "erasure";
  reason: string;
  seq: number;
  /** The contexts whose tasks contained words of the turn and were erased with it. */
  tasks?: string[];
  turn: string;
  /** Why copies of the text under other ids are not held back. Absent if they are. */
  unguarded?: string;
}

export interface ErasureRequest {
  reason: string;
}

export interface Erasures {
  erasures: Event[];
  next?: string;
}

export interface Event {
  /** The number of the last entry of the change: in an event, and in the answer to an erasure; absent in a list. */
  as_of?: number;
  at: string;
  /** Who asked for it. Absent if that was not recorded. */
  by?: string;
  kind: "erasure";
  reason: string;
  seq: number;
  turn: string;
}

/** What convinces a third party of a bundle, beside it. docs/evidence.md has the forms. */
export interface Evidence {
  /** A DSSE envelope around an in-toto statement. Its bytes here are canonical. */
  attestation: Record<string, unknown>;
  bundle_sha256: string;
  /** The index of the leaf in the ledger. */
  index: number;
  /** When the bundle was issued, as the attestation says. */
  issued_at: string;
  /** The id of the key that signed the attestation. */
  key_id: string;
  /** The origin of the ledger. */
  origin: string;
  /** A file (C2SP tlog-proof) with the leaf, its path and a checkpoint. */
  proof: string;
  slice_id: string;
}

export interface ExplainCutting {
  anchor: string;
  /** The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present. */
  as_of?: number;
  policy?: string;
  turn: string;
}

export interface Explanation {
  admission?: Admission;
  anchor: string;
  as_of: number;
  beaten_by?: Rival;
  /** Under slice_policy_v3: the standing policy that decides what the turn counts for. */
  counts_by?: string;
  /** The fewest edges from the anchor; -1 if no path was found. */
  edges_away: number;
  /** The same in a sentence. */
  explanation: string;
  /** If without was asked for: turns that would have been selected instead. */
  instead?: string[];
  /** If without was asked for: other turns that would not have been selected without it. */
  lost?: string[];
  outcome: "selected" | "beaten" | "too_costly" | "too_far" | "later" | "unreached" | "unconnected" | "not_in_view";
  policy_id: string;
  /** Its place in the order of selection, from 1. */
  rank?: number;
  selected: boolean;
  slice_id?: string;
  turn: string;
  turns_in_slice: number;
}

/** A statement that is believed, in canonical names. Source and turn are those of the assertion that gave the confidence. */
export interface Fact {
  /** The names in the statement itself, if aliases replace them. */
  asserted?: Written;
  confidence: number;
  evidence: FactEvidence[];
  evidence_total: number;
  object: string;
  predicate: string;
  since: number;
  source: string;
  statement: string;
  subject: string;
  turn?: string;
  valid_from?: string;
  valid_until?: string;
  written?: Written;
}

/** An assertion that counts for a fact. */
export interface FactEvidence {
  at: string;
  confidence: number;
  seq: number;
  slice?: string;
  source: string;
  turn?: string;
  written?: Written;
}

export interface FactHistory {
  acts: KnowledgeAct[];
  next?: string;
  statement: string;
}

/** What a slice of facts is gathered under. Parameters that are left out have the values of facts@1. */
export interface FactPolicy {
  direction?: "outgoing" | "incoming" | "both";
  max_hops?: number;
  max_results?: number;
  min_confidence?: number;
  /** The predicates that are followed; all if left out. */
  predicates?: string[];
  type: "fact_policy_v1";
}

export interface FactSliceRequest {
  as_of?: number;
  policy?: string;
  start: string | string[];
  valid_at?: string;
}

export interface Facts {
  as_of: number;
  facts: Fact[];
  next?: string;
  /** The total of all pages. */
  total: number;
}

export interface Feature {
  name: "confidence" | "contested" | "evidence" | "prompt" | "recency" | "recent" | "salience" | "slice" | "task";
  /** The value in millionths. */
  value: number;
}

export interface Folder {
  conversations: number;
  /** The SHA-256 of the path, if only that is known. */
  digest?: string;
  /** Absent if only its digest is known, as for Gemini CLI. */
  folder?: string;
  /** The latest time at which something was said there. */
  last_at: string;
  /** The conversations with the latest turns, up to 5, the newest first. */
  newest: RecentConversation[];
}

export interface Folders {
  folders: Folder[];
  /** The number of the newest sequence numbers that were not examined, because their index is still being made. */
  not_indexed?: number;
  /** The total number. */
  total: number;
}

export interface Forgotten {
  forgotten: Memory;
  result: "changed" | "unchanged";
  seq?: number;
}

export interface Found {
  /** The search used a graph of vectors, because there are many, and may have missed turns. A search with as_of compares all vectors. */
  approximate?: boolean;
  as_of: number;
  /** Turns that were left out, because the store is damaged and does not have their texts as they were admitted. An index that is read whole from the store does not know of them until one is found. */
  damaged?: number;
  /** The hits, the best first. */
  hits: Hit[];
  /** The number of sequence numbers above as_of that were not searched, because their index is still being made. A later search covers them. */
  not_indexed?: number;
  /** Why the policy's cross-encoder did not judge the hits; they then keep the order from before it. */
  not_reranked?: string;
  policy: string;
  /** The conversations of the first 200 hits, in the order of their best hits, if exchanges was set. */
  sessions?: FoundSession[];
}

export interface FoundSession {
  /** The first prompt of the conversation, if it has no title. */
  begins?: Counterpart;
  conversation: string;
  /** When the first turn of the conversation was created. */
  first_at: string;
  /** The folder in which the agent worked at the best hit. */
  folder?: string;
  /** The title of the conversation, if its first turn has one. */
  title?: string;
}

export interface GrowthStep {
  /** The 20 authors with the most turns. */
  authors: NameShare[];
  conversations: number;
  /** Turns of each phase. */
  phases: NameShare[];
  /** Turns of each role. */
  roles: NameShare[];
  turns: number;
  upto: number;
}

export interface Health {
  checks?: Record<string, string>;
  status: "ok" | "starting" | "unavailable" | "stopping";
}

export interface HeldBack {
  at: string;
  /** Who brought it. */
  by?: string;
  /** The erased turn with the same text. */
  erased: string;
  /** The place that it came from, such as a file and a line. */
  place?: string;
  /** The turn is admitted with its text when it comes again. */
  released: boolean;
  /** Why it was held back: the same text at the same instant, after the same text, or of 64 bytes and more. */
  rule: "place" | "reply" | "words";
  seq: number;
  turn: string;
}

export interface HeldBackTurns {
  held_back: HeldBack[];
  next?: string;
}

export interface HeldStatement {
  /** The statement follows by a rule, and no item states it. */
  derived?: boolean;
  /** The item that states it, or the rule by which it follows. */
  item: string;
  /** The statement is denied. */
  not?: boolean;
  object: string;
  predicate: string;
  revision: number;
  /** The number from which on its revision is believed. */
  since?: number;
  /** Whose word it counts as; of a derived statement, the least of those from which it follows. */
  standing: "outside" | "guest" | "agent" | "member" | "owner";
  subject: string;
  /** The text of its revision, as contexts show it. */
  summary?: string;
  /** What was said, byte for byte; it is shown in the place of the statement. */
  text?: string;
  /** The title of its revision, as contexts show it. */
  title?: string;
  valid_from?: string;
  valid_until?: string;
  /** The names as they were written, if these differ; for a text, the text. Absent if they are the same, or were not recorded. */
  written?: Written;
}

export interface Hit {
  /** The agent's last words before the next prompt, if exchanges was set and the turn is a prompt. Calls and reasoning are no words. */
  answer?: Counterpart;
  author: string;
  /** The text of the turn. */
  content: string;
  conversation: string;
  created_at: string;
  /** What the score consists of, if explain was set. */
  parts?: HitParts;
  /** The last prompt before the turn in its conversation, if exchanges was set and the turn is no prompt itself. A prompt is a turn of role user that a person said, or an agent that called this one. */
  question?: Counterpart;
  role: "user" | "assistant" | "system" | "tool";
  /** The score for this query; scores of other queries are not comparable. */
  score: number;
  seq: number;
  /** How much its words count, as of the number of the search: an order from member on, else information or data. */
  standing: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  /** The title of the conversation, if its first turn has one. */
  title?: string;
  turn: string;
}

export interface HitParts {
  /** Half of the sum of the other parts, if the query names the turn's author and no other. */
  author: number;
  /** For words in the conversation: BM25, 100000 for the best. */
  conversation: number;
  /** For dates in the turn, and of it: 300000 for the best. */
  dates: number;
  /** The score of the policy's cross-encoder: 1000000 for the hit that it prefers, 0 for the last. */
  judged?: number;
  /** For the similarity of the turn's vector to the query's, if the policy uses vectors. */
  like?: number;
  /** The turn's rank by similarity, likewise. */
  like_rank?: number;
  /** 200000 if the query asks when and the turn has an expression of time. */
  when: number;
  /** The turn's rank by words, from 1, if the policy joins lists by rank. */
  word_rank?: number;
  /** For words in the turn and its neighbours: BM25, 1000000 for the best turn. */
  words: number;
}

export interface HitScore {
  /** At most 2^40. */
  score: number;
  turn: string;
}

export interface Holding {
  contexts: Issued[];
  /** How many records, the newest ones, were examined for slices. */
  looked: number;
  /** How many older records were not examined. */
  older: number;
  slices: Issued[];
}

export interface Impact {
  as_of: number;
  /** Conclusions that would no longer follow without it. */
  falls: WrittenStatement[];
  /** Revisions that link to it, over any number of links. */
  links: Dependent[];
  ref: string;
}

export interface ImportedItem {
  /** The item's id in the persona. */
  id: string;
  /** One outcome for each time of its statements, and for each rule. */
  outcomes: BeliefOutcome[];
}

export interface ImportedPersona {
  items: ImportedItem[];
  /** Links between imported items. */
  links: number;
  origin: PersonaOrigin;
  /** The digest of the document. */
  sha256: string;
}

export interface Influence {
  as_of: number;
  /** Edges without which turns would not be connected. */
  bridges: number;
  /** Contexts that were examined. */
  contexts: number;
  /** Turns without which others would not be connected. */
  cuts: number;
  /** The number of the newest record of what was handed out. */
  issued: number;
  /** Older records that were not examined: only the newest 10 000 are. */
  older: number;
  /** There are more than 5 000 turns, so betweenness is computed from 256 of them, drawn with a fixed seed. */
  sampled?: boolean;
  /** Slices of turns that were examined. */
  slices: number;
  turns: InfluencedTurn[];
}

export interface InfluencedTurn {
  /** Pairs of other turns whose shortest paths lead through it, in thousandths. */
  betweenness: number;
  /** Contexts that showed the turn. */
  contexts: number;
  /** Other turns would not be connected without it. */
  cut?: boolean;
  /** Turns with which it has an edge. */
  degree: number;
  /** PageRank, in millionths of a millionth: the ranks of all turns add up to 10^12, less rounding. */
  rank: number;
  /** Slices that contained the turn. */
  slices: number;
  turn: string;
  /** The sum of its scores in slices, plus one for each context, in millionths. */
  weight: number;
}

/** The record of one bundle that was handed out. It holds no text. */
export interface Issued {
  /** For a slice of facts, it names the question and not a turn. */
  anchor: string;
  as_of: number;
  /** The task of a context, or the names that a slice of facts starts from, in lists and records of slices. Absent once erased. */
  asked?: string;
  bundle_sha256: string;
  /** The first caller that was handed it. Absent if that was not recorded. */
  by?: string;
  /** The turns were chosen only from conversations that were held in these folders. */
  folders?: string[];
  graph_snapshot_hash: string;
  /** The number of facts in a slice of facts, or of turns in a context or in a slice of turns; for slices of turns only if counted was asked for. */
  holds?: number;
  issued_at: string;
  key_id: string;
  /** The index of its leaf in the ledger. */
  leaf: number;
  /** The number under which it is recorded that the context did not reach its recipient. */
  not_given?: number;
  /** The tenant's first issued slice is 1. */
  number: number;
  policy_id: string;
  policy_params_hash: string;
  /** The session of an agent for which a context was made. Absent if no hook asked for it. */
  recipient?: Recipient;
  schema_version: string;
  slice_id: string;
  token: string;
}

export interface ItemRevision {
  artifacts?: Artifact[];
  at: string;
  by?: string;
  confidence: number;
  /** The content was erased with the turns that it rested on. */
  erased?: boolean;
  keywords?: string[];
  reason?: string;
  revision: number;
  seq: number;
  source?: string;
  statements: RevisionElement[];
  summary?: string;
  supersedes?: number;
  title?: string;
  topics?: string[];
  /** Title and summary may contain something that was given up, so contexts leave them out. */
  withheld?: boolean;
}

export interface ItemTag {
  revision: number;
  since: number;
  tag: string;
  /** The number until which the tag pointed to it; absent while it does. */
  until?: number;
}

export interface Items {
  items: ListedItem[];
  /** The number of deprecated items of the page that are not listed because they were not asked for. */
  left_out?: number;
  next?: string;
}

/** RFC 7517, section 5. */
export interface JWKS {
  keys: Record<string, unknown>[];
}

/** A kernel's public keys, canonical JSON. */
export interface KernelKeys {
  attestation: Record<string, unknown>[];
  log: string[];
  name: string;
  sigstore?: Record<string, unknown>;
  version: "gkk/1";
}

/** Which predicates of a space are limited, and what its kinds of items mean. Members that are left out have the values of beliefs@1. */
export interface KindPolicy {
  /** Objects of which a subject can have one under a predicate. */
  exclusive?: Record<string, unknown>[];
  /** Predicates that have one object for each subject. */
  functional?: string[];
  /** The kinds of items. docs/belief.md has the members. */
  kinds?: Record<string, unknown>[];
  type: "kind_policy_v1";
}

export interface Knowledge {
  facts?: NewFact[];
  retractions?: Retraction[];
}

/** A change of what is known, as it was recorded. Names are as they were asserted, without aliases. */
export interface KnowledgeAct {
  alias?: string;
  at: string;
  canonical?: string;
  confidence?: number;
  /** The act was erased with its turn; only its number, its leaf and the turn are left. */
  erased?: boolean;
  kind: "assert" | "retract" | "alias" | "unalias";
  leaf: string;
  object?: string;
  predicate?: string;
  reason?: string;
  seq: number;
  slice?: string;
  source?: string;
  statement?: string;
  subject?: string;
  supersedes?: string[];
  turn?: string;
  until?: number;
  valid_from?: string;
  valid_until?: string;
  /** The assertion gave the statement its confidence. */
  version?: boolean;
  written?: Written;
}

export interface KnowledgeChanges {
  acts: KnowledgeAct[];
  next?: string;
}

/** What became of a fact, a retraction or an alias. Without seq nothing changed. */
export interface KnowledgeOutcome {
  result: "asserted" | "confirmed" | "existing" | "retracted" | "absent" | "aliased" | "unaliased";
  seq?: number;
  statement?: string;
}

export interface KnowledgeOutcomes {
  facts: KnowledgeOutcome[];
  retractions: KnowledgeOutcome[];
}

export interface KnowledgeStats {
  aliases: number;
  as_of: number;
  entities: number;
  facts: number;
  predicates: NameCount[];
  predicates_total: number;
  sources: NameCount[];
  sources_total: number;
}

export interface KrefChange {
  /** A set of statements that contradict each other. */
  conflict?: WrittenStatement[];
  outcome: "changed" | "unchanged" | "refused";
  seq?: number;
}

export interface LinkedMemories {
  /** There are more than 1000 links; only these were followed. */
  cut?: boolean;
  /** The nearest first; of a way, in its order. */
  links: MemoryLink[];
  of: Memory;
}

export interface ListedItem {
  deprecated?: boolean;
  /** The content of the revision was erased with the turns that it rested on. */
  erased?: boolean;
  item: string;
  /** The revision that current points to. Absent if nothing of the item is believed. */
  revision?: number;
  /** The statements of that revision. They are not believed while the item is deprecated. */
  statements: RevisionElement[];
  title?: string;
}

export interface LoweredBelief {
  /** The confidence that the remaining evidence leaves. */
  after: number;
  before: number;
  /** Evidence that fell. */
  fell: string[];
  /** Its statements end now, because too little supports them. */
  invalid?: boolean;
  reason: string;
  ref: string;
}

export interface MadeAPIKey {
  admits_authors: string;
  admits_roles: string;
  id: string;
  /** The key itself. Only its hash is stored. */
  key: string;
  role: string;
  spaces?: string;
  speaks_for?: string;
  tenant: string;
}

export interface Manifest {
  /** Canonical JSON (RFC 8785) of all parts, with the lists at their default lengths. */
  document: Record<string, unknown>;
  /** An in-toto statement that names the digest, signed by the attestation key (DSSE). Absent without an identity, and if unsigned was asked for. */
  envelope?: Record<string, unknown>;
  /** The digest of the document. */
  sha256: string;
}

export interface Memories {
  memories: Memory[];
  next?: string;
}

export interface Memory {
  by?: string;
  /** Of a proposal that waits: the texts that hold no longer if it is accepted. */
  ends?: string[];
  /** The name of its item, or w and a number for a proposal that contradicts what a person said and waits. */
  id: string;
  kind: string;
  /** The space that it is in. */
  project: string;
  /** No person vouches for it: it is the word of an agent. */
  proposed?: boolean;
  /** Which revision of the item it is; absent for a proposal that waits. */
  revision?: number;
  /** When it was said. */
  since: string;
  /** Whose word it counts as. */
  standing?: "outside" | "guest" | "agent" | "member" | "owner";
  /** What was said, byte for byte; of a memory that was stated in names, the names as they were written. */
  text: string;
  turns?: string[];
}

export interface MemoryEnd {
  at: string;
  by?: string;
  how: "forgotten" | "replaced" | "contradicted" | "erased";
  /** What holds instead. */
  instead?: string;
  reason?: string;
}

export interface MemoryLink {
  /** It leads to what is nearer to the memory that was asked about. */
  back?: boolean;
  /** Over how many links it was reached; the first are 1. */
  depth: number;
  /** That memory holds no longer. */
  ended?: boolean;
  from: string;
  /** What it leads to, or with back, from; absent for a turn or a slice. */
  memory?: Memory;
  to: string;
  type: string;
}

export interface MemoryReasons {
  /** Proposals that contradict it and wait for a person. */
  against?: Memory[];
  /** How it ended, if it holds no longer. */
  ended?: MemoryEnd;
  holds: boolean;
  memory: Memory;
  /** The reason that was given when it was said. */
  reason?: string;
  /** What the same memory said before, the newest first. */
  replaced: MemoryState[];
  /** What it rests on; none: the word of who said it. */
  turns: MemoryTurn[];
}

export interface MemoryState {
  at: string;
  by?: string;
  erased?: boolean;
  holds?: boolean;
  proposed?: boolean;
  reason?: string;
  revision: number;
  text: string;
}

export interface MemoryStates {
  ended?: MemoryEnd;
  id: string;
  kind: string;
  states: MemoryState[];
}

export interface MemoryTurn {
  at: string;
  author?: string;
  /** The first 400 bytes of what it says; absent if it was erased. */
  text?: string;
  turn: string;
  /** The text of the memory is a whole sentence of the turn. */
  whole?: boolean;
}

export interface Messages {
  messages: Record<string, unknown>[];
}

export interface MovedStanding {
  after: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  author?: string;
  before: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  /** It keeps the standing that it had, since the setting is not retroactive. */
  held?: boolean;
  turn: string;
}

export interface NameCount {
  facts: number;
  name: string;
}

export interface NameShare {
  count: number;
  name: string;
}

export interface NearFact {
  fact: Step;
  hops: number;
}

export interface NewAPIKey {
  /** Patterns of the authors whose turns it may admit, separated by commas; any if absent. */
  admits_authors?: string;
  /** The roles of the turns that it may admit, separated by commas; those of its role if absent. */
  admits_roles?: string;
  note?: string;
  role: "verifier" | "agent" | "auditor" | "admin";
  /** Patterns of the spaces of beliefs that it sees, separated by commas; all if absent. Only for the role agent. */
  spaces?: string;
  /** Patterns of the authors for whom it speaks, separated by commas; nobody if absent. A turn that a key of role agent brings in the name of another person is data; a key of role admin speaks for everybody. PATTERN=owner and PATTERN=member say what the author counts for. Only for these two roles. */
  speaks_for?: string;
}

export interface NewAliases {
  aliases: Alias[];
}

/** A fact to be recorded. The confidence is 1 if it is absent, the source api. It holds from valid_from on and before valid_until. */
export interface NewFact {
  confidence?: number;
  object: string;
  /** A text to be stored byte for byte. Its name is object: text: and its SHA-256. */
  object_text?: string;
  predicate: string;
  slice?: string;
  source?: string;
  subject: string;
  supersedes?: string[];
  turn?: string;
  valid_from?: string;
  valid_until?: string;
}

export interface NewLink {
  /** The address of a revision, with ?r=. */
  from: string;
  to: string;
  /** depends_on, derived_from, supersedes, referenced, contains, created_from, or another word. */
  type: string;
}

export interface NewMemory {
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** The id of the memory that it replaces. */
  instead?: string;
  /** Other words by which it is found. */
  keywords?: string[];
  /** fact if left out. hard_rule is a rule: every context has it. */
  kind?: string;
  /** The space of the project; projects/general if left out. */
  project?: string;
  reason?: string;
  /** A name for what the text settles, such as deploy-day: a newer text with the same name replaces it. If left out, texts that settle the same in the usual ways, such as tabs or spaces, replace each other. */
  slot?: string;
  /** What is to be remembered. It is kept and shown byte for byte. */
  text: string;
  /** The turns that say so: the memory loses its text when all of them lose theirs. */
  turns?: string[];
}

export interface NewMessage {
  /** The author, in printable ASCII. */
  author: string;
  content: string;
  /** Messages with the same key in a session are the same message, so repeating a request is safe. */
  key?: string;
  role: "user" | "assistant" | "system" | "tool";
}

export interface NewSpace {
  /** A registered policy of the type kind_policy_v1. If left out, a space keeps its policy, and a new space is under beliefs@2. */
  policy?: string;
  space: string;
}

export interface NewStanding {
  /** Change nothing, and answer what would change. */
  dry_run?: boolean;
  policy_id: string;
  /** Raise the standings of turns that are there, too. */
  retroactive?: boolean;
  /** The number of the newest setting that the caller knows, 0 if there was none: since in a dry run, or seq of the last of settings. If another setting has been made since, nothing is changed, and the error says what is in force. Absent: put the policy in force in place of whichever is. */
  seen?: number;
}

export interface NewTag {
  reason?: string;
  ref: string;
  /** The revision that the tag is to point to; 0 removes the tag. */
  revision: number;
  tag: string;
}

export interface NotGiven {
  at: string;
  bundle_sha256: string;
  /** Who reported it. Absent if that was not recorded. */
  by?: string;
  context_id: string;
  reason: string;
  seq: number;
}

export interface OldMemory {
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** Its id, or a beginning of at least 4 characters that no other one has. */
  id: string;
  reason?: string;
  /** The revision that the caller has seen. If it is another one by now, nothing is recorded. */
  revision?: number;
}

export interface OverfullSpace {
  /** The number of its constraints. */
  count: number;
  /** The number of its newest constraints that are not in the context as constraints. */
  left: number;
  space: string;
}

export interface Overlap {
  as_of: number;
  /** Contexts that were examined. */
  contexts: number;
  /** The number of the newest record of what was handed out. */
  issued: number;
  /** Older records that were not examined: only the newest 10 000 are. */
  older: number;
  /** The pairs, the most alike first. */
  pairs: OverlapPair[];
  /** There are more than 10 000 slices and contexts, so pairs were found by MinHash and some may be missing: a pair that shares half of its turns with a probability of 1 in 8, a pair that shares 7 of 10 with 1 in 10 000. */
  sampled?: boolean;
  /** Slices of turns that were examined. */
  slices: number;
}

export interface OverlapPair {
  a: string;
  b: string;
  /** The turns that both contained, as a share of the turns that either contained, in millionths. */
  jaccard: number;
  /** Turns that both contained. */
  shared: number;
}

export interface Parent {
  id: string;
  kind: "reply" | "spawn" | "merge" | "reference";
}

export interface Persona {
  /** A DSSE envelope around a document gkpersona/1, signed by the attestation key. Its bytes here are canonical. */
  envelope: Record<string, unknown>;
  items: number;
  /** Items that were left out, and names that could not be replaced. */
  left: PersonaLeft[];
  links: number;
  /** The digest of the document. */
  sha256: string;
}

export interface PersonaAlias {
  /** The alias must not contain a name that is replaced. */
  alias: string;
  name: string;
}

export interface PersonaImport {
  /** Show for each item by itself what would happen, and record nothing. */
  dry_run?: boolean;
  /** The envelope of an export. */
  envelope: Record<string, unknown>;
  /** Revise with the authority of the caller. Otherwise everything is proposed. */
  revise?: boolean;
  /** The keys whose signatures count, in the form of a trust file. The key that signed must belong to the kernel that the persona names as its origin. */
  signers: string[];
  space: string;
}

export interface PersonaLeft {
  item: string;
  /** The name that could not be replaced. Absent: the item may not leave the space. */
  name?: string;
  reason: string;
  /** The item is in the document, with the name in it. */
  taken?: boolean;
}

export interface PersonaOrigin {
  as_of: number;
  at: string;
  /** The name that its key signs as. */
  kernel: string;
  space: string;
  tenant: string;
}

export interface PersonaRequest {
  /** The aliases that replace names of people, in statements and texts, however they are spelled. */
  aliases?: PersonaAlias[];
  /** Names of people, in addition to those that the space knows as such. Names without an alias are listed. */
  people?: string[];
  space: string;
}

export interface PhaseWeights {
  consolidation?: number;
  debugging?: number;
  exploration?: number;
  planning?: number;
  synthesis?: number;
}

export interface Pivot {
  /** Other turns that would have been selected without it. */
  added: number;
  /** Other turns that would not have been selected without it. */
  dropped: number;
  turn: string;
}

export interface Policies {
  policies: RegisteredPolicy[];
  registry_fingerprint: string;
}

export interface PolicyRegistration {
  policy: SlicePolicy | SlicePolicyV2 | SlicePolicyV3 | FactPolicy | RetrievalPolicy | ContextPolicy | ContextPolicyV2 | DenyRules | Retention | KindPolicy | PromotionPolicy | StandingPolicy;
  policy_id: string;
}

export interface Preview {
  as_of: number;
  turns: Rival[];
}

export interface ProblemDocument {
  /** For a stream, the number of turns that were acknowledged before the fault. */
  admitted?: number;
  /** With conflict, the digest of what arrived. */
  arriving?: string;
  /** With ambiguous, some of the turns that match. */
  candidates?: string[];
  code: string;
  /** The value, the rule and the place, in one sentence. */
  detail: string;
  existing?: number;
  /** Where in the request the fault lies, such as turns[3].salience, a query parameter or a line. */
  place?: string;
  request_id: string;
  status: number;
  /** With conflict, the digest of what is stored. */
  stored?: string;
  title: string;
  /** With conflict and cycle, the turn; with unknown_parent, the parent. */
  turn?: string;
  /** Where the code is explained, relative to the service. */
  type: string;
}

export interface Promotion {
  from: string;
  outcome: "changed" | "unchanged" | "refused";
  reason: string;
  /** Absent if nothing was recorded. */
  seq?: number;
  /** The addresses of items, or the numbers of uses. */
  sources: string[];
  /** The support that counted, in millionths. A source that was derived from the item counts half. */
  support_ppm: number;
  tag?: string;
  threshold: number;
  /** The new item; for a promotion to a tag, the item itself. */
  to: string;
}

/** When what is believed becomes something of another kind, or gets a tag. Without steps it has those of promotion@2; of several steps to a kind the first that applies is taken. */
export interface PromotionPolicy {
  /** docs/belief.md has the members. */
  steps?: Record<string, unknown>[];
  type: "promotion_policy_v1";
}

export interface PromotionRequest {
  /** Show what would happen, and record nothing. */
  dry_run?: boolean;
  /** A policy of the type promotion_policy_v1. */
  policy?: string;
  space: string;
}

export interface Promotions {
  promotions: Promotion[];
}

export interface Provenance {
  anchor_turn_id: string;
  graph_snapshot_hash: string;
  policy_id: string;
  policy_params_hash: string;
  schema_version: string;
  slice_id: string;
}

export interface PutMessage {
  /** The session already had a message with this key, which stays as it was. */
  existing?: boolean;
  /** Absent if the message is already a turn. */
  expires_at?: string;
  /** The id of the message, and of the turn that it may become. */
  id: string;
  /** The message was consolidated before, and was not put again. */
  turn?: boolean;
}

export interface Reached {
  entity: string;
  from: string;
  hops: number;
  min_confidence: number;
  path: Step[];
}

export interface Receipt {
  /** Turns that are new. */
  admitted: number;
  /** Turns of the request that are stored as data and as nobody's word, because they are in the name of a person for whom the key does not speak. */
  brought?: number;
  /** Edges of the new turns. */
  edges: number;
  /** New turns in which a person says again what was erased. They have their text. */
  erased_before?: number;
  /** Turns that were there already. */
  existing: number;
  head: number;
  /** New turns that were admitted without their text, because it was erased under another id. */
  held_back?: number;
}

export interface RecentConversation {
  conversation: string;
  /** The latest time of its turns. */
  last_at: string;
  /** The turn that was admitted last. */
  turn: string;
}

export interface Recipient {
  agent: string;
  event: string;
  session: string;
}

export interface RegisteredPolicy {
  policy: SlicePolicy | SlicePolicyV2 | SlicePolicyV3 | FactPolicy | RetrievalPolicy | ContextPolicy | ContextPolicyV2 | DenyRules | Retention | KindPolicy | PromotionPolicy | StandingPolicy;
  policy_id: string;
  policy_params_hash: string;
}

export interface Released {
  /** Turns that were not released before. */
  released: number;
}

export interface Remembered {
  /** What the proposal contradicts, so that it waits for a person. */
  against?: Memory[];
  /** What holds no longer because of it; with against, nothing. */
  gave_way: Memory[];
  /** Absent for a dry run of a new memory. */
  id?: string;
  /** If nothing gave way: the memory of the project that is most alike. To replace it, remember the text instead of it. */
  nearest?: Memory;
  /** proposed: it is a proposal until a person accepts it. */
  result: "changed" | "unchanged" | "proposed";
  seq?: number;
}

export interface Replay {
  as_of: number;
  checks: Check[];
  difference?: Difference;
  erased: string[];
  /** Turns whose text is gone although no erasure is on record. */
  lost: string[];
  outcome: "identical" | "erased" | "lost" | "different";
  provenance: Provenance;
  reason: string;
  redacted: string[];
  slice_id: string;
}

export interface ResolvedConflict {
  /** The advice for each revision that the proposal contradicts. */
  advice: ConflictAdvice[];
  conflict: number;
  how: "taken" | "dropped" | "deferred";
  /** The outcome of the revision, if the proposal was to be taken. */
  outcome?: BeliefOutcome;
  /** Absent if the conflict keeps waiting, because of dry_run or because revising was refused. */
  seq?: number;
}

export interface ResolvedKref {
  /** The artifact that the address names. */
  artifact?: Artifact;
  as_of: number;
  deprecated: boolean;
  item: string;
  ref: string;
  /** Absent if the tag points to no revision. */
  revision?: ItemRevision;
  /** The total number. */
  revisions: number;
  /** Each period in which a tag pointed to a revision, by tag and number. */
  tags: ItemTag[];
}

export interface ResolvedTurn {
  id: string;
}

export interface Retention {
  rules: RetentionRule[];
  type: "retention_v1";
}

export interface RetentionRule {
  author?: string;
  /** Turns said while the agent worked in this folder, or below it. */
  cwd?: string;
  /** The days from the turn's created_at on; for ever if left out. */
  days?: number;
  role?: "user" | "assistant" | "system" | "tool";
}

/** The assertions that gave the facts their confidence. */
export interface Retracted {
  acts: KnowledgeAct[];
  dry_run: boolean;
  total: number;
}

export interface Retraction {
  reason?: string;
  statement: string;
}

/** How turns are found by words. Parameters that are left out have the values of recall@1. */
export interface RetrievalPolicy {
  analyzer?: "english" | "none";
  author?: number;
  conversation?: Record<string, unknown>;
  dates?: Record<string, unknown>;
  dense?: Record<string, unknown>;
  floor?: number;
  fusion?: Record<string, unknown>;
  max_hits?: number;
  names_by_use?: boolean;
  near_terms?: boolean;
  people?: boolean;
  reach?: number;
  rerank?: Record<string, unknown>;
  type: "retrieval_policy_v1";
  when?: number;
  words?: Record<string, unknown>;
}

export interface RevisionElement {
  class: "inferred" | "tool" | "verified" | "human" | "published" | "hard_rule";
  /** The statement is denied. */
  not?: boolean;
  object: string;
  predicate: string;
  premises?: WrittenStatement[];
  subject: string;
  turns?: string[];
  valid_from?: string;
  valid_until?: string;
  /** The names as they were written, if these differ; for a text, the text. Absent if they are the same, or were not recorded. */
  written?: Written;
}

export interface RevokedAPIKey {
  /** Patterns of the authors whose turns it may admit; empty: none. */
  admits_authors: string;
  /** The roles of the turns that it may admit; empty: none. */
  admits_roles: string;
  /** The key was already revoked. */
  already: boolean;
  created_at: string;
  id: string;
  note?: string;
  revoked_at?: string;
  role: string;
  /** Patterns of the spaces of beliefs that it sees; absent: no limit. */
  spaces?: string;
  /** Patterns of the authors for whom it speaks; absent: nobody, or everybody if its role is admin. */
  speaks_for?: string;
  tenant: string;
}

export interface Rival {
  admission: Admission;
  id: string;
}

export interface Search {
  /** Search the graph as of this sequence number; 0 is the present. */
  as_of?: number;
  /** Only turns that have each of these attributes. */
  attributes?: Attributes;
  /** Only turns of this author, written as in the turns. */
  author?: string;
  /** Only turns of this conversation. */
  conversation?: string;
  /** Return what was asked before each of the first 200 hits, or what was answered to it, and the sessions of these hits. Hits, their order and their scores stay the same. */
  exchanges?: boolean;
  /** Return what each score consists of. */
  explain?: boolean;
  /** The most hits to return. */
  limit?: number;
  /** The policy of the search; find@2 if left out. */
  policy?: string;
  query: string;
  /** Only turns of this role. */
  role?: "user" | "assistant" | "system" | "tool";
  /** Only turns that were created at this time or later. */
  since?: string;
  /** Only turns that support something that is believed in this space, as of the number of the search. */
  space?: string;
  /** Only turns of this standing as of the number of the search, among the hits that the policy allows: whose words count. */
  standing?: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  /** Only turns that were created before this time. */
  until?: string;
  /** A bundle that the kernel handed out, byte for byte. Only its turns are searched, as if there were no others, as of its number unless as_of is given. */
  within?: unknown;
}

/** What a slice of turns is cut under. Parameters that are left out have the values of default@1. */
export interface SlicePolicy {
  distance_decay?: number;
  include_siblings?: boolean;
  max_nodes?: number;
  max_radius?: number;
  max_siblings?: number;
  phase_weights?: PhaseWeights;
  salience_weight?: number;
  type: "slice_policy_v1";
}

/** What a slice of turns is cut under, by what they were marked with: voice, cost and things touched. Parameters that are left out have the values of default@2. A max_cost of 0 is none. */
export interface SlicePolicyV2 {
  direction?: "past" | "both";
  distance_decay?: number;
  max_cost?: number;
  max_nodes?: number;
  max_radius?: number;
  max_siblings?: number;
  max_touching?: number;
  phase_weights?: Record<string, unknown>;
  salience_weight?: number;
  spine?: boolean;
  type: "slice_policy_v2";
  voice_weights?: Record<string, unknown>;
}

/** What a slice of turns is cut under, by what they count for under the standing policy, cost and things touched. Parameters that are left out have the values of default@3. A max_cost of 0 is none. */
export interface SlicePolicyV3 {
  direction?: "past" | "both";
  distance_decay?: number;
  max_cost?: number;
  max_nodes?: number;
  max_radius?: number;
  max_siblings?: number;
  max_touching?: number;
  phase_weights?: Record<string, unknown>;
  salience_weight?: number;
  spine?: boolean;
  standing_weights?: Record<string, unknown>;
  type: "slice_policy_v3";
}

export interface SliceRecord {
  issued: Issued[];
  slice_id: string;
}

export interface SliceRequest {
  anchor: string;
  /** The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present. */
  as_of?: number;
  /** bundle is evidence; markdown and messages (OpenAI chat form) are for people and prompts. */
  format?: "bundle" | "markdown" | "messages";
  policy?: string;
}

export interface SliceRequests {
  requests: SliceRequest[];
}

export interface Slices {
  next?: string;
  slices: Issued[];
}

export interface Snapshot {
  as_of: number;
  /** The 20 authors with the most turns. A turn whose text was erased has no author. */
  authors: NameShare[];
  /** Turns that several turns continue. */
  branches: number;
  /** Contexts that were examined. */
  contexts: number;
  conversations: number;
  /** The largest number of edges from a turn that continues no other. */
  depth: number;
  /** Turns by their depth. */
  depths: NameShare[];
  edges: number;
  /** The growth at each tenth of the sequence numbers. */
  growth: GrowthStep[];
  /** The number of the newest record of what was handed out. */
  issued: number;
  /** Edges by their kind. */
  kinds: NameShare[];
  /** The 20 conversations with the most turns. */
  largest: NameShare[];
  /** Turns that no other turn continues. */
  leaves: number;
  /** Turns that continue several turns. */
  merges: number;
  /** Older records that were not examined: only the newest 10 000 are. */
  older: number;
  phases: NameShare[];
  roles: NameShare[];
  /** Turns that continue no other turn. */
  roots: number;
  /** Slices of turns that were examined. */
  slices: number;
  turns: number;
}

export interface Space {
  /** The constraints, if they were asked for. */
  constraints?: ConstraintLoad;
  policy: string;
  /** The number since which the space has this policy. */
  seq?: number;
  space: string;
}

export interface Spaces {
  spaces: Space[];
}

export interface Standing {
  as_of: number;
  policy_id: string;
  policy_params_hash: string;
  /** The oldest first; none if the tenant has the policy that every tenant begins with. */
  settings: StandingSetting[];
}

export interface StandingChange {
  /** The policy was in force before, so nothing was changed. */
  already?: boolean;
  /** The policy in force before. */
  before: string;
  dry_run?: boolean;
  /** How many turns would count more with retroactive, and keep the standing that they have. */
  held: number;
  /** How many turns count less. */
  lowered: number;
  /** The newest 20 turns that are raised or held, and then the newest 20 that are lowered. */
  moved: MovedStanding[];
  policy_id: string;
  /** How many turns count more. */
  raised: number;
  /** The entry; absent if nothing was changed. */
  set?: StandingSetting;
  /** The number of the setting that put it in force; 0 if nobody has made a setting. */
  since: number;
  /** How many turns there are. */
  turns: number;
}

export interface StandingPolicy {
  rules: StandingRule[];
  type: "standing_policy_v1";
}

export interface StandingRule {
  author?: string;
  /** The way by which they came in; import is every way of importing conversations. */
  channel?: "import" | "program" | "command" | "harness" | "chat" | "trace" | "lines" | "commits" | "api" | "agent";
  conversation?: string;
  /** What the key that brought them was granted for the author. */
  grant?: "refused" | "speaks" | "member" | "owner" | "operator";
  /** Turns that this credential brought: the id of an API key, or jwt: and a subject. */
  key?: string;
  role?: "user" | "assistant" | "system" | "tool";
  standing: "outside" | "guest" | "agent" | "member" | "owner";
}

export interface StandingSetting {
  at: string;
  by?: string;
  policy_id: string;
  policy_params_hash: string;
  /** It also raised the standings of turns that were there. */
  retroactive?: boolean;
  seq: number;
}

export interface Standings {
  as_of: number;
  next?: string;
  turns: TurnStanding[];
}

/** A fact on a way. An outgoing one leads from its subject to its object. */
export interface Step {
  /** The names in the statement itself, if aliases replace them. */
  asserted?: Written;
  confidence: number;
  direction: "outgoing" | "incoming";
  object: string;
  predicate: string;
  since: number;
  source: string;
  statement: string;
  subject: string;
  turn?: string;
  valid_from?: string;
  valid_until?: string;
  written?: Written;
}

export interface StoredTurn {
  body_digest: string;
  key?: string;
  leaf: string;
  /** The text was withheld or erased. */
  redacted: boolean;
  seq: number;
  turn: Turn;
}

export interface StoredTurns {
  next?: string;
  turns: StoredTurn[];
}

export interface Sufficiency {
  /** Words of the task for which something was found that did not fit into the budget, or was worth too little. */
  left_out: string[];
  /** healthy above 700000, low above 400000, critical below. */
  level: "healthy" | "low" | "critical";
  /** Words of the task for which nothing was found. */
  missing: string[];
  /** The share of the task's words that occur in the chosen items, in millionths. */
  ppm: number;
}

export interface Support {
  by?: string;
  class: "inferred" | "tool" | "verified" | "human" | "published" | "hard_rule";
  item: string;
  premises?: WrittenStatement[];
  revision: number;
  /** The number of the event that began the unbroken belief. */
  since: number;
  statement: WrittenStatement;
  turns?: string[];
}

export interface TaskErased {
  /** The number of the last entry of the change. */
  as_of?: number;
  at: string;
  /** Who asked for it. Absent if that was not recorded. */
  by?: string;
  context: string;
  reason: string;
  seq: number;
}

/** The six fields of a slice's provenance, its token, and the key that is said to have signed. Any value is taken and judged. Without `key_id` every live key is tried. */
export interface TokenClaim {
  /** The anchor's id. */
  anchor_turn_id?: unknown;
  /** As it stands in the bundle. */
  graph_snapshot_hash?: unknown;
  /** The key's id; optional. */
  key_id?: unknown;
  /** Such as default@1. */
  policy_id?: unknown;
  /** As it stands in the bundle. */
  policy_params_hash?: unknown;
  /** As it stands in the bundle. */
  schema_version?: unknown;
  /** 16 lowercase hex digits. */
  slice_id?: unknown;
  /** 32 lowercase hex digits. */
  token?: unknown;
}

export interface TokenVerdict {
  admissible: boolean;
  /** The key that signed; if not admissible, the key that the token names. */
  key_id: string;
  outcome: "verified" | "tampered" | "key_unknown" | "key_retired" | "malformed" | "unknown_version";
  /** Why it is not admissible; empty if it is. */
  reason: string;
}

export interface Traversal {
  as_of: number;
  /** Why the answer is not complete; empty if it is. */
  cut: "" | "results" | "work";
  /** The number of edges that were examined. */
  looked: number;
  reached: Reached[];
}

export interface TraverseRequest {
  as_of?: number;
  direction?: "outgoing" | "incoming" | "both";
  max_hops?: number;
  max_results?: number;
  min_confidence?: number;
  predicates?: string[];
  start: string | string[];
  valid_at?: string;
  /** A bundle that the kernel handed out, byte for byte. The traversal follows facts that are in it or were learned from its turns, as of its number unless as_of is given. */
  within?: unknown;
}

/** A turn as it arrives. */
export interface Turn {
  attrs?: Record<string, string>;
  author?: string;
  body_digest?: string;
  content?: string;
  conversation: string;
  created_at: string;
  id: string;
  parents?: Parent[];
  phase?: "exploration" | "debugging" | "planning" | "consolidation" | "synthesis";
  redacted?: true;
  role: "user" | "assistant" | "system" | "tool";
  salience?: number;
  salt?: string;
}

export interface TurnIDs {
  ids: string[];
}

export interface TurnStanding {
  /** Absent if the text was erased. */
  author?: string;
  /** The way by which the turn came in. */
  channel: "program" | "command" | "harness" | "chat" | "trace" | "lines" | "commits" | "api" | "agent";
  conversation: string;
  /** What the key that brought it was granted for its author. */
  grant?: "refused" | "speaks" | "member" | "owner" | "operator";
  key?: string;
  policy_id: string;
  /** Why it has this standing, in words. */
  reason: string;
  role: "user" | "assistant" | "system" | "tool";
  /** The number of the policy's rule that matched, from 1; absent if none did. */
  rule?: number;
  seq: number;
  standing: "outside" | "guest" | "agent" | "member" | "owner" | "system";
  turn: string;
  voice: "person" | "agent" | "tool" | "harness";
}

export interface Turns {
  turns: Turn[];
}

export interface UnarchiveRequest {
  /** The file. */
  document: string;
  /** Show which items were archived with this file, and record nothing. */
  dry_run?: boolean;
}

export interface Unarchived {
  items: UnarchivedItem[];
}

export interface UnarchivedItem {
  /** A set of statements that contradict each other. */
  conflict?: WrittenStatement[];
  item: string;
  outcome: "changed" | "unchanged" | "refused";
  /** Why it was refused, or has not changed. */
  reason?: string;
  /** Absent if nothing was recorded. */
  seq?: number;
}

export interface UseRecord {
  /** Successes in uses, rounded down. */
  rate: number;
  /** The revision that was used. */
  ref: string;
  seq: number;
  successes: number;
  uses: number;
}

export interface Why {
  as_of: number;
  believed: boolean;
  /** Past periods in which it was believed, among the newest 512 changes of the elements that it could follow from. */
  ended: EndedBelief[];
  /** For the state erased: revisions that may have stated it. Their words are gone. */
  erased?: ErasedRevision[];
  /** ended: it was believed. erased: no remaining revision ever made it believed, but erased revisions of the space may have. never: no revision made it believed. */
  state: "believed" | "ended" | "erased" | "never";
  /** The statement that was asked about. */
  statement: WrittenStatement;
  /** A set of elements from which it follows. */
  support: Support[];
}

export interface WorkingCleared {
  cleared: number;
  owner?: string;
  session: string;
}

export interface WorkingMessage {
  /** The time at which the message was put. */
  at: string;
  author: string;
  content: string;
  expires_at: string;
  id: string;
  role: "user" | "assistant" | "system" | "tool";
}

export interface WorkingMessages {
  messages: WorkingMessage[];
  owner?: string;
  session: string;
}

export interface WorkingOutcome {
  /** The bytes of the session that count against the limit, now. */
  bytes: number;
  /** The number of oldest messages that were dropped for the messages of the request. */
  dropped: number;
  /** The number of messages that expired since the session changed last. */
  expired: number;
  /** The number of messages of the session now. */
  held: number;
  /** The messages, in the order of the request. */
  messages: PutMessage[];
  session: string;
}

export interface WorkingSession {
  bytes: number;
  /** When the last message expires. */
  expires_at: string;
  /** The number of messages. Some may have expired by now. */
  messages: number;
  /** The caller whose session it is. */
  owner?: string;
  session: string;
}

export interface WorkingSessions {
  sessions: WorkingSession[];
}

/** How names were spelled, where that is not the canonical name. */
export interface Written {
  object?: string;
  predicate?: string;
  subject?: string;
}

export interface WrittenStatement {
  /** The statement is denied. */
  not?: boolean;
  object: string;
  predicate: string;
  subject: string;
  /** The names as they were written, if these differ; for a text, the text. Absent if they are the same, or were not recorded. */
  written?: Written;
}

/** One method for each operation. */
export class Operations {
  constructor(protected readonly transport: Transport) {}

  /**
   * State something more general than the beliefs it is drawn from.
   *
   * Proposes statements that are more general than those of some items, with links `abstracted_to` from these. It rests on their turns. If it is specific enough to replace them, they are deprecated in the same change. Statements that contradict an original are refused.
   */
  abstractBeliefs(body: AbstractionRequest): Promise<Abstraction> {
    return this.transport.json("POST", `/api/beliefs/abstract`, { body, media: "application/json" });
  }

  /**
   * Accept a proposal.
   *
   * From then on it is the word of the person who accepts it, and what contradicts it gives way.
   */
  acceptMemory(body: OldMemory): Promise<Remembered> {
    return this.transport.json("POST", `/api/memories/accept`, { body, media: "application/json" });
  }

  /**
   * Add aliases, or a CSV list of them.
   *
   * From now on each stands for its canonical name, all of them or, on an error,
   * none. Facts are kept as they were asserted; names are resolved when they are
   * read. An alias that stands for another name already, or that would make a
   * chain, is an `alias_conflict` that gives both names. An alias decides under
   * which name everybody's statements are recorded from now on, so no key of role
   * `agent` adds or removes one.
   *
   * With `Content-Type: text/csv` the body is a list, `alias,canonical` on each
   * line. What contradicts itself within the list is left out and counted; what
   * contradicts the table is an error. At most 10 000 aliases at once.
   */
  addAliases(body: NewAliases): Promise<AliasesAdded> {
    return this.transport.json("POST", `/api/knowledge/aliases`, { body, media: "application/json" });
  }

  /**
   * Add aliases, or a CSV list of them.
   *
   * From now on each stands for its canonical name, all of them or, on an error,
   * none. Facts are kept as they were asserted; names are resolved when they are
   * read. An alias that stands for another name already, or that would make a
   * chain, is an `alias_conflict` that gives both names. An alias decides under
   * which name everybody's statements are recorded from now on, so no key of role
   * `agent` adds or removes one.
   *
   * With `Content-Type: text/csv` the body is a list, `alias,canonical` on each
   * line. What contradicts itself within the list is left out and counted; what
   * contradicts the table is an error. At most 10 000 aliases at once.
   *
   * The body is text/csv, unchanged.
   */
  addAliasesCSV(body: Uint8Array): Promise<AliasesAdded> {
    return this.transport.json("POST", `/api/knowledge/aliases`, { body, media: "text/csv" });
  }

  /**
   * Admit up to 10 000 turns, all or none, or a stream of lines.
   *
   * Admits a batch, all of it or nothing, in any order. A turn that is there
   * already with the same content counts as existing, so repeating a request
   * is safe. A batch has at most 10 000 turns, unless the service is set up
   * otherwise. The same id with other content is a conflict that names both
   * digests. A parent that is neither stored nor in the batch is an error.
   *
   * With `Content-Type: application/x-ndjson` the body is one turn a line and
   * may be of any length. Lines are admitted in batches of up to 1 000 as they
   * arrive, each batch whole or not at all, so parents stand before their
   * children or within the same batch. Lines that stand after their parents are
   * admitted in their order: what `graphkernel export` wrote gets the same numbers. If a line is refused, the problem says
   * in `admitted` and `existing` what was acknowledged before it.
   */
  admitTurns(body: Turns): Promise<Receipt> {
    return this.transport.json("POST", `/api/turns`, { body, media: "application/json" });
  }

  /**
   * Admit up to 10 000 turns, all or none, or a stream of lines.
   *
   * Admits a batch, all of it or nothing, in any order. A turn that is there
   * already with the same content counts as existing, so repeating a request
   * is safe. A batch has at most 10 000 turns, unless the service is set up
   * otherwise. The same id with other content is a conflict that names both
   * digests. A parent that is neither stored nor in the batch is an error.
   *
   * With `Content-Type: application/x-ndjson` the body is one turn a line and
   * may be of any length. Lines are admitted in batches of up to 1 000 as they
   * arrive, each batch whole or not at all, so parents stand before their
   * children or within the same batch. Lines that stand after their parents are
   * admitted in their order: what `graphkernel export` wrote gets the same numbers. If a line is refused, the problem says
   * in `admitted` and `existing` what was acknowledged before it.
   *
   * The body is application/x-ndjson, unchanged.
   */
  admitTurnsLines(body: Uint8Array): Promise<Receipt> {
    return this.transport.json("POST", `/api/turns`, { body, media: "application/x-ndjson" });
  }

  /**
   * Archive items that nobody believes or uses any more.
   *
   * Writes a file with the revisions of items that nothing is believed of any more, or that others supersede, if they are unused for 90 days and their confidence is below 0.3. Save the file, and ask again with its digest: then each item is deprecated, and its deprecation keeps the digest of its line. If it is another file by then, nothing is recorded.
   */
  archiveBeliefs(body: ArchiveRequest): Promise<Archive> {
    return this.transport.json("POST", `/api/beliefs/archive`, { body, media: "application/json" });
  }

  /**
   * Assemble a context for a task.
   *
   * Chooses what an agent may be given: turns that fit the words of the task, the slice around the anchor, what a person said
   * and what was said last in its conversation, and what is known of the names in the task. The policy weighs them, and the
   * budget bounds them. The choice is signed, and recorded as shown. With `"format":"bundle"` the answer is the evidence:
   * canonical bytes, to be passed on and verified exactly as they are (`/api/verify_bundle`,
   * `/api/slices/{slice_id}/replay`), whose `turns` are the chosen ones; anyone can recompute the choice and the prompt from it. In
   * the other formats the answer has the prompt. What it says was recorded earlier, and gives no orders.
   */
  assembleContext(body: ContextRequest): Promise<Context | Record<string, unknown>> {
    return this.transport.json("POST", `/api/context`, { body, media: "application/json" });
  }

  /**
   * List communities of turns, or of the names in facts.
   *
   * Divides turns, or the names in facts, into communities.
   */
  atlasCommunities(query: { "as_of"?: number; "issued"?: number; "limit"?: number; "of"?: "turns" | "facts" } = {}): Promise<Communities> {
    return this.transport.json("GET", `/api/atlas/communities`, { query });
  }

  /**
   * List the turns that were used most.
   *
   * Says of turns in how many slices and contexts they were, and where they are in the graph.
   */
  atlasInfluence(query: { "as_of"?: number; "issued"?: number; "limit"?: number; "turn"?: string; "by"?: "weight" | "rank" | "betweenness" } = {}): Promise<Influence> {
    return this.transport.json("GET", `/api/atlas/influence`, { query });
  }

  /**
   * Write the atlas as one signed document.
   *
   * The document is the same, byte for byte, whenever it is asked for as of the same numbers, as long as no fact's turn and no author is erased.
   */
  atlasManifest(query: { "as_of"?: number; "issued"?: number; "unsigned"?: boolean } = {}): Promise<Manifest> {
    return this.transport.json("GET", `/api/atlas/manifest`, { query });
  }

  /**
   * List the slices and contexts that share the most turns.
   *
   * Compares slices and contexts by the turns that both contain.
   */
  atlasOverlap(query: { "as_of"?: number; "issued"?: number; "limit"?: number } = {}): Promise<Overlap> {
    return this.transport.json("GET", `/api/atlas/overlap`, { query });
  }

  /**
   * Count the graph.
   *
   * Counts turns, edges and conversations by what they are, as of a number, and how they grew.
   */
  atlasSnapshot(query: { "as_of"?: number; "issued"?: number } = {}): Promise<Snapshot> {
    return this.transport.json("GET", `/api/atlas`, { query });
  }

  /**
   * Have a bundle attested.
   *
   * Signs for third parties what was issued here, for whoever holds the bundle:
   * exactly these bytes. The attestation is the same each time as long as the
   * key is; the proof's checkpoint moves on with the ledger. A slice is asked
   * for first, with `/api/slice`, and its bytes are sent here as they came.
   */
  attestBundle(body: Uint8Array): Promise<Evidence> {
    return this.transport.json("POST", `/api/attest`, { body, media: "application/json" });
  }

  /** List the proposals that were not taken. */
  beliefConflicts(query: { "space": string }): Promise<Conflicts> {
    return this.transport.json("GET", `/api/beliefs/conflicts`, { query });
  }

  /** Show what depends on a revision. */
  beliefImpact(query: { "ref": string; "depth"?: number }): Promise<Impact> {
    return this.transport.json("GET", `/api/beliefs/impact`, { query });
  }

  /**
   * List the rules of a space.
   *
   * All statements of the constraints of a space: what persons state of the kinds that its policy marks `hard` or `always`. No similarity and no budget shortens the list.
   */
  beliefRules(query: { "space": string; "as_of"?: number }): Promise<BeliefBase> {
    return this.transport.json("GET", `/api/beliefs/rules`, { query });
  }

  /**
   * Show what may have led to a turn.
   *
   * Lists what was handed out for it, the turns that all of that held, and those on which the choice of the others hung: the slice is cut again without each.
   */
  blameTurn(id: string, query: { "as_of"?: number; "issued"?: number; "policy"?: string } = {}): Promise<Blame> {
    return this.transport.json("GET", `/api/turns/${this.transport.segment(id)}/blame`, { query });
  }

  /**
   * Lower the confidence of beliefs whose evidence fell.
   *
   * The confidence of each belief whose evidence fell is computed anew from the evidence that is left; below 0.3 what it states ends now. All of it
   * is one change with the reasons, and nothing is deleted. What is published keeps its confidence.
   */
  cascadeBeliefs(body: CascadeRequest): Promise<Cascade> {
    return this.transport.json("POST", `/api/beliefs/cascade`, { body, media: "application/json" });
  }

  /**
   * Clear the messages of a session.
   *
   * No record of this is made, and nothing of the text is left in the files of the store.
   */
  clearWorking(session: string, query: { "owner"?: string } = {}): Promise<WorkingCleared> {
    return this.transport.json("DELETE", `/api/working/${this.transport.segment(session)}`, { query });
  }

  /**
   * Make turns of messages.
   *
   * The messages are admitted as one batch, as by admitTurns, each a reply to the one before it, and then leave the session. If anything fails, the session is what it
   * was. Repeating the request is safe: what is a turn already is not admitted again.
   */
  consolidateWorking(session: string, body: Record<string, unknown>): Promise<Consolidated> {
    return this.transport.json("POST", `/api/working/${this.transport.segment(session)}/consolidate`, { body, media: "application/json" });
  }

  /**
   * Give up statements.
   *
   * Each of them, and of what it follows from as much as is needed, the least entrenched first. Of a revision that states more, a new revision without them is made.
   */
  contractBeliefs(body: BeliefRequest): Promise<BeliefOutcome> {
    return this.transport.json("POST", `/api/beliefs/contract`, { body, media: "application/json" });
  }

  /**
   * Write a bundle as W3C PROV, OpenLineage, or for cosign.
   *
   * Writes a bundle that was issued here for other people's tools: W3C PROV-JSON, an
   * OpenLineage event, or what cosign verifies.
   */
  convertBundle(body: Uint8Array, query: { "to": "prov" | "openlineage" | "sigstore" }): Promise<Converted> {
    return this.transport.json("POST", `/api/convert`, { query, body, media: "application/json" });
  }

  /** Make an API key, whose text is shown this once. */
  createKey(body: NewAPIKey): Promise<MadeAPIKey> {
    return this.transport.json("POST", `/api/keys`, { body, media: "application/json", once: true });
  }

  /**
   * Cut and sign a slice of facts.
   *
   * Gathers what can be reached from some entities under a policy of the type
   * `fact_policy_v1`, signs it, records that it was handed out, and answers with
   * the bundle: canonical bytes, to be passed on and verified exactly as they are
   * (`/api/verify_bundle`, `/api/slices/{slice_id}/replay`). It holds the paths, the assertions that
   * they rest on, and the leaf hashes of the turns that are the evidence. The same
   * question as of the same number gives the same bytes, and the same `ETag`.
   */
  cutFacts(body: FactSliceRequest): Promise<Uint8Array> {
    return this.transport.raw("POST", `/api/knowledge/slice`, { body, media: "application/json" });
  }

  /**
   * Cut and sign a slice.
   *
   * Selects the turns that may influence the anchor, signs them, records that
   * they were handed out, and answers with the bundle: canonical bytes, to be
   * passed on and verified exactly as they are. The same request on the same
   * view gives the same bytes, and the same `ETag`. Without `policy` the turns are
   * chosen under `default@3`: none that came after the anchor, at most 256 and
   * 32 000 tokens. An anchor that alone costs more is `slice_too_large`; name a
   * policy without such a bound, such as `default@1`.
   */
  cutSlice(body: SliceRequest): Promise<Uint8Array> {
    return this.transport.raw("POST", `/api/slice`, { body, media: "application/json" });
  }

  /**
   * Cut up to 100 slices.
   *
   * Cuts the slices in parallel. Each has its own bundle or its own problem,
   * in the order of the requests; one that fails does not touch the others.
   * What passes 64 MiB of answer in all is `too_large`: ask for it alone.
   */
  cutSlices(body: SliceRequests): Promise<BatchResults> {
    return this.transport.json("POST", `/api/slice/batch`, { body, media: "application/json" });
  }

  /**
   * Lower the confidence of old beliefs.
   *
   * Lowers the confidence of beliefs by the half-lives of their kinds. Nothing ends, and nothing is deleted. The confidence is computed from the last revision that decay did not make, so it does not depend on how often this is requested. Published revisions keep their confidence.
   */
  decayBeliefs(body: DecayRequest): Promise<Decay> {
    return this.transport.json("POST", `/api/beliefs/decay`, { body, media: "application/json" });
  }

  /**
   * Stop believing an item.
   *
   * Nothing is lost: its revisions and tags stay, and it can be restored.
   */
  deprecateItem(body: Deprecation): Promise<KrefChange> {
    return this.transport.json("POST", `/api/krefs/deprecate`, { body, media: "application/json" });
  }

  /** Compare the beliefs as of two numbers. */
  diffBeliefs(query: { "space": string; "from": number; "to"?: number }): Promise<BaseDiff> {
    return this.transport.json("GET", `/api/beliefs/diff`, { query });
  }

  /**
   * Draw what is around an entity.
   *
   * The entity, what can be reached from it, and the facts on the best way to
   * each; facts between them beside these ways are not drawn. `d3` is JSON with
   * nodes and links, `jsonld` JSON-LD 1.1, `mermaid` and `dot` are text. The same
   * question as of the same number gives the same bytes. In drawings for people,
   * names are cut to 200 characters and can do nothing but be read.
   */
  drawKnowledge(query: { "entity": string; "format"?: "d3" | "mermaid" | "dot" | "jsonld"; "max_hops"?: number; "max_results"?: number; "direction"?: "outgoing" | "incoming" | "both"; "predicates"?: string[]; "min_confidence"?: number; "as_of"?: number; "valid_at"?: string }): Promise<Uint8Array> {
    return this.transport.raw("GET", `/api/knowledge/graph`, { query });
  }

  /**
   * Add what is known to turns that were found.
   *
   * Turns that were found, by a search or in any other way, come back with what is known around the entities that they speak of, and with a score that weighs both:
   * a turn about things of which much is known that fits the query moves up. The facts around an entity count by confidence and nearness, and of many
   * the best few decide.
   */
  enrichHits(body: EnrichRequest): Promise<Enriched> {
    return this.transport.json("POST", `/api/enrich`, { body, media: "application/json" });
  }

  /**
   * Erase the task of a context for good, with a reason.
   *
   * Deletes the words of the task, with the budget, the format, the anchor and the salt that were asked for beside them, from every
   * record of the context, and records when, why and who asked. The rest of the record stays: bundles that were handed out hold the task and
   * still verify, and a replay of the record reports that the task was erased. Texts of turns are erased with their turns. Erasing again answers with the
   * first erasure. The id of a slice is refused, and a task that went with a turn is not found.
   */
  eraseTask(slice_id: string, body?: ErasureRequest, query: { "reason"?: string } = {}): Promise<TaskErased> {
    return this.transport.json("DELETE", `/api/slices/${this.transport.segment(slice_id)}/task`, { query, body, media: "application/json" });
  }

  /**
   * Erase a turn's text for good, with a reason.
   *
   * Deletes the turn's text and salt for good and records when and why. The
   * turn's place in the graph stays, and old slices still verify and replay.
   * Erasing again answers with the first event. The reason is given in the
   * body, or as a query parameter where bodies of DELETE are dropped on the
   * way; in an address it may end up in logs.
   */
  eraseTurn(id: string, body?: ErasureRequest, query: { "reason"?: string } = {}): Promise<ErasedTurn> {
    return this.transport.json("DELETE", `/api/turns/${this.transport.segment(id)}`, { query, body, media: "application/json" });
  }

  /** Believe statements that contradict nothing. */
  expandBeliefs(body: BeliefRequest): Promise<BeliefOutcome> {
    return this.transport.json("POST", `/api/beliefs/expand`, { body, media: "application/json" });
  }

  /**
   * Explain why a statement is believed, or why it no longer is.
   *
   * Times in which it followed from others count as those in which it was stated, and say which premise fell. Where nothing that is left ever made it believed, the revisions that were erased up to then are listed: nobody can know what they stated.
   */
  explainBelief(query: { "space": string; "subject": string; "predicate": string; "object": string; "not"?: boolean; "as_of"?: number }): Promise<Why> {
    return this.transport.json("GET", `/api/beliefs/why`, { query });
  }

  /**
   * Say why a turn or a fact is in a context.
   *
   * Assembles a context that was issued again, and says of a turn or of a fact (by its statement) whether it was chosen, with
   * its rank and what its score is made of, or what it lacked: room, a score above 0, or a source that found it.
   */
  explainContext(context_id: string, body: Record<string, unknown>): Promise<ContextExplanation> {
    return this.transport.json("POST", `/api/contexts/${this.transport.segment(context_id)}/explain`, { body, media: "application/json" });
  }

  /**
   * Say why a turn would be in a slice, or would not.
   *
   * Says why a turn is in the slice of an anchor, or is not, whether that was issued
   * or not. Nothing is signed or recorded.
   */
  explainCut(body: ExplainCutting): Promise<Explanation> {
    return this.transport.json("POST", `/api/explain`, { body, media: "application/json" });
  }

  /**
   * Say why something is remembered, or what became of it.
   *
   * Who said it and when, the turns that it rests on, what it replaced, and how it ended if it holds no longer. Give its id, or words that find it.
   */
  explainMemory(query: { "id"?: string; "words"?: string; "project"?: string } = {}): Promise<MemoryReasons> {
    return this.transport.json("GET", `/api/memories/why`, { query });
  }

  /**
   * Explain why a turn is in a slice, or is not.
   *
   * Answers for the newest bundle on record: the turn's rank, score and
   * reason, or what stood in its way.
   */
  explainTurn(slice_id: string, body: Record<string, unknown>): Promise<Explanation> {
    return this.transport.json("POST", `/api/slices/${this.transport.segment(slice_id)}/explain`, { body, media: "application/json" });
  }

  /**
   * Sign what of a space may leave it.
   *
   * Makes a persona: what is believed in the space, without episodes, models of users and relationships, and observations that are not shared. Names of people are replaced by aliases. What did not leave is listed, and so are names that could not be replaced.
   */
  exportPersona(body: PersonaRequest): Promise<Persona> {
    return this.transport.json("POST", `/api/beliefs/persona/export`, { body, media: "application/json" });
  }

  /**
   * Read all that was said of a statement.
   *
   * Assertions and retractions by ascending number. An assertion that has
   * `version` gave the statement its confidence, from its number on and up to
   * before `until`.
   */
  factHistory(statement: string, query: { "after"?: string; "limit"?: number } = {}): Promise<FactHistory> {
    return this.transport.json("GET", `/api/knowledge/${this.transport.segment(statement)}/history`, { query });
  }

  /** Read all that was said of a statement: all pages, one item after the other. */
  async *factHistoryAll(statement: string): AsyncGenerator<KnowledgeAct, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: FactHistory = await this.factHistory(statement, { after, limit: 1000 });
      yield* page.acts;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * Find ways from one entity to another.
   *
   * The k shortest, of the same length those of the highest minimum confidence
   * first. No entity comes twice on a way. There may be none.
   */
  findPaths(query: { "from": string; "to": string; "count"?: number; "predicates"?: string[]; "direction"?: "outgoing" | "incoming" | "both"; "max_hops"?: number; "min_confidence"?: number; "as_of"?: number; "valid_at"?: string }): Promise<Traversal> {
    return this.transport.json("GET", `/api/knowledge/path`, { query });
  }

  /**
   * Forget a memory, or refuse a proposal.
   *
   * It holds no longer, and no context and no list has it. The history keeps what it said, and so do bundles that were handed out. An agent forgets only what it proposed itself.
   */
  forget(body: OldMemory): Promise<Forgotten> {
    return this.transport.json("POST", `/api/memories/forget`, { body, media: "application/json" });
  }

  /**
   * List the beliefs of a space.
   *
   * As of any number: what was believed then, whatever came later. A statement that follows by a rule is marked.
   */
  getBeliefBase(query: { "space": string; "as_of"?: number; "valid_at"?: string; "subject"?: string }): Promise<BeliefBase> {
    return this.transport.json("GET", `/api/beliefs/base`, { query });
  }

  /**
   * Read a bundle that was issued, once more.
   *
   * Makes the newest bundle of a slice id again, of turns, of facts or a context, or the one whose SHA-256 is `bundle`, and
   * answers with it if the bytes are those that were issued. Where a text was erased since, the answer is 410.
   */
  getBundle(slice_id: string, query: { "bundle"?: string } = {}): Promise<Record<string, unknown>> {
    return this.transport.json("GET", `/api/slices/${this.transport.segment(slice_id)}/bundle`, { query });
  }

  /** Say who asks, and how far the tenant has come. */
  getCaller(): Promise<Caller> {
    return this.transport.json("GET", `/api/caller`, {  });
  }

  /**
   * Read the ledger's newest checkpoint.
   *
   * The ledger is that of the key's tenant. With witnesses configured the
   * checkpoint may be some seconds old.
   */
  getCheckpoint(): Promise<string> {
    return this.transport.text("GET", `/log/checkpoint`, {  });
  }

  /**
   * Prove that the ledger grew from one size to another.
   *
   * The hashes (RFC 6962, section 2.1.2) that lead from the root at one size to
   * the root at another: that the second begins with the first. There are none
   * if the sizes are equal, or the first is 0. Whoever reads tiles needs no such answer.
   */
  getConsistency(query: { "from": number; "to": number }): Promise<string> {
    return this.transport.text("GET", `/log/consistency`, { query });
  }

  /** Read the turns of a conversation. */
  getConversation(id: string, query: { "key"?: string; "after"?: string; "limit"?: number } = {}): Promise<ConversationTurns> {
    return this.transport.json("GET", `/api/conversations/${this.transport.segment(id)}`, { query });
  }

  /** Read the turns of a conversation: all pages, one item after the other. */
  async *getConversationAll(id: string, query: { "key"?: string } = {}): AsyncGenerator<StoredTurn, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: ConversationTurns = await this.getConversation(id, { ...query, after, limit: 1000 });
      yield* page.turns;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * Read a tile of the ledger's entries, under another name.
   *
   * The same as `/log/tile/entries/`.
   */
  getEntries(entries: string): Promise<Uint8Array> {
    return this.transport.raw("GET", `/log/entries/${this.transport.segments(entries)}`, {  });
  }

  /**
   * Read what convinces third parties of a slice.
   *
   * Makes the bundle again, and if the bytes are those that were issued, signs
   * an attestation and proves that it is in the ledger. If text was erased
   * since, whoever holds the bundle sends it to `/api/attest` instead.
   */
  getEvidence(slice_id: string, query: { "bundle"?: string } = {}): Promise<Evidence> {
    return this.transport.json("GET", `/api/slices/${this.transport.segment(slice_id)}/evidence`, { query });
  }

  /**
   * Read the keys that sign for third parties.
   *
   * Those of the key's tenant. They tell a person what a trust file should hold; a
   * verifier believes no key that comes with the evidence.
   */
  getLogKeys(): Promise<KernelKeys> {
    return this.transport.json("GET", `/log/keys`, {  });
  }

  /** Read a policy. */
  getPolicy(policy_id: string): Promise<RegisteredPolicy> {
    return this.transport.json("GET", `/api/policies/${this.transport.segment(policy_id)}`, {  });
  }

  /** Prove that a leaf is in the ledger. */
  getProof(query: { "index": number }): Promise<string> {
    return this.transport.text("GET", `/log/proof`, { query });
  }

  /**
   * Read the newest checkpoint of a public ledger.
   *
   * Without a key, of the tenants that the setting `log.public` names. Every other
   * one is `not_found`, whether it exists or not.
   */
  getPublicCheckpoint(tenant: string): Promise<string> {
    return this.transport.text("GET", `/log/of/${this.transport.segment(tenant)}/checkpoint`, { keyless: true });
  }

  /**
   * Read a tile of a public ledger.
   *
   * As `/log/tile/`, without a key, and for caches on the way to keep.
   */
  getPublicTile(tenant: string, tile: string): Promise<Uint8Array> {
    return this.transport.raw("GET", `/log/of/${this.transport.segment(tenant)}/tile/${this.transport.segments(tile)}`, { keyless: true });
  }

  /** Read the record of a slice. */
  getSlice(slice_id: string): Promise<SliceRecord> {
    return this.transport.json("GET", `/api/slices/${this.transport.segment(slice_id)}`, {  });
  }

  /**
   * The standing policy in force.
   *
   * It says whose words count: the operator's, the owner's, a member's, a guest's. Each earlier setting is listed, with who set it.
   */
  getStanding(query: { "as_of"?: number } = {}): Promise<Standing> {
    return this.transport.json("GET", `/api/standing`, { query });
  }

  /**
   * Read a tile of hashes, or of entries.
   *
   * As C2SP tlog-tiles has them: `LEVEL/INDEX` or `entries/INDEX`, and for a part
   * of it `.p/WIDTH` behind. The index is written in groups of three digits, all but the
   * last with an x: 1234067 is `x001/x234/067`. No other spelling is read. A tile is served
   * once it is full, a part of it once there is that much. Entries are
   * compressed for those who take gzip, and need the permission `read`.
   */
  getTile(tile: string): Promise<Uint8Array> {
    return this.transport.raw("GET", `/log/tile/${this.transport.segments(tile)}`, {  });
  }

  /** Read one turn. */
  getTurn(id: string): Promise<StoredTurn> {
    return this.transport.json("GET", `/api/turns/${this.transport.segment(id)}`, {  });
  }

  /** Read the messages of a session. */
  getWorking(session: string, query: { "owner"?: string } = {}): Promise<WorkingMessages> {
    return this.transport.json("GET", `/api/working/${this.transport.segment(session)}`, { query });
  }

  /**
   * Take a persona into a space.
   *
   * Takes each item under a new name, with where it is from as the reason. Everything is proposed, unless the caller asks to revise. It needs the permission to revise in any case: whose signature counts is not for an agent to say. A persona that says it is from this kernel must be signed by a key of its own. The signature is checked first, and then all items; if anything is wrong, nothing is recorded. Importing the same persona again changes nothing.
   */
  importPersona(body: PersonaImport): Promise<ImportedPersona> {
    return this.transport.json("POST", `/api/beliefs/persona/import`, { body, media: "application/json" });
  }

  /**
   * Read what changed.
   *
   * Acts by ascending number: assertions, retractions, aliases and their ends.
   * Without `next` there is no more for now: go on later with the `seq` of the last act
   * as `after`.
   */
  knowledgeChanges(query: { "after"?: string; "limit"?: number } = {}): Promise<KnowledgeChanges> {
    return this.transport.json("GET", `/api/knowledge/changes`, { query });
  }

  /** Read what changed: all pages, one item after the other. */
  async *knowledgeChangesAll(): AsyncGenerator<KnowledgeAct, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: KnowledgeChanges = await this.knowledgeChanges({ after, limit: 1000 });
      yield* page.acts;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * Count facts, entities, predicates, sources and aliases.
   *
   * Reads every act that is on record up to the number, and so takes as long as
   * there are many: some seconds for each million. The 100 predicates and sources
   * with the most facts are named.
   */
  knowledgeStats(query: { "as_of"?: number; "brief"?: boolean } = {}): Promise<KnowledgeStats> {
    return this.transport.json("GET", `/api/knowledge/stats`, { query });
  }

  /**
   * Record a fact.
   *
   * Asserts a statement: it is believed from now on, or confirmed if it was. Its
   * confidence is the highest that was asserted. The same assertion again changes
   * nothing. Names may have any spelling; what they become is the canonical name.
   * The turn and the slice that are named as evidence must be here. With
   * `supersedes` other statements, which must be believed, end with it.
   */
  learnFact(body: NewFact): Promise<KnowledgeOutcome> {
    return this.transport.json("POST", `/api/knowledge`, { body, media: "application/json" });
  }

  /**
   * Record up to 10 000 facts and retractions, all or none.
   *
   * Up to 10 000 in all, all of them or, on an error, none. Retractions come
   * first. Each has its own outcome: a retraction of what is not believed is
   * `absent`, a fact that is recorded already `existing`.
   *
   * With `Content-Type: application/x-ndjson` the body is one fact or one
   * retraction a line, and they are recorded in the order of the lines, all of
   * them or none. It has the bounds that the other form has. If a line is
   * refused, the problem's place names it.
   */
  learnFacts(body: Knowledge): Promise<KnowledgeOutcomes> {
    return this.transport.json("POST", `/api/knowledge/batch`, { body, media: "application/json" });
  }

  /**
   * Record up to 10 000 facts and retractions, all or none.
   *
   * Up to 10 000 in all, all of them or, on an error, none. Retractions come
   * first. Each has its own outcome: a retraction of what is not believed is
   * `absent`, a fact that is recorded already `existing`.
   *
   * With `Content-Type: application/x-ndjson` the body is one fact or one
   * retraction a line, and they are recorded in the order of the lines, all of
   * them or none. It has the bounds that the other form has. If a line is
   * refused, the problem's place names it.
   *
   * The body is application/x-ndjson, unchanged.
   */
  learnFactsLines(body: Uint8Array): Promise<KnowledgeOutcomes> {
    return this.transport.json("POST", `/api/knowledge/batch`, { body, media: "application/x-ndjson" });
  }

  /** Link a revision to another revision, to a turn or to a slice. */
  linkKref(body: NewLink): Promise<KrefChange> {
    return this.transport.json("POST", `/api/krefs/link`, { body, media: "application/json" });
  }

  /**
   * List the aliases.
   *
   * Ascending, all pages of the view of the first one.
   */
  listAliases(query: { "as_of"?: number; "after"?: string; "limit"?: number } = {}): Promise<Aliases> {
    return this.transport.json("GET", `/api/knowledge/aliases`, { query });
  }

  /** List the aliases: all pages, one item after the other. */
  async *listAliasesAll(query: { "as_of"?: number } = {}): AsyncGenerator<Alias, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Aliases = await this.listAliases({ ...query, after, limit: 1000 });
      yield* page.aliases;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /** List conversations. */
  listConversations(query: { "newest"?: boolean; "after"?: string; "limit"?: number } = {}): Promise<Conversations> {
    return this.transport.json("GET", `/api/conversations`, { query });
  }

  /** List conversations: all pages, one item after the other. */
  async *listConversationsAll(query: { "newest"?: boolean } = {}): AsyncGenerator<Conversation, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Conversations = await this.listConversations({ ...query, after, limit: 1000 });
      yield* page.conversations;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List whose text was erased, when, why and at whose request.
   *
   * The oldest first. Erasures of the tasks of contexts are not in it: the records of those are in the stream of events.
   */
  listErasures(query: { "turn"?: string; "after"?: string; "limit"?: number } = {}): Promise<Erasures> {
    return this.transport.json("GET", `/api/erasures`, { query });
  }

  /** List whose text was erased, when, why and at whose request: all pages, one item after the other. */
  async *listErasuresAll(query: { "turn"?: string } = {}): AsyncGenerator<Event, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Erasures = await this.listErasures({ ...query, after, limit: 1000 });
      yield* page.erasures;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List what is believed.
   *
   * Facts by the number since when they are believed as they are. Names are
   * normalized and resolved: every spelling and every alias of an entity finds
   * it. Of each fact the newest 32 assertions that count are given; its history
   * has all. All pages are of the view of the first one.
   */
  listFacts(query: { "subject"?: string; "predicate"?: string; "object"?: string; "entity"?: string; "source"?: string; "turn"?: string; "statement"?: string; "min_confidence"?: number; "valid_at"?: string; "as_of"?: number; "after"?: string; "limit"?: number } = {}): Promise<Facts> {
    return this.transport.json("GET", `/api/knowledge`, { query });
  }

  /** List what is believed: all pages, one item after the other. */
  async *listFactsAll(query: { "subject"?: string; "predicate"?: string; "object"?: string; "entity"?: string; "source"?: string; "turn"?: string; "statement"?: string; "min_confidence"?: number; "valid_at"?: string; "as_of"?: number } = {}): AsyncGenerator<Fact, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Facts = await this.listFacts({ ...query, after, limit: 1000 });
      yield* page.facts;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List the folders in which agents worked.
   *
   * Folders as the first turns of conversations spell them, that in which
   * something was said last first, and the last conversations of each. Bring them
   * to the `folders` of a context to choose from one project alone.
   */
  listFolders(query: { "limit"?: number } = {}): Promise<Folders> {
    return this.transport.json("GET", `/api/folders`, { query });
  }

  /**
   * List turns whose text was held back, since it was erased under another id.
   *
   * The oldest first. Such a turn is in its place, without its text: a copy of an erased text came under another id, from a fork, a resumed session or an import.
   * A person who says the words again is not held back; the answer to the admission counts that as erased_before.
   */
  listHeldBack(query: { "after"?: string; "limit"?: number } = {}): Promise<HeldBackTurns> {
    return this.transport.json("GET", `/api/held-back`, { query });
  }

  /** List turns whose text was held back, since it was erased under another id: all pages, one item after the other. */
  async *listHeldBackAll(): AsyncGenerator<HeldBack, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: HeldBackTurns = await this.listHeldBack({ after, limit: 1000 });
      yield* page.held_back;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List the items of a space.
   *
   * With what is current of each, as it was written. Deprecated items are counted in `left_out`, and listed with `deprecated`.
   */
  listItems(query: { "space": string; "as_of"?: number; "limit"?: number; "after"?: string; "deprecated"?: boolean }): Promise<Items> {
    return this.transport.json("GET", `/api/beliefs/items`, { query });
  }

  /** List the items of a space: all pages, one item after the other. */
  async *listItemsAll(query: { "space": string; "as_of"?: number; "deprecated"?: boolean }): AsyncGenerator<ListedItem, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Items = await this.listItems({ ...query, after, limit: 1000 });
      yield* page.items;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /** List API keys. */
  listKeys(): Promise<APIKeys> {
    return this.transport.json("GET", `/api/keys`, {  });
  }

  /**
   * List or search what is remembered.
   *
   * With words, the best match comes first, and what matches none of them is left out; without, the newest comes first. Without a project, it covers all projects that the caller may see.
   */
  listMemories(query: { "words"?: string; "project"?: string; "around"?: string; "kind"?: string; "proposed"?: boolean; "as_of"?: number; "after"?: string; "limit"?: number } = {}): Promise<Memories> {
    return this.transport.json("GET", `/api/memories`, { query });
  }

  /** List or search what is remembered: all pages, one item after the other. */
  async *listMemoriesAll(query: { "words"?: string; "project"?: string; "around"?: string; "kind"?: string; "proposed"?: boolean; "as_of"?: number } = {}): AsyncGenerator<Memory, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Memories = await this.listMemories({ ...query, after, limit: 1000 });
      yield* page.memories;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /** List policies. */
  listPolicies(): Promise<Policies> {
    return this.transport.json("GET", `/api/policies`, {  });
  }

  /**
   * List what was issued.
   *
   * Slices of turns and of facts, and contexts, are one record, in which each has a number.
   */
  listSlices(query: { "kind"?: "slice" | "facts" | "context" | "belief"; "begins"?: string; "newest"?: boolean; "counted"?: boolean; "after"?: string; "limit"?: number } = {}): Promise<Slices> {
    return this.transport.json("GET", `/api/slices`, { query });
  }

  /** List what was issued: all pages, one item after the other. */
  async *listSlicesAll(query: { "kind"?: "slice" | "facts" | "context" | "belief"; "begins"?: string; "newest"?: boolean; "counted"?: boolean } = {}): AsyncGenerator<Issued, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Slices = await this.listSlices({ ...query, after, limit: 1000 });
      yield* page.slices;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List the spaces of beliefs.
   *
   * With `constraints=true`, each with what its constraints add up to.
   */
  listSpaces(query: { "constraints"?: boolean } = {}): Promise<Spaces> {
    return this.transport.json("GET", `/api/spaces`, { query });
  }

  /**
   * The standings of turns, with why.
   *
   * Of one turn, or of the turns of one conversation by ascending number. A standing follows from the policy and from how a turn came in, never from its text, so an erased turn keeps the standing that it had.
   */
  listStandings(query: { "turn"?: string; "conversation"?: string; "only"?: "outside" | "guest" | "agent" | "member" | "owner" | "system"; "as_of"?: number; "after"?: string; "limit"?: number } = {}): Promise<Standings> {
    return this.transport.json("GET", `/api/standings`, { query });
  }

  /** The standings of turns, with why: all pages, one item after the other. */
  async *listStandingsAll(query: { "turn"?: string; "conversation"?: string; "only"?: "outside" | "guest" | "agent" | "member" | "owner" | "system"; "as_of"?: number } = {}): AsyncGenerator<TurnStanding, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: Standings = await this.listStandings({ ...query, after, limit: 1000 });
      yield* page.turns;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /** List turns, of one conversation, of one key, of one role, or all. */
  listTurns(query: { "conversation"?: string; "key"?: string; "role"?: "user" | "assistant" | "system" | "tool"; "after"?: string; "limit"?: number } = {}): Promise<StoredTurns> {
    return this.transport.json("GET", `/api/turns`, { query });
  }

  /** List turns, of one conversation, of one key, of one role, or all: all pages, one item after the other. */
  async *listTurnsAll(query: { "conversation"?: string; "key"?: string; "role"?: "user" | "assistant" | "system" | "tool" } = {}): AsyncGenerator<StoredTurn, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const page: StoredTurns = await this.listTurns({ ...query, after, limit: 1000 });
      yield* page.turns;
      if (!page.next || page.next === after) return;
      after = page.next;
    }
  }

  /**
   * List sessions.
   *
   * An agent sees its own; whoever may read sees those of every caller.
   */
  listWorking(): Promise<WorkingSessions> {
    return this.transport.json("GET", `/api/working`, {  });
  }

  /** Is the process alive?. */
  live(): Promise<Health> {
    return this.transport.json("GET", `/health/live`, { keyless: true });
  }

  /**
   * Read up to 1 000 turns by their ids.
   *
   * Reads up to 1 000 turns by their ids. Those that are not there are left out.
   */
  lookUpTurns(body: TurnIDs): Promise<StoredTurns> {
    return this.transport.json("POST", `/api/turns/lookup`, { body, media: "application/json" });
  }

  /** List what a memory said, from the first text to the last. */
  memoryHistory(query: { "id"?: string; "words"?: string; "project"?: string } = {}): Promise<MemoryStates> {
    return this.transport.json("GET", `/api/memories/history`, { query });
  }

  /**
   * List what a memory is linked with.
   *
   * The links from and to all that the memory said, and over some steps those of what these lead to, the nearest first. With until, only the shortest way to another memory. A link leads from a revision, which keeps it when the memory says something else.
   */
  memoryLinks(query: { "id"?: string; "words"?: string; "project"?: string; "type"?: string; "direction"?: "from" | "to" | "both"; "depth"?: number; "until"?: string } = {}): Promise<LinkedMemories> {
    return this.transport.json("GET", `/api/memories/links`, { query });
  }

  /**
   * Metrics in the Prometheus text format.
   *
   * No label names a tenant, a key or a turn.
   */
  metrics(): Promise<string> {
    return this.transport.text("GET", `/metrics`, { keyless: true });
  }

  /**
   * Select what a slice would hold, and issue nothing.
   *
   * Selects what a slice of the anchor would hold. Nothing is signed or recorded.
   */
  previewSlice(body: Cutting): Promise<Preview> {
    return this.transport.json("POST", `/api/slice/preview`, { body, media: "application/json" });
  }

  /**
   * Promote items that were found repeatedly.
   *
   * Applies the steps of a promotion policy: an item that enough independent sources support becomes a new item of the step's kind, as a
   * proposal with the reason, with links `promoted_to` from its sources; or it gets the step's tag. The sources stay. An item that was promoted before is not promoted again.
   */
  promoteBeliefs(body: PromotionRequest): Promise<Promotions> {
    return this.transport.json("POST", `/api/beliefs/promote`, { body, media: "application/json" });
  }

  /**
   * Propose statements, from a source that may be wrong.
   *
   * For agents, extraction and imports. It is a revision if all that would give way is less entrenched and not protected, and if it changes no item in which a person vouches for something. Else nothing changes but that a conflict is
   * recorded for somebody to decide. What an agent proposes is never a constraint, whatever its kind. What its caller proposed already, in the same words and on no further turn, changes nothing and is `repeated`, whether it is believed or waits. At most 50 proposals of a key wait; another one that would have to wait is `too_many_waiting`.
   */
  proposeBeliefs(body: BeliefRequest): Promise<BeliefOutcome> {
    return this.transport.json("POST", `/api/beliefs/propose`, { body, media: "application/json" });
  }

  /**
   * Hand out signed evidence that a statement is believed.
   *
   * The revisions from which it follows, the steps in which it does, and the leaf hashes of the turns that they rest on. It is recorded, and can be verified without the store and replayed.
   */
  proveBelief(body: BeliefProofRequest): Promise<Uint8Array> {
    return this.transport.raw("POST", `/api/beliefs/evidence`, { body, media: "application/json" });
  }

  /**
   * Put messages into a session.
   *
   * A session keeps at most 50 messages of 256 KiB, unless the service is set up otherwise. The oldest drop out for new ones, and the answer counts
   * them. A message expires an hour after it was put. It is screened and checked as the turn that it may become, under the scope of the key; if one message
   * is refused none is put. More at once than a session holds is `too_large`, and more sessions than a tenant may have `working_full`.
   */
  putWorking(session: string, body: Record<string, unknown>): Promise<WorkingOutcome> {
    return this.transport.json("POST", `/api/working/${this.transport.segment(session)}`, { body, media: "application/json" });
  }

  /** Can it take requests?. */
  ready(): Promise<Health> {
    return this.transport.json("GET", `/health/ready`, { keyless: true });
  }

  /**
   * Bind a policy's id to parameters for ever.
   *
   * Binds an id to parameters for ever. The same again changes nothing; the
   * same id with other parameters is a conflict.
   */
  registerPolicy(body: PolicyRegistration): Promise<RegisteredPolicy> {
    return this.transport.json("POST", `/api/policies`, { body, media: "application/json" });
  }

  /**
   * Release turns whose text was held back.
   *
   * All of them or none. The text is stored nowhere: when the turn comes again, by the same import or request, the text is admitted as a reply to
   * the turn, under an id that follows from its id. Other copies of the text are held back as before. Releasing again has no effect.
   */
  releaseTurns(body: TurnIDs): Promise<Released> {
    return this.transport.json("POST", `/api/held-back/release`, { body, media: "application/json" });
  }

  /**
   * Remember a text.
   *
   * What a person has remembered holds from then on; what contradicts it gives way and is listed. What an agent has remembered is a proposal, shown as the agent's word until a person accepts it. A text that is remembered already changes nothing. The space of a project is made when it is first used.
   */
  remember(body: NewMemory): Promise<Remembered> {
    return this.transport.json("POST", `/api/memories`, { body, media: "application/json" });
  }

  /**
   * Remove an alias.
   *
   * From now on the name stands for itself. If it does already, nothing changes
   * and the result is `absent`.
   */
  removeAlias(alias: string): Promise<KnowledgeOutcome> {
    return this.transport.json("DELETE", `/api/knowledge/aliases/${this.transport.segment(alias)}`, {  });
  }

  /**
   * Cut a slice again and compare every byte.
   *
   * Cuts the slice again from the view that it was cut from and compares:
   * identical, erased (the same but for text erased since), lost (a text is
   * gone and no erasure is on record), or the first difference. With a bundle as the body, that bundle is compared byte for
   * byte; without one, the newest bundle on record.
   */
  replaySlice(slice_id: string, body?: Uint8Array): Promise<Replay> {
    return this.transport.json("POST", `/api/slices/${this.transport.segment(slice_id)}/replay`, { body, media: "application/json" });
  }

  /**
   * Report that a context did not reach its session.
   *
   * A context that names a `recipient` is recorded when it is made. The hook that could not hand it over reports that here: the record stays, says
   * `not_given`, and the context no longer counts among those that showed a turn. The caller who asked for the context reports it, or an admin.
   */
  reportNotGiven(context_id: string, body: Record<string, unknown>): Promise<NotGiven> {
    return this.transport.json("POST", `/api/contexts/${this.transport.segment(context_id)}/not-given`, { body, media: "application/json" });
  }

  /**
   * Decide a conflict that waits.
   *
   * Takes what was proposed, by the authority of the caller, or drops it, or defers it; the conflict then waits no longer. Where revising is
   * refused, it goes on waiting. The answer has what the rules advise: they look at the agents, and at confidence and recency.
   */
  resolveConflict(body: ConflictResolution): Promise<ResolvedConflict> {
    return this.transport.json("POST", `/api/beliefs/resolve`, { body, media: "application/json" });
  }

  /**
   * Follow an address to a revision.
   *
   * An address without a query leads to what is believed of the item: the revision that the tag `current` points to.
   */
  resolveKref(query: { "ref": string }): Promise<ResolvedKref> {
    return this.transport.json("GET", `/api/krefs`, { query });
  }

  /**
   * Find the turn that a name means.
   *
   * A name is a turn's id, the id that another system gave it such as a commit of git,
   * or a beginning of its id or commit that no other turn shares.
   */
  resolveTurn(query: { "name": string }): Promise<ResolvedTurn> {
    return this.transport.json("GET", `/api/turn`, { query });
  }

  /** Believe a deprecated item again. */
  restoreItem(body: Deprecation): Promise<KrefChange> {
    return this.transport.json("POST", `/api/krefs/restore`, { body, media: "application/json" });
  }

  /**
   * End the belief in all facts that filters match, or say which those are.
   *
   * Ends the belief in every fact that the filters match, all of them or, on an
   * error, none. At least one filter beside min_confidence and valid_at is needed.
   * With dry_run=true it only says what it would end. Nothing is deleted: who asks
   * as of an earlier number still sees it. At most 10 000 facts at once.
   */
  retractFacts(query: { "subject"?: string; "predicate"?: string; "object"?: string; "entity"?: string; "source"?: string; "turn"?: string; "statement"?: string; "min_confidence"?: number; "valid_at"?: string; "reason"?: string; "dry_run"?: boolean } = {}): Promise<Retracted> {
    return this.transport.json("DELETE", `/api/knowledge`, { query });
  }

  /**
   * Believe statements, and give up those that contradict them.
   *
   * The statements are taken. What is believed beside them is gone through from the most entrenched element to the least, and each is kept unless
   * it contradicts them and what is kept. The answer names each element that gave way, with a smallest set that it was in conflict with. It stays in the history. If it
   * began to hold before the statements do, it ends where they begin.
   *
   * An item whose revision is tagged `published` does not give way: then nothing changes, and `outcome` is `refused`.
   */
  reviseBeliefs(body: BeliefRequest): Promise<BeliefOutcome> {
    return this.transport.json("POST", `/api/beliefs/revise`, { body, media: "application/json" });
  }

  /**
   * Revoke an API key for good.
   *
   * Ends a key for good, here at once and in other processes within a second.
   * Revoking again changes nothing.
   */
  revokeKey(id: string): Promise<RevokedAPIKey> {
    return this.transport.json("DELETE", `/api/keys/${this.transport.segment(id)}`, {  });
  }

  /**
   * Find turns by words.
   *
   * Finds the turns that fit words or a question best. Filters choose among the hits; what they leave out counts in the
   * statistics that scores rest on. Each hit says how much its words count; the filter `standing` looks at the hits that the policy allows without it, which are
   * 1000 by default. An erased text counts nowhere, whatever `as_of` says. With `exchanges` a hit also has the last prompt before it, or if it is a prompt, the
   * agent's last words before the next one; hits, order and scores stay the same. A hit is not evidence: for that, cut a slice around it.
   */
  searchTurns(body: Search): Promise<Found> {
    return this.transport.json("POST", `/api/search`, { body, media: "application/json" });
  }

  /**
   * Make a space of beliefs, or put it under another policy.
   *
   * What is believed in one space must not contradict itself; what two spaces say does not meet. The policy says which predicates are limited and what
   * the kinds of items mean. A policy under which what is believed contradicts itself is a conflict that names the statements.
   */
  setSpace(body: NewSpace): Promise<Space> {
    return this.transport.json("POST", `/api/spaces`, { body, media: "application/json" });
  }

  /**
   * Put a standing policy in force.
   *
   * With `dry_run` it changes nothing and answers the difference. The standing of a turn that is there falls with the new policy, and rises only with `retroactive`. What was handed out stays as it was. A policy that is in force already is not set again, except with `retroactive`.
   */
  setStanding(body: NewStanding): Promise<StandingChange> {
    return this.transport.json("POST", `/api/standing`, { body, media: "application/json" });
  }

  /** Has it started?. */
  startup(): Promise<Health> {
    return this.transport.json("GET", `/health/startup`, { keyless: true });
  }

  /**
   * Follow admissions, slices, erasures, knowledge and beliefs.
   *
   * Server-sent events: `turn` (a turn was admitted; without
   * its text), `erasure`, `task_erasure`, `knowledge` (a fact, a retraction or an alias was
   * recorded), `belief` (something was recorded of beliefs; without what it says), and `slice` (a bundle was issued). The id of each is
   * `SEQ-NUMBER`: the last sequence number and the last number of an issued
   * slice that were sent. Sent back as `Last-Event-ID`, the stream goes on
   * behind it without loss. A lone `SEQ` goes on after that sequence number
   * and sends every slice on record. Without it the stream begins at the
   * present, and an id without data says where that is. Comments keep an idle stream open. At most a fixed number of
   * streams is open for each key.
   */
  streamEvents(query: { "last_event_id"?: string; "Last-Event-ID"?: string } = {}): AsyncGenerator<ServiceEvent, void, undefined> {
    return this.transport.events("GET", `/api/events`, { headers: { "Last-Event-ID": query["Last-Event-ID"] ?? query.last_event_id } });
  }

  /**
   * Point a tag to a revision, or remove it.
   *
   * The tags `current`, which is what is believed, and `published`, which protects the revision, need the permission to revise. Moving `current` back to an earlier revision
   * is refused if that would contradict what is believed beside it.
   */
  tagKref(body: NewTag): Promise<KrefChange> {
    return this.transport.json("POST", `/api/krefs/tag`, { body, media: "application/json" });
  }

  /**
   * Find what can be reached from entities, with a way to each.
   *
   * Gives the entities that can be reached from others, each once and by its
   * best way: the fewest hops, of those the highest minimum confidence. They
   * stand in that order, and ties are decided by the statements' digests, so the
   * same question as of the same number has the same answer. What was cut is
   * said: `results` if more can be reached than was asked for, `work` if it would
   * have looked at more than 200 000 edges. Facts that are newer than as_of do
   * not count; if more than 2 000 000 of them are in the way, the question is
   * refused.
   */
  traverseKnowledge(body: TraverseRequest): Promise<Traversal> {
    return this.transport.json("POST", `/api/knowledge/traverse`, { body, media: "application/json" });
  }

  /**
   * Say which slices and contexts held a turn.
   *
   * Contexts are found by an index. No index leads from a turn to the slices of turns that hold it: those among the newest
   * 1 000 records that can hold it are cut again, and the answer says how many older ones were not looked at.
   */
  turnHolding(id: string): Promise<Holding> {
    return this.transport.json("GET", `/api/turns/${this.transport.segment(id)}/holding`, {  });
  }

  /**
   * Restore the items of an archive.
   *
   * Compares every revision in the file with the one that is recorded, and restores the items that were archived with it. What would contradict what is believed now is refused, item by item.
   */
  unarchiveBeliefs(body: UnarchiveRequest): Promise<Unarchived> {
    return this.transport.json("POST", `/api/beliefs/unarchive`, { body, media: "application/json" });
  }

  /**
   * Record that a belief was used.
   *
   * Counts the uses of an item, such as a procedure, and how many of them succeeded.
   */
  useBelief(body: BeliefUse): Promise<UseRecord> {
    return this.transport.json("POST", `/api/beliefs/used`, { body, media: "application/json" });
  }

  /**
   * Judge a bundle: every check.
   *
   * Makes every check on a bundle's bytes, as they were handed out: one
   * verdict each. Only canonical bytes are evidence, so another spelling of the
   * same values is `malformed`. Whatever is wrong is a verdict, not an error.
   */
  verifyBundle(body: Uint8Array): Promise<BundleVerdict> {
    return this.transport.json("POST", `/api/verify_bundle`, { body, media: "application/json" });
  }

  /**
   * Judge the six fields that a token covers.
   *
   * Says whether a live key of the caller's tenant signed exactly these six
   * fields. What is absent, malformed or unknown is not admissible, with a
   * reason; it is no error. A token speaks for the six fields alone: whoever
   * acts on the turns verifies the bundle.
   */
  verifyToken(body: TokenClaim): Promise<TokenVerdict> {
    return this.transport.json("POST", `/api/verify_token`, { body, media: "application/json" });
  }

  /** Read the keys that sign attestations, as a JSON Web Key Set. */
  wellKnownJWKS(): Promise<JWKS> {
    return this.transport.json("GET", `/.well-known/jwks.json`, { keyless: true });
  }

  /**
   * Read the kernel's name and the keys of public ledgers.
   *
   * As `/log/keys`, of the tenants that the setting `log.public` names.
   */
  wellKnownKeys(): Promise<KernelKeys> {
    return this.transport.json("GET", `/.well-known/graphkernel-keys.json`, { keyless: true });
  }
}
