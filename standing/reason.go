package standing

// A Reason says why a turn has its standing. The zero value is none.
type Reason uint8

// The reasons.
const (
	ByRule         Reason = iota + 1 // a rule of the policy says so
	Capped                           // a rule of the policy says more than the facts allow
	Typed                            // a person typed it into the agent's own program
	FirstPerson                      // its author is the first person of the conversation
	OnlyPeople                       // its author is a person in a conversation without an agent
	AnotherPerson                    // its author is not the first person of the conversation
	AfterKey                         // a key brought a turn before the conversation's first person, or before this turn in a conversation without an agent
	NoAuthor                         // it names no author
	Committed                        // its author is the author of a commit
	GrantedOwner                     // the key speaks for its author as the owner
	GrantedMember                    // the key speaks for its author as a member
	NothingGranted                   // the key brought it, and nobody granted the key that its author is more than a guest
	ThroughTool                      // a model brought it through a tool
	NotSpokenFor                     // the key brought it, and does not speak for its author
	OwnWords                         // an agent said it
	OperatorKey                      // a system turn at the beginning, by a key that speaks for the operator
	OperatorOwner                    // a system turn at the beginning of a conversation that the owner brought
	PutInBetween                     // the program around the agent put it in
	TooLong                          // a system turn that is too long for the operator's word
	ToolsData                        // a tool or a page said it
	ByAgent                          // a request or a belief of an agent
	ByPerson                         // a request or a belief of a person
)

var reasons = [...]string{
	ByRule: "a rule of the policy says so", Capped: "a rule of the policy says more, but no rule raises such words",
	Typed:       "a person typed it into the agent's own program",
	FirstPerson: "its author is the first person of the conversation", OnlyPeople: "no agent takes part in the conversation",
	AnotherPerson: "its author is not the first person of the conversation, and no rule names them",
	AfterKey:      "a key brought a turn into the conversation before, so who its first person is, or whether an agent takes part, cannot be told, and no rule names them",
	NoAuthor:      "it names no author",
	Committed:     "its author is the author of a commit",
	GrantedOwner:  "the key that brought it speaks for its author as the owner", GrantedMember: "the key that brought it speaks for its author as a member",
	NothingGranted: "the key that brought it was granted no standing for its author", NotSpokenFor: "the key that brought it does not speak for its author",
	ThroughTool: "a model brought it through a tool, and is not the person whose key it was lent",
	OwnWords:    "an agent said it", OperatorKey: "it begins the conversation, by a key that speaks for the operator",
	OperatorOwner: "it begins a conversation that was brought in on the store itself, and not by an agent's record", PutInBetween: "the program around the agent put it in",
	TooLong: "it is longer than the 4 KiB that count as the operator's word", ToolsData: "a tool, a page or a file said it",
	ByAgent: "an agent asks", ByPerson: "a person asks",
}

// String returns the reason in words, or "" if it is unknown.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return ""
}
