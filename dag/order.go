package dag

// Topological orders the numbers 0 to n-1 so that the first number of every edge comes before the second. Among the
// numbers that are ready, the smallest by before comes first. before must be a strict total order. The turns of a batch
// take their sequence numbers in this order, and a slice is read in it (GKP/1, sections 2.5 and 7).
//
// Numbers on a cycle, and numbers reachable from one, are left out: the result is then shorter than n. It takes
// O((n+edges) log n) steps.
func Topological(n int, edges [][2]int32, before func(a, b int32) bool) []int32 {
	waiting := make([]int32, n) // for each number: the edges into it whose start is not ordered yet
	start := make([]int32, n+2) // for each number: where its edges begin in out
	for _, e := range edges {
		waiting[e[1]]++
		start[e[0]+2]++
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	out := make([]int32, len(edges))
	for _, e := range edges {
		out[start[e[0]+1]] = e[1]
		start[e[0]+1]++
	}
	ready := readyHeap{before: before}
	for i := range int32(n) {
		if waiting[i] == 0 {
			ready.push(i)
		}
	}
	order := make([]int32, 0, n)
	for len(ready.items) > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, next := range out[start[i]:start[i+1]] {
			if waiting[next]--; waiting[next] == 0 {
				ready.push(next)
			}
		}
	}
	return order
}

// A readyHeap is a heap whose pop returns the smallest item.
type readyHeap struct {
	items  []int32
	before func(a, b int32) bool
}

func (h *readyHeap) push(x int32) {
	h.items = append(h.items, x)
	i := len(h.items) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.before(x, h.items[up]) {
			break
		}
		h.items[i] = h.items[up]
		i = up
	}
	h.items[i] = x
}

func (h *readyHeap) pop() int32 {
	top, last := h.items[0], h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	if len(h.items) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h.items) {
			break
		}
		if right := down + 1; right < len(h.items) && h.before(h.items[right], h.items[down]) {
			down = right
		}
		if !h.before(h.items[down], last) {
			break
		}
		h.items[i] = h.items[down]
		i = down
	}
	h.items[i] = last
	return top
}
