package protocol

import (
	"testing"
	"time"
)

// The age of an object without an ID decides whose it is, by the server's time.
func TestAge(t *testing.T) {
	first := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) // our first POST
	now := first.Add(time.Minute)
	serverTime := func(at time.Time) Observation { return Observation{Finding: ServerTime, Time: at} }
	for name, test := range map[string]struct {
		config  Config
		created time.Time
		now     Observation
		want    Finding
		before  *Observation // of another POST, half a minute earlier
	}{
		"older":                          {generated, now.Add(-67 * time.Second), serverTime(now), Foreign, nil},
		"within the clocks' margin":      {generated, now.Add(-64 * time.Second), serverTime(now), Unclear, nil},
		"younger":                        {generated, now, serverTime(now), Unclear, nil},
		"creation time unknown":          {generated, time.Time{}, serverTime(now), Unclear, nil},
		"server's time unknown":          {generated, now.Add(-time.Hour), serverTime(time.Time{}), Unclear, nil},
		"server's time not had":          {generated, now.Add(-time.Hour), Observation{Finding: Unread}, Unread, nil},
		"maybe of an earlier run":        {ofAKey, now.Add(-time.Hour), serverTime(now), Unclear, nil},
		"a fixed name":                   {with(Config{Tracked: true, Reused: true, Fixed: true}), now, serverTime(now), Foreign, nil},
		"a server far behind the client": {generated, now.Add(-2 * time.Hour), serverTime(now.Add(-time.Hour)), Foreign, nil},
		// A POST that was not sent is not our first one. One that was turned away is, because something may have sent it twice.
		"after one that was not sent":    {generated, first.Add(-10 * time.Second), serverTime(now), Foreign, &Observation{Finding: NotStored, Unsent: true}},
		"after one that was turned away": {generated, first.Add(-10 * time.Second), serverTime(now), Unclear, &Observation{Finding: NotStored}},
		"after one of another name":      {generated, first.Add(-10 * time.Second), serverTime(now), Foreign, &Observation{Finding: Conflict}},
	} {
		m := New(test.config, first.Add(-30*time.Second))
		if test.before != nil {
			m.Next(first.Add(-30 * time.Second))
			m.Observe(first.Add(-30*time.Second), *test.before)
		}
		if _, is := m.Next(first).(Get); is { // the name is another client's
			m.Observe(first, Observation{Finding: Foreign})
		}
		m.Next(first)
		m.Observe(first, Observation{Finding: Conflict})
		if _, is := m.Next(now).(Get); !is {
			t.Fatal("a conflict is not read back")
		}
		m.Observe(now, Observation{Finding: Anonymous, Time: test.created})
		if _, is := m.Next(now).(AskTime); is {
			m.Observe(now, test.now)
		}
		if m.end != test.want {
			t.Errorf("%s: finding %s, want %s", name, m.end, test.want)
		}
	}
}

// Until a response is observed, calling Next again gives the same request.
func TestNextIsTheSame(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	m := New(generated, now)
	for _, o := range []Finding{NotStored, Conflict, Foreign, Lost, Absent, Stored} {
		action := m.Next(now)
		for wait, waits := action.(Wait); waits; wait, waits = action.(Wait) {
			if now = wait.Until; m.Next(now) != wait.Then {
				t.Errorf("after the pause comes %+v, want %+v", m.Next(now), wait.Then)
			}
			action = m.Next(now)
		}
		if again := m.Next(now); again != action {
			t.Errorf("%+v, and then %+v", action, again)
		}
		m.Observe(now, Observation{Finding: o})
	}
	if d, is := m.Next(now).(Done); !is || d.Outcome != Created || d.Name != "p-1" || d.Attempts != 2 {
		t.Errorf("%+v", m.Next(now))
	}
}
