package create

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
)

// Texts that are printed in several places.
const (
	textNotPrinted      = "%s was created, but it can't be printed: %v"
	textOutcomeUnknown  = "outcome unknown: %s: %v"
	textInterrupted     = "interrupted"
	textNotWritten      = "stopped, because the results can't be written"
	textRunAgainWithKey = "run the same command again. It leaves existing objects as they are."
	textUseKey          = "A run with --idempotency-key can be repeated unchanged."
	textCheck           = "Check whether the object exists. It may still be created within a minute:\n%s"
	textGet             = "  kubectl get %s"
	textUnverified      = "If a proxy repeated the request, the object may exist, and the plugin can't read it " +
		"to check."
)

// ownError is an error in words of this command, and not of kubectl's.
type ownError string

func (e ownError) Error() string { return string(e) }

func some(all []string) string {
	shown, more := all, ""
	if n := len(all) - maxShown; n > 0 {
		shown, more = all[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(shown, ", ") + more
}

// maxShown is the largest number of objects that a line names.
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

func action(e exactlyonce.Event) string {
	switch {
	case e.Action == exactlyonce.NextName && e.NextName == "":
		return "asking for another name"
	case e.Action == exactlyonce.NextName:
		return fmt.Sprintf("trying %s", e.NextName)
	case e.Action == exactlyonce.Recheck:
		return fmt.Sprintf("checking for %s whether it exists", e.Wait.Round(time.Second))
	case e.Action == exactlyonce.Resend:
		return fmt.Sprintf("sending it again in %s", e.Wait.Round(time.Millisecond))
	case e.Wait > 0:
		return fmt.Sprintf("checking whether it exists in %s", e.Wait.Round(time.Millisecond))
	}
	return "checking whether it exists"
}

// otherInput returns the error of a run whose input doesn't contain all objects of the key.
func otherInput(e *create.UnexpectedError) error {
	object, text := e.Objects[0], fmt.Sprintf("the input lacks %s that this key created: %s\nA document was removed, "+
		"its name, generateName or order was changed, or --count was lowered.",
		humanize.Count(len(e.Objects), "object"), some(e.Objects))
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

func explain(err error) error {
	var stale *idempotency.StaleListError
	if errors.As(err, &stale) {
		return ownError(fmt.Sprintf("nothing was created, because the server lists %s, and can't find it, "+
			"or only an older version. Its cache is newer than etcd, for example after etcd was restored from a "+
			"backup.\nTell the administrator of the cluster. Then run the same command again.", stale.Object))
	}
	var find *create.FindError
	if errors.As(err, &find) {
		return ownError(fmt.Sprintf("nothing was created: %v", find.Err))
	}
	var naming *create.NoClientNamingError
	if errors.As(err, &naming) {
		return ownError(fmt.Sprintf("--idempotency-key cannot be used for %s in %s, because "+
			"%s", naming.Resource, naming.Source, naming.Reason))
	}
	var unexpected *create.UnexpectedError
	if errors.As(err, &unexpected) {
		return otherInput(unexpected)
	}
	var secrets *keyed.SecretsError
	if errors.As(err, &secrets) {
		if len(secrets.Objects) == 1 {
			return ownError(fmt.Sprintf("nothing was created, because %s says that it was created with the key and a "+
				"secret.\n"+
				"If your runs use a secret, give it with --idempotency-secret-file. Otherwise another user created "+
				"the object: delete it, or have it deleted.", secrets.Objects[0]))
		}
		return ownError(fmt.Sprintf("nothing was created, because runs with this key used different secrets. "+
			"They created %s with one, and %s with another.\n"+
			"One of them may be another user's copy. Check both, keep the objects of one secret, delete the "+
			"others, and run the command again.", secrets.Objects[0], secrets.Objects[1]))
	}
	return err
}
