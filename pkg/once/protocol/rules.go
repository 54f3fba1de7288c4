package protocol

import "time"

// afterPost notes the observation of a POST, and returns it as the rules take
// it.
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
	n.conflict = found == Conflict
	m.forbidden = found == Rejected && o.Permission || found == Unauthorized
	if found == Unauthorized {
		if m.counts.unauthorized++; m.counts.unauthorized == 1 {
			return found
		}
		found = Rejected
	}
	switch {
	case n.state == inDoubt && !m.trusts(found):
	case found == Lost:
		n.state = inDoubt
	case found == Rejected:
		n.state = wasRejected
	case found == Denied:
		n.state = wasDenied
	}
	return found
}

// afterGet notes the observation of a GET, and returns it as the rules take it.
// An object without an ID that holds the one name there is to try is another's,
// as with kubectl. The age of an object whose name follows from an ID proves
// nothing if an earlier process may have made it: something may have removed its
// ID.
func (m *Machine) afterGet(o Observation) Finding {
	switch {
	case o.Finding == Unauthorized:
		// The third 401 of an object: the credential is no good.
		if m.counts.unauthorized++; m.counts.unauthorized > 2 && m.forbidden && m.name.state == wasRejected {
			return NoPermission
		}
		return Unread
	case o.Finding != Anonymous:
	case m.config.Fixed && m.name.state == clean:
		return Foreign
	case m.config.Reused && !m.config.Fixed:
		return Unclear
	}
	m.name.created = o.Time
	return o.Finding
}

// age returns whether an object without an ID was there before our first POST,
// by the server's time: a POST of ours can have been carried out since then. The
// monotonic clock stops while a computer sleeps, and the other one may be set
// back.
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

// stepAfter returns the step after f: that of the rules, while it leads on.
func (m *Machine) stepAfter(f Finding) step {
	n, s := &m.name, ruleFor(f, m.config.Tracked, m.name.state)
	switch {
	case f == GivenUp && n.state == inDoubt, // of an untracked object, too: it was sent again as client-go does
		f == GivenUp && n.absences > 0: // who had the name is not known
		return unknown
	case (f == Rejected || f == Denied || f == GivenUp) && !n.sent, m.trusts(f), f == GivenUp && m.config.TrustRefusals:
		return failed
	case s == recheck && m.counts.rechecks == len(m.config.rechecks()):
		return failed
	case s == postLater && m.counts.others >= MaxOthers:
		return m.afterOthers()
	case f == Absent && (n.state == clean || m.config.TrustRefusals && n.conflict):
		return m.afterAbsence(s)
	case s == nextName:
		return m.beforeNextName(f)
	case m.config.Plain() && f != GivenUp:
		return m.asClientGo(f, s)
	}
	return s
}

// trusts reports whether f is a refusal that ends the create.
func (m *Machine) trusts(f Finding) bool {
	return m.config.TrustRefusals && (f == Rejected || f == Denied)
}

// afterOthers returns the end of an object whose responses are about others: in
// a dry run, nothing is in doubt.
func (m *Machine) afterOthers() step {
	if m.name.state == inDoubt {
		return unknown
	}
	return failed
}

// afterAbsence returns s, unless the server keeps saying that a name is taken,
// and there is no object of that name.
func (m *Machine) afterAbsence(s step) step {
	if m.name.absences++; m.name.absences < maxAbsences {
		return s
	}
	return unknown
}

// beforeNextName returns nextName, while there is one.
func (m *Machine) beforeNextName(f Finding) step {
	more := !m.config.Fixed && m.attempt+1 < m.config.Attempts
	if f == NoPermission && m.config.Reused {
		more = false
	}
	switch {
	case more:
		m.unverified = m.unverified || f == NoPermission
		m.name.sent = false // the name need not be read again
		return nextName
	case f == NoPermission:
		return unknown // a proxy, or an earlier process, may have repeated the POST
	}
	return failed
}

// asClientGo returns the step of kubectl's client: it sends a POST again, up to
// ten times, when a 429 or 5xx has a Retry-After, and never else. A lost one
// could make a second object where the server picks the name: there it is the
// end.
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

// pause returns the time to wait before the step: an exponential backoff with
// jitter, or longer if the server asks for it. The pauses of apistatus.Retrier in
// the plugin are the same, but it sleeps and has random numbers. The machine has
// neither, so that the model can explore it.
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
