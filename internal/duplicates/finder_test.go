package duplicates

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// shelf is a server with Jobs of one namespace, in the order of their names, with their owners and Pods.
// The owner named hidden can't be read. The objects have the uids and times of the test, and
// oncetest.Server sets these itself.
type shelf struct {
	jobs, owners, pods, children []map[string]any
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
	version, kind, items := "v1", "PodList", s.pods
	switch path.Base(r.URL.Path) {
	case "jobs":
		version, kind, items = "batch/v1", "JobList", s.jobs
	case "children":
		version, kind, items = "batch/v1", "ChildList", s.children
	case "backups":
		version, kind, items = "example.com/v1", "BackupList", s.owners
	}
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	list := []map[string]any{}
	_, namespace, _ := strings.Cut(path.Dir(r.URL.Path), "/namespaces/")
	for _, o := range items {
		if (!isOne || nameIn(o) == name) && (namespace == "" || namespace == o["metadata"].(map[string]any)["namespace"]) {
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
		"managedFields":     managedBy("tool"),
	}
	o := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": map[string]any{"value": prefix}}
	for key, value := range changes {
		if key == "spec" || key == "status" {
			o[key] = value
		} else {
			metadata[key] = value
		}
	}
	s.jobs = append(s.jobs, o)
}

func managedBy(manager string) []any {
	return []any{map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": "batch/v1", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:generateName": map[string]any{}}, "f:spec": map[string]any{"f:value": map[string]any{}}},
	}}
}

// pair adds two Jobs, PREFIX-bbbbb and PREFIX-ccccc, that were created a number of seconds apart.
func (s *shelf) pair(prefix string, apart int64, changes, ofSecond map[string]any) {
	s.add(prefix+"-", prefix+"-bbbbb", 0, changes)
	s.add(prefix+"-", prefix+"-ccccc", apart, ofSecond)
}

// fields are the fields of an owner, and the annotations.
type fields = map[string]any

// owned adds a pair with an owner that has these fields.
func (s *shelf) owned(prefix string, apart int64, of fields) {
	s.pair(prefix, apart, s.owner("of-"+prefix, of), ownedBy("of-"+prefix))
}

// owner adds an owner that has these fields, and returns the metadata of its objects.
func (s *shelf) owner(name string, of fields) (metadata map[string]any) {
	owner := fields{"metadata": map[string]any{"namespace": "n", "name": name, "uid": name, "annotations": of["annotations"]}}
	for _, field := range []string{"spec", "status"} {
		owner[field] = of[field]
	}
	s.owners = append(s.owners, owner)
	return ownedBy(name)
}

