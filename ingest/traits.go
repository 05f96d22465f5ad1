package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A speaker says whose words a turn contains.
type speaker uint8

const (
	bySystem  speaker = iota + 1
	byPerson          // a prompt, or a person's words in a rejected call's result
	byYes             // a plan that a person approved, or a person's answer to a question
	byNo              // a call that a person rejected without words
	byCommand         // a notice: a command, or Claude Code's message about one
	byCommit
	bySummary // a summary of compacted turns
	byBoundary
	byAgent  // an assistant's text
	byMind   // an assistant's thinking
	byCall   // an assistant's tool call
	byCaller // an agent's prompt for another agent
	byResult // a tool's result
)

// traits are the properties of a turn that the rules read.
type traits struct {
	*features
	by       speaker
	said     string // the words, without the text around them
	begins   string // their first 64 bytes, folded
	asks     bool   // they end with a question mark, or begin like a question
	acts     bool   // a person asks for an action
	finished bool   // they begin with a word of success
	laysOut  bool   // they list future steps
	regard   regard // what a thought says about the person
	intent   intent // the action that the last "let me" or similar announces
	next     bool   // that announcement is at the end of the words
	purpose  intent // the purpose of a call of a tool that runs or writes
	failed   bool   // a result says that something failed unexpectedly
	delivers bool   // a command's result says that something was committed, merged, posted or pushed
	explores bool   // a sub-agent of the kind that only explores
	ticks    bool   // a step of a plan is marked as done
	trouble  int    // the weight of words about something wrong
	counts   wordCount
}

// traitsOf returns the traits of a turn.
func traitsOf(d *dag.Draft) *traits {
	t := &traits{features: outsideOf(d)}
	t.lookInside(d)
	t.by, t.said = t.speaks(d)
	window := rulesHead
	if t.by == byPerson { // pasted text comes later
		window = promptHead
	}
	t.said = strings.Trim(head(t.said, window), " \t\r\n")
	t.begins = foldASCII(head(t.said, 64))
	t.asks = endsAsking(d.Content) || len(t.said) < shortQuestion && hasAnyPrefix(t.begins, questions)
	if t.by == byPerson || t.by == byMind || t.by == byAgent { // the rules count no other words
		var seen [maxVocabulary]bool
		t.counts.countWords(&seen, t.said, false, false)
	}
	switch t.by {
	case byCommit:
		t.countCommit(d)
	case byPerson:
		t.trouble = troubleIn(t.said, true)
		t.acts = t.asks && requests(t.said)
	case byMind, byAgent:
		if t.by == byMind {
			t.regard = regardOf(t.said)
			t.laysOut = laysOutSteps(t.said)
		}
		t.trouble = troubleIn(withoutCode(t.said), t.regard == regardReport)
		t.intent, t.next = intentOf(t.said)
		t.finished = hasAnyPrefix(t.begins, finished) || hasAnyPart(t.begins, successes)
	case bySystem:
		t.trouble = troubleIn(t.said, false)
	case byCall:
		t.lookAtCall(d)
	case byResult:
		t.lookAtResult(d)
	}
	return t
}

// countCommit counts the words at the beginning and the end of a commit's message.
func (t *traits) countCommit(d *dag.Draft) {
	head, tail := seenOf(d)
	var seen [maxVocabulary]bool
	t.counts.countWords(&seen, head, false, tail != "")
	t.counts.countWords(&seen, tail, true, false)
}

func (t *traits) lookAtCall(d *dag.Draft) {
	begins := head(d.Content, rulesHead)
	t.explores = t.tool == toolDelegates && strings.Contains(begins, subagentKind+`:"Explore"`)
	t.ticks = foldASCII(head(d.Attrs[attrTool], 64)) == "taskupdate"
	switch t.tool {
	case toolRuns:
		t.purpose = commandIntent(d.Content)
	case toolWrites:
		t.purpose = toMake
		if writesPlan(d.Content) {
			t.purpose = toPlan
		}
	}
}

func (t *traits) lookAtResult(d *dag.Draft) {
	switch t.tool {
	case toolReads, toolPlans:
		return
	}
	t.findFailure(d)
	switch t.tool {
	case toolRuns:
		t.failed = (t.isError || t.failure || endsFailing(d.Content))
		result, _ := strings.CutPrefix(d.Content, "[tool_result]\n")
		t.delivers = reportsDelivery(head(result, rulesHead))
	default:
		t.failed = (t.isError || t.failure)
	}
}

func head(s string, most int) string { return s[:min(len(s), most)] }

// rejected begins Claude Code's text in place of a result if a person rejects the call, and interrupted its text if a person
// stops the agent. rejectedSaying precedes the person's words.
const (
	rejected       = "The user doesn't want to proceed with this tool use."
	interrupted    = "[Request interrupted by user"
	rejectedSaying = "the user said:\n"
)

// The members of a call's input as they appear in its content: subagentKind has the kind of a sub-agent, commandMember a
// command, and pathMember the path of a file.
const (
	subagentKind  = `"subagent_type"`
	commandMember = `"command"`
	pathMember    = `"file_path"`
)

// phase returns the phase by the first rule that applies. The numbers are those of docs/phases.md.
func (t *traits) phase() dag.Phase {
	switch t.by {
	case bySummary, byBoundary: // 1
		return dag.Consolidation
	case byCommit:
		switch {
		case t.counts.repairs: // 2
			return dag.Debugging
		case t.merge: // 3
			return dag.Consolidation
		}
		return dag.Synthesis // 4
	case byCommand:
		switch {
		case strings.HasPrefix(t.begins, "[request interrupted"): // 5
			return dag.Planning
		case hasAnyPrefix(t.begins, farewells): // 6
			return dag.Consolidation
		}
		return dag.Exploration // 7
	case byYes, byNo, byCaller: // 8
		return dag.Planning
	}
	if t.blank { // 9
		return dag.Exploration
	}
	switch t.by {
	case byPerson:
		return t.promptPhase()
	case bySystem:
		switch {
		case t.meta && t.trouble > 0 && strings.HasPrefix(t.begins, reminder): // 14
			return dag.Debugging
		case t.meta: // 15
			return dag.Exploration
		}
		return dag.Planning // 16
	case byResult:
		return t.resultPhase()
	case byCall:
		return t.callPhase()
	case byMind:
		return t.thoughtPhase()
	}
	return t.textPhase()
}

