package protocol

import "time"

// Config is the object to create, as far as the rules need it, and its limits.
type Config struct {
	// Name returns the name of an attempt (0, 1, …); empty if the server picks
	// it.
	Name func(attempt int) string
	// Attempts is how many names to try, at least 1.
	Attempts int
	// Fixed: there is no name to pick.
	Fixed bool
	// Tracked: the object carries a creation ID, by which it is known again.
	Tracked bool
	// Reused: an earlier process may have used the creation ID.
	Reused bool
	// TrustRefusals: a refusal ends the create at once, and so does the end of
	// its time, unless a POST was lost. Nothing is read back then. It is for
	// callers that create again under the same ID, which settles it.
	TrustRefusals bool
	// RetryTimeout is the time for retries, from the start. With 0, one POST is
	// sent, and read back once if its outcome is unknown.
	RetryTimeout time.Duration
	// Rechecks are the pauses before a denied object is read again, because the first
	// copy of its POST may still be in progress; nil for 1, 3 and 9 seconds.
	Rechecks []time.Duration
	// Jitter returns a number from 0 to 1, by the half of which each pause is
	// longer; nil for 0.
	Jitter func() float64
}

// Plain reports whether the object is sent as kubectl sends it: it can't be
// known again, and there is one name to try.
func (c Config) Plain() bool { return !c.Tracked && (c.Attempts == 1 || c.Fixed) }

// Machine is one object on its way to the server.
type Machine struct {
	config   Config
	deadline time.Time
	backoff  time.Duration

	step step
	due  time.Time // of step
	last Observation
	end  Finding // the last observation's, as the rules take it

	posted      time.Time // the last POST
	attempt     int
	loss        error // of the first lost POST
	refusal     error // of the last POST
	name        name
	counts      counts
	stopped     Stop
	asked       time.Duration // to wait, when it was stopped
	interrupted bool
	over        bool // after an interrupt, the time to read back is over
	unverified  bool // for want of a permission, something was not read back
	forbidden   bool // the last POST, for a missing permission
}

// name holds the known facts about the current name.
type name struct {
	state     state
	sent      bool      // a POST may have come to storage
	firstPost time.Time // of those that may have come to storage
	created   time.Time // of an object without an ID
	conflict  bool      // the last POST ended so
	absences  int       // conflicts whose holder was not there when read
}

// counts are of all names.
type counts struct {
	rechecks, unauthorized, others, resent int
}

// The limits of the rules.
const (
	firstPause, longestPause = 50 * time.Millisecond, 5 * time.Second
	// lateTimeout bounds a GET that is made when the time of the object is over.
	lateTimeout = 30 * time.Second
	// clockMargin is how far apart the clocks of a cluster's API servers may be. It
	// includes the fraction of a second that a creationTimestamp drops.
	clockMargin = 5 * time.Second
	// maxAbsences is how many conflicts without a holder are believed: others may
	// delete the holder of a name, but hardly three times within the pauses
	// between.
	maxAbsences = 3
	// MaxOthers is how many POSTs of an object may get responses about other
	// objects: if something picks names and removes annotations, each makes
	// another object.
	MaxOthers = 3
	// maxResent is client-go's, of rest.Request.
	maxResent = 10
)

// rechecks are the pauses of Config.Rechecks by default.
var rechecks = []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}

// RecheckTime is how long a denied object is rechecked.
func (c Config) RecheckTime() (all time.Duration) {
	for _, pause := range c.rechecks() {
		all += pause
	}
	return all
}

func (c Config) rechecks() []time.Duration {
	if c.Rechecks == nil {
		return rechecks
	}
	return c.Rechecks
}

// New returns a machine that starts now.
func New(c Config, now time.Time) *Machine {
	return &Machine{config: c, deadline: now.Add(c.RetryTimeout), backoff: firstPause}
}

// Interrupt ends the sending: no POST and no recheck comes after it. Over is true
// when the time to read back is over, too: then nothing comes.
func (m *Machine) Interrupt(over bool) { m.interrupted, m.over = true, m.over || over }

// Next returns the next action.
func (m *Machine) Next(now time.Time) Action {
	for m.step < created {
		why := m.limit(now)
		if why == "" {
			break
		}
		m.giveUp(why)
	}
	switch {
	case m.step >= created:
		return m.done(now)
	case now.Before(m.due):
		return Wait{m.due, m.request(now)}
	}
	return m.request(now)
}

// request returns the request of the step.
func (m *Machine) request(now time.Time) Action {
	timeout := time.Duration(0)
	if !now.Before(m.deadline) {
		timeout = lateTimeout
	}
	switch m.step {
	case read, readLater, recheck:
		return Get{m.config.Name(m.attempt), m.step == recheck, timeout}
	case askTime:
		return AskTime{timeout}
	case nextName:
		m.posted = now
		return Post{m.config.Name(m.attempt + 1), true}
	}
	m.posted = now
	return Post{m.config.Name(m.attempt), false}
}

// limit returns why the step must not be taken, or nothing.
func (m *Machine) limit(now time.Time) Stop {
	late := now
	if m.due.After(now) {
		late = m.due
	}
	switch {
	case m.over, m.interrupted && (m.step.posts() || m.step == recheck):
		return Interrupted
	// A lost POST is read back once, however late. A denied object is
	// rechecked as long as it takes.
	case m.step == post, m.step == read, m.step == askTime, m.step == recheck, late.Before(m.deadline):
		return ""
	case m.last.RetryAfter > m.config.RetryTimeout:
		return WaitTooLong
	}
	return TimeOver
}

// giveUp replaces the step, which must not be taken.
func (m *Machine) giveUp(why Stop) {
	m.stopped, m.asked, m.due = why, m.last.RetryAfter, time.Time{}
	posts := m.step.posts()
	m.end = GivenUp
	if !posts {
		m.step = unknown
		return
	}
	if m.step = m.stepAfter(GivenUp); m.step == read {
		m.name.state = wasRejected
	}
}

// Observe takes the observation of the request that Next has returned.
func (m *Machine) Observe(now time.Time, o Observation) {
	m.last = o
	if m.step.posts() {
		m.refusal = o.Err
		if o.Finding == Lost && m.loss == nil {
			m.loss = o.Err
		}
	}
	switch {
	case m.step == askTime:
		m.end = m.age(now, o)
	case m.step.posts():
		if m.step == nextName {
			m.attempt++
			m.name = name{state: m.name.state}
		}
		m.end = m.afterPost(o)
	default:
		m.end = m.afterGet(o)
	}
	if m.end == Anonymous {
		m.step, m.due = askTime, time.Time{}
		return
	}
	m.step = m.stepAfter(m.end)
	m.due = now.Add(m.pause())
}

func (m *Machine) done(now time.Time) Done {
	d := Done{
		Outcome: Failed, Last: m.end, Stopped: m.stopped, RetryAfter: m.asked,
		Name: m.config.Name(m.attempt), Attempts: m.attempt + 1,
		Refused:    m.name.state == wasRejected || m.name.state == wasDenied,
		Unverified: m.unverified || m.end == NoPermission && m.name.state != inDoubt,
		Absences:   m.name.absences, Others: m.counts.others,
		Loss: m.loss, Refusal: m.refusal, Err: m.last.Err,
		limit: m.config.RetryTimeout, took: now.Sub(m.deadline.Add(-m.config.RetryTimeout)),
	}
	switch {
	case m.step == unknown:
		d.Outcome = Unknown
	case m.step == created && m.end == Ours && m.config.Reused && m.name.state != inDoubt:
		d.Outcome = Found
	case m.step == created:
		d.Outcome = Created
	}
	return d
}
