package main

import (
	"regexp"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

// TestSkillCommands holds that the plugin's skill names only commands that there are.
func TestSkillCommands(t *testing.T) {
	t.Parallel()
	files, err := capture.PluginFiles("graphkernel", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for _, c := range everyCommand(testApp().Root()) {
		commands[c.CommandPath()] = true
	}
	named := regexp.MustCompile("`(graphkernel [a-z]+)").FindAllStringSubmatch(string(files["skills/memory/SKILL.md"]), -1)
	if len(named) < 3 {
		t.Errorf("%d commands are named", len(named))
	}
	for _, m := range named {
		if !commands[m[1]] {
			t.Errorf("there is no command %s", m[1])
		}
	}
}
