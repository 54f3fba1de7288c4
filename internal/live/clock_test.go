package live

import (
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Time goes on while a computer sleeps, and when its calendar is set back.
func TestClock(t *testing.T) {
	calendar := time.Unix(1_700_000_000, 0)
	c, running := &clock{calendar: calendar, said: calendar}, time.Duration(0)
	for _, step := range []struct{ calendar, running, want time.Duration }{
		{time.Second, time.Second, time.Second},
		{time.Hour, time.Second, time.Hour}, // asleep
		{-24 * time.Hour, time.Minute, time.Minute},
		{time.Second, time.Second, time.Second},
	} {
		before := c.said
		calendar, running = calendar.Add(step.calendar), running+step.running
		if passed := c.at(calendar, running).Sub(before); passed != step.want {
			t.Errorf("%+v: %v", step, passed)
		}
	}
	if at := New(census.Scanner{}).Snapshot(func(Row) {}).At; at != at.Round(0) {
		t.Errorf("%v has the time of a clock that stops", at)
	}
}
