package manifest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	aDocument = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	aJSON     = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}`
	after     = "kubectl ignores the text from here on. Write --- on a line before it."
)

// Text that is not created is a warning with its place, once for each file.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"end.yaml": aDocument + "...\n" + aDocument, "latin.yaml": aDocument + "data: {a: \"\xff\"}\n",
		"json.yaml": aJSON + "\n---\n" + aJSON + "\n" + aJSON + "\n", "flow.yaml": strings.Repeat(strings.ReplaceAll(aJSON, `"`, "")+"\n", 2),
		"forgot.yaml": "---\n" + aDocument + "---\n" + aDocument + "# b\n" + aDocument,
		"lines.json":  aJSON + "\n" + aJSON + "\n", "fine.yaml": aDocument + "...\n---\n" + aDocument,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	texts := &Texts{Warn: func(text string) { got = append(got, text) }}
	in := strings.NewReader(aDocument + "---\n" + aJSON + "\n{\"kind\": \"lost\"}\n")
	builder := resource.NewLocalBuilder().WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...).ContinueOnError()
	builder, err := texts.FilenameParam(t.Context(), builder, in, &resource.FilenameOptions{Filenames: []string{"end.yaml", "-", "latin.yaml", "json.yaml", "flow.yaml", "forgot.yaml", "lines.json", "fine.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	err = builder.Local().Flatten().Do().Visit(func(info *resource.Info, err error) error {
		documents++
		texts.Read(info.Source)
		return err
	})
	texts.Read("")
	want := []string{
		"end.yaml:5: " + after, "STDIN:6: " + after, "latin.yaml:4: a byte that isn't UTF-8, which kubectl replaces by U+FFFD.",
		"json.yaml:4: " + after, "flow.yaml:2: " + after,
		"forgot.yaml:10: a second apiVersion, so kubectl ignores the first object. Write --- between the two.",
	}
	if err != nil || documents != 13 || !slices.Equal(got, want) {
		t.Errorf("%d documents, %v, %q, want %q", documents, err, got, want)
	}
}

// A long text of stdin is not kept, and causes no warning.
func TestLongStdin(t *testing.T) {
	texts := &Texts{Warn: func(text string) { t.Error(text) }}
	long := strings.NewReader("...\na\n" + strings.Repeat("x", maxText))
	if n, err := io.Copy(texts, long); n != long.Size() || err != nil || texts.stdin.Len() != maxText+1 {
		t.Errorf("%d bytes, %v, %d are kept", n, err, texts.stdin.Len())
	}
	texts.Read(stdin)
	texts.Read("")
}

// If a URL returns a web page, the error names the page.
func TestPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "\n<!DOCTYPE html><html>"+r.URL.Path)
	}))
	defer server.Close()
	url := server.URL + "/job.yaml"
	err := errors.New("error parsing " + url + ": yaml: line 2")
	texts := &Texts{}
	if got := texts.Explain(t.Context(), err, []string{"job.yaml", url}).Error(); got != err.Error()+"\n"+url+" is an HTML page, not a manifest" {
		t.Errorf("%v, want that %s is an HTML page", got, url)
	}
	server.Close()
	if got := texts.Explain(t.Context(), err, []string{url}); !errors.Is(got, err) || got.Error() != err.Error() {
		t.Errorf("%v, want %v", got, err)
	}
}
