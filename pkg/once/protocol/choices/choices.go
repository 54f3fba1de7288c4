// Package choices enumerates the histories of a model, for the tests of the protocol
// and of its clients. Like the protocol, it makes no compatibility promise.
package choices

// Choices replays a prefix of choices and takes the first alternative from
// there on; Advance moves to the next prefix, depth first. After depth choices
// the first alternative, which is the truth, is taken.
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

// Advance reports whether there is another history, and begins it.
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