// promptPhase returns the phase of a person's words.
func (t *traits) promptPhase() dag.Phase {
	question := t.asks && !t.acts
	inForm := hasAnyPrefix(t.begins, interrogatives)
	switch {
	case commands(t.said) && !(t.asks && inForm): // 10
		return dag.Planning
	case t.trouble >= 2 || t.trouble == 1 && question && !inForm || pastesLog(t.said): // 11
		return dag.Debugging
	case question: // 12
		return dag.Exploration
	}
	return dag.Planning // 13
}

// resultPhase returns the phase of a tool's result.
func (t *traits) resultPhase() dag.Phase {
	switch {
	case t.failed: // 17
		return dag.Debugging
	case t.tool == toolDelegates: // 18
		return dag.Consolidation
	case t.tool == toolPlans: // 19
		return dag.Planning
	case t.tool == toolWrites || t.delivers: // 20
		return dag.Synthesis
	}
	return dag.Exploration // 21
}

// callPhase returns the phase of an assistant's tool call.
func (t *traits) callPhase() dag.Phase {
	switch {
	case t.explores: // 22
		return dag.Exploration
	case t.tool == toolPlans || t.tool == toolDelegates: // 23
		return dag.Planning
	}
	return t.purpose.phaseOr(dag.Exploration) // 24
}

// thoughtPhase returns the phase of thinking.
func (t *traits) thoughtPhase() dag.Phase {
	switch {
	case t.regard == regardLook: // 25
		return dag.Exploration
	case t.regard == regardWish || t.regard == regardReport && t.trouble < 2 && t.intent != toExplore: // 26
		return dag.Planning
	case t.finished && t.trouble < 3: // 27
		return t.intent.phaseOr(dag.Consolidation)
	case t.trouble >= 2: // 28
		return dag.Debugging
	case t.laysOut || t.intent == 0 && t.counts.planning >= 2: // 29
		return dag.Planning
	}
	return t.intent.phaseOr(dag.Exploration) // 30
}

// textPhase returns the phase of an assistant's text.
func (t *traits) textPhase() dag.Phase {
	short := t.length < shortText
	switch {
	case t.isError: // 31
		return dag.Debugging
	case t.finished && !short: // 32
		return dag.Consolidation
	case t.asks && asksPerson(t.said): // 33
		return dag.Planning
	case t.finished: // 34
		return t.intent.phaseOr(dag.Consolidation)
	case t.opening && t.intent != 0 && short: // 35
		return t.intent.phaseOr(0)
	case t.counts.consolidation >= 2: // 36
		return dag.Consolidation
	case t.trouble >= 2: // 37
		return dag.Debugging
	case t.next: // 38
		return t.intent.phaseOr(0)
	case t.counts.planning >= 2: // 39
		return dag.Planning
	}
	return dag.Synthesis // 40
}

// Lengths, in bytes.
const (
	narration   = 240 // a shorter text that begins with an opening only says what comes next
	shortText   = 300 // a shorter text that says what comes next says little else
	remark      = 100 // a shorter text says little
	longThought = 350
	longText    = 400
	longPrompt  = 2000
	promptHead  = 1024 // how much of a prompt is read

	shortQuestion = 120 // a shorter text that begins like a question is a question
)

// baseSalience has the first summand of the salience for each speaker, in millionths. Only the words of persons and summaries
// are above .6.
var baseSalience = map[speaker]int{
	byPerson: 700_000, byYes: 650_000, bySummary: 650_000,
	byCommit: 500_000, byCaller: 500_000, byNo: 450_000, byAgent: 450_000, byMind: 350_000, byCall: 300_000, byResult: 250_000, bySystem: 300_000,
	byCommand: 200_000, byBoundary: 100_000,
}

// salience adds integers, in millionths, and clamps the sum to 0 … 1.
func (t *traits) salience() dag.PPM {
	sum := baseSalience[t.by]
	add := func(is bool, bonus int) {
		if is {
			sum += bonus
		}
	}
	narrates := t.by == byAgent && (t.opening && t.length < narration || t.length < remark)
	decisions := 20_000 * min(t.counts.decisions, 3)
	add(t.by == byPerson || t.by == byAgent && !narrates, decisions)
	add(t.by == byPerson && t.asks, 20_000)
	add(t.by == byPerson && t.length >= longPrompt, 20_000)
	add(t.ack, -80_000)
	add(narrates, -100_000)
	add(t.by == byAgent && t.length >= longText, 50_000)
	add(t.by == byMind && t.length >= longThought, 100_000)
	add(t.by == byCall && (t.tool == toolWrites || t.tool == toolDelegates), 200_000)
	add(t.by == byCall && t.tool == toolPlans, 150_000)
	add(t.by == byCall && t.ticks, -100_000)
	add(t.by == byCall && t.purpose == toDeliver, 150_000)
	add(t.by == byResult && (t.phase() == dag.Debugging || t.tool == toolDelegates), 200_000)
	add(t.by == bySystem && t.meta, -150_000)
	add(t.merge, -150_000)
	add(t.blank, -200_000)
	return dag.PPM(max(0, min(sum, int(dag.One))))
}
