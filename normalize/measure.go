package normalize

// A Measure says by how much the names in use outnumber the entities they mean. Each
// step can only lower the number:
//
//	Spellings ≥ Names ≥ Entities
//
// Spellings/Entities is the fragmentation: the average number of graph nodes for an entity
// if every spelling were a node. Names/Entities is the fragmentation that the rule leaves,
// and that the aliases repair. 1 means none.
type Measure struct {
	Spellings int // different strings that have a valid name
	Names     int // different names, by [Name]
	Entities  int // different canonical names, by the table
	Unnamed   int // different strings without a valid name
}

// Fragmentation measures names of any spelling. Repeated names count once. If t is nil,
// there are as many entities as names.
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

// Before returns Spellings/Entities, or 1 if there are no entities.
func (m Measure) Before() float64 { return m.per(m.Spellings) }

// AfterRule returns Names/Entities, or 1 if there are no entities.
func (m Measure) AfterRule() float64 { return m.per(m.Names) }

func (m Measure) per(n int) float64 {
	if m.Entities == 0 {
		return 1
	}
	return float64(n) / float64(m.Entities)
}
