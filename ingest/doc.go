// Package ingest owns the importers, which convert other programs' records into drafts of turns, and rules/4, which set the
// phase and the salience of drafts that lack them. [VoiceOf] says whose words a turn contains.
//
// [Read] reads files and folders and hands over batches of [dag.Draft]. It knows no store and makes no decisions about
// admission. It reads these formats:
//
//	jsonl        the project's own lines, as exports write them: the form of [ReadLine]
//	claude-code  transcripts of Claude Code, with their sub-agents and compactions
//	chatgpt      conversations.json of a ChatGPT export
//	openai       chat messages in the form of the OpenAI API
//	claude-ai    conversations.json of a Claude.ai export
//	codex        rollouts of Codex CLI
//	gemini       sessions of Gemini CLI
//	git          a repository's commits, or commits as JSON lines
//	otel         OpenTelemetry spans and log records of generative AI, as OTLP/JSON
//
// A line of jsonl looks like this (without the break):
//
//	{"attrs":{},"author":"human:guest","content":"ship it?","conversation":"6a2f…","created_at":"2026-01-02T03:04:05.000006Z",
//	"id":"0b5e…","parents":[{"id":"77aa…","kind":"reply"}],"role":"user","salt":"00ff…"}
//
// Three laws hold for every input. Accounting: each record that is read (a line, a message or a commit) is either in a draft or
// counted under exactly one word of [Report].Skipped, and losses inside an admitted record are counted in [Report].Noted.
// Stability: a draft depends on its own record and on earlier records, never on later ones, so reading a file again after it
// has grown returns the same drafts for its earlier part. Speakers: the author of a draft follows from the structure of its
// record, never from its text.
//
// docs/importers.md lists which records become turns, edges and attributes, and all words of both counts. docs/phases.md has
// the tables of the rules.
package ingest
