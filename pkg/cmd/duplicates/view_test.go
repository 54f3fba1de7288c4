package duplicates

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// The line about an interrupt begins with "error:", as in other commands.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var exit *exitcode.Error
	if err := evaluate(ctx, nil); !errors.As(err, &exit) || exit.Code != 130 || exit.Error() != "error: interrupted, so groups might be missing" {
		t.Errorf("%v, want exit code 130, because groups might be missing", err)
	}
}

// One cell has the references to an object, or shows that they are unknown.
func TestReferencesText(t *testing.T) {
	by := []v1alpha1.DuplicateReference{{Object: "build.example.com/b"}, {Resource: "pods"}, {Resource: "jobs.batch"}}
	for _, test := range []struct {
		item v1alpha1.DuplicateItem
		by   []v1alpha1.DuplicateReference
		want string
	}{
		{v1alpha1.DuplicateItem{ReferencesRead: true}, by, "build.example.com/b,its pods,jobs.batch"},
		{v1alpha1.DuplicateItem{ReferencesRead: true}, nil, "<nothing>"},
		{v1alpha1.DuplicateItem{Grade: v1alpha1.DuplicateConfirmed}, nil, "<unread>"},
		{v1alpha1.DuplicateItem{Grade: v1alpha1.DuplicatePossible, Reason: "unread"}, nil, "<unread>"},
		{v1alpha1.DuplicateItem{Grade: v1alpha1.DuplicatePossible, Reason: "moreThanTwo"}, nil, ""},
	} {
		if got := referencesText(test.item, v1alpha1.DuplicateObject{ReferredBy: test.by}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// -o name prints the proposed names, of one namespace only.
func TestHowToPrintNames(t *testing.T) {
	for all, want := range map[bool]string{false: "use -o name.", true: "use -n NAMESPACE -o name."} {
		report := &v1alpha1.DuplicateReport{
			Scope:   v1alpha1.DuplicateScope{AllNamespaces: all},
			Summary: v1alpha1.DuplicateSummary{Likely: 1, Proposed: 1},
			Items: []v1alpha1.DuplicateItem{{
				PrefixRef: v1alpha1.PrefixRef{Group: "example.com", Resource: "backups"},
				Objects:   []v1alpha1.DuplicateObject{{Name: "a"}, {Name: "b", Proposed: true}},
			}},
		}
		view := (&options{names: true}).view(t.Context(), report, census.Coverage{})
		if names := slices.Collect(view.Names); !slices.Equal(names, []string{"backups.example.com/b"}) {
			t.Errorf("the names are %q", names)
		}
		if got := verdict(report, false, false)[2]; got != "1 object probably left over. To print the names, "+want {
			t.Errorf("all namespaces %t: %q, want %q", all, got, want)
		}
	}
}

// A gate doesn't pass on a list that is not consistent.
func TestInconsistentUnderAGate(t *testing.T) {
	pods := []census.Resource{{GroupVersionResource: schema.GroupVersionResource{Resource: "pods"}}}
	for _, gate := range []bool{false, true} {
		o := &options{gate: gate}
		report := o.report(&duplicates.Result{Inconsistent: []string{"pods"}}, census.Coverage{Types: pods}, time.Time{}, time.Time{})
		if err := evaluate(t.Context(), report); report.Complete == gate || (err != nil) != gate {
			t.Errorf("a gate: %v: complete %v, %v", gate, report.Complete, err)
		}
	}
}

// No line and no cell has control characters of the cluster.
func TestTextFromTheCluster(t *testing.T) {
	bad := "a\x1b[2J\nb"
	report := &v1alpha1.DuplicateReport{
		Scope: v1alpha1.DuplicateScope{Namespace: bad, Resources: []string{bad}},
		Items: []v1alpha1.DuplicateItem{{
			PrefixRef: v1alpha1.PrefixRef{Resource: bad, Namespace: bad},
			Grade:     v1alpha1.DuplicateLikely, Owners: []string{bad}, StatusDiffers: []string{bad},
			Objects: []v1alpha1.DuplicateObject{{Name: bad, Creator: bad, State: bad, UID: bad, Proposed: true}},
		}},
		Summary: v1alpha1.DuplicateSummary{Likely: 1, Inconsistent: []string{bad}},
	}
	view := (&options{wide: true}).view(t.Context(), report, census.Coverage{Named: true})
	lines := slices.Concat(view.Verdict, view.Warnings)
	for _, row := range view.Table.Rows {
		lines = append(lines, row...)
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\x1b\n") {
			t.Errorf("%q, want no control characters", line)
		}
	}
}
