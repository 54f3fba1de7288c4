package prune

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// saver returns a Saver for a new directory.
func saver(t *testing.T) *Saver {
	t.Helper()
	s, err := NewSaver(t.TempDir())
	if err != nil || s.Try() != nil {
		t.Fatal(err, s.Try())
	}
	return s
}

// Prune reads and saves an object before its DELETE. The DELETE's precondition is the resourceVersion of the saved
// object. After a conflict, prune reads and saves the object again.
func TestSaveBeforeEachDelete(t *testing.T) {
	server := &responses{of: map[string]handlers{"GET": versions(3), "DELETE": {conflict, nil, success}}}
	d := newDeleter(t, server)
	d.saver = saver(t)
	if got := d.delete(t.Context(), listed()); got.Outcome != Deleted || !got.Saved {
		t.Fatalf("%s, saved %t, want %s and true: %v", got.Outcome, got.Saved, Deleted, got.Err)
	}
	if got := strings.Join(server.requests, " "); got != "GET DELETE GET DELETE GET DELETE" {
		t.Errorf("the requests are %s", got)
	}
	for i, body := range server.bodies {
		if want := fmt.Sprintf(`"resourceVersion":"%d"`, 100+i); !strings.Contains(body, want) {
			t.Errorf("DELETE %d has no %s: %s", i, want, body)
		}
	}
	files, err := os.ReadDir(d.saver.dir)
	if err != nil || len(files) != 1 || files[0].Name() != "roles_ns_run-bbbbb_u1.yaml" {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(filepath.Join(d.saver.dir, files[0].Name()))
	info, _ := files[0].Info()
	if err != nil || !strings.Contains(string(text), `resourceVersion: "102"`) || info.Mode() != 0o600 {
		t.Errorf("mode %s, %s, want -rw------- and resourceVersion 102: %v", info.Mode(), text, err)
	}
}

// After an interrupt, prune doesn't delete an object that it has already saved. The next run replaces the file.
func TestInterruptAfterSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		saved := saver(t)
		for i, want := range []Outcome{NotTried, Deleted} {
			found := versions(2)[i]
			server := &responses{of: map[string]handlers{"DELETE": {success}, "GET": {func(w http.ResponseWriter) {
				if want == NotTried {
					interrupt()
				}
				found(w)
			}}}}
			d := newDeleter(t, server)
			d.saver = saved
			if got := d.delete(ctx, listed()); got.Outcome != want || !got.Saved {
				t.Errorf("%d: %s, saved %t, want %s and true: %v", i, got.Outcome, got.Saved, want, got.Err)
			}
			files, err := os.ReadDir(saved.dir)
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			text, err := os.ReadFile(filepath.Join(saved.dir, files[0].Name()))
			if want := fmt.Sprintf(`resourceVersion: "%d"`, 100+i); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("the file has no %s: %s %v", want, text, err)
			}
			ctx, interrupt = context.WithCancel(t.Context())
		}
		interrupt()
	})
}

