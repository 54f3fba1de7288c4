package protocol

import "time"

// afterPost records the observation of a POST. afterPost returns the finding that the rules apply to.
func (m *Machine) afterPost(o Observation) Finding {
	n := &m.name
	if !o.Unsent {
		n.sent = true
		if n.firstPost.IsZero() {
			n.firstPost = m.posted
		}
	}
	if o.Other {
		m.counts.others++
	}
	found := o.Finding
	m.forbidden = found == Rejected && o.Permission || found == Unauthorized
	if found == Unauthorized {
		if m.counts.unauthorized++; m.counts.unauthorized == 1 {
			return found
		}
		found = Rejected
	}
	switch {
	case n.state == inDoubt:
	case found == Lost:
		n.state = inDoubt
	case found == Rejected:
		n.state = wasRejected
	case found == Denied:
		n.state = wasDenied
	}
	return found
}

// afterGet records the observation of a GET. afterGet returns the finding that the rules apply to.
//
// An Anonymous object that has the fixed name of our object is foreign, as with kubectl. If an earlier process might
// have sent our object under a derived name, an Anonymous object is unclear whatever its age. A webhook might have
// removed the object's ID.
func (m *Machine) afterGet(o Observation) Finding {
	switch {
	case o.Finding == Unauthorized:
		// After the third 401, the credential is considered invalid.
		if m.counts.unauthorized++; m.counts.unauthorized > 2 && m.forbidden && m.name.state == wasRejected {
			return NoPermission
		}
		return Unread
	case o.Finding != Anonymous:
	case m.config.Fixed && m.name.state == clean:
		return Foreign
	case m.config.Reused && !m.config.Fixed, o.Time.IsZero():
		return Unclear
	}
	m.name.created = o.Time
	return o.Finding
}

// age returns Foreign if the object was created before our first POST, and Unclear otherwise. age compares times of
// the server's clock. The monotonic clock stops while a computer sleeps, and the wall clock can be set back. So age
// uses the longer one of the durations that these two clocks measure.
func (m *Machine) age(now time.Time, o Observation) Finding {
	if o.Finding != ServerTime {
		return Unread
	}
	since := max(now.Sub(m.name.firstPost), now.Round(0).Sub(m.name.firstPost.Round(0)))
	if m.name.created.Add(clockMargin).Before(o.Time.Add(-since)) {
		return Foreign
	}
	return Unclear
}

// stepAfter returns the next step, by the tables and their exceptions.
func (m *Machine) stepAfter(f Finding) step {
	n, s := &m.name, ruleFor(f, m.config.Tracked, m.name.state)
	switch {
	case f == GivenUp && n.state == inDoubt, // also an untracked object that was sent again
		f == GivenUp && n.absences > 0: // nothing shows whose object had the name
		return unknown
	case (f == Rejected || f == Denied || f == GivenUp) && !n.sent:
		return failed
	case s == recheck && (m.stopped != "" || m.counts.rechecks == len(m.config.rechecks())):
		return failed
	case s == postLater && m.counts.others >= MaxOthers:
		return m.afterOthers()
	case f == Absent && n.state == clean:
		return m.afterAbsence(s)
	case s == nextName:
		return m.beforeNextName(f)
	case m.config.Plain() && f != GivenUp:
		return m.asClientGo(f, s)
	}
	return s
}

// afterOthers returns the last step after MaxOthers responses about other objects. In a dry run, the object is not
// in doubt.
func (m *Machine) afterOthers() step {
	if m.name.state == inDoubt {
		return unknown
	}
	return failed
}

// afterAbsence returns s, or unknown after maxAbsences conflicts without an object of the name.
func (m *Machine) afterAbsence(s step) step {
	if m.name.absences++; m.name.absences < maxAbsences {
		return s
	}
	return unknown
}

func (m *Machine) beforeNextName(f Finding) step {
	more := !m.config.Fixed && m.attempt+1 < m.config.Attempts
	if f == NoPermission && m.config.Reused {
		more = false
	}
	switch {
	case more:
		m.unverified = m.unverified || f == NoPermission
		m.name.sent = false // a GET of this name is not needed any more
		return nextName
	case f == NoPermission:
		return unknown // a proxy or an earlier process might have sent the POST before
	}
	return failed
}

// asClientGo returns the step that client-go takes in kubectl. asClientGo sends a POST again, up to ten times, if a 429
// or 5xx has a Retry-After. If the server picks the name, a lost POST could create a second object. So that POST is not
// sent again.
func (m *Machine) asClientGo(f Finding, s step) step {
	switch {
	case m.last.Resend && m.counts.resent < maxResent && (f == NotStored || m.config.Fixed):
		m.counts.resent++
		return postLater
	case s == postLater:
		return failed
	}
	return s
}

// pause returns the time to wait before the step. It is an exponential backoff with jitter, or longer if the
// server requests it. apistatus.Retrier in the plugin uses the same pauses, but sleeps and reads random numbers.
// The machine does neither, so that the model can explore it.
func (m *Machine) pause() time.Duration {
	switch {
	case m.step == recheck:
		m.counts.rechecks++
		return m.config.rechecks()[m.counts.rechecks-1]
	case m.step != postLater && m.step != readLater:
		return 0
	case m.config.Plain():
		return m.last.RetryAfter
	}
	pause := m.backoff
	if m.config.Jitter != nil {
		pause += time.Duration(m.config.Jitter() * float64(pause) / 2)
	}
	m.backoff = min(2*m.backoff, longestPause)
	return max(pause, m.last.RetryAfter)
}
