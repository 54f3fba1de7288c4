package prune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestParseTargets(t *testing.T) {
	got, err := parseTargets([]string{"jobs/run-", "cm/x", "jobs/run-", "roles.rbac.authorization.k8s.io/a:b-"}, false)
	want := []target{{"jobs", "run-"}, {"cm", "x"}, {"roles.rbac.authorization.k8s.io", "a:b-"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
}

// A type that is named in two versions is one target, so that the plan has each object once.
func TestTargetsOfOneType(t *testing.T) {
	var targets []prune.Target
	for prefix, version := range map[string]string{"a-": "v1", "b-": "v2"} {
		kind := schema.GroupVersionResource{Group: "autoscaling", Version: version, Resource: "horizontalpodautoscalers"}
		targets = addTarget(targets, census.Resource{GroupVersionResource: kind}, prefix)
	}
	if len(targets) != 1 || len(targets[0].Prefixes) != 2 {
		t.Errorf("%+v, want one target with 2 prefixes", targets)
	}
}

// A type whose status doesn't show the end needs --running. This flag would also delete running objects of other types,
// so one plan can't combine both sorts of types.
func TestTypesThatNeedRunning(t *testing.T) {
	target := func(group, resource string) prune.Target {
		kind := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
		return prune.Target{Resource: census.Resource{GroupVersionResource: kind}}
	}
	jobs, maps, backups := target("batch", "jobs"), target("", "configmaps"), target("example.com", "backups")
	const refused = "because --running, which they need, also deletes running jobs.batch"
	for name, test := range map[string]struct {
		targets []prune.Target
		options options
		want    string
	}{
		"one that is known":   {[]prune.Target{jobs, maps}, options{yes: true}, "<nil>"},
		"a plan":              {[]prune.Target{backups, maps}, options{}, "<nil>"},
		"without --running":   {[]prune.Target{backups, maps}, options{yes: true}, "add --running"},
		"a plan of both":      {[]prune.Target{jobs, backups}, options{}, refused},
		"both":                {[]prune.Target{backups, jobs}, options{yes: true}, refused},
		"both with --running": {[]prune.Target{backups, jobs}, options{yes: true, running: true}, "<nil>"},
	} {
		if got := fmt.Sprint(test.options.checkTypes(test.targets)); !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// OpenShift shows each namespace a second time, as a Project.
func TestProjects(t *testing.T) {
	for _, of := range []schema.GroupResource{{Resource: "namespaces"}, {Group: "project.openshift.io", Resource: "projects"}} {
		o := options{save: "dir", running: true}
		if err := o.checkType(of); err == nil || !strings.Contains(err.Error(), "--save can't save the objects or the data in "+of.String()) {
			t.Errorf("%s: %v, want that --save can't save them", of, err)
		}
		item := v1alpha1.PruneItem{PrefixRef: v1alpha1.PrefixRef{Group: of.Group, Resource: of.Resource}}
		item.Chosen = 1
		lines := planWarnings(&v1alpha1.PruneReport{Items: []v1alpha1.PruneItem{item}})
		if want := []string{"Warning: deleting a namespace deletes all objects in it"}; !slices.Equal(lines, want) {
			t.Errorf("%s: %q, want %q", of, lines, want)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"24h": "2026-11-21T10:00:00Z", "1d12h": "2026-11-20T22:00:00Z", "0s": "0001-01-01T00:00:00Z", "500ms": "2026-11-22T09:59:59Z",
		"2026-11-21T08:00:00Z": "2026-11-21T08:00:00Z", "2026-11-21T08:00:00+02:00": "2026-11-21T06:00:00Z",
		"2026-11-22T10:00:01Z": "2026-11-22T10:00:01Z", // as the plan of 0s suggests it
	} {
		a, err := parseAge("older-than", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.before(now).Format(time.RFC3339); got != want || a.check(now, now) != nil || !a.given() {
			t.Errorf("%s: %s, want %s, %v", text, got, want, a.check(now, now))
		}
	}
	for _, text := range []string{"-1h", "yesterday", "2026-11-21", "10", "NaNd", "0001-01-01T00:00:00Z"} {
		if a, err := parseAge("older-than", text); err == nil {
			t.Errorf("%s: %+v, want an error", text, a)
		}
	}
	future, err := parseAge("older-than", "2026-11-22T10:00:02Z")
	if err != nil || future.check(now, time.Unix(0, 0)) == nil {
		t.Errorf("a time in the future is taken: %v", err)
	}
	if err := future.check(now, now.Add(time.Second)); err != nil {
		t.Errorf("the time after an object whose timestamp is ahead is refused: %v", err)
	}
	if none, err := parseAge("older-than", ""); err != nil || none.given() || none.needsTime() {
		t.Errorf("%+v, want none, which needs no time: %v", none, err)
	}
}

// A suggested command has the flags of prune, except those that it has in another form, and switches that are off.
func TestRepeatedFlags(t *testing.T) {
	conn := connection.New(genericiooptions.NewTestIOStreamsDiscard())
	cmd := New(conn, genericiooptions.NewTestIOStreamsDiscard())
	if err := cmd.ParseFlags([]string{
		"--running=false", "--owned", "--keep=3", "--older-than=1d", "--max-delete=9", "--dry-run", "-o=name", "--no-headers",
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := reference.Words(repeated(cmd)...), `--keep 3 --owned`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string][2]bool{ // whether 10 and 11 of 100 objects exceed the share
		"10": {false, true}, "10%": {false, true}, "0": {true, true}, "100%": {false, false}, "": {false, false},
	} {
		var s share
		if text != "" {
			if err := s.Set(text); err != nil {
				t.Error(err)
			}
		}
		if got := [2]bool{s.exceeded(10, 100), s.exceeded(11, 100)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "-1", "x", "101%", "-1%", "NaN%", "1.5"} {
		if err := new(share).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
