package create

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Each warning has a text, with a place for each of its values.
func TestWarningTexts(t *testing.T) {
	place, object := idempotency.Place{Resource: configMaps, Namespace: "prod"}, "configmap/demo-1 -n prod"
	values := map[create.WarningCode][]any{
		create.ServerNames:        {configMaps, create.NotReadable},
		create.NoGet:              {place},
		create.Probing:            {place},
		create.RefusalUnverified:  {configMaps},
		create.ConflictUnverified: {configMaps},
		create.IDRemoved:          {configMaps, exactlyonce.Annotation},
		create.LabelRemoved:       {configMaps, exactlyonce.RunLabel},
		create.LabelLost:          {object, exactlyonce.RunLabel},
		create.Unverified:         {2, object},
		create.OtherSecret:        {2, object},
		create.Expiring:           {configMaps},
		create.Terminating:        {object},
	}
	for code := range create.Terminating + 1 {
		text := textOf(create.Warning{Code: code, Args: values[code]})
		if text == "" || values[code] == nil || strings.Contains(text, "%!") {
			t.Errorf("%d: %q", code, text)
		}
	}
	if len(warningTexts) != len(values) {
		t.Errorf("%d warnings have a text, want %d", len(warningTexts), len(values))
	}
}
