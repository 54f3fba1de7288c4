package create

import "time"

// reviewPatience is how long a run that is done waits for what it has asked
// about rights.
const reviewPatience = time.Second

// review asks, beside the first create at a place, whether the user may read
// objects back: that this right is missing would else be found out on the day
// that an answer is lost. What cannot be found out is not said.
func (r *run) review(j job) {
	d := j.document
	o := r.breakerAt(d)
	if o.reviewed || r.config.DryRun != NoDryRun {
		return
	}
	if r.config.id(d, j.copy).String() == "" || r.listed(j) { // not read back, or not sent
		return
	}
	o.reviewed = true
	r.reviews++
	go func() {
		readable := r.config.Cluster.MayGet(r.ctx, d.Mapping.Resource, d.Namespace)
		r.reports <- report{document: d, reviewed: true, readable: readable}
	}()
}

// notRefused takes note that not all creates at the document's place are
// refused: then it matters what can be read back.
func (r *run) notRefused(d *Document) {
	r.breakerAt(d).open = true
	r.tellUnreadable(d)
}

// tellUnreadable warns, once, of a place where objects are created and cannot be
// read back.
func (r *run) tellUnreadable(d *Document) {
	o := r.breakerAt(d)
	if !o.open || !o.unreadable {
		return
	}
	o.unreadable = false
	r.emit(NoGet{d.place})
}

// endReviews waits for the reviews that are under way, and not for long.
func (r *run) endReviews() {
	over := time.After(reviewPatience)
	for r.reviews > 0 {
		select {
		case told := <-r.reports:
			r.take(told)
		case <-over:
			r.stop()
		}
	}
}