func (s *shelf) pod(spec map[string]any) {
	metadata := map[string]any{
		"namespace": "n", "name": fmt.Sprintf("pod-%03d", len(s.pods)), "uid": fmt.Sprintf("pod-%d", len(s.pods)),
		"creationTimestamp": time.Unix(since+9, 0).UTC().Format(time.RFC3339),
	}
	s.pods = append(s.pods, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

// podOf adds a Pod whose owner is the n-th last Job, and returns it.
func (s *shelf) podOf(n int) map[string]any {
	job := s.jobs[len(s.jobs)-n]["metadata"].(map[string]any)
	s.pod(nil)
	pod := s.pods[len(s.pods)-1]
	pod["metadata"].(map[string]any)["ownerReferences"] = []any{
		map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": job["name"], "uid": job["uid"]},
	}
	return pod
}

// childOf adds an object of a type that is not searched, whose owner is the n-th last Job.
func (s *shelf) childOf(n int) {
	s.children = append(s.children, s.podOf(n))
	s.pods = s.pods[:len(s.pods)-1]
}

func ownedBy(name string) map[string]any {
	owner := map[string]any{"apiVersion": "example.com/v1", "kind": "Backup", "name": name, "uid": name}
	return map[string]any{"ownerReferences": []any{owner}}
}

const id = "v1-00112233445566778899aabbccddeeff"

// withID adds an object for each content, five seconds after each other. They have one creation ID.
func (s *shelf) withID(prefix string, contents ...string) { s.withIDAnd(nil, prefix, contents...) }

// withIDAnd is withID with more metadata.
func (s *shelf) withIDAnd(metadata map[string]any, prefix string, contents ...string) {
	for i, content := range contents {
		changes := map[string]any{
			"annotations": map[string]any{exactlyonce.Annotation: id}, "spec": map[string]any{"value": content},
		}
		maps.Copy(changes, metadata)
		s.add(prefix, names.Candidate(prefix, id, uint32(i)), int64(i)*5, changes)
	}
}

func named(name string) map[string]any { return map[string]any{"name": name} }

// filled returns a server with groups, and the GRADE REASON PROPOSED of each.
func filled() (s *shelf, want map[string]string) {
	s = &shelf{}
	s.pair("alone", 5, nil, nil)
	s.pair("content", 5, nil, map[string]any{"spec": map[string]any{"value": "other"}})
	s.owned("older", 5, fields{"spec": named("older-bbbbb")})
	s.owned("status", 5, fields{"status": map[string]any{"lost": "status-bbbbb"}})
	for prefix, text := range map[string]string{"path": "n/path-ccccc", "url": "https://example.com/url-ccccc?a", "log": "created log-ccccc"} {
		s.owned(prefix, 5, fields{"spec": named(prefix + "-bbbbb"), "status": named(text)})
	}
	s.owned("note", 5, fields{"spec": named("note-bbbbb"), "annotations": map[string]any{"last": "note-ccccc"}})
	s.owned("younger", 5, fields{"spec": named("younger-ccccc")})
	s.owned("both", 5, fields{"spec": []any{"both-bbbbb", "both-ccccc"}})
	s.owned("none", 5, fields{"status": "running"})
	s.owned("text", 5, fields{"status": "volume text-bbbbb is lost"})
	s.owned("second", 1, fields{"spec": named("second-bbbbb")})
	s.owned("claim", 5, fields{"spec": named("claim-bbbbb")})
	s.pod(map[string]any{"volumes": []any{map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "claim-ccccc"}}}})
	s.owned("env", 5, fields{"spec": named("env-bbbbb")})
	s.pod(map[string]any{"containers": []any{map[string]any{"envFrom": []any{map[string]any{"configMapRef": named("env-ccccc")}}}}})
	s.owned("parent", 5, fields{"spec": named("parent-bbbbb")})
	s.childOf(1)
	s.owned("dependents", 5, nil)
	s.podOf(2)
	s.pair("pods", 5, nil, nil)
	s.podOf(2)
	s.pair("unread", 5, ownedBy("hidden"), ownedBy("hidden"))
	s.pair("unmanaged", 5, map[string]any{"managedFields": nil}, map[string]any{"managedFields": nil})
	s.pair("managers", 5, nil, map[string]any{"managedFields": managedBy("another")})
	s.pair("shard-a", 5, s.owner("of-shards", nil), ownedBy("of-shards"))
	s.pair("shard-b", 5, ownedBy("of-shards"), ownedBy("of-shards"))
	failed := fields{"type": "Failed", "status": "True", "lastTransitionTime": time.Unix(since+4, 0).UTC().Format(time.RFC3339)}
	s.pair("retried", 5, fields{"status": fields{"conditions": []any{failed}}}, nil)
	for i := range 6 {
		s.pair(fmt.Sprint("crash", i), 5, nil, map[string]any{"managedFields": []any{
			map[string]any{"manager": "tool", "operation": "Update", "fieldsV1": map[string]any{"v:1": map[string]any{}}},
		}})
	}
	s.add("three-", "three-ddddd", 9, nil)
	s.pair("three", 5, nil, nil)
	s.add("young-", "young-bbbbb", 3600-119, s.owner("of-young", fields{"spec": named("young-bbbbb")}))
	s.add("young-", "young-ccccc", 3600-110, ownedBy("of-young"))
	s.withID("id-", "a", "a")
	s.withID("used-", "a", "a")
	s.podOf(2)
	s.withID("attacked-", "a", "b") // with an invented dependent
	s.podOf(1)
	s.withID("copied-", "a", "a") // with an invented dependent
	s.podOf(1)
	s.withIDAnd(s.owner("of-id", fields{"spec": names.Candidate("named-", id, 0)}), "named-", "a", "a", "b") // and a copy of the ID with other content
	slices.SortFunc(s.jobs, func(a, b map[string]any) int { return strings.Compare(nameIn(a), nameIn(b)) })
	return s, map[string]string{
		"alone-": "likely ", "older-": "likely  older-ccccc", "status-": "likely ",
		"path-": "likely ", "url-": "likely ", "log-": "likely ", "note-": "likely ", "younger-": "likely ", "both-": "possible bothReferenced",
		"none-": "possible unreferenced", "text-": "possible unreferenced", "second-": "likely ",
		"claim-": "possible bothReferenced", "env-": "possible bothReferenced", "dependents-": "likely ", "parent-": "likely ",
		"pods-": "likely ", "unread-": "possible unread", "unmanaged-": "possible noFieldManager",
		"managers-": "possible creators", "shard-a-": "possible otherGroups", "shard-b-": "possible otherGroups",
		"three-": "possible moreThanTwo", "young-": "likely ", "id-": "confirmed ",
		"used-": "confirmed ", "copied-": "confirmed ", "named-": "confirmed  " + names.Candidate("named-", id, 1),
	}
}

func finderOf(server *httptest.Server) *Finder {
	return &Finder{
		Scanner:   &census.Scanner{Config: &rest.Config{Host: server.URL}, Version: "v1.34.4", RetryTimeout: time.Second},
		Resources: []census.Resource{jobs}, Namespace: "n", Within: 10 * time.Second,
		Since: time.Unix(since, 0), Now: time.Unix(since+3600, 0),
		ResourceOf: func(kind schema.GroupVersionKind) (census.Resource, error) {
			return census.Resource{GroupVersionResource: kind.GroupVersion().WithResource("backups"), Kind: kind.Kind, Namespaced: true}, nil
		},
		All: func(context.Context, string) ([]census.Resource, error) {
			return []census.Resource{{GroupVersionResource: jobs.GroupVersion().WithResource("children"), Kind: "Child", Namespaced: true}}, nil
		},
	}
}

