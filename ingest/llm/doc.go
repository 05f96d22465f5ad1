// Package llm asks a model for facts, over any endpoint that speaks as OpenAI's chat
// completions do. It is deterministic in all but the model: which turns a question shows and
// how, which turns keep the question and the answer, and which facts an answer holds follow
// from the turns alone.
//
// A [Question] shows turns of one conversation, as data, below fixed instructions that
// [Prompt] names. An [Extractor] asks it. Question and answer become two turns, a prompt and
// a response, in a conversation of their own for each conversation that is asked about:
//
//	prompt                      <- reply -  response
//	llm_extract: prompt                     llm_extract: response
//	llm_turns: ID,ID,…                      llm_turns: ID,ID,…
//	agent:graphkernel                       model:MODEL
//
// A fact's evidence is the response, so from every fact one can walk to what the model was
// shown. The last step, from the prompt to the turns, is an attribute and not an edge: edges
// are ways for a slice. With an edge from each turn to the prompt, turns that were many edges
// apart would be two edges apart, and the prompt, which repeats them, could be selected itself:
// asking a model would bring into the slices of an agent what the policy keeps out of
// them, such as the words of a stranger. Attributes are under the digest of the turn's body as well.
//
// A fact's source is llm:MODEL. Its confidence is what the model says, at most a ceiling that
// anyone who asks sets: how sure a model claims to be is no evidence, and a turn that misled
// it into a fact could as well make it claim to be sure.
//
// A [History] reads such exchanges back. [Read] gives the facts of an answer, the same
// whenever it is called, so facts are learned out of what is admitted and not out of what has
// just come over the wire: a run that died between the two loses nothing, and no question is
// asked twice.
//
// No id is derived from text. An id outlives the erasure of its turn, and one that held a
// hash of the text would let everybody try out guesses at it. What a question shows follows
// from the ids of its turns, and those are what its id is derived from.
//
// docs/extraction.md has the bounds, what is refused, and what leaves the machine.
package llm
