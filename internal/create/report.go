package create

// report is a report of a worker or of a permission review to the run. It is a Warning, a Retry, ended
// or reviewed.
type report interface{ report() }

// ended is the end of a job.
type ended struct {
	job     job
	outcome Outcome
	// renamed reports that the cluster changed the name.
	renamed bool
	// rechecked reports that the object was rechecked after a refusal.
	rechecked bool
	// unreachable reports that neither the object nor a check of the server got a response.
	unreachable bool
}

// reviewed reports whether the user has permission to get objects at a place.
type reviewed struct {
	place    *place
	readable bool
}

func (Warning) report()  {}
func (Retry) report()    {}
func (ended) report()    {}
func (reviewed) report() {}
