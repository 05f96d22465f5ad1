// Package llm asks a model for facts, over any endpoint with the API of OpenAI's chat completions. Everything but the model is
// deterministic: which turns a question shows and how, which turns record the question and the answer, and which facts an
// answer contains, depend only on the turns.
//
// A [Question] shows turns of one conversation as data, after fixed instructions, whose name is [Prompt]. An [Extractor] asks
// it. The question and the answer become two turns, a prompt and a response; each conversation has a separate conversation for
// the exchanges about it:
//
//	prompt                      <- reply -  response
//	llm_extract: prompt                     llm_extract: response
//	llm_turns: ID,ID,…                      llm_turns: ID,ID,…
//	agent:graphkernel                       model:MODEL
//
// The evidence of a fact is the response, so every fact leads to what the model was shown. The last step, from the prompt to
// the turns, is an attribute and not an edge, since a slice follows edges. With an edge from each turn to the prompt, turns
// that are many edges apart would be two edges apart, and the prompt, which repeats them, could be selected itself: asking a
// model would bring text into an agent's slices that the policy keeps out, such as the words of a stranger. The digest of the
// turn's body covers attributes too.
//
// The source of a fact is llm:MODEL. Its confidence is the one that the model states, at most a ceiling that the caller sets:
// how sure a model claims to be is no evidence, and a turn that misled it into a fact could also make it claim to be sure.
//
// A [History] reads such exchanges from the ledger. [Read] always returns the same facts for an answer. So facts are read from
// admitted turns and not from what has just arrived from the endpoint: a run that dies between the two loses nothing, and no
// question is asked twice.
//
// No id is derived from text. An id outlives the erasure of its turn, and anybody could test guesses of the text against an id
// that contained its hash. The text of a question depends only on the ids of its turns, and its id is derived from those.
//
// docs/extraction.md has the limits, the reasons of refusals, and what leaves the machine.
package llm
