package kernel

// KeepLinks gives the links of beliefs that are kept another bound, in bytes.
func KeepLinks(k *Kernel, most int) {
	c := k.kept.Load()
	c.beliefLinks = newWebs(c.store, most)
}