// Prune doesn't delete an object that it can't save.
func TestNothingIsDeletedUnsaved(t *testing.T) {
	missing := saver(t)
	if err := os.Remove(missing.dir); err != nil {
		t.Fatal(err)
	}
	blocked := saver(t) // the file can't be replaced by a rename
	if err := os.Mkdir(filepath.Join(blocked.dir, "roles_ns_run-bbbbb_u1.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := listed()
	path.UID = "../u1"
	odd := listed()
	odd.Pool.Resource = workflows // a custom resource can have any content
	for name, test := range map[string]struct {
		saver   *Saver
		object  Object
		get     func(http.ResponseWriter)
		outcome Outcome
	}{
		"the directory is removed":    {missing, listed(), exists, Failed},
		"its spec is no object":       {saver(t), odd, respond(200, strings.Replace(existsText, `"metadata"`, `"status":{"phase":"Failed"},"spec":"text","metadata"`, 1)), Failed},
		"the file can't be written":   {blocked, listed(), exists, Failed},
		"the UID is a path":           {saver(t), path, respond(200, strings.ReplaceAll(existsText, `"u1"`, `"../u1"`)), Failed},
		"the object can't be read":    {saver(t), listed(), forbidden, Failed},
		"another client deleted it":   {saver(t), listed(), absent, LeftAlone},
		"another object has its name": {saver(t), listed(), replaced, LeftAlone},
	} {
		server := &responses{of: map[string]handlers{"GET": {test.get}, "DELETE": {success}}}
		d := newDeleter(t, server)
		d.saver = test.saver
		got := d.delete(t.Context(), test.object)
		if got.Outcome != test.outcome || got.Saved || strings.Join(server.requests, " ") != "GET" {
			t.Errorf("%s: %+v after %v", name, got, server.requests)
		}
	}
	if left, err := os.ReadDir(blocked.dir); err != nil || len(left) != 1 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

const existsText = `{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","resourceVersion":"8","creationTimestamp":"2026-11-22T10:00:00Z"}}`

// Each name gives one file in the directory, whatever characters the name has. Names that aren't generated can have 253
// characters. File systems often permit at most 255 bytes.
func TestFileName(t *testing.T) {
	pool := &Pool{Resource: configMaps}
	for name, want := range map[string]string{
		"../a:b/..\x00": "configmaps_.._a_b_..__u1.yaml",
		"CON":           "configmaps_CON_u1.yaml",
		strings.Repeat("ä", 250) + "-2026-11-28": "configmaps_" + strings.Repeat("_", 63) + "_u1.yaml",
	} {
		if got, err := fileName(Object{Pool: pool, Name: name, UID: "u1"}); err != nil || got != want {
			t.Errorf("%q: %s, want %s, %v", name, got, want, err)
		}
	}
	longest := Object{Pool: &Pool{Resource: typeOf("", "", strings.Repeat("r", 63)), Namespace: strings.Repeat("n", 63)}}
	longest.Name, longest.UID = strings.Repeat("x", 253), strings.Repeat("u", 36)
	if err := saver(t).save(longest, []byte(existsText)); err != nil {
		t.Error(err)
	}
}

// The comment in a file describes the effect of a restore. Workflows have no status subresource, so a restored Workflow
// keeps its status. A finished Workflow doesn't start again.
func TestCommentOfASavedRun(t *testing.T) {
	for kind, want := range map[schema.GroupKind]string{
		{Group: "batch", Kind: "Job"}: `# Restoring this Job starts it again.
# It is saved with suspend: true, so it starts when you set suspend: false.
`,
		{Kind: "Pod"}: `# Restoring this Pod starts it again.
`,
		{Group: "argoproj.io", Kind: "Workflow"}: `# Restoring this Workflow keeps its status. If it has finished, it does not start again.
# It is saved with suspend: true.
`,
		{Kind: "ConfigMap"}: ``,
	} {
		text, err := restorable(kind, []byte(`{"apiVersion":"v1","status":{"phase":"Succeeded"}}`))
		_, rest, _ := strings.Cut(string(text), "with this file.\n")
		comment, object, _ := strings.Cut(rest, "apiVersion:")
		if err != nil || comment != want || !strings.Contains(object, "status:\n  phase: Succeeded\n") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
}

// The server refuses to create a Pod with containers of kubectl debug.
func TestSavedPodWasDebugged(t *testing.T) {
	raw := []byte(`{"kind":"Pod","spec":{"containers":[{"name":"c"}],"ephemeralContainers":[{"name":"d"}]}}`)
	text, err := restorable(schema.GroupKind{Kind: "Pod"}, raw)
	if _, object, _ := strings.Cut(string(text), "kind:"); err != nil || object != " Pod\nspec:\n  containers:\n  - name: c\n" {
		t.Errorf("%v\n%s", err, text)
	}
}

// Any object that is read from its file has the same content.
func TestSavedContentIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := rapid.MapOf(rapid.String(), rapid.String()).Draw(rt, "data")
		object := map[string]any{
			"kind": "ConfigMap", "data": data, "int": rapid.Int64().Draw(rt, "int"), "float": rapid.Float64().Draw(rt, "float"), "null": nil,
		}
		raw, err := json.Marshal(object)
		if err != nil {
			rt.Fatal(err)
		}
		text, err := restorable(schema.GroupKind{Kind: "ConfigMap"}, raw)
		if _, merges := data["<<"]; merges && err != nil {
			return // YAML gives this key a meaning, so the object is neither saved nor deleted
		}
		if err != nil {
			rt.Fatal(err)
		}
		var want, got map[string]any
		again, err := yaml.YAMLToJSON(text)
		if err != nil || json.Unmarshal(again, &got) != nil || json.Unmarshal(raw, &want) != nil {
			rt.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}
