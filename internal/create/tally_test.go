package create

import (
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// A remainder counts all objects. It lists a limited number of them by document.
func TestRemainderIsBounded(t *testing.T) {
	var r Remainder
	for n := 2 * maxShares; n > 0; n-- {
		o := Outcome{Document: document("configmaps/a/x-"), Number: n}
		o.Document.Object.SetGenerateName(string(rune('a'+n)) + "-")
		r.add(o, 5)
		r.add(o, 5)
	}
	shares := r.Shares()
	if len(r.shares) != maxShares || r.Left != 2*maxShares*10 || len(shares) != MaxNamed || shares[0].First > shares[1].First {
		t.Errorf("%d shares, %d left, %v", len(r.shares), r.Left, shares)
	}
}

// If a name is taken, the object with the name might belong to the run. Then it has no creation ID, or
// another ID and the run's label. A tally keeps a limited number of such objects.
func TestHoldersOfNames(t *testing.T) {
	config := Config{Key: "k"}
	id := exactlyonce.Derive(exactlyonce.Derivation{Creation: "v1-ours"})
	held := func(name, creation, label string) Outcome {
		d := document("configmaps/a/x-")
		object := d.Object.DeepCopy()
		object.SetName(name)
		object.SetAnnotations(map[string]string{exactlyonce.Annotation: creation})
		object.SetLabels(map[string]string{exactlyonce.RunLabel: label})
		return Outcome{Document: d, Copies: 1, ID: id, Result: exactlyonce.Result{Outcome: protocol.Failed, Name: "x-1", Object: object}}
	}
	for name, test := range map[string]struct {
		config            Config
		outcome           Outcome
		holders, otherIDs int
	}{
		"no ID":                        {config, held("x-1", "", ""), 1, 0},
		"no ID, and the label":         {config, held("x-1", "", config.Key.RunLabel()), 1, 0},
		"another ID":                   {config, held("x-1", "v1-theirs", ""), 0, 0},
		"another ID, and the label":    {config, held("x-1", "v1-theirs", config.Key.RunLabel()), 0, 1},
		"another ID, and another run":  {config, held("x-1", "v1-theirs", "v1-another"), 0, 0},
		"our ID":                       {config, held("x-1", "v1-ours", config.Key.RunLabel()), 0, 0},
		"another name":                 {config, held("x-2", "", ""), 0, 0},
		"without a key":                {Config{}, held("x-1", "", ""), 0, 0},
		"without an object in the way": {config, Outcome{Document: document("configmaps/a/x-"), Copies: 1, ID: id, Result: exactlyonce.Result{Outcome: protocol.Failed}}, 0, 0},
	} {
		var tally Tally
		tally.Add(test.config, test.outcome)
		if len(tally.Holders) != test.holders || len(tally.OtherIDs) != test.otherIDs {
			t.Errorf("%s: %d without an ID, %d with another one", name, len(tally.Holders), len(tally.OtherIDs))
		}
	}
	var tally Tally
	for range MaxNamed {
		tally.Add(config, held("x-1", "", ""))
		tally.Add(config, held("x-1", "v1-theirs", config.Key.RunLabel()))
	}
	if len(tally.Holders)+len(tally.OtherIDs) != MaxNamed {
		t.Errorf("%d and %d objects, want %d together", len(tally.Holders), len(tally.OtherIDs), MaxNamed)
	}
}
