package kernel

// Occupy takes all places of the turnstile that slices pass, and returns what leaves them.
func (k *Kernel) Occupy() func() {
	for range cap(k.turnstile) {
		k.turnstile <- struct{}{}
	}
	return func() {
		for range cap(k.turnstile) {
			<-k.turnstile
		}
	}
}
