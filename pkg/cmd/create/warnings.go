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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
)

// reasons are the words for why the plugin can't pick names.
var reasons = map[create.NamingReason]string{
	create.NamesIgnored: messages.NamesIgnored,
	create.NotStored:    messages.NotStored,
	create.NotReadable:  messages.NotReadable,
}

// warningTexts are the texts of the engine's warnings.
var warningTexts = map[create.WarningCode]string{
	create.ServerNames:        messages.ServerNames,
	create.NoGet:              messages.NoGet,
	create.Probing:            messages.SentOnce,
	create.RefusalUnverified:  messages.RefusalUnverified,
	create.ConflictUnverified: messages.ConflictUnverified,
	create.IDRemoved:          messages.IDRemoved,
	create.LabelRemoved:       messages.LabelRemoved,
	create.LabelLost:          messages.LabelLost,
	create.Unverified:         messages.Unverified,
	create.OtherSecret:        messages.OtherSecret,
	create.Expiring:           messages.Expiring,
	create.Terminating:        messages.Terminating,
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
	var secrets *create.SecretsError
	if errors.As(err, &secrets) {
		if len(secrets.Objects) == 1 {
			return ownError(fmt.Sprintf(messages.NeedsSecret, secrets.Objects[0]))
		}
		return ownError(fmt.Sprintf(messages.SeveralSecrets, secrets.Objects[0], secrets.Objects[1]))
	}
	return err
}
