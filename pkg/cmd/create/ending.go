package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// totals are what has become of the objects of a run.
type totals struct {
	created, unchanged, failed, unknown, notAttempted int
}

func (t totals) String() string {
	return fmt.Sprintf("%d created, %d unchanged, %d failed, %d unknown, %d not attempted",
		t.created, t.unchanged, t.failed, t.unknown, t.notAttempted)
}

// finish makes the command's error of what failed and of what is not known or
// was not done.
func (r *results) finish() error {
	if t := r.totals; len(r.end.Places) > 0 && t.created+t.unchanged+t.unknown > 0 {
		r.say("the objects of this run: " + r.selector())
	}
	if r.progress != nil {
		r.progress.End()
	}
	if r.end.Incomplete && r.end.Unread {
		r.fail(create.ErrUnread)
	}
	err := together(r.errs)
	lines := r.closing()
	if r.end.Incomplete {
		lines = append(lines, "nothing was created: a run with a key needs its whole input")
	}
	switch {
	case r.totals.unknown > 0:
		return &exitcode.Error{Code: exitcode.Unknown, Err: err, Lines: lines}
	case r.interrupted() && len(lines) > 0:
		return &exitcode.Error{Code: exitcode.Interrupted, Err: err, Lines: lines}
	case err == nil && r.end.Documents == 0:
		return errors.New("no objects passed to create")
	case len(lines) > 0:
		return &exitcode.Error{Code: exitcode.Failed, Err: err, Lines: lines}
	}
	return err
}

// together returns the errors as kubectl's reading of files does, which has
// errors of its own together in one: so its words for them come out.
func together(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return utilerrors.NewAggregate(errs)
}

// interrupted reports whether the user has had enough.
func (r *results) interrupted() bool {
	return r.ctx.Err() != nil && !errors.Is(context.Cause(r.ctx), errNotWritten)
}

// closing says, if not all was done, what was, why no more, and how to go on.
func (r *results) closing() []string {
	unread := r.end.Unread && !r.end.Incomplete
	if r.totals.notAttempted == 0 && !unread && !r.unsaid {
		return r.howToGoOn(unread)
	}
	why := "stopped after a failure"
	switch {
	case r.totals.notAttempted == 0 && !unread:
		why = "not all were created"
	case r.interrupted():
		why = "interrupted"
	case r.ctx.Err() != nil:
		why = "stopped because the results cannot be written"
	case r.end.Unreachable:
		why = "stopped because the server does not answer"
	case r.end.Unauthorized:
		why = "stopped because the server does not accept the credentials"
	}
	lines := []string{why + ": " + r.totals.String()}
	if unread {
		lines[0] += "; " + create.ErrUnread.Error()
	}
	return append(lines, r.howToGoOn(unread)...)
}

// howToGoOn is what to do about a run that has left objects open.
func (r *results) howToGoOn(unread bool) []string {
	there := r.totals.created + r.totals.unknown
	switch open := r.totals.unknown + r.totals.notAttempted; {
	case open == 0 && !unread, r.flags.kubectlsWords():
		return nil
	case r.flags.key != "":
		return []string{"to go on, run the same command again: what is there stays unchanged"}
	case there > 0:
		return []string{fmt.Sprintf("do not just run it again: that would create up to %d a second time. "+
			"A run that has an --idempotency-key from its start can be repeated", there)}
	}
	return nil
}

// selector is how to find all objects of the run.
func (r *results) selector() string {
	var resources, namespaces []string
	for _, p := range r.end.Places {
		resources = append(resources, p.Resource.String())
		if p.Namespace != "" {
			namespaces = append(namespaces, p.Namespace)
		}
	}
	slices.Sort(resources)
	slices.Sort(namespaces)
	command := "kubectl get " + strings.Join(slices.Compact(resources), ",")
	switch namespaces = slices.Compact(namespaces); len(namespaces) {
	case 0:
	case 1:
		command += " -n " + namespaces[0]
	default:
		command += " -A"
	}
	return command + " -l " + once.RunLabel + "=" + idempotency.Key(r.flags.key).RunLabel()
}

// maxStrangers is how many objects an error names.
const maxStrangers = 10

// explainStrangers is err in words that say what to do about a key that was
// used for another input.
func explainStrangers(err error) error {
	var found *create.StrangersError
	if !errors.As(err, &found) {
		return err
	}
	shown, more := found.Strangers, ""
	if n := len(shown) - maxStrangers; n > 0 {
		shown, more = shown[:maxStrangers], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the idempotency key was used for a different input, so nothing was changed. "+
		"Its run has created %s that this input does not ask for "+
		"(a document was changed or left out, or --count was lowered): %s%s. "+
		"Run it with the old input, or use another key, which creates everything anew",
		humanize.Count(len(found.Strangers), "object"), strings.Join(shown, ", "), more)
}
