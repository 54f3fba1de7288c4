package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// holder is an object without a mark that has the name of one of a run with a
// key.
type holder struct {
	object string // as arguments of kubectl
	id     string // the mark that it lacks
}

// hold notes, in a run with a key, what has the name of an object, if it is not
// another one's for certain.
func (r *results) hold(d *create.Document, id once.ID, result once.Result) {
	held := result.Object != nil && result.Object.GetName() == result.Name &&
		result.Object.GetAnnotations()[once.Annotation] == ""
	if held && r.flags.key != "" && len(r.holders) < maxShown {
		r.holders = append(r.holders, holder{d.Argument(result.Name), id.String()})
	}
}

// doubt notes where to look for an object of a run without a key.
func (r *results) doubt(e create.Unknown) {
	if r.flags.key != "" {
		return
	}
	r.maybe.leave(e.Document, 1)
	if len(r.unknowns) < maxShown {
		r.unknowns = append(r.unknowns, whereToLook(e))
	}
}

// likelyName is the name of an object that may be there: the one that came, if the
// server answered for another than was sent.
func likelyName(e create.Unknown) string {
	if errors.Is(e.Err, once.ErrRenamed) && e.Result.Object != nil {
		return e.Result.Object.GetName()
	}
	return e.Result.Name
}

// whereToLook is the command that shows an object that may be there: with all
// others of its type, if the server was to pick its name.
func whereToLook(e create.Unknown) string {
	if name := likelyName(e); name != "" {
		return "kubectl get " + e.Document.Argument(name)
	}
	resource, _, _ := strings.Cut(e.Document.Argument("-"), "/")
	command := "kubectl get " + resource + " --sort-by=.metadata.creationTimestamp"
	if e.Document.Namespaced() {
		command += " -n " + e.Document.Namespace
	}
	return command
}

// howToGoOn is what to do about a run that has left objects open. counted says
// that they were counted.
func (r *results) howToGoOn(counted bool) []string {
	lines := r.aboutHolders()
	t := r.totals
	switch {
	case t.unknown == 0 && !counted:
		return lines
	case len(r.rest.begun) == 0:
		return append(lines, "nothing was created: "+r.onceMended()+"the same command can be run again")
	case r.flags.key != "":
		return append(lines, "to go on, "+r.onceMended()+"run the same command again: what exists is left as it is")
	case r.again == 0:
		return append(lines, "to go on, "+r.onceMended()+
			"run the same command again: it says AlreadyExists of what is there, and creates the rest")
	}
	return append(append(lines, r.aboutUnknown()...), r.aboutRest()...)
}

// onceMended are the words before an advice that does not help alone.
func (r *results) onceMended() string {
	if r.totals.failed == 0 && len(r.holders) == 0 {
		return ""
	}
	return "once the cause is mended, "
}

// aboutHolders says what to do about names that are held by objects without the
// run's mark. Such an object may be the run's own, if the mark was removed.
func (r *results) aboutHolders() (lines []string) {
	for _, h := range r.holders {
		lines = append(lines, fmt.Sprintf("%s is there without the mark of this run: "+
			"if it is what the run should create, mark it (kubectl annotate %s %s=%s && kubectl label %s %s=%s); "+
			"else delete it (kubectl delete %s), "+
			"or leave it out of the input",
			h.object, h.object, once.Annotation, h.id,
			h.object, once.RunLabel, idempotency.Key(r.flags.key).RunLabel(), h.object))
	}
	return lines
}

// howToStartAnew says how objects that exist are created once more: a Job that
// has failed, say.
func (r *results) howToStartAnew() string {
	what, how := "it", "kubectl delete "+r.existing.Document.Argument(r.existing.Name)
	if r.totals.exist > 1 {
		what, how = "them", r.ofTheRun("kubectl delete ")
	}
	return fmt.Sprintf("nothing was left to create: to have %s created anew, use another key, or delete %s first: %s",
		what, what, how)
}

// aboutUnknown says how to find out what a run without a key has left.
func (r *results) aboutUnknown() []string {
	if r.totals.unknown == 0 {
		return nil
	}
	commands := slices.Clone(r.unknowns)
	slices.Sort(commands)
	look := strings.Join(slices.Compact(commands), "; ")
	if n := r.totals.unknown - len(r.unknowns); n > 0 {
		look += fmt.Sprintf("; and %d more, named above", n)
	}
	return []string{"look what is there: " + look + "; what is not there after a minute was not created"}
}

// aboutRest says how to create what is left of a run without a key.
func (r *results) aboutRest() []string {
	const withKey = "with an --idempotency-key from its start, a run can just be repeated"
	const missing = "to create those that are not there, run the same command with "
	caution := fmt.Sprintf("; as it was, it would create up to %d a second time (%s)", r.again, withKey)
	var lines []string
	if r.rest.left > 0 || r.unread() != "" {
		lines = append(lines, "to create what is left, "+r.onceMended()+"run "+
			r.rest.command(r.end.Documents, r.unread())+caution)
	}
	switch {
	case r.totals.unknown == 0:
	case r.totals.objects() == 1 && r.unread() == "":
		lines = append(lines, "if it is not there, run the same command again ("+withKey+")")
	case r.end.Documents == 1 && r.unread() == "":
		lines = append(lines, missing+"--count=THEIR_NUMBER"+caution)
	default:
		lines = append(lines, missing+"only them as its input, of "+r.maybe.objects()+caution)
	}
	return lines
}
