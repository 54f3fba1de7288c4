package oncetest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

func purposeOf(o metav1.Object) string { return o.GetLabels()["purpose"] }

// generated returns an object of a purpose with a name that the server picks.
func generated(purpose string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-", Labels: map[string]string{"purpose": purpose}}}
}

// Check accepts an object that keeps its promise, and reports each kind of broken promise.
func TestCheck(t *testing.T) {
	late := oncetest.StoreLate(time.Hour, oncetest.DropRequest)
	type expected = map[string]oncetest.Outcome
	for name, test := range map[string]struct {
		faults   []oncetest.Fault // of one create each
		deleted  bool             // at the end, by another client
		expected expected
		want     string
	}{
		"failed, nothing stored":   {nil, false, expected{"a": oncetest.Failed}, ""},
		"created":                  {[]oncetest.Fault{nil}, false, expected{"a": oncetest.Created}, ""},
		"unknown, none":            {[]oncetest.Fault{oncetest.DropRequest}, false, expected{"a": oncetest.Unknown}, ""},
		"unknown, one":             {[]oncetest.Fault{oncetest.DropResponse}, false, expected{"a": oncetest.Unknown}, ""},
		"unknown, two":             {[]oncetest.Fault{nil, nil}, false, expected{"a": oncetest.Unknown}, "more than one object"},
		"two, no reports":          {[]oncetest.Fault{nil, oncetest.DropResponse}, false, nil, "more than one object"},
		"two, by a proxy":          {[]oncetest.Fault{oncetest.SendTwice}, false, nil, "more than one object"},
		"two, one lands late":      {[]oncetest.Fault{late, nil}, false, nil, "more than one object"},
		"two, and both are gone":   {[]oncetest.Fault{nil, nil}, true, expected{"a": oncetest.Created}, "more than one object"},
		"one, no reports":          {[]oncetest.Fault{nil}, false, nil, ""},
		"created, but dropped":     {[]oncetest.Fault{oncetest.DropRequest}, false, expected{"a": oncetest.Created}, "no object"},
		"created, never sent":      {nil, false, expected{"a": oncetest.Created}, "no object"},
		"none expected":            {nil, false, expected{}, ""},
		"created, then deleted":    {[]oncetest.Fault{nil}, true, expected{"a": oncetest.Created}, ""},
		"failed, and exists":       {[]oncetest.Fault{oncetest.AfterStore(oncetest.QuotaExceeded)}, false, expected{"a": oncetest.Failed}, "failed, but an object exists"},
		"failed, and stored late":  {[]oncetest.Fault{oncetest.StoreLate(time.Hour, oncetest.QuotaExceeded)}, false, expected{"a": oncetest.Failed}, "failed, but an object exists"},
		"failed, and two":          {[]oncetest.Fault{nil, nil}, false, expected{"a": oncetest.Failed}, "more than one object; failed, but an object exists"},
		"not reported":             {[]oncetest.Fault{nil}, false, expected{}, "unexpected object"},
		"not reported, not stored": {[]oncetest.Fault{oncetest.DropRequest}, false, expected{}, ""},
		"the label is removed":     {[]oncetest.Fault{oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetLabels(nil) }, nil), nil}, false, nil, "more than one object"},
	} {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, generated("")) // is of no concern
		server.Next("create", "*", test.faults...)
		for range test.faults {
			_, _ = client.Create(t.Context(), generated("a"), metav1.CreateOptions{})
		}
		for _, o := range server.Objects()[1:] {
			if test.deleted {
				server.Remove(o)
			}
		}
		var got []string
		for _, v := range server.Check(purposeOf, test.expected) {
			got = append(got, v.Problem)
			if v.Creation != "a" || v.Expected != test.expected["a"] || len(v.Requests) != len(test.faults) || v.String() == "" {
				t.Errorf("%s: %v after %d requests, want a violation of a, expected %v, after %d", name, v, len(v.Requests), test.expected["a"], len(test.faults))
			}
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s: %q, want %q", name, s, test.want)
		}
	}
}

// The objects of any server are checked by a list.
func TestCheckList(t *testing.T) {
	server := oncetest.NewServer()
	var faults oncetest.Faults
	config := rest.CopyConfig(server.Config())
	config.Wrap(faults.Wrap)
	client := configMapsOf(config)
	check := func(expected map[string]oncetest.Outcome) string {
		list, err := client.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		violations, err := faults.CheckList(list, purposeOf, expected)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, v := range violations {
			text += fmt.Sprintf("%s: %s, %d objects, %d requests; ", v.Creation, v.Problem, len(v.Objects), len(v.Requests))
		}
		return text
	}
	if got := check(nil); got != ": nothing was created, 0 objects, 1 requests; " {
		t.Errorf("%q, want that nothing was created", got)
	}
	faults.Next("create", "configmaps", oncetest.SendTwice)
	create(t, client, generated("a"))
	create(t, client, generated("b"))
	if got := check(nil); got != "a: more than one object, 2 objects, 1 requests; " {
		t.Errorf("%q, want more than one object of a", got)
	}
	want := "a: more than one object, 2 objects, 1 requests; a: unexpected object, 2 objects, 1 requests; c: no object, 0 objects, 0 requests; "
	if got := check(map[string]oncetest.Outcome{"b": oncetest.Created, "c": oncetest.Created}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := faults.CheckList(&corev1.ConfigMap{}, purposeOf, nil); err == nil {
		t.Error("an object isn't a list")
	}
}
