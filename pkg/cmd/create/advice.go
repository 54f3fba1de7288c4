package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// checkCommand returns the command that shows an object that might exist. If the server picks the name, the command
// lists all objects of the type.
func checkCommand(o create.Outcome) string {
	if name := likelyName(o); name != "" {
		return fmt.Sprintf(textGet, o.Document.Argument(name))
	}
	resource, _, _ := strings.Cut(o.Document.Reference("-"), "/")
	return fmt.Sprintf("  kubectl get %s "+
		"--sort-by=.metadata.creationTimestamp", reference.In(resource, o.Document.Namespace))
}

// nextSteps returns the advice after a run that isn't complete. counted reports whether the closing
// lines have counts.
func (e *ending) nextSteps(counted bool) []string {
	lines := e.aboutHolders()
	switch {
	case e.Clash.Objects > 0:
		return append(lines, aboutClash(e.Of(protocol.Created, protocol.Found), e.Clash))
	case e.flags.keys.Key != "" && e.Totals[create.Renamed] > 0:
		return append(lines, e.hint("delete the renamed objects, and run the same command again. "+
			"A run with a key doesn't recognize them."))
	case e.Totals[protocol.Unknown] == 0 && (!counted || len(e.deleted) > 0), len(e.OtherIDs) > 0:
		return lines
	case !e.Began() && e.Unverified:
		return append(lines, e.hint("check whether the object exists. If not, run the same command again."))
	case !e.Began():
		return append(lines, e.hint("run the same command again. Nothing was created."))
	case e.flags.keys.Key != "":
		return append(lines, e.hint("run the same command again. It leaves existing objects as they are."))
	case e.Again == 0:
		return append(lines, e.hint("run the same command again. "+
			"It reports AlreadyExists for existing objects, and creates the rest."))
	}
	advice := append(e.aboutRest(), e.aboutUnknown()...)
	if len(advice) > 0 {
		advice = append(advice, textUseKey)
	}
	return append(lines, advice...)
}

// hint returns a sentence with advice. If something failed, the sentence begins with fixing that.
func (e *ending) hint(text string) string {
	if e.Of(protocol.Failed, create.Renamed) > 0 || len(e.Holders) > 0 {
		return "Fix the cause. Then " + text
	}
	return capitalized(text)
}

// aboutHolders returns the advice about objects that have names of the run, and might be objects of the run.
func (e *ending) aboutHolders() (lines []string) {
	for _, o := range e.Holders {
		object, otherwise := o.Document.Argument(o.Name), "remove it from the input." // others can use a fixed name
		if o.Document.Object.GetName() == "" {
			otherwise = "delete it:\n  kubectl delete " + object
		}
		origin := fmt.Sprintf("If an earlier run created it, restore its annotation and label:\n"+
			"  kubectl annotate %s %s=%s\n  kubectl label %s %s=%s\nOtherwise ",
			object, exactlyonce.Annotation, o.ID.String(), object, exactlyonce.RunLabel, e.flags.keys.Key.RunLabel())
		if len(e.flags.keys.Secrets) > 0 { // an ID then proves that an object is ours, so messages don't show it
			origin = "Another user created it, or something removed its ID. Check it, and "
		}
		lines = append(lines, fmt.Sprintf("%s has the name of an object of this run, and no creation ID.\n%s%s",
			object, origin, otherwise))
	}
	for _, o := range e.OtherIDs {
		lines = append(lines, fmt.Sprintf("%s has the name of an object of this run, and another creation ID.\n"+
			"Another user created it, or something changes the annotation %s, for example a webhook. "+
			"Check it. If it isn't yours, delete it or have it deleted.",
			o.Document.Argument(o.Name), exactlyonce.Annotation))
	}
	return lines
}

// deleteCommand is the command that deletes objects in a namespace.
func deleteCommand(namespace string, objects ...string) string {
	if namespace != "" {
		objects = append(objects, "-n", namespace)
	}
	return "  kubectl delete " + reference.Words(objects...)
}

