package duplicates

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/duplicates/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
)

var jobs = census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job"}

// On a narrow terminal, the object and its references are whole, and other columns give
// way.
func TestFit(t *testing.T) {
	columns := []string{"GRADE", "OBJECT", "AGE", "CREATOR", "REFERRED-BY", "EQUAL", "STATUS-DIFFERS"}
	whole := table.New(columns...)
	whole.Add("likely", "jobs.batch/migrate-x7k2p", "12m", "some-controller-manager", "<nothing>", "23 fields", "active,conditions,startTime")
	whole.Add("likely", "jobs.batch/migrate-b4c5d", "+9s", "some-controller-manager", "its pods", "", "")
	for width, want := range map[int][]string{
		200: columns,
		80:  {"GRADE", "OBJECT", "AGE", "CREATOR", "REFERRED-BY", "EQUAL"},
		60:  {"GRADE", "OBJECT", "AGE", "REFERRED-BY"},
	} {
		fitted := fit(whole, width)
		var names []string
		for _, c := range fitted.Columns {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, want) || fitted.Width() > width && width >= 80 {
			t.Errorf("%d: %q of width %d, want %q", width, names, fitted.Width(), want)
		}
		for i, row := range fitted.Rows {
			if row[1] != whole.Rows[i][1] {
				t.Errorf("%d: %q", width, row[1])
			}
		}
	}
}

// One cell has the references to an object, or shows that they are unknown.
func TestReferencesText(t *testing.T) {
	read := &duplicates.Group{ReferencesRead: true, Compared: duplicates.Compared{Of: []string{"spec"}}}
	unread := &duplicates.Group{Compared: duplicates.Compared{Of: []string{"spec"}}}
	by := duplicates.Object{ReferredBy: []duplicates.Reference{{Owner: "build.example.com/b"}, {Resource: "pods"}, {Resource: "jobs.batch"}}}
	for _, test := range []struct {
		group  *duplicates.Group
		object duplicates.Object
		want   string
	}{
		{read, by, "build.example.com/b,its pods,jobs.batch"},
		{read, duplicates.Object{}, messages.NoReference},
		{unread, duplicates.Object{}, messages.ReferencesUnread},
		{&duplicates.Group{}, duplicates.Object{}, ""},
	} {
		if got := referencesText(test.group, test.object); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Text from the cluster can't control the terminal.
func TestTextFromTheCluster(t *testing.T) {
	o := &options{}
	g := &duplicates.Group{Grade: duplicates.Likely, Resource: jobs, Namespace: "n"}
	objects := []duplicates.Object{{Name: "a\x1b[2J", Creator: "b\nc", Created: time.Unix(0, 0)}}
	whole := table.New("")
	whole.Add(o.row(g, objects, 0, time.Unix(60, 0))...)
	for _, cell := range whole.Rows[0] {
		if strings.ContainsAny(cell, "\x1b\n") || !utf8.ValidString(cell) {
			t.Errorf("%q", cell)
		}
	}
}

// Types that can't be listed matter if they were named, or if there are no others.
func TestComplete(t *testing.T) {
	forbidden := census.Skipped{Group: "batch", Resource: "jobs", Reason: census.Forbidden}
	others := census.Resource{GroupVersionResource: schema.GroupVersionResource{Resource: "pods"}}
	for name, test := range map[string]struct {
		named   []string
		of      []census.Resource
		skipped []census.Skipped
		want    bool
	}{
		"all read":            {nil, []census.Resource{jobs}, nil, true},
		"one of two":          {nil, []census.Resource{jobs, others}, []census.Skipped{forbidden}, true},
		"the only one":        {nil, []census.Resource{jobs}, []census.Skipped{forbidden}, false},
		"a named one":         {[]string{"jobs,pods"}, []census.Resource{jobs, others}, []census.Skipped{forbidden}, false},
		"never":               {nil, []census.Resource{jobs}, []census.Skipped{{Resource: "ipaddresses", Reason: census.Excluded}}, true},
		"one object":          {nil, []census.Resource{jobs}, []census.Skipped{{Group: "batch", Resource: "jobs", Reason: duplicates.Incomparable}}, false},
		"a list that expired": {nil, []census.Resource{jobs, others}, []census.Skipped{{Group: "batch", Resource: "jobs", Reason: census.Expired}}, false},
	} {
		o := &options{arguments: test.named}
		s := &search{resources: test.of, result: &duplicates.Result{Skipped: test.skipped}}
		if got := o.isComplete(s); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
