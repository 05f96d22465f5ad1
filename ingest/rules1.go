package ingest

import "github.com/graphkernel/graphkernel/dag"

// features are what rules/1 sees of a turn, and a part of them what rules/2 to rules/4 see.
type features struct {
	role     dag.Role
	length   int  // of the content, in bytes
	blank    bool // nothing but white space
	compact  string
	meta     bool
	isError  bool
	commit   bool
	merge    bool
	thinking bool   // nothing but thinking
	front    string // the first 64 bytes after white space, folded
	tool     toolKind
	words    wordCount
	failure  bool // a line of the content reports one
	question bool
	opening  bool // begins with "let me", "i'll" and the like
	ack      bool // a short text of nothing but agreement or thanks
	fence    bool // holds a code block
	notice   bool // begins with a mark that a program put there
}

// phase is the first rule of rules/1 that applies. The numbers are those of docs/phases.md.
func (f *features) phase() dag.Phase {
	debugging := f.words.debugging >= 2
	switch {
	case f.compact != "": // 1
		return dag.Consolidation
	case f.commit && f.words.repairs: // 2
		return dag.Debugging
	case f.commit && f.merge: // 3
		return dag.Consolidation
	case f.commit: // 4
		return dag.Synthesis
	case f.isError: // 5
		return dag.Debugging
	case f.blank: // 6
		return dag.Exploration
	}
	switch f.role {
	case dag.RoleTool:
		return f.resultPhase()
	case dag.RoleUser:
		switch {
		case f.failure || debugging: // 11
			return dag.Debugging
		case f.words.consolidation >= 2: // 12
			return dag.Consolidation
		case f.question: // 13
			return dag.Exploration
		}
		return dag.Planning // 14
	case dag.RoleSystem:
		switch {
		case f.meta && (f.failure || debugging): // 15
			return dag.Debugging
		case f.meta: // 16
			return dag.Exploration
		}
		return dag.Planning // 17
	}
	return f.answerPhase(debugging)
}

// resultPhase is for what tools give back.
func (f *features) resultPhase() dag.Phase {
	switch {
	case f.failure && f.tool != toolReads: // 7
		return dag.Debugging
	case f.tool == toolDelegates: // 8
		return dag.Consolidation
	case f.tool == toolPlans: // 9
		return dag.Planning
	case f.tool == toolWrites: // 9
		return dag.Synthesis
	}
	return dag.Exploration // 10
}

// answerPhase is for what an assistant says or calls.
func (f *features) answerPhase(debugging bool) dag.Phase {
	switch f.tool {
	case toolPlans, toolDelegates: // 18
		return dag.Planning
	case toolWrites: // 19
		return dag.Synthesis
	case toolReads: // 20
		return dag.Exploration
	case toolRuns:
		switch {
		case f.words.testing: // 21
			return dag.Debugging
		case f.words.delivers: // 22
			return dag.Synthesis
		}
		return dag.Exploration // 23
	case toolOther: // 23
		return dag.Exploration
	}
	switch {
	case debugging: // 24
		return dag.Debugging
	case f.words.consolidation >= 2: // 25
		return dag.Consolidation
	case f.thinking || f.words.planning >= 2: // 26
		return dag.Planning
	case f.opening && f.words.exploration > 0: // 27
		return dag.Exploration
	case f.opening: // 28
		return dag.Planning
	}
	return dag.Synthesis // 29
}

// salience is that of rules/1: it adds up integers, in millionths, and clamps the sum to 0 … 1.
func (f *features) salience() dag.PPM {
	sum := 0
	switch {
	case f.commit:
		sum = 500_000
	case f.role == dag.RoleUser:
		sum = 600_000
	case f.role == dag.RoleAssistant:
		sum = 450_000
	case f.role == dag.RoleSystem:
		sum = 300_000
	default:
		sum = 250_000
	}
	add := func(is bool, bonus int) {
		if is {
			sum += bonus
		}
	}
	said := f.role == dag.RoleUser || f.role == dag.RoleAssistant && f.tool == toolNone && !f.thinking
	add(f.compact == "summary", 250_000)
	add(f.compact != "" && f.compact != "summary", -200_000)
	add(f.meta, -150_000)
	add(f.isError || f.failure && f.tool != toolReads, 100_000)
	add(said, 50_000*min(f.words.decisions, 3))
	add(f.question && f.role == dag.RoleUser, 50_000)
	add(f.tool == toolPlans && f.role == dag.RoleAssistant, 150_000)
	add(f.tool == toolDelegates, 100_000)
	add(f.tool == toolWrites && f.role == dag.RoleAssistant, 100_000)
	add(f.tool == toolReads && f.role == dag.RoleAssistant, -100_000)
	add(f.role == dag.RoleAssistant && said && f.length >= 400, 100_000)
	add(f.role == dag.RoleUser && f.length >= 2000, 50_000)
	add(f.thinking, -100_000)
	add(f.ack, -250_000)
	add(f.notice, -200_000)
	add(f.fence && said, 25_000)
	add(f.merge, -150_000)
	add(f.blank, -200_000)
	return dag.PPM(max(0, min(sum, int(dag.One))))
}
