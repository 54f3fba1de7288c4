package create

import (
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// scheduler passes jobs to workers, and tracks the jobs in progress and the deferred copies. Only the
// run's goroutine changes it. Workers and reviews use its channels.
type scheduler struct {
	jobs    chan job
	reports chan report
	take    func(report)     // the run's goroutine calls it
	create  func(job) report // the workers call it
	workers int
	started int // jobs

	limit      int // limit of inProgress
	inProgress int // jobs that later jobs might have to wait for
	rechecking int // jobs that are only rechecked after a refusal; no job waits for them
	deferred   []deferred
}

// deferred are the copies of a document that wait while an earlier copy is rechecked. The field first is
// the number of the first waiting copy.
type deferred struct {
	task  *task
	first int
}

// maxRechecking limits the rechecks in progress.
const maxRechecking = 1000

// start passes a job to a worker. start adds a worker if all are busy. Workers live as long as the run.
func (s *scheduler) start(j job) {
	if s.inProgress+s.rechecking == s.workers {
		s.workers++
		go func() {
			for j := range s.jobs {
				s.reports <- s.create(j)
			}
		}()
	}
	s.inProgress++
	s.started++
	j.number = s.started
	s.jobs <- j
}

// recheck records that a job in progress now only rechecks a refused object.
func (s *scheduler) recheck(d *task) {
	s.inProgress--
	s.rechecking++
	d.rechecking++
}

func (s *scheduler) end(e ended) {
	if e.rechecked {
		s.rechecking--
		e.job.task.rechecking--
	} else {
		s.inProgress--
	}
}

func (s *scheduler) busy() bool { return s.inProgress+s.rechecking > 0 }

// makeRoom waits until another job can start. makeRoom also waits while uncertain returns true.
func (s *scheduler) makeRoom(uncertain func() bool) {
	for s.inProgress == s.limit || s.rechecking >= maxRechecking || uncertain() {
		s.take(<-s.reports)
	}
	s.takeReady()
}

// wait waits for the jobs in progress, but not for rechecks.
func (s *scheduler) wait() {
	for s.inProgress > 0 {
		s.take(<-s.reports)
	}
}

func (s *scheduler) takeNext() {
	if s.busy() {
		s.take(<-s.reports)
	}
}

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

// ready removes and returns the deferred copies whose documents are no longer rechecked.
func (s *scheduler) ready() (ready []deferred) {
	s.deferred = slices.DeleteFunc(s.deferred, func(c deferred) bool {
		if c.task.rechecking == 0 {
			ready = append(ready, c)
		}
		return c.task.rechecking == 0
	})
	return ready
}

// job creates one copy of a document.
type job struct {
	number     int
	task       *task
	id         exactlyonce.ID
	existing   *idempotency.Existing // object of the run's list, or nil
	probe      bool                  // it is sent once, without retries
	losses     int                   // breaker.losses at the start of the job
	reportOnly bool                  // the worker only reports that the object exists
	// withState makes the worker read the state of an existing object.
	withState bool
}
