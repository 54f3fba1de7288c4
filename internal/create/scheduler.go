package create

// scheduler has jobs done by workers, and knows what is in progress and what is
// deferred. One goroutine has it, that of the run.
type scheduler struct {
	jobs    chan job
	reports chan report
	take    func(report) // by the run's goroutine
	worker  func() worker
	workers int

	limit      int   // of jobs in progress
	inProgress int   // jobs that what follows may have to wait for
	rechecking int   // jobs that it need not wait for: refusals are rechecked
	deferred   []job // the first jobs that were not started, while others are rechecked
}

// maxRechecking bounds the jobs that a run goes on without.
const maxRechecking = 1000

// start gives the job to a worker. There are as many as were ever needed at
// once; they live as long as the run.
func (s *scheduler) start(j job) {
	if s.inProgress+s.rechecking == s.workers {
		s.workers++
		w := s.worker()
		go func() {
			for j := range s.jobs {
				s.reports <- w.create(j)
			}
		}()
	}
	s.inProgress++
	s.jobs <- j
}

// recheck notes that a job in progress is only rechecked.
func (s *scheduler) recheck(d *Document) {
	s.inProgress--
	s.rechecking++
	d.rechecking++
}

// end notes the end of a job.
func (s *scheduler) end(e ended) {
	if e.rechecked {
		s.rechecking--
		e.job.document.rechecking--
	} else {
		s.inProgress--
	}
}

// busy reports whether any job has not ended.
func (s *scheduler) busy() bool { return s.inProgress+s.rechecking > 0 }

// makeRoom waits until another job may be started, or until, for its document, it is
// certain whether it may.
func (s *scheduler) makeRoom(uncertain func() bool) {
	for s.inProgress == s.limit || s.rechecking >= maxRechecking || uncertain() {
		s.take(<-s.reports)
	}
	s.takeReady()
}

// wait waits for what is in progress, but not for what is rechecked.
func (s *scheduler) wait() {
	for s.inProgress > 0 {
		s.take(<-s.reports)
	}
}

// takeNext waits for the next report, if there is anything to wait for.
func (s *scheduler) takeNext() {
	if s.busy() {
		s.take(<-s.reports)
	}
}

// takeReady takes the reports that are there, without waiting.
func (s *scheduler) takeReady() {
	for {
		select {
		case report := <-s.reports:
			s.take(report)
		default:
			return
		}
	}
}

// ready returns the deferred jobs of documents that are not rechecked any more, and
// keeps the others.
func (s *scheduler) ready() (jobs []job) {
	deferred := s.deferred
	s.deferred = nil
	for _, j := range deferred {
		if j.document.rechecking > 0 {
			s.deferred = append(s.deferred, j)
		} else {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// job is one copy of a document, to be created.
type job struct {
	document *Document
	copy     int
	probe    bool // send it once
	losses   int  // breaker.losses when it was started
	unsent   bool // report that it exists, and do not send it
	// withState is true if the state of an existing object is to be read.
	withState bool
}