// Each group gets its grade, whether candidates are read by a list or by name. Only the younger object
// of a pair is proposed, and only if the spec of their owner names the older one, and nothing names the younger one. An object that owns others isn't proposed, whatever types are searched.
func TestFind(t *testing.T) {
	for name, others := range map[string]int{"by a list": 0, "by names": 1500} {
		t.Run(name, func(t *testing.T) {
			shelf, want := filled()
			for i := range others {
				shelf.add("zzz-", "zzz-"+censustest.SuffixOf(i), int64(i)*1000, nil)
			}
			server := httptest.NewServer(shelf)
			defer server.Close()
			result, err := finderOf(server).Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, g := range result.Groups {
				text := fmt.Sprintf("%s %s", g.Grade, g.Reason)
				for _, o := range g.Objects {
					if o.Proposed {
						text += " " + o.Name
					}
				}
				got[g.Prefix] = text
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			var skipped []string
			for _, s := range result.Skipped {
				skipped = append(skipped, s.Message)
			}
			const invalid = "managedFields are invalid in crash0-ccccc, crash1-ccccc, crash2-ccccc, crash3-ccccc, crash4-ccccc and 1 more"
			if len(skipped) != 2 || !slices.Contains(skipped, invalid) || !strings.Contains(strings.Join(skipped, "\n"), "backups") {
				t.Errorf("skipped %+v", result.Skipped)
			}
		})
	}
}

// A cluster-scoped object isn't proposed if it owns an object in any namespace.
func TestFindClusterScoped(t *testing.T) {
	shelf := &shelf{}
	shelf.owned("free", 5, fields{"spec": named("free-bbbbb")})
	shelf.owned("parent", 5, fields{"spec": named("parent-bbbbb")})
	shelf.childOf(1)
	for _, o := range slices.Concat(shelf.jobs, shelf.owners) {
		delete(o["metadata"].(map[string]any), "namespace")
	}
	server := httptest.NewServer(shelf)
	defer server.Close()
	finder := finderOf(server)
	finder.Namespace, finder.Resources[0].Namespaced = "other", false
	finder.ResourceOf = func(kind schema.GroupVersionKind) (census.Resource, error) {
		return census.Resource{GroupVersionResource: kind.GroupVersion().WithResource("backups"), Kind: kind.Kind}, nil
	}
	result, err := finder.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range result.Groups {
		if got := g.Objects[1].Proposed; got != (g.Prefix == "free-") {
			t.Errorf("%s: proposed %t, because of %+v", g.Prefix, got, g.Objects[1].ReferredBy)
		}
	}
	if len(result.Groups) != 2 {
		t.Errorf("%d groups, want 2", len(result.Groups))
	}
}

// If the user can't list a type whose objects can run, or after lists of mixed states, no object is proposed.
func TestFindWithoutPermission(t *testing.T) {
	for resource, want := range map[string]int{"children": 0, "secrets": 1, "": 1, "mixed": 0} {
		shelf := &shelf{}
		shelf.owned("older", 5, fields{"spec": named("older-bbbbb")})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if resource == "mixed" && path.Base(r.URL.Path) == "children" && r.URL.Query().Get("continue") == "" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"kind":"List","items":[],"metadata":{"resourceVersion":"1","continue":"c","remainingItemCount":9}}`))
				return
			}
			if path.Base(r.URL.Path) == resource {
				http.Error(w, "", http.StatusForbidden)
				return
			}
			shelf.ServeHTTP(w, r)
		}))
		defer server.Close()
		finder := finderOf(server)
		all := finder.All
		finder.All = func(ctx context.Context, namespace string) ([]census.Resource, error) {
			types, err := all(ctx, namespace)
			secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
			return append(types, census.Resource{GroupVersionResource: secrets, Kind: "Secret", Namespaced: true}), err
		}
		result, err := finder.Find(t.Context())
		if err != nil || len(result.Groups) != 1 || result.Groups[0].Objects[1].Proposed != (want == 1) || (len(result.Unlisted) > 0) != (resource == "children") {
			t.Errorf("without %s: %+v, want %d proposed: %v", resource, result, want, err)
		}
	}
}

// Without permission to list Pods, no object is proposed.
func TestFindWithoutPods(t *testing.T) {
	shelf, _ := filled()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "pods" {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		shelf.ServeHTTP(w, r)
	}))
	defer server.Close()
	result, err := finderOf(server).Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range result.Groups {
		for _, o := range g.Objects {
			if o.Proposed || g.ReferencesRead {
				t.Errorf("%s: %s proposed %t, references read %t, want neither", g.Prefix, o.Name, o.Proposed, g.ReferencesRead)
			}
		}
	}
}
