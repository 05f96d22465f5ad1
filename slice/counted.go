package slice

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// count fills in what the selected turns count for, and the settings that decide it.
func (s *Slice) count(words *standing.Words, picks []Pick) {
	decides := make([]bool, len(words.Course()))
	for i := range picks {
		a := &s.Turns[s.Picked[i]].Admission
		ruling, at := words.Of(picks[i].Node)
		a.Standing, a.Rule, a.Setting = ruling.Standing, uint16(ruling.Rule), uint16(at)
		decides[at] = true
	}
	var places []uint16
	s.Settings, places = Deciding(words.Course(), decides)
	for i := range s.Turns {
		a := &s.Turns[i].Admission
		a.Setting = places[a.Setting]
	}
}

// SettingOf returns a setting of a course in the form that bundles have.
func SettingOf(s *standing.Setting) Setting {
	return Setting{After: s.After, Policy: s.Policy.ID(), Hash: s.Policy.Hash()}
}

// Deciding returns the settings of a course that decide a standing, and for each setting of the course its index among them.
func Deciding(c standing.Course, decides []bool) (settings []Setting, places []uint16) {
	places = make([]uint16, len(decides))
	for i, used := range decides {
		if used {
			places[i] = uint16(len(settings))
			settings = append(settings, SettingOf(&c[i]))
		}
	}
	return settings, places
}

// WriteSettings writes the settings as bundles have them.
func WriteSettings(w *canon.Writer, settings []Setting) {
	w.BeginArray()
	for i := range settings {
		s := &settings[i]
		w.BeginObject()
		w.Key("after")
		w.Uint(uint64(s.After))
		w.Key("policy_id")
		w.String(string(s.Policy))
		w.Key("policy_params_hash")
		w.Hex(s.Hash[:])
		w.EndObject()
	}
	w.EndArray()
}

// WriteSettingsLeaf writes the member of a leaf that has the settings.
func WriteSettingsLeaf(w *canon.Writer, settings []Setting) {
	w.Key("standings")
	w.BeginArray()
	for i := range settings {
		s := &settings[i]
		w.BeginArray()
		w.Uint(uint64(s.After))
		w.String(string(s.Policy))
		w.Hex(s.Hash[:])
		w.EndArray()
	}
	w.EndArray()
}

// ReadSettings reads what WriteSettings writes.
func ReadSettings(c *canon.Cursor) (settings []Setting) {
	for _, item := range c.Items() {
		settings = append(settings, Setting{
			After:  dag.Seq(item.Field("after").Uint(uint64(dag.MaxSeq))),
			Policy: canon.Parsed(item.Field("policy_id"), policy.ParseID),
			Hash:   canon.Parsed(item.Field("policy_params_hash"), dag.ParseDigest),
		})
		item.Close()
	}
	return settings
}

// checkCounts checks whether what the turns count for agrees with their voices, roles and costs, and the settings with one another.
func (r *reasoning) checkCounts() string {
	if !r.schema.Counted {
		return ""
	}
	for i := range r.Settings {
		switch {
		case r.Settings[i].After > r.AsOf:
			return fmt.Sprintf("standings[%d] was set after number %d, but the slice was cut as of number %d", i, r.Settings[i].After, r.AsOf)
		case i > 0 && r.Settings[i-1].After >= r.Settings[i].After:
			return fmt.Sprintf("standings[%d] does not come after the one before it", i)
		}
	}
	decides := make([]bool, len(r.Settings))
	for i := range r.Turns {
		t := &r.Turns[i]
		a := &t.Admission
		if int(a.Setting) >= len(decides) {
			return fmt.Sprintf("turn %s counts by standings[%d], and there are %d", t.ID, a.Setting, len(decides))
		}
		decides[a.Setting] = true
		if !slices.Contains(possible(t), a.Standing) {
			return fmt.Sprintf("turn %s has the standing %s, which no turn of role %s with the voice %s and the cost %d can have", t.ID, a.Standing, t.Role, a.Voice, a.Cost)
		}
	}
	if i := slices.Index(decides, false); i >= 0 {
		return fmt.Sprintf("no turn counts by standings[%d]", i)
	}
	return ""
}

// possible returns the standings that a turn can have, by any policy and whatever its origin.
func possible(t *BundleTurn) []dag.Standing {
	switch t.Admission.Voice {
	case dag.VoicePerson:
		return []dag.Standing{dag.StandingOutside, dag.StandingGuest, dag.StandingAgent, dag.StandingMember, dag.StandingOwner}
	case dag.VoiceAgent:
		return []dag.Standing{dag.StandingOutside, dag.StandingAgent}
	case dag.VoiceTool:
		return []dag.Standing{dag.StandingOutside, dag.StandingGuest}
	}
	if t.Role == dag.RoleSystem && t.Admission.Cost <= standing.MaxSystem {
		return []dag.Standing{dag.StandingOutside, dag.StandingAgent, dag.StandingSystem}
	}
	return []dag.Standing{dag.StandingOutside}
}
