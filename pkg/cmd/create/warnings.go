package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
)

// reasons are the words for why the plugin can't pick names.
var reasons = map[create.NamingReason]string{
	create.NamesIgnored: "the server uses generateName itself as the name",
	create.NotStored:    "the server does not store them",
	create.NotReadable:  "their API has no verb get",
	create.Nameless:     "an object has neither a name nor a generateName, or labels or annotations that are not maps",
}

// warningTexts are the texts of the engine's warnings.
var warningTexts = map[create.WarningCode]string{
	create.ServerNames: "the server picks the names of %s, because %s. " +
		"If a response is lost, the plugin can't find out whether the object was created.",
	create.NoGet: "no permission to get %s. " +
		"If a response is lost, the plugin can't find out whether the object was created.",
	create.Probing: "an object of %s used up its --retry-timeout. " +
		"Until the server creates one, the plugin sends each of the next objects once, without retries.",
	create.RefusalUnverified: "the server refused a create, and the plugin can't get %s to check the object. " +
		"If a proxy repeated the request, the first copy may have created the object.",
	create.ConflictUnverified: "no permission to get %s. A name was taken, so the plugin tried another one. " +
		"If a proxy repeated the first request, two objects exist.",
	create.IDRemoved: "%s are stored without %s, for example because a webhook removes it. " +
		"If a response is lost, the plugin can't recognize the object.",
	create.LabelRemoved: "%s are stored without %s, for example because a webhook removes it. " +
		"The list of the objects of this run leaves them out.",
	create.LabelLost: "%s was created with this key, and no longer has %s.",
	create.Unverified: "the run ignores %s with its label, like %s. " +
		"Another user created the object, or something changed its name or annotations.",
	create.OtherSecret: "the run ignores %s with its label, like %s. " +
		"Another user created the object, or an earlier run used another secret or none. " +
		"This run creates its own objects. If the secret was changed, and has not leaked, " +
		"add the former one as the second line of the secret's file.",
	create.Expiring: "%s with ttlSecondsAfterFinished are deleted after they finish. " +
		"A later run with this key creates them again.",
	create.Terminating: "%s is being deleted. A later run with this key creates it again.",
}

// textOf returns the text of a warning.
func textOf(w create.Warning) string {
	args := slices.Clone(w.Args)
	for i, arg := range args {
		switch value := arg.(type) {
		case create.NamingReason:
			args[i] = reasons[value]
		case int:
			args[i] = humanize.Count(value, "object")
		}
	}
	return fmt.Sprintf(warningTexts[w.Code], args...)
}

// action returns the words for the action after a failed request.
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
	return ownError(fmt.Sprintf("nothing was created, because %s\n"+
		"A key belongs to the input of its first run. Run the command with that input. "+
		"To see what it was, print the object:\n  kubectl get %s -o yaml", text, object))
}

// explain rewords an error of the whole run, with the next command.
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
			"%s", naming.Resource, naming.Source, reasons[naming.Reason]))
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