// aboutClash has the ways out after runs with different input used one key. matching is the number of objects with the
// content of the input.
func aboutClash(matching int, clash create.Clash) string {
	var commands []string
	for at, names := range clash.Names {
		commands = append(commands, deleteCommand(at.Namespace, append([]string{at.Resource.String()}, names...)...))
	}
	slices.Sort(commands)
	text := fmt.Sprintf("Runs with different input have used this key: it has %s with the content of the input, and "+
		"%d with other content.\nUse a new key.", humanize.Count(matching, "object"), clash.Objects)
	for at := range clash.Names {
		if follow.Holders[at.Resource] {
			return text
		}
	}
	return text + " Or delete the objects with other content, and run the same command again:\n" +
		strings.Join(commands, "\n")
}

// aboutRest returns the commands that create the rest of a run without a key.
func (e *ending) aboutRest() []string {
	if e.Rest.Left == 0 && e.unread() == "" {
		return nil
	}
	return []string{e.hint(e.restCommand()), e.repeatWarning()}
}

// restCommand returns the command that creates exactly the rest.
func (e *ending) restCommand() string {
	rest := &e.Rest
	if e.Documents == 1 && e.unread() == "" {
		return fmt.Sprintf("create the rest with the same command and this flag:\n  --count=%d", rest.Left)
	}
	input := listed(rest)
	if e.unread() != "" {
		input = append(input, e.unread())
	}
	return fmt.Sprintf("create the rest with the same command and only this input:\n%s", strings.Join(input, "\n"))
}

func listed(r *create.Remainder) (lines []string) {
	more := r.Left
	for _, s := range r.Shares() {
		lines = append(lines, fmt.Sprintf("  %d of %s in %s", s.Left, s.Object, s.Source))
		more -= s.Left
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  %d more", more))
	}
	return lines
}

// aboutUnknown returns the commands that check the unknown objects of a run without a key, and the
// next step.
func (e *ending) aboutUnknown() []string {
	unknown := e.Totals[protocol.Unknown]
	if unknown == 0 {
		return nil
	}
	var commands []string
	for _, o := range e.Unknowns {
		commands = append(commands, checkCommand(o))
	}
	slices.Sort(commands)
	commands = slices.Compact(commands)
	if n := unknown - len(e.Unknowns); n > 0 {
		commands = append(commands, fmt.Sprintf("  (%d more, listed above)", n))
	}
	lines := []string{"Check whether the object exists. It may still be created within a minute:\n" +
		strings.Join(commands, "\n")}
	switch {
	case e.Objects() == 1 && e.unread() == "":
		return append(lines, "If the object does not exist, run the same command again.")
	case e.Documents == 1 && e.unread() == "":
		lines = append(lines, "Create the missing objects with the same command and their number:\n  --count=NUMBER")
	default:
		lines = append(lines, fmt.Sprintf("Create the missing objects with the same command "+
			"and only the documents of missing objects in this input:\n%s", strings.Join(listed(&e.Maybe), "\n")))
	}
	if e.Rest.Left > 0 {
		return lines // it is printed already
	}
	return append(lines, e.repeatWarning())
}

func (e *ending) repeatWarning() string {
	return fmt.Sprintf("Don't run the command unchanged. It would create up to %s a second "+
		"time.", humanize.Count(e.Again, "object"))
}

// otherInput returns the error of a run whose input doesn't contain all objects of the key.
func otherInput(e *create.UnexpectedError) error {
	object, text := e.Objects[0], fmt.Sprintf("the input lacks %s that this key created: %s\nA document was removed, "+
		"its name, generateName or order was changed, or --count was lowered.",
		humanize.Count(len(e.Objects), "object"), humanize.Few(e.Objects))
	if c := e.Change; c != nil {
		object, text = c.Object, fmt.Sprintf("a field was removed from %s in the input, "+
			"and this key created %s with it", c.Document, c.Object)
		if len(c.Fields) > 0 {
			text = fmt.Sprintf("%s in the input differs from %s, which this key created. "+
				"These fields differ, or a field was removed:\n  %s",
				c.Document, c.Object, strings.Join(c.Fields, "\n  "))
		}
		if more := len(e.Objects) - 1; more > 0 {
			text += fmt.Sprintf("\nThe input doesn't match %s of the key either.", humanize.Count(more, "other object"))
		}
	}
	text += "\nA key belongs to the input of its first run. If you meant the change, use a new key. Otherwise run " +
		"the command with that input. To see what it was, print the object:\n  kubectl get " + object + " -o yaml"
	if e.Matching > 0 && e.Clash.Objects > 0 {
		text += "\n" + aboutClash(e.Matching, e.Clash)
	}
	return ownError("nothing was created, because " + text)
}

