package console

import "time"

// Patterns lists the routes, so that attacks try each.
func Patterns() []string {
	list := make([]string, 0, len(routes))
	for _, p := range routes {
		list = append(list, p.pattern)
	}
	return list
}

// Patience is how long a provider is waited for.
func Patience(p *Provider) time.Duration { return p.client().Timeout }

// FaultOf reports what of a stored turn is not as it was admitted.
var FaultOf = faultOf
