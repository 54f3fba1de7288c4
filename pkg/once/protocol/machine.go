// Package protocol has the rules by which an object is created exactly once. The rules are a state machine without
// I/O, clock or client: a Machine decides which request comes next, and gets an observation of its response. Run is
// the loop around a Machine. The caller of Run sends the requests, and classifies the responses as
// docs/spec/README.md defines.
//
// The package is exported only because pkg/once and the kubectl plugin share it. Before v1, its names can change.
package protocol

import "time"

// Config describes the object to create, and the limits.
type Config struct {
	// Name returns the name of an attempt (0, 1, …). Name is empty if the server picks the name.
	Name func(attempt int) string
	// Attempts is the number of names that the machine can send, at least 1.
	Attempts int
	// Fixed means that the object has a fixed name.
	Fixed bool
	// Tracked means that the object carries a creation ID. So a GET can show whether an object is ours.
	Tracked bool
	// Reused means that an earlier process might have sent an object with the same creation ID.
	Reused bool
	// RetryTimeout limits the time for retries. With 0, the machine sends one POST, and one GET if the outcome is
	// unknown.
	RetryTimeout time.Duration
	// Rechecks are the pauses between the GETs of a denied object, because an earlier copy of its POST might still
	// be in flight. With nil, they are 1, 3 and 9 seconds.
	Rechecks []time.Duration
	// Jitter returns a random number from 0 to 1. With 1, a pause is longer by half. With nil, there is no jitter.
	Jitter func() float64
}

// Plain reports whether the object is sent as kubectl sends it. Such an object has no creation ID, and only one name.
func (c Config) Plain() bool { return !c.Tracked && (c.Attempts == 1 || c.Fixed) }

// Machine decides the requests of one create.
type Machine struct {
	config   Config
	deadline time.Time
	backoff  time.Duration

	step step
	due  time.Time // when step is due
	last Observation
	end  Finding // the last finding that the rules applied

	posted      time.Time // time of the last POST
	attempt     int
	loss        error // error of the first lost POST
	refusal     error // error of the last POST
	name        name
	counts      counts
	stopped     Stop
	asked       time.Duration // pause that the server requested when the machine gave up
	interrupted bool
	over        bool // the time for GETs after an interrupt is over
	unverified  bool // see Done.Unverified
	forbidden   bool // the last POST lacked a permission
}

// name is the state of the current name.
type name struct {
	state     state
	sent      bool      // a POST of the name might have reached the server
	firstPost time.Time // time of the first such POST
	created   time.Time // creationTimestamp of the object with the name, if it has no ID
	absences  int       // conflicts after which a GET found no object of the name
}

// counts has the totals over all names of the object.
type counts struct {
	rechecks, unauthorized, others, resent int
}

// The limits of the rules.
const (
	firstPause, longestPause = 50 * time.Millisecond, 5 * time.Second
	// lateTimeout limits a GET that is sent after RetryTimeout.
	lateTimeout = 30 * time.Second
	// clockMargin is the largest expected difference between the clocks of a cluster's API servers. clockMargin
	// includes the fraction of a second that a creationTimestamp doesn't have.
	clockMargin = 5 * time.Second
	// maxAbsences limits the conflicts after which a GET finds no object of the name. Another client can delete
	// its object between a POST and the GET, but hardly three times. So something else is wrong, such as a GET
	// from a cache.
	maxAbsences = 3
	// MaxOthers limits the responses about other objects. If a webhook renames objects and removes annotations,
	// each POST creates another object.
	MaxOthers = 3
	// maxResent is the limit of client-go's rest.Request.
	maxResent = 10
)

// rechecks is the default of Config.Rechecks.
var rechecks = []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}

// RecheckTime returns the time for which a denied object is rechecked.
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

// New returns a machine whose RetryTimeout begins now.
func New(c Config, now time.Time) *Machine {
	return &Machine{config: c, deadline: now.Add(c.RetryTimeout), backoff: firstPause}
}

// Interrupt tells the machine to send no other POST, and no recheck. If over is true, it sends no GET either, and the
// next action is Done.
func (m *Machine) Interrupt(over bool) { m.interrupted, m.over = true, m.over || over }

// Next returns the next action. The caller passes the response of a request to Observe.
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

// limit returns the reason why the machine must give up instead of taking the step, or "".
func (m *Machine) limit(now time.Time) Stop {
	late := now
	if m.due.After(now) {
		late = m.due
	}
	switch {
	case m.over, m.interrupted && (m.step.posts() || m.step == recheck):
		return Interrupted
	// After a lost POST there is one GET, even if the time is over. Rechecks have their own time.
	case m.step == post, m.step == read, m.step == askTime, m.step == recheck, late.Before(m.deadline):
		return ""
	case m.last.RetryAfter > m.config.RetryTimeout:
		return WaitTooLong
	}
	return TimeOver
}

// giveUp replaces the step after a limit was reached.
func (m *Machine) giveUp(why Stop) {
	m.stopped, m.asked, m.due = why, m.last.RetryAfter, time.Time{}
	posts := m.step.posts()
	m.end = GivenUp
	if !posts {
		m.step = unknown
		return
	}
	if m.step = m.stepAfter(GivenUp); m.step == read {
		m.name.state = wasDenied
	}
}

// Observe records the observation of the response to the request that Next returned.
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
