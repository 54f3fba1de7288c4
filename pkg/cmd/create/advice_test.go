package create

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// renamed is an object that was stored under a name that was not sent.
func renamed(d *create.Document, name string) create.Event {
	return create.Failed{
		Document: d, Result: once.Result{Name: "sent", Object: configMap(name)},
		Kind: once.ErrRenamed, Err: fmt.Errorf("stored as %q", name),
	}
}

// expect fails the test unless stderr has the one and lacks the other text.
func (r run) expect(t *testing.T, has, lacks string) {
	t.Helper()
	if !strings.Contains(r.stderr, has) || lacks != "" && strings.Contains(r.stderr, lacks) {
		t.Errorf("want %q and not %q:\n%s", has, lacks, r.stderr)
	}
}

// What was stored under another name is there: the same command makes another one.
func TestRenamedIsSomething(t *testing.T) {
	d := numbered(1, 5)
	see(t, "--count=5", fate{}, []create.Event{
		renamed(d, "picked"), create.NotAttempted{Document: d, Copies: 4}, readTo(1),
	}).expect(t, "with --count=4"+twice(1), "nothing was created")
	see(t, "", fate{}, []create.Event{
		created(numbered(1, 1), "demo-1"), renamed(numbered(2, 1), "picked"), readTo(2),
	}).expect(t, "1 created, 0 exist, 1 failed", "to create what is left")
}

// An object that is in doubt, and was answered for under another name, is looked
// for under that.
func TestUnknownAndRenamed(t *testing.T) {
	see(t, "", fate{}, []create.Event{create.Unknown{
		Document: demo(), Result: once.Result{Name: "sent", Object: configMap("picked")},
		Err: fmt.Errorf("%w: picked", once.ErrRenamed),
	}, readTo(1)}).expect(t, "look what is there: kubectl get configmap/picked -n prod;", "configmap/sent")
}

// Documents have no numbers: those of a file are not those that were handed over.
func TestWhatIsLeftOfTwoFiles(t *testing.T) {
	var events []create.Event
	for n := 1; n <= 10; n++ {
		d := numbered(n, 1)
		switch d.Source = "b.yaml"; {
		case n <= 4:
			d.Source = "a.yaml"
			events = append(events, created(d, "demo-a"))
		case n <= 6:
			d.Object.SetGenerateName("bad-")
			events = append(events, failed(d, tooMuch))
		default:
			events = append(events, created(d, "demo-b"))
		}
	}
	see(t, "", fate{}, append(events, readTo(10))).expect(t,
		"with only 2 of configmap/bad- -n prod in b.yaml as its input (the rest is there, or may be)"+twice(8), "document")
}

// What is left is told in the order of the input, ten at most, and all of it is
// counted in bounded memory.
func TestManyAreLeft(t *testing.T) {
	var r remainder
	for n := 200; n > 0; n-- {
		d := numbered(n, 10)
		d.Object.SetGenerateName(fmt.Sprintf("demo-%d-", min(n, 100)))
		for range 10 {
			r.leave(d, 1)
		}
	}
	if len(r.shares) != maxShares || r.left != 2000 {
		t.Errorf("%d shares, %d left", len(r.shares), r.left)
	}
	text := r.objects()
	if strings.Count(text, "configmap/") != maxShown || !strings.HasSuffix(text, " more") {
		t.Error(text)
	}
	var few remainder
	few.leave(numbered(2, 1), 1)
	other := numbered(1, 1)
	other.Object.SetGenerateName("first-")
	few.leave(other, 3)
	if got := few.objects(); got != "3 of configmap/first- -n prod in demo.yaml, 1 of configmap/demo- -n prod in demo.yaml" {
		t.Error(got)
	}
}

// A file's name is one word of a shell.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"in/demo-1.yaml": "in/demo-1.yaml", "https://x/y.yaml": "https://x/y.yaml", "a b": "'a b'", "it's": `'it'\''s'`,
		"a`b": "'a`b'", `a\b`: `'a\b'`, "#a": "'#a'", "~a": "'~a'", "a!": "'a!'", "[a]": "'[a]'", "{a,b}": "'{a,b}'", "a\nb": "'a\nb'",
	} {
		if got := quoted(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The rest of a file that could not be read is not counted, and the same command
// would create a second time what comes before it.
func TestRestOfAFileThatCannotBeRead(t *testing.T) {
	events := []create.Event{
		created(numbered(1, 1), "demo-1"), create.Problem{Err: errors.New("error parsing demo.yaml"), After: 1}, readTo(1),
	}
	got := see(t, "", fate{}, events)
	got.expect(t, "error parsing demo.yaml\nnot all were created: 1 created, 0 exist, 0 failed, 0 unknown, 0 not attempted; "+
		"a part of the input could not be used\nto create what is left, ", "")
	got.expect(t, "with only that part as its input (the rest is there, or may be)"+twice(1), "")
	if got.code != 1 {
		t.Errorf("exit code %d", got.code)
	}
	see(t, "--naming=server --attempts=1", fate{}, events).expect(t, "error parsing demo.yaml", "not all")
}

// In another namespace, the same key is another run: nothing of that is deleted.
func TestStartAnewInSeveralNamespaces(t *testing.T) {
	label := " -l " + once.RunLabel + "=" + idempotency.Key("k").RunLabel()
	see(t, "--idempotency-key=k", fate{}, []create.Event{
		exists(numbered(1, 1), "demo-1", 0), exists(numbered(2, 1), "demo-2", 0),
		create.End{Documents: 2, Places: []idempotency.Place{
			{Resource: configMaps, Namespace: "prod"}, {Resource: configMaps, Namespace: "dev"},
		}},
	}).expect(t, "kubectl delete configmaps -n dev"+label+"; kubectl delete configmaps -n prod"+label+"\n", "-A")
}

// Each copy that is there and could not be printed is named.
func TestUnprintedCopies(t *testing.T) {
	d := numbered(1, 3)
	events := []create.Event{created(d, "demo-1"), created(d, "demo-2"), created(d, "demo-3"), readTo(1)}
	got := see(t, "--count=3", fate{stdout: gone{}}, events)
	for _, name := range []string{"demo-1", "demo-2", "demo-3"} {
		got.expect(t, "configmap/"+name+" was created, but cannot be printed", "not all were created")
	}
	see(t, "--count=3 --naming=server --attempts=1", fate{stdout: gone{}}, events).expect(t,
		"not all that is there could be printed: 3 created", "not all were created")
}

// Copies that fail for different reasons say each, and each name that was picked;
// those whose errors differ in their own name only say one.
func TestReasonsOfCopies(t *testing.T) {
	d := numbered(1, 7)
	taken := func(name string) create.Event {
		return create.Failed{
			Document: d, Result: once.Result{Name: name}, Kind: once.ErrExhausted, Err: apierrors.NewAlreadyExists(configMaps, name),
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
