package kernel

// KeepLinks sets how many bytes the kernel keeps of the links between beliefs.
func KeepLinks(k *Kernel, most int) {
	c := k.kept.Load()
	c.beliefLinks = newWebs(c.store, most)
}
