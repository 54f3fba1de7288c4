package docs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// No two examples define the same object. Otherwise, applying the second one would undo the permissions of the first
// one.
func TestExamplesDoNotOverwriteEachOther(t *testing.T) {
	definedIn := map[string]string{}
	err := filepath.WalkDir(root+"examples", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		for _, o := range objects(t, path) {
			if o.Name == "" { // generated, so each object gets another name
				continue
			}
			id := strings.Join([]string{o.APIVersion, o.Kind, o.Namespace, o.Name}, " ")
			if other, defined := definedIn[id]; defined {
				t.Errorf("%s and %s both define %s", other, path, id)
			}
			definedIn[id] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(definedIn) < 5 {
		t.Errorf("the examples define only %v", definedIn)
	}
}

// objects returns the documents of a file.
func objects(t *testing.T, path string) []metav1.PartialObjectMetadata {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var objects []metav1.PartialObjectMetadata
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var object metav1.PartialObjectMetadata
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, object)
	}
}

// public are the images of the examples. Every cluster with access to the internet can pull them.
var public = []string{"busybox:1.37"}

// A reader can run the examples as they are.
func TestImagesOfExamplesArePublic(t *testing.T) {
	image := regexp.MustCompile(`image: *"?([^\s",}]+)`)
	found := 0
	for _, path := range glob(t, "examples/*.yaml", "examples/*/*.yaml", "examples/*/*/*.yaml") {
		for _, match := range image.FindAllStringSubmatch(read(t, path), -1) {
			if found++; !slices.Contains(public, match[1]) {
				t.Errorf("%s: a cluster can't pull %s. The public images are %q", path, match[1], public)
			}
		}
	}
	if found < 4 {
		t.Errorf("the examples have %d images", found)
	}
}
