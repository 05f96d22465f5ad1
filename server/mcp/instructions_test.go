package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/capture"
)

// TestInstructions opens a session with every set of tools, and with every tool alone, in every role. Its instructions name no tool that the session has not, and
// each that it has and that has an instruction; a session whose tools have none has no instructions.
func TestInstructions(t *testing.T) {
	t.Parallel()
	selections := append([]string{""}, ToolNames()...)
	named := map[string]bool{}
	for _, text := range selections {
		for _, role := range access.Roles {
			c := over(t, New(testKernel(t), Options{Tools: selected(t, text)}), identity(role))
			has, _ := toolsOf(t, c)
			told := c.InitializeResult().Instructions
			some := false
			for _, name := range toolNames() {
				is := regexp.MustCompile(`\b` + name + `\b`).MatchString(told)
				if is && !slices.Contains(has, name) {
					t.Errorf("%q, %s: the instructions name %s, which the session has not: %s", text, role, name, told)
				}
				instructed := slices.ContainsFunc(instructions, func(i instruction) bool { return i.tool == name })
				if slices.Contains(has, name) && instructed != is {
					t.Errorf("%q, %s: named is %s: %t", text, role, name, is)
				}
				some = some || is
				named[name] = named[name] || is
			}
			if some != (told != "") {
				t.Errorf("%q, %s: %q", text, role, told)
			}
		}
	}
	for _, set := range Sets {
		if set.Name != MemorySet && !slices.ContainsFunc(set.Tools, func(tool string) bool { return named[tool] }) {
			t.Errorf("the set %s has no instructions", set.Name)
		}
	}
	if told := instructionsFor(defaultFor(access.Agent), access.Agent); !strings.Contains(told, "call recall") || !strings.Contains(told, "find returns") || strings.Contains(told, "knowledge_path") {
		t.Error(told)
	}
}

// TestNoSpace asks about a space that is not there. An agent is told which there are, and who makes one.
func TestNoSpace(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Tools: every(t)}), identity(access.Agent))
	for _, there := range []string{"there is none yet", "there are acme/s"} {
		for _, tool := range []string{"propose_belief", "base", "explain_belief"} {
			arguments := map[string]any{"space": "acme/none", "subject": "a", "predicate": "is", "object": "b"}
			if tool == "propose_belief" {
				arguments = map[string]any{"space": "acme/none", "statements": []any{map[string]any{"subject": "a", "predicate": "is", "object": "b"}}}
			}
			if tool == "base" {
				arguments = map[string]any{"space": "acme/none"}
			}
			_, err := call(t, c, tool, arguments)
			if err == nil || !strings.Contains(err.Error(), "no such space: acme/none") || !strings.Contains(err.Error(), there) || !strings.Contains(err.Error(), "A person makes a space, not an agent") {
				t.Errorf("%s: %v, want %q", tool, err, there)
			}
		}
		believed(t, k)
	}
}

// TestSkill holds that the skill of the plugin names tools that its server has, and no others.
func TestSkill(t *testing.T) {
	t.Parallel()
	files, err := capture.PluginFiles("graphkernel", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	skill := string(files["skills/memory/SKILL.md"])
	has, _ := toolsOf(t, over(t, New(testKernel(t), Options{}), identity(access.Agent)))
	named := 0
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(skill, -1) {
		switch {
		case slices.Contains(has, m[1]):
			named++
		case m[1] != "graphkernel":
			t.Errorf("the session has no tool %s", m[1])
		}
	}
	if named < 6 {
		t.Errorf("the skill names %d tools", named)
	}
}
