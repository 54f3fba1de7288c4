package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// totals are what has become of the objects of a run.
type totals struct {
	created, exist, failed, unknown, notAttempted int
}

func (t totals) String() string {
	return fmt.Sprintf("%d created, %d exist, %d failed, %d unknown, %d not attempted",
		t.created, t.exist, t.failed, t.unknown, t.notAttempted)
}

// objects is how many there were.
func (t totals) objects() int { return t.created + t.exist + t.failed + t.unknown + t.notAttempted }

// finish makes the command's error of what failed and of what is not known or
// was not done.
func (r *results) finish() error {
	if t := r.totals; len(r.end.Places) > 0 && t.created+t.exist+t.unknown > 0 && !r.dryRun() {
		r.say(r.objectsOfTheRun())
		if t.exist == t.objects() {
			r.say(r.howToStartAnew())
		}
	}
	r.sayChanged()
	if r.progress != nil {
		r.progress.End()
	}
	if r.end.Incomplete && r.end.Unread {
		r.errs = append(r.errs, placed{2*r.end.Documents + 1, create.ErrUnread})
	}
	err := r.together()
	lines := r.closing()
	if r.end.Incomplete {
		lines = append(lines, "nothing was created: a run with a key needs its whole input")
	}
	switch {
	case r.totals.unknown > 0:
		return &exitcode.Error{Code: exitcode.Unknown, Err: err, Lines: lines}
	case r.interrupted() && (r.totals.notAttempted > 0 || r.end.Unread):
		return &exitcode.Error{Code: exitcode.Interrupted, Err: err, Lines: lines}
	case err == nil && r.end.Documents == 0:
		return errors.New("no objects passed to create")
	case len(lines) > 0:
		return &exitcode.Error{Code: exitcode.Failed, Err: err, Lines: lines}
	}
	return err
}

// together returns the errors in the order of the input, as kubectl's reading
// of files does, which has errors of its own together in one: so its words for
// them come out.
func (r *results) together() error {
	slices.SortStableFunc(r.errs, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var errs []error
	for _, e := range r.errs {
		errs = append(errs, e.err)
	}
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

func (r *results) dryRun() bool { return r.DryRunStrategy != cmdutil.DryRunNone }

// unread is what of the input cannot be counted, as the line that counts the rest
// calls it: empty for nothing.
func (r *results) unread() string {
	switch {
	case r.cutOff():
		return "what was not read"
	case r.unreadable():
		return "that part"
	}
	return ""
}

// cutOff reports whether an interrupt has ended the reading of the input.
func (r *results) cutOff() bool { return r.end.Unread && !r.end.Incomplete }

// unreadable reports whether a part of the input of a run without a key could not
// be read; one with a key creates nothing then.
func (r *results) unreadable() bool { return r.problems && r.flags.key == "" }

// closing says, if not all was done, what was, why no more, and how to go on.
// kubectl says nothing of the kind, so who asks for its words gets no more than
// what its words leave out.
func (r *results) closing() []string {
	t := r.totals
	counted := t.notAttempted > 0 || r.cutOff() || r.unsaid
	if !r.flags.kubectlsWords() && !r.dryRun() {
		counted = counted || t.failed+t.unknown > 0 && t.objects() > 1 || t.objects() > 0 && r.unreadable()
	}
	var lines []string
	if counted {
		lines = []string{r.why() + ": " + t.String()}
		switch {
		case r.cutOff():
			lines[0] += "; " + create.ErrUnread.Error()
		case r.unreadable():
			lines[0] += "; a part of the input could not be used"
		}
	}
	if r.flags.kubectlsWords() || r.dryRun() {
		return lines
	}
	return append(lines, r.howToGoOn(counted)...)
}

// why is why a run did not do all.
func (r *results) why() string {
	switch {
	case r.totals.notAttempted == 0 && !r.cutOff():
		if r.totals.failed+r.totals.unknown == 0 && !r.unreadable() {
			return "not all that is there could be printed"
		}
		return "not all were created"
	case r.interrupted():
		return "interrupted"
	case r.ctx.Err() != nil:
		return "stopped because the results cannot be written"
	case r.end.Unreachable:
		return "stopped because the server does not answer"
	case r.end.Unauthorized:
		return "stopped because the server does not accept the credentials"
	case len(r.end.Stalled) > 0:
		var places []string
		for _, p := range r.end.Stalled {
			places = append(places, p.String())
		}
		return "stopped because one object after the other ran out of time (" + strings.Join(places, ", ") + ")"
	}
	return "stopped after a failure"
}

// objectsOfTheRun says how to find them.
func (r *results) objectsOfTheRun() string {
	text := "the objects of this run: " + r.ofTheRun("kubectl get ")
	if n := r.end.Unlabelled; n > 0 {
		text += fmt.Sprintf(" (but %d, which lack its label)", n)
	}
	return text
}

// sayChanged says what of the objects that exist is not as it was created.
func (r *results) sayChanged() {
	if len(r.changed) > 0 {
		r.warn(fmt.Sprintf("of what exists, the spec was changed since it was created "+
			"(metadata.generation is above 1): %s", some(r.changed)))
	}
}

// some names some of many.
func some(all []string) string {
	shown, more := all, ""
	if n := len(all) - maxShown; n > 0 {
		shown, more = all[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(shown, ", ") + more
}

// maxShown is how many objects a line names.
const maxShown = 10

// ofTheRun is the commands of kubectl that take all objects of the run: one for
// each namespace, for in others the same key is another run's.
func (r *results) ofTheRun(command string) string {
	resources := map[string][]string{}
	for _, p := range r.end.Places {
		resources[p.Namespace] = append(resources[p.Namespace], p.Resource.String())
	}
	label := " -l " + once.RunLabel + "=" + idempotency.Key(r.flags.key).RunLabel()
	var commands []string
	for _, namespace := range slices.Sorted(maps.Keys(resources)) {
		slices.Sort(resources[namespace])
		one := command + strings.Join(slices.Compact(resources[namespace]), ",")
		if namespace != "" {
			one += " -n " + namespace
		}
		commands = append(commands, one+label)
	}
	return strings.Join(commands, "; ")
}

// explain is err in words that say what to do about what a key was used for.
func explain(err error) error {
	var strangers *create.StrangersError
	if errors.As(err, &strangers) {
		return fmt.Errorf("the idempotency key was used for a different input, so nothing was changed. "+
			"Its run has created %s that this input does not ask for "+
			"(a document was changed or left out, or --count was lowered): %s. "+
			"Run it with the old input, or use another key, which creates everything anew",
			humanize.Count(len(strangers.Strangers), "object"), some(strangers.Strangers))
	}
	var several *create.SeveralError
	if errors.As(err, &several) {
		return fmt.Errorf("one object of the input is there %d times, created by runs with this key "+
			"at the same moment (or under a name that was taken at first): %s. "+
			"A run with this key goes on with the first. "+
			"To keep it alone: kubectl delete %s",
			len(several.Objects), some(several.Objects), strings.Join(several.Objects[1:], "; kubectl delete "))
	}
	return err
}
