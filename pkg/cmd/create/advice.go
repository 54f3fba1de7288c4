package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
)

// holder is an object without a creation ID that holds a name of a run with a key.
type holder struct {
	object string // as arguments of kubectl
	id     string // the creation ID that it lacks
}

// hold records, in a run with a key, an object that has the name of another one and may be of this
// run. Such an object has no creation ID, or it has the run's label.
func (r *results) hold(d *create.Document, id exactlyonce.ID, result exactlyonce.Result) {
	if result.Object == nil || result.Object.GetName() != result.Name || r.flags.key == "" ||
		len(r.holders)+len(r.otherIDs) >= maxShown {
		return
	}
	object := d.Argument(result.Name)
	run := result.Object.GetLabels()[exactlyonce.RunLabel]
	switch other := result.Object.GetAnnotations()[exactlyonce.Annotation]; {
	case other == "":
		r.holders = append(r.holders, holder{object, id.String()})
	case other != id.String() && run == idempotency.Key(r.flags.key).RunLabel():
		r.otherIDs = append(r.otherIDs, object)
	}
}

// doubt records the command that checks for an object of a run without a key.
func (r *results) doubt(e create.Unknown) {
	if r.flags.key != "" {
		return
	}
	r.maybe.leave(e.Document, 1)
	if len(r.unknowns) < maxShown {
		r.unknowns = append(r.unknowns, whereToLook(e))
	}
}

// likelyName is the name of an object that may exist. It is the name in the response if that
// differs from the sent name.
func likelyName(e create.Unknown) string {
	if errors.Is(e.Err, exactlyonce.ErrRenamed) && e.Result.Object != nil {
		return e.Result.Object.GetName()
	}
	return e.Result.Name
}

// whereToLook is the command that shows an object that may exist. If the server was to pick its
// name, the command lists all objects of its type.
func whereToLook(e create.Unknown) string {
	if name := likelyName(e); name != "" {
		return fmt.Sprintf(messages.Get, e.Document.Argument(name))
	}
	resource, _, _ := strings.Cut(e.Document.Reference("-"), "/")
	return fmt.Sprintf(messages.GetNewest, reference.In(resource, e.Document.Namespace))
}

// howToGoOn returns the advice after a run that isn't complete. counted reports whether the closing
// lines have counts.
func (r *results) howToGoOn(counted bool) []string {
	lines := r.aboutHolders()
	switch {
	case r.totals.unknown == 0 && !counted, len(r.otherIDs) > 0:
		return lines
	case len(r.rest.begun) == 0:
		return append(lines, r.hint(messages.RunAgain))
	case r.flags.key != "":
		return append(lines, r.hint(messages.RunAgainWithKey))
	case r.again == 0:
		return append(lines, r.hint(messages.RunAgainFixedNames))
	}
	advice := append(r.aboutRest(), r.aboutUnknown()...)
	if len(advice) > 0 {
		advice = append(advice, messages.UseKey)
	}
	return append(lines, advice...)
}

// hint returns a sentence with advice. If something failed, the sentence begins with fixing that.
func (r *results) hint(text string) string {
	if r.totals.failed+r.totals.renamed > 0 || len(r.holders) > 0 {
		return messages.AfterFix + text
	}
	return capitalized(text)
}

// aboutHolders returns the advice about objects that hold names of the run and may be the run's
// own.
func (r *results) aboutHolders() (lines []string) {
	for _, h := range r.holders {
		lines = append(lines, fmt.Sprintf(messages.Holder, h.object, h.object, exactlyonce.Annotation, h.id,
			h.object, exactlyonce.RunLabel, idempotency.Key(r.flags.key).RunLabel(), h.object))
	}
	for _, object := range r.otherIDs {
		lines = append(lines, fmt.Sprintf(messages.OtherID, object, exactlyonce.Annotation))
	}
	return lines
}

// aboutRest returns the commands that create the rest of a run without a key.
func (r *results) aboutRest() []string {
	if r.rest.left == 0 && r.unread() == "" {
		return nil
	}
	return []string{r.hint(r.rest.command(r.end.Documents, r.unread())), r.notUnchanged()}
}

// aboutUnknown returns the commands that check the unknown objects of a run without a key, and the
// next step.
func (r *results) aboutUnknown() []string {
	if r.totals.unknown == 0 {
		return nil
	}
	slices.Sort(r.unknowns)
	commands := slices.Compact(slices.Clone(r.unknowns))
	if n := r.totals.unknown - len(r.unknowns); n > 0 {
		commands = append(commands, fmt.Sprintf(messages.CheckMore, n))
	}
	lines := []string{fmt.Sprintf(messages.Check, strings.Join(commands, "\n"))}
	switch {
	case r.totals.objects() == 1 && r.unread() == "":
		return append(lines, messages.MissingOne)
	case r.end.Documents == 1 && r.unread() == "":
		lines = append(lines, messages.MissingCount)
	default:
		lines = append(lines, fmt.Sprintf(messages.MissingObjects, strings.Join(r.maybe.objects(), "\n")))
	}
	if r.rest.left > 0 {
		return lines // it is printed already
	}
	return append(lines, r.notUnchanged())
}

// notUnchanged warns about running the same command again.
func (r *results) notUnchanged() string {
	return fmt.Sprintf(messages.NotUnchanged, humanize.Count(r.again, "object"))
}
