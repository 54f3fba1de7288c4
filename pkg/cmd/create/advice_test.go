package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// renamed is an object that was stored under a name that was not sent.
func renamed(d *create.Document, name string) create.Event {
	return create.Outcome{
		Document: d, Result: exactlyonce.Result{Outcome: create.Renamed, Name: "sent", Object: configMap(name)}, Err: fmt.Errorf("stored as %q", name),
	}
}

// expect fails the test unless stderr contains the text has, and doesn't contain the text lacks.
func (r run) expect(t *testing.T, has, lacks string) {
	t.Helper()
	if !strings.Contains(r.stderr, has) || lacks != "" && strings.Contains(r.stderr, lacks) {
		t.Errorf("want %q and not %q:\n%s", has, lacks, r.stderr)
	}
}

// An object with another name exists, so the same command would create a second one.
func TestRenamedIsSomething(t *testing.T) {
	d := demo()
	see(t, "--count=5", fate{}, []create.Event{
		renamed(d, "picked"), create.Outcome{Result: exactlyonce.Result{Outcome: create.NotAttempted}, Document: d, Copies: 4}, readTo(1),
	}).expect(t, "--count=4\n"+twice(1), "run the same command again. Nothing was created.")
	see(t, "", fate{}, []create.Event{
		created(demo(), "demo-1"), at(2, renamed(demo(), "picked")), readTo(2),
	}).expect(t, fmt.Sprintf("%d created (%d renamed by a webhook or policy), %d exist, %d failed, %d unknown, %d not attempted", 2, 1, 0, 0, 0, 0), textUseKey)
	see(t, "", fate{}, []create.Event{create.Outcome{
		Document: d, Result: exactlyonce.Result{Outcome: protocol.Failed, Name: "sent"}, Err: apierrors.NewAlreadyExists(configMaps, "picked"),
	}, create.Outcome{Result: exactlyonce.Result{Outcome: create.NotAttempted}, Document: d, Copies: 4}, readTo(1)}).expect(t, lines(sum("stopped after a failure", 0, 0, 1, 0, 4), nothing), "")
}

// If an earlier copy of a refused request might have created an object, the advice doesn't claim that nothing was
// created.
func TestPerhapsCreated(t *testing.T) {
	perhaps := failed(demo(), tooMuch).(create.Outcome)
	perhaps.Unverified = true
	see(t, "", fate{}, []create.Event{perhaps, at(2, failed(demo(), errors.New("no"))), readTo(2)}).
		expect(t, "Fix the cause. Then check whether the object exists. If not, run the same command again.", "Nothing was created")
	see(t, "", fate{}, []create.Event{perhaps, readTo(1)}).expect(t, "If a proxy repeated the request, the object may exist", "Fix the cause")
}

// The advice for an unknown object has the name in the response if that differs from the sent name.
func TestUnknownAndRenamed(t *testing.T) {
	see(t, "", fate{}, []create.Event{create.Outcome{
		Document: demo(), Result: exactlyonce.Result{Outcome: protocol.Unknown, Name: "sent", Object: configMap("picked")},
		Err: fmt.Errorf("%w: picked", exactlyonce.ErrRenamed),
	}, readTo(1)}).expect(t, fmt.Sprintf(textGet, "configmap/picked -n prod"), "configmap/sent")
}

