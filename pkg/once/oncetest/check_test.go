package oncetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

func purposeOf(o *unstructured.Unstructured) string { return o.GetLabels()["purpose"] }

// generated returns an object of a purpose with a name that the server picks.
func generated(purpose string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-", Labels: map[string]string{"purpose": purpose}}}
}

// Each promise, kept and broken.
func TestCheck(t *testing.T) {
	type reports = map[string]oncetest.Outcome
	for name, test := range map[string]struct {
		injuries []oncetest.Injury // of one create each
		deleted  bool              // in the end, by another client
		reports  reports
		want     string
	}{
		"nothing happened":         {nil, false, reports{"a": oncetest.Failed}, ""},
		"created":                  {[]oncetest.Injury{nil}, false, reports{"a": oncetest.Created}, ""},
		"found":                    {[]oncetest.Injury{nil}, false, reports{"a": oncetest.Found}, ""},
		"unknown, none":            {[]oncetest.Injury{oncetest.LoseRequest}, false, reports{"a": oncetest.Unknown}, ""},
		"unknown, one":             {[]oncetest.Injury{oncetest.LoseAnswer}, false, reports{"a": oncetest.Unknown}, ""},
		"unknown, two":             {[]oncetest.Injury{nil, nil}, false, reports{"a": oncetest.Unknown}, "two of one creation"},
		"two, no reports":          {[]oncetest.Injury{nil, oncetest.LoseAnswer}, false, nil, "two of one creation"},
		"two, by a proxy":          {[]oncetest.Injury{oncetest.SendTwice}, false, nil, "two of one creation"},
		"two, one lands late":      {[]oncetest.Injury{oncetest.LandLate(time.Hour, oncetest.LoseRequest), nil}, false, nil, "two of one creation"},
		"two, and both are gone":   {[]oncetest.Injury{nil, nil}, true, reports{"a": oncetest.Created}, "two of one creation"},
		"one, no reports":          {[]oncetest.Injury{nil}, false, nil, ""},
		"created, never there":     {[]oncetest.Injury{oncetest.LoseRequest}, false, reports{"a": oncetest.Created}, "reported, and was never there"},
		"found, never there":       {nil, false, reports{"a": oncetest.Found}, "reported, and was never there"},
		"created, then deleted":    {[]oncetest.Injury{nil}, true, reports{"a": oncetest.Created}, ""},
		"failed, and there":        {[]oncetest.Injury{oncetest.AfterStore(oncetest.QuotaExceeded)}, false, reports{"a": oncetest.Failed}, "reported failed, and is there"},
		"failed, and lands late":   {[]oncetest.Injury{oncetest.LandLate(time.Hour, oncetest.QuotaExceeded)}, false, reports{"a": oncetest.Failed}, "reported failed, and is there"},
		"failed, and two":          {[]oncetest.Injury{nil, nil}, false, reports{"a": oncetest.Failed}, "two of one creation; reported failed, and is there"},
		"not reported":             {[]oncetest.Injury{nil}, false, reports{}, "is there, and was not reported"},
		"not reported, not stored": {[]oncetest.Injury{oncetest.LoseRequest}, false, reports{}, ""},
		"the mark is removed":      {[]oncetest.Injury{oncetest.StripLabels, nil}, false, nil, "two of one creation"},
	} {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, generated("")) // is of no concern
		server.Next(test.injuries...)
		for range test.injuries {
			_, _ = client.Create(t.Context(), generated("a"), metav1.CreateOptions{})
		}
		for _, o := range server.Objects()[1:] {
			if test.deleted {
				server.Remove(o)
			}
		}
		var got []string
		for _, v := range server.Check(purposeOf, test.reports) {
			got = append(got, string(v.Fault))
			if v.Creation != "a" || v.Reported != test.reports["a"] || len(v.Requests) != len(test.injuries) || v.String() == "" {
				t.Errorf("%s: %v", name, v)
			}
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s: %q, want %q", name, s, test.want)
		}
	}
}

// One object after the other is no duplicate: deleting frees the creation.
func TestOneAfterTheOther(t *testing.T) {
	server := oncetest.NewServer()
	client := configMapsOf(server.Config())
	for range 2 {
		made := create(t, client, generated("a"))
		if err := client.Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if violations := server.Check(purposeOf, map[string]oncetest.Outcome{"a": oncetest.Created}); len(violations) > 0 {
		t.Error(violations)
	}
}

// A violation tells its whole history, and nothing of others.
func TestViolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		client := configMapsOf(server.Config())
		create(t, client, generated("b"))
		server.Next(oncetest.LoseAnswer)
		_, _ = client.Create(context.Background(), generated("a"), metav1.CreateOptions{})
		time.Sleep(1500 * time.Millisecond)
		second := create(t, client, generated("a"))
		server.NextReads(oncetest.Forbidden)
		_, _ = client.Get(t.Context(), second.Name, metav1.GetOptions{})
		_, _ = client.List(t.Context(), metav1.ListOptions{})
		violations := server.Check(purposeOf, map[string]oncetest.Outcome{"a": oncetest.Created, "b": oncetest.Created})
		if len(violations) != 1 {
			t.Fatal(violations)
		}
		first, name := violations[0].Objects[0].GetName(), second.Name
		want := fmt.Sprintf(`a: two of one creation (reported created)
	stored: ConfigMap ns/%s, uid 00000000-0000-4000-8000-000000000002
	stored: ConfigMap ns/%s, uid 00000000-0000-4000-8000-000000000003
	00:00:00.000 create configmaps ns/p-*: answered read tcp: connection reset by peer (injured; carried out: 201)
	00:00:01.500 create configmaps ns/p-*: answered 201
	00:00:01.500 get configmaps ns/%s: answered 403 configmaps %[3]q is forbidden: User "oncetest" cannot get resource "configmaps" in API group "" in the namespace "ns" (injured; carried out: never)`, first, name, name)
		if got := violations[0].String(); got != want {
			t.Errorf("%s\n\nwant\n%s", got, want)
		}
	})
}