// explain returns an error of the engine in words of this command.
func explain(err error) error {
	var stale *idempotency.StaleListError
	var find *create.FindError
	var naming *create.NoClientNamingError
	var unexpected *create.UnexpectedError
	var secrets *keyed.SecretsError
	switch {
	case errors.As(err, &stale):
		return ownErrorf("nothing was created, because the server lists %s, and can't find it, or only an older "+
			"version. Its cache is newer than etcd, for example after etcd was restored from a backup.\n"+
			"Tell the administrator of the cluster. Then run the same command again.", stale.Object)
	case errors.As(err, &find):
		return ownErrorf("nothing was created: %v", find.Err)
	case errors.As(err, &naming):
		return ownErrorf("--idempotency-key cannot be used for %s in %s, because %s",
			naming.Resource, naming.Source, naming.Reason)
	case errors.As(err, &unexpected):
		return otherInput(unexpected)
	case errors.As(err, &secrets) && len(secrets.Objects) == 1:
		return ownErrorf("nothing was created, because %s says that it was created with the key and a secret.\n"+
			"If your runs use a secret, give it with --idempotency-secret-file. Otherwise another user created "+
			"the object: delete it, or have it deleted.", secrets.Objects[0])
	case errors.As(err, &secrets):
		return ownErrorf("nothing was created, because runs with this key used different secrets. "+
			"They created %s with one, and %s with another.\n"+
			"One of them may be another user's copy. Check both, keep the objects of one secret, delete the "+
			"others, and run the command again.", secrets.Objects[0], secrets.Objects[1])
	}
	return err
}

// Texts that are printed in several places.
const (
	textNotPrinted     = "%s was created, but it can't be printed: %v"
	textOutcomeUnknown = "outcome unknown: %s: %v"
	textInterrupted    = "interrupted"
	textNotWritten     = "stopped, because the results can't be written"
	textUseKey         = "A run with --idempotency-key can be repeated unchanged."
	textGet            = "  kubectl get %s"
)

// ownError is an error in the words of this command, and not in those of kubectl.
type ownError string

func (e ownError) Error() string { return string(e) }

// shortened has the first maxShown lines, and the number of the others in words.
func shortened(lines []string, others string) []string {
	if n := len(lines) - maxShown; n > 0 {
		return append(lines[:maxShown:maxShown], fmt.Sprintf(others, n))
	}
	return lines
}

// maxShown is the largest number of objects or commands that are listed.
const maxShown = create.MaxNamed

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// likelyName returns the name of an object that might exist. If the name in the response differs from the name
// that was sent, it is the name in the response.
func likelyName(o create.Outcome) string {
	if o.Object != nil {
		return o.Object.GetName()
	}
	return o.Name
}

// ownErrorf returns an ownError.
func ownErrorf(format string, args ...any) error { return ownError(fmt.Sprintf(format, args...)) }

func nameOf(o wait.Object) string { return terminal.OneLine(reference.Name(o.Mapping, o.Name)) }

func argumentOf(o wait.Object) string { return reference.Argument(o.Mapping, o.Namespace, o.Name) }

// why returns the reason for the failure of an object.
func why(e wait.Ended) string {
	text := ""
	if e.Status.Reason != "" {
		text = fmt.Sprintf(" (%s)", e.Status.Reason)
	}
	if e.Status.Message != "" {
		text += ": " + e.Status.Message
	}
	return strings.TrimRight(terminal.Printable(strings.ReplaceAll(text, "\n", " ")), " ")
}
