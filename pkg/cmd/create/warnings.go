package create

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
)

// reasons are the words for why the plugin can't pick names.
var reasons = map[create.NamingReason]string{
	create.NamesIgnored: messages.NamesIgnored,
	create.NotStored:    messages.NotStored,
	create.NotReadable:  messages.NotReadable,
}

// textOf returns the text of a warning.
func textOf(warning create.Warning) string {
	switch w := warning.(type) {
	case create.ServerNames:
		return fmt.Sprintf(messages.ServerNames, w.Resource, reasons[w.Reason])
	case create.NoGet:
		return fmt.Sprintf(messages.NoGet, w.Place)
	case create.RefusalUnverified:
		return fmt.Sprintf(messages.RefusalUnverified, w.Resource)
	case create.ConflictUnverified:
		return fmt.Sprintf(messages.ConflictUnverified, w.Resource)
	case create.Probing:
		return fmt.Sprintf(messages.SentOnce, w.Place)
	case create.AnnotationsLost:
		if w.Unrecognizable {
			return fmt.Sprintf(messages.IDRemoved, w.Resource, w.Keys)
		}
		return fmt.Sprintf(messages.LabelRemoved, w.Resource, w.Keys)
	}
	return textOfKeyed(warning)
}

// textOfKeyed returns the text of a warning of a run with a key.
func textOfKeyed(warning create.Warning) string {
	switch w := warning.(type) {
	case create.LabelLost:
		return fmt.Sprintf(messages.LabelLost, w.Object, w.Keys)
	case create.MissingIDs:
		return fmt.Sprintf(messages.MissingIDs, humanize.Count(w.Objects, "object"), w.Example)
	case create.Copied:
		return fmt.Sprintf(messages.Copied, w.Object, w.Copy)
	case create.Expiring:
		return fmt.Sprintf(messages.Expiring, w.Resource)
	case create.Terminating:
		return fmt.Sprintf(messages.Terminating, w.Object)
	case create.NotRechecked:
		return fmt.Sprintf(messages.NotRechecked, w.Err)
	}
	return fmt.Sprint(warning)
}

// action returns the words for the action after a failed request.
func action(e exactlyonce.Event) string {
	switch {
	case e.Action == exactlyonce.NextName && e.NextName == "":
		return messages.NextServerName
	case e.Action == exactlyonce.NextName:
		return fmt.Sprintf(messages.NextName, e.NextName)
	case e.Action == exactlyonce.Recheck:
		return fmt.Sprintf(messages.Recheck, e.Wait.Round(time.Second))
	case e.Action == exactlyonce.Resend:
		return fmt.Sprintf(messages.Resend, e.Wait.Round(time.Millisecond))
	case e.Wait > 0:
		return fmt.Sprintf(messages.ReadBackIn, e.Wait.Round(time.Millisecond))
	}
	return messages.ReadBack
}

// causeOf returns why objects of the key are unexpected.
func causeOf(change *create.Change) string {
	switch {
	case change == nil:
		return messages.UnexpectedCauses
	case len(change.Fields) == 0:
		return fmt.Sprintf(messages.Removed, change.Document, change.Object)
	}
	return fmt.Sprintf(messages.Differs, change.Document, change.Object, "  "+strings.Join(change.Fields, "\n  "))
}

// explain rewords an error of the whole run, with the next command.
func explain(err error) error {
	var stale *idempotency.StaleListError
	if errors.As(err, &stale) {
		return ownError(fmt.Sprintf(messages.StaleList, stale.Object))
	}
	var find *create.FindError
	if errors.As(err, &find) {
		return ownError(fmt.Sprintf(messages.NothingCreated, find.Err))
	}
	var naming *create.NoClientNamingError
	if errors.As(err, &naming) {
		return ownError(fmt.Sprintf(messages.NoClientNaming, naming.Resource, naming.Source, reasons[naming.Reason]))
	}
	var unexpected *create.UnexpectedError
	if errors.As(err, &unexpected) {
		return ownError(fmt.Sprintf(messages.Unexpected,
			humanize.Count(len(unexpected.Objects), "object"), some(unexpected.Objects), causeOf(unexpected.Change)))
	}
	var otherID *create.OtherIDError
	if errors.As(err, &otherID) {
		return ownError(fmt.Sprintf(messages.OtherIDs,
			humanize.Count(len(otherID.Objects), "object"), otherID.Objects[0]))
	}
	var duplicate *create.DuplicateError
	if errors.As(err, &duplicate) {
		var commands []string
		for _, object := range duplicate.Objects[1:] {
			commands = append(commands, fmt.Sprintf(messages.Delete, object))
		}
		return ownError(fmt.Sprintf(messages.Duplicate,
			len(duplicate.Objects), some(duplicate.Objects), strings.Join(commands, "\n")))
	}
	return err
}
