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

// likelyName is the name of an object that may exist. It is the name in the response if that
// differs from the sent name.
func likelyName(o create.Outcome) string {
	if errors.Is(o.Err, exactlyonce.ErrRenamed) && o.Result.Object != nil {
		return o.Result.Object.GetName()
	}
	return o.Result.Name
}

// whereToLook is the command that shows an object that may exist. If the server was to pick its
// name, the command lists all objects of its type.
func whereToLook(o create.Outcome) string {
	if name := likelyName(o); name != "" {
		return fmt.Sprintf(messages.Get, o.Document.Argument(name))
	}
	resource, _, _ := strings.Cut(o.Document.Reference("-"), "/")
	return fmt.Sprintf(messages.GetNewest, reference.In(resource, o.Document.Namespace))
}

// howToGoOn returns the advice after a run that isn't complete. counted reports whether the closing
// lines have counts.
func (e *ending) howToGoOn(counted bool) []string {
	lines := e.aboutHolders()
	switch {
	case e.flags.key != "" && e.Renamed > 0:
		return append(lines, e.hint(messages.RunAgainRenamed))
	case e.Unknown == 0 && !counted, len(e.OtherIDs) > 0:
		return lines
	case len(e.Begun) == 0:
		return append(lines, e.hint(messages.RunAgain))
	case e.flags.key != "":
		return append(lines, e.hint(messages.RunAgainWithKey))
	case e.Again == 0:
		return append(lines, e.hint(messages.RunAgainFixedNames))
	}
	advice := append(e.aboutRest(), e.aboutUnknown()...)
	if len(advice) > 0 {
		advice = append(advice, messages.UseKey)
	}
	return append(lines, advice...)
}

// hint returns a sentence with advice. If something failed, the sentence begins with fixing that.
func (e *ending) hint(text string) string {
	if e.Failed+e.Renamed > 0 || len(e.Holders) > 0 {
		return messages.AfterFix + text
	}
	return capitalized(text)
}

// aboutHolders returns the advice about objects that hold names of the run and may be the run's
// own.
func (e *ending) aboutHolders() (lines []string) {
	for _, o := range e.Holders {
		object := o.Document.Argument(o.Result.Name)
		lines = append(lines, fmt.Sprintf(messages.Holder, object, object, exactlyonce.Annotation, o.ID.String(),
			object, exactlyonce.RunLabel, idempotency.Key(e.flags.key).RunLabel(), object))
	}
	for _, o := range e.OtherIDs {
		lines = append(lines, fmt.Sprintf(messages.OtherID, o.Document.Argument(o.Result.Name), exactlyonce.Annotation))
	}
	return lines
}

// aboutRest returns the commands that create the rest of a run without a key.
func (e *ending) aboutRest() []string {
	if e.Rest.Left == 0 && e.unread() == "" {
		return nil
	}
	return []string{e.hint(e.commandOfRest()), e.notUnchanged()}
}

// commandOfRest returns the command that creates exactly the rest.
func (e *ending) commandOfRest() string {
	rest := &e.Rest
	if e.Documents == 1 && e.unread() == "" {
		return fmt.Sprintf(messages.RestCount, rest.Left)
	}
	if files := rest.Whole(e.Begun); len(files) > 0 && len(files) <= maxShown && e.unread() == "" {
		for i, file := range files {
			files[i] = "-f " + reference.Quote(file)
		}
		return fmt.Sprintf(messages.RestFiles, strings.Join(files, " "))
	}
	input := listed(rest)
	if e.unread() != "" {
		input = append(input, e.unread())
	}
	return fmt.Sprintf(messages.RestObjects, strings.Join(input, "\n"))
}

// listed returns lines that list the objects of a remainder.
func listed(r *create.Remainder) (lines []string) {
	more := r.Left
	for _, s := range r.Shares() {
		lines = append(lines, fmt.Sprintf(messages.Left, s.Left, s.Object, s.Source))
		more -= s.Left
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf(messages.LeftMore, more))
	}
	return lines
}

// aboutUnknown returns the commands that check the unknown objects of a run without a key, and the
// next step.
func (e *ending) aboutUnknown() []string {
	if e.Unknown == 0 {
		return nil
	}
	var commands []string
	for _, o := range e.Unknowns {
		commands = append(commands, whereToLook(o))
	}
	slices.Sort(commands)
	commands = slices.Compact(commands)
	if n := e.Unknown - len(e.Unknowns); n > 0 {
		commands = append(commands, fmt.Sprintf(messages.CheckMore, n))
	}
	lines := []string{fmt.Sprintf(messages.Check, strings.Join(commands, "\n"))}
	switch {
	case e.Objects() == 1 && e.unread() == "":
		return append(lines, messages.MissingOne)
	case e.Documents == 1 && e.unread() == "":
		lines = append(lines, messages.MissingCount)
	default:
		lines = append(lines, fmt.Sprintf(messages.MissingObjects, strings.Join(listed(&e.Maybe), "\n")))
	}
	if e.Rest.Left > 0 {
		return lines // it is printed already
	}
	return append(lines, e.notUnchanged())
}

// notUnchanged warns about running the same command again.
func (e *ending) notUnchanged() string {
	return fmt.Sprintf(messages.NotUnchanged, humanize.Count(e.Again, "object"))
}
