package belief

import "slices"

// MostKernels bounds what Kernels returns.
const MostKernels = 1000

// Kernels returns the smallest subsets of a base from which a literal follows at some instant of a span, as ascending numbers of its
// elements: the kernels of Hansson (1994). It finds all of them, or MostKernels, by a tree of hitting sets (Reiter 1987), whose cost can grow exponentially
// with their number.
func Kernels(c *Constraints, b Base, of Literal, in Span) [][]int {
	var found [][]int
	tried := map[string]bool{}
	var search func(without []int)
	search = func(without []int) {
		key := numbers(without)
		if tried[key] || len(found) == MostKernels {
			return
		}
		tried[key] = true
		k := slices.IndexFunc(found, func(k []int) bool {
			return !slices.ContainsFunc(k, func(i int) bool { return slices.Contains(without, i) })
		})
		var kernel []int
		if k >= 0 {
			kernel = found[k]
		} else if kernel = b.kernel(c, of, in, without); kernel == nil {
			return
		} else {
			found = append(found, kernel)
		}
		for _, i := range kernel {
			more := append(slices.Clone(without), i)
			slices.Sort(more)
			search(more)
		}
	}
	search(nil)
	slices.SortFunc(found, slices.Compare)
	return found
}

func numbers(list []int) string {
	key := make([]byte, 0, 4*len(list))
	for _, i := range list {
		key = append(key, byte(i>>24), byte(i>>16), byte(i>>8), byte(i))
	}
	return string(key)
}
