// Package choices enumerates the histories of a model, for the tests of the protocol and of its clients. Like the
// protocol, its names can change before v1.
package choices

// Choices enumerates all sequences of choices, depth first. In each run of the model, it first repeats choices of the
// previous run, and then always chooses the first alternative. Advance changes the repeated part. After Depth choices,
// it chooses the first alternative, which is the behavior without a fault.
type Choices struct {
	Depth        int
	Taken, width []int
	at           int
}

// Choose returns one of n alternatives, from 0.
func (c *Choices) Choose(n int) int {
	if n < 2 || c.at >= c.Depth {
		return 0
	}
	if c.at == len(c.Taken) {
		c.Taken, c.width = append(c.Taken, 0), append(c.width, n)
	}
	c.at++
	return c.Taken[c.at-1]
}

// Advance starts the next history. Advance returns false if there is no other history.
func (c *Choices) Advance() bool {
	c.Taken, c.width = c.Taken[:c.at], c.width[:c.at]
	c.at = 0
	for i := len(c.Taken) - 1; i >= 0; i-- {
		if c.Taken[i]+1 < c.width[i] {
			c.Taken[i]++
			c.Taken, c.width = c.Taken[:i+1], c.width[:i+1]
			return true
		}
	}
	return false
}
