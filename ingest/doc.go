// Package ingest owns the importers, which turn what other programs wrote into
// drafts of turns, and rules/4, which give a turn its phase and its
// salience where it came without. [VoiceOf] says whose words a turn holds.
//
// [Read] is given a file or a folder and hands over batches of [dag.Draft]. It
// knows no store and decides nothing about admission. These formats are read:
//
//	jsonl        the project's own lines, which exports write: the form in [ReadLine]
//	claude-code  transcripts of Claude Code, with their sub-agents and compactions
//	chatgpt      conversations.json of a ChatGPT export
//	openai       chat messages as the OpenAI API takes them
//	claude-ai    conversations.json of a Claude.ai export
//	codex        rollouts of Codex CLI
//	gemini       sessions of Gemini CLI
//	git          a repository's commits, or commits as JSON lines
//	otel         OpenTelemetry spans and log records of generative AI, as OTLP/JSON
//
// A line of the first looks like this (without the break):
//
//	{"attrs":{},"author":"human:guest","content":"ship it?","conversation":"6a2f…","created_at":"2026-01-02T03:04:05.000006Z",
//	"id":"0b5e…","parents":[{"id":"77aa…","kind":"reply"}],"role":"user","salt":"00ff…"}
//
// Three laws hold for every input. Accounting: each record that is read, be it a
// line, a message or a commit, is either in a draft or counted under exactly one
// word of [Report].Skipped, and what was lost inside an admitted record is
// counted in [Report].Noted. Stability: a draft depends on its own record and on
// what precedes it, never on what follows, so that reading a file again
// after it has grown gives the same drafts for what had been read before. Speakers:
// the author of a draft follows from the structure of its record, never from its text.
//
// docs/importers.md lists what becomes a turn, an edge and an attribute, and every
// word of both counts. docs/phases.md has the tables of the rules.
package ingest
