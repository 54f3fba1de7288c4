package duplicates

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// shelf is a server with Jobs of one namespace, in the order of their names, and with their owners.
// The owner named hidden can't be read. The objects have the uids and times of the test, and
// oncetest.Server sets these itself.
type shelf struct {
	jobs, owners []map[string]any
}

func nameIn(o map[string]any) string { return o["metadata"].(map[string]any)["name"].(string) }

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	name, isOne := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	if name == "hidden" {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
		return
	}
	var items []map[string]any
	version, kind := "v1", "PodList"
	switch path.Base(r.URL.Path) {
	case "jobs":
		version, kind, items = "batch/v1", "JobList", s.jobs
	case "backups":
		version, kind, items = "example.com/v1", "BackupList", s.owners
	}
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	list := []map[string]any{}
	for _, o := range items {
		if !isOne || nameIn(o) == name {
			list = append(list, o)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": version, "kind": kind, "items": list, "metadata": map[string]any{"resourceVersion": "1"},
	})
}

// add adds a Job that was created a number of seconds after since.
func (s *shelf) add(prefix, name string, seconds int64, changes map[string]any) {
	metadata := map[string]any{
		"namespace": "n", "name": name, "generateName": prefix, "uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", len(s.jobs)),
		"creationTimestamp": time.Unix(since+seconds, 0).UTC().Format(time.RFC3339),
		"managedFields": []any{map[string]any{
			"manager": "tool", "operation": "Update", "apiVersion": "batch/v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:generateName": map[string]any{}}, "f:spec": map[string]any{"f:value": map[string]any{}}},
		}},
	}
	o := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": map[string]any{"value": prefix}}
	for key, value := range changes {
		if key == "spec" {
			o[key] = value
		} else {
			metadata[key] = value
		}
	}
	s.jobs = append(s.jobs, o)
}

// pair adds two Jobs, PREFIX-bbbbb and PREFIX-ccccc.
func (s *shelf) pair(prefix string, changes, ofSecond map[string]any) {
	s.add(prefix+"-", prefix+"-bbbbb", 0, changes)
	s.add(prefix+"-", prefix+"-ccccc", 5, ofSecond)
}

func ownedBy(name string) map[string]any {
	owner := map[string]any{"apiVersion": "example.com/v1", "kind": "Backup", "name": name, "uid": name}
	return map[string]any{"ownerReferences": []any{owner}}
}

// filled returns a server with a group of each sort. If crowded, it also has many other objects.
func filled(crowded bool) *shelf {
	s := &shelf{}
	for name, status := range map[string]string{"names-one": "started named-ccccc", "names-none": "running"} {
		metadata := map[string]any{"namespace": "n", "name": name, "uid": name}
		s.owners = append(s.owners, map[string]any{"metadata": metadata, "status": status})
	}
	s.pair("alone", nil, nil)
	s.pair("content", nil, map[string]any{"spec": map[string]any{"value": "other"}})
	s.pair("named", ownedBy("names-one"), ownedBy("names-one"))
	s.pair("unnamed", ownedBy("names-none"), ownedBy("names-none"))
	s.pair("unread", ownedBy("hidden"), ownedBy("hidden"))
	s.pair("unmanaged", map[string]any{"managedFields": nil}, map[string]any{"managedFields": nil})
	s.pair("three", nil, nil)
	s.add("three-", "three-ddddd", 9, nil)
	crash := []any{map[string]any{"manager": "tool", "operation": "Update", "fieldsV1": map[string]any{"v:1": map[string]any{}}}}
	s.pair("crash", nil, map[string]any{"managedFields": crash})
	const id = "v1-00112233445566778899aabbccddeeff"
	for attempt := range uint32(2) {
		s.add("id-", names.Candidate("id-", id, attempt, names.SuffixLength), 0,
			map[string]any{"annotations": map[string]any{exactlyonce.Annotation: id}})
	}
	for i := range 400 {
		if crowded {
			s.add("run-", "run-"+(suffix(i)|names.SuffixLength<<lengthShift).String(), int64(i)*1000, nil)
		}
	}
	slices.SortFunc(s.jobs, func(a, b map[string]any) int { return strings.Compare(nameIn(a), nameIn(b)) })
	return s
}

// Each group gets its grade, whether candidates are read by a list or by name. Only the object that
// its owner doesn't name is proposed.
func TestFind(t *testing.T) {
	want := []string{
		"alone-: likely ", "id-: confirmed ", "named-: likely  named-bbbbb", "three-: possible moreThanTwo",
		"unmanaged-: possible noFieldManager", "unnamed-: possible unreferenced", "unread-: possible unread",
	}
	for name, crowded := range map[string]bool{"by a list": false, "by names": true} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(filled(crowded))
			defer server.Close()
			f := &Finder{
				Scanner:   &census.Scanner{Config: &rest.Config{Host: server.URL}, Version: "v1.34.4", RetryTimeout: time.Second},
				Resources: []census.Resource{jobs}, Namespace: "n", Within: 2 * time.Minute,
				Since: time.Unix(since, 0), Now: time.Unix(since+3600, 0),
				ResourceOf: func(kind schema.GroupVersionKind) (census.Resource, error) {
					return census.Resource{GroupVersionResource: kind.GroupVersion().WithResource("backups"), Kind: kind.Kind, Namespaced: true}, nil
				},
			}
			result, err := f.Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range result.Groups {
				text := fmt.Sprintf("%s: %s %s", g.Prefix, g.Grade, g.Reason)
				for _, o := range g.Objects() {
					if o.Proposed {
						text += " " + o.Name
					}
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			var skipped []string
			for _, s := range result.Skipped {
				skipped = append(skipped, s.Message)
			}
			if text := strings.Join(skipped, "\n"); len(skipped) != 2 || !strings.Contains(text, "crash-ccccc") || !strings.Contains(text, "backups") {
				t.Errorf("skipped %+v", result.Skipped)
			}
		})
	}
}
