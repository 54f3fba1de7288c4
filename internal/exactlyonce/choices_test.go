package exactlyonce

// histories replays a prefix of choices and takes the first alternative from
// there on; advance moves to the next prefix, depth first. After depth choices
// the first alternative, which is the truth, is taken.
type histories struct {
	depth        int
	taken, width []int
	at           int
}

// choose returns one of n alternatives, from 0.
func (c *histories) choose(n int) int {
	if n < 2 || c.at >= c.depth {
		return 0
	}
	if c.at == len(c.taken) {
		c.taken, c.width = append(c.taken, 0), append(c.width, n)
	}
	c.at++
	return c.taken[c.at-1]
}

// advance reports whether there is another history, and begins it.
func (c *histories) advance() bool {
	c.taken, c.width = c.taken[:c.at], c.width[:c.at]
	c.at = 0
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]+1 < c.width[i] {
			c.taken[i]++
			c.taken, c.width = c.taken[:i+1], c.width[:i+1]
			return true
		}
	}
	return false
}
