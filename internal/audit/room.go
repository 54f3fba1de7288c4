package audit

import "github.com/kubectl-genname/kubectl-genname/internal/census"

// Room returns the attempts per create in a name pool, nil if unknown, and how many more
// creates are likely to succeed, as AuditItem.Room has it. Unknown attempts count as one.
// Several goroutines may call it at once.
func (c *Collector) Room(pool census.NamePool) (attempts *int, room int64, err error) {
	retries, _ := c.retries(pool)
	known, err := c.estimate.future(pool, knownAttempts(retries))
	return retries.Attempts, known.room, err
}
