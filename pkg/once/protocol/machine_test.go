package protocol

import (
	"testing"
	"time"
	"unsafe"
)

// The age of an object without an ID decides whether the object can be ours, by the server's time.
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
		// A POST that was not sent doesn't count as our first one. A POST that was refused does, because a proxy may
		// have sent it twice.
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

// A wall clock that is set back, or a monotonic clock that stops, makes no object seem older than our POST.
func TestClocksDiffer(t *testing.T) {
	first := time.Now()
	for name, now := range map[string]time.Time{"set back": first, "stopped": first.Add(time.Hour)} {
		monotonic := (*int64)(unsafe.Add(unsafe.Pointer(&now), 8)) // the second word of a time.Time
		*monotonic += map[string]int64{"set back": 1, "stopped": -1}[name] * int64(time.Hour)
		m := &Machine{}
		m.name.firstPost, m.name.created = first, first.Add(-30*time.Minute)
		if got := m.age(now, Observation{Finding: ServerTime, Time: first}); got != Unclear {
			t.Errorf("%s: the age is %s from %s to %s, want unclear", name, got, first, now)
		}
	}
}

// After an interrupt no POST is sent. An object in doubt is read until the time for reads is over. That time never
// begins again.
func TestInterrupt(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		first      Finding
		interrupts []bool  // the arguments of Interrupt, after the first POST
		want       Outcome // empty if a GET comes next
	}{
		"not stored":                     {NotStored, []bool{false}, ""},
		"lost":                           {Lost, []bool{false}, ""},
		"lost, and no time":              {Lost, []bool{true}, Unknown},
		"lost, with time that was over":  {Lost, []bool{true, false}, Unknown},
		"lost, with time that ends soon": {Lost, []bool{false, true}, Unknown},
	} {
		m := New(generated, now)
		m.Next(now)
		m.Observe(now, Observation{Finding: test.first})
		for _, over := range test.interrupts {
			m.Interrupt(over)
		}
		action := m.Next(now)
		if wait, is := action.(Wait); is {
			action = m.Next(wait.Until)
		}
		if end, is := action.(Done); is && (end.Outcome != test.want || end.Stopped != Interrupted) {
			t.Errorf("%s: %+v, want the outcome %q because of the interrupt", name, end, test.want)
		} else if _, reads := action.(Get); reads != (test.want == "") {
			t.Errorf("%s: the next action is %#v, want the outcome %q, or a GET without one", name, action, test.want)
		}
	}
}
