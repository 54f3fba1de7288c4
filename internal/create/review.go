package create

import (
	"fmt"
	"time"
)

// reviewPatience is how long a run that is done waits for what it has asked
// about rights.
const reviewPatience = time.Second

// review asks, beside the first create at a place, whether the user may read
// objects back: that this right is missing would else be found out on the day
// that an answer is lost. What cannot be found out is not said.
func (r *run) review(j job) {
	d := j.document
	if r.reviewed[d.place] || r.config.DryRun != NoDryRun {
		return
	}
	id := r.config.id(d, j.copy).String()
	if id == "" || len(r.existing[inPlace{d.place, id}]) > 0 { // not read back, or not sent
		return
	}
	r.reviewed[d.place] = true
	r.reviews++
	go func() {
		told := report{review: true}
		if !r.config.Cluster.MayGet(r.ctx, d.Mapping.Resource, d.Namespace) {
			told.event = Warning{fmt.Sprintf("objects of %s cannot be read back (needs get on %s): "+
				"if an answer is lost, nobody can say whether the object was created", d.place, d.place.Resource)}
		}
		r.reports <- told
	}()
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