// The rest is printed in the order of the input, at most ten lines.
func TestManyAreLeft(t *testing.T) {
	var many, few create.Tally
	for n := 200; n > 0; n-- {
		d := demo()
		d.Object.SetGenerateName(fmt.Sprintf("demo-%d-", min(n, 100)))
		many.Add(create.Config{}, create.Outcome{Document: d, Number: n, Result: exactlyonce.Result{Outcome: create.NotAttempted}, Copies: 10})
	}
	text := strings.Join(listed(&many.Rest), "\n")
	if strings.Count(text, "configmap/") != maxShown || !strings.HasSuffix(text, " more") {
		t.Error(text)
	}
	other := demo()
	other.Object.SetGenerateName("first-")
	few.Add(create.Config{}, create.Outcome{Document: demo(), Number: 2, Result: exactlyonce.Result{Outcome: protocol.Failed}})
	few.Add(create.Config{}, create.Outcome{Document: other, Number: 1, Result: exactlyonce.Result{Outcome: create.NotAttempted}, Copies: 3})
	want := []string{
		fmt.Sprintf("  %d of %s in %s", 3, "configmap/first- -n prod", "demo.yaml"),
		fmt.Sprintf("  %d of %s in %s", 1, "configmap/demo- -n prod", "demo.yaml"),
	}
	if got := listed(&few.Rest); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No advice is to delete an object with a fixed name that another user might have created, or a namespace.
func TestNoAdviceToDelete(t *testing.T) {
	fixed := demo()
	fixed.Object.SetGenerateName("")
	fixed.Object.SetName("a")
	for _, secrets := range [][]derive.Secret{nil, {{}}} {
		e := &ending{flags: &ownCreateFlags{keys: keyflags.Flags{Key: "k", Secrets: secrets}}}
		e.Holders = []create.Outcome{{Document: fixed, Result: exactlyonce.Result{Name: "a"}}}
		if text := fmt.Sprint(e.aboutHolders()); strings.Contains(text, "delete") || !strings.Contains(text, "remove it from the input.") {
			t.Error(text)
		}
	}
	for resource, has := range map[string]bool{"namespaces": false, "configmaps": true} {
		names := map[idempotency.Place][]string{{Resource: schema.GroupResource{Resource: resource}}: {"a"}}
		text := aboutClash(1, create.Clash{Objects: 1, Names: names})
		if strings.Contains(text, "kubectl delete") != has || !strings.Contains(text, "Use a new key.") {
			t.Errorf("%s: %s", resource, text)
		}
	}
}

// Names of RBAC objects can contain text that a shell or a terminal would interpret.
func TestNamesCannotHarm(t *testing.T) {
	const evil = "\x1b[31m$(touch x)"
	const quoted = `$'configmap/\x1b[31m$(touch x)' -n prod`
	object := configMap(evil)
	differs := exists(demo(), evil).(create.Outcome)
	differs.Changes = []string{"data"}
	for name, events := range map[string][]create.Event{
		"a holder":   {create.Outcome{Document: demo(), Result: exactlyonce.Result{Outcome: protocol.Failed, Name: evil, Object: object}, Err: tooMuch}},
		"secrets":    {create.Problem{Err: &keyed.SecretsError{Objects: []string{"configmap/a", demo().Argument(evil)}}}},
		"unexpected": {create.Problem{Err: &create.UnexpectedError{Objects: []string{demo().Argument(evil)}}}},
		"differs":    {differs},
	} {
		see(t, "--idempotency-key=k -o yaml", fate{}, append(events, readTo(1))).expect(t, quoted, "\x1b")
		if name == "a holder" {
			got := see(t, "--idempotency-key=k", fate{}, append(events, readTo(1)))
			for _, verb := range []string{"annotate", "label", "delete"} { // a line each, which gets the flags of the cluster
				got.expect(t, "\n  kubectl "+verb+" "+quoted, "\x1b")
			}
		}
	}
	see(t, "", fate{}, []create.Event{unknown(demo(), evil), readTo(1)}).expect(t, "kubectl get "+quoted, "\x1b")
}

// Copies that fail for different reasons print each reason and each picked name. Copies whose
// errors differ only in the name print one error.
func TestReasonsOfCopies(t *testing.T) {
	d := demo()
	taken := func(name string) create.Event {
		return create.Outcome{
			Document: d, Result: exactlyonce.Result{Outcome: protocol.Failed, Name: name}, Err: apierrors.NewAlreadyExists(configMaps, name),
		}
	}
	got := see(t, "--count=7", fate{}, []create.Event{
		failed(d, errors.New("first reason")), failed(d, errors.New("second reason")), failed(d, errors.New("first reason")),
		renamed(d, "picked-1"), renamed(d, "picked-2"), taken("demo-1"), taken("demo-2"), readTo(1),
	})
	for _, want := range []string{"first reason", "second reason", "picked-1", "picked-2", "demo-1"} {
		got.expect(t, want, "demo-2")
	}
	if strings.Count(got.stderr, "first reason") != 1 {
		t.Error(got.stderr)
	}
}
