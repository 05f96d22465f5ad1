package normalize

// A Measure says how far the names in use are apart from the entities they mean. Each
// step can only lower the number:
//
//	Spellings ≥ Names ≥ Entities
//
// Spellings/Entities is the fragmentation: how many nodes of a graph an entity would be
// cut into, on average, if every spelling were a node. Names/Entities is what the rule
// leaves of it, for the aliases to mend. 1 is none.
type Measure struct {
	Spellings int // different strings that have a name
	Names     int // different names, by [Name]
	Entities  int // different canonical names, by the table
	Unnamed   int // different strings that have no name
}

// Fragmentation measures names of any spelling. Repeated ones count once. t may be nil:
// then there are as many entities as names.
func Fragmentation(names []string, t *Table) Measure {
	seen := make(map[string]bool, len(names))
	named, entities := map[string]bool{}, map[string]bool{}
	var m Measure
	for _, spelling := range names {
		if seen[spelling] {
			continue
		}
		seen[spelling] = true
		name, err := Name(spelling)
		if err != nil {
			m.Unnamed++
			continue
		}
		m.Spellings++
		named[name] = true
		entities[t.Resolve(name)] = true
	}
	m.Names, m.Entities = len(named), len(entities)
	return m
}

// Before returns Spellings/Entities, and 1 if there are none.
func (m Measure) Before() float64 { return m.per(m.Spellings) }

// AfterRule returns Names/Entities, and 1 if there are none.
func (m Measure) AfterRule() float64 { return m.per(m.Names) }

func (m Measure) per(n int) float64 {
	if m.Entities == 0 {
		return 1
	}
	return float64(n) / float64(m.Entities)
}
