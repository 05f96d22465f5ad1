package capture

import (
	"encoding/json"
	"fmt"
)

// A hookSwitch is a member of an agent's settings by which a person keeps the agent from calling any hook.
type hookSwitch struct {
	path []string
	off  bool // the value that does
}

func (s *hookSwitch) String() string {
	text := ""
	for _, name := range s.path {
		text += name + "."
	}
	return fmt.Sprintf("%s: %v", text[:len(text)-1], s.off)
}

// HooksOff returns what in an agent's settings keeps it from calling hooks, such as "disableAllHooks: true"; "" if nothing does.
func HooksOff(agent Agent, settings []byte) string {
	for _, s := range dialects[agent].switches {
		value := json.RawMessage(settings)
		for _, name := range s.path {
			o, err := membersOf(value)
			if err != nil {
				value = nil
				break
			}
			value = o.get(name, "null")
		}
		var is *bool
		if json.Unmarshal(value, &is) == nil && is != nil && *is == s.off {
			return s.String()
		}
	}
	return ""
}
