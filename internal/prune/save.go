package prune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	decodejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
)

// Saver writes objects into files of one directory. kubectl create can restore the objects from these files. Saver is
// safe for concurrent use.
type Saver struct{ dir string }

// NewSaver returns a Saver that writes into an existing directory.
func NewSaver(dir string) (*Saver, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	return &Saver{dir: dir}, err
}

// Try returns an error if the Saver can't write files.
func (s *Saver) Try() error {
	file, err := os.CreateTemp(s.dir, ".genname-*.part")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// save writes an object into a file, and syncs the file to the disk. save overwrites the object's file from an
// interrupted run. File names contain the UID, so two objects never share a file.
func (s *Saver) save(o Object, raw []byte) error {
	name, err := fileName(o)
	if err != nil {
		return err
	}
	text, err := restorable(schema.GroupKind{Group: o.Pool.Resource.Group, Kind: o.Pool.Resource.Kind}, raw)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(s.dir, name+".*.part") // its mode is 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(s.dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	return s.sync()
}

// sync writes the directory to the disk, so that a new file name survives a power failure.
func (s *Saver) sync() error {
	if runtime.GOOS == "windows" { // it has no such request for directories
		return nil
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

var (
	// noYAML matches characters that JSON permits and YAML doesn't. JSONToYAML reads the JSON as YAML.
	noYAML          = regexp.MustCompile(`[\x7f-\x9f\x{feff}\x{fffe}\x{ffff}]`)
	unsafeCharacter = regexp.MustCompile(`[^A-Za-z0-9.-]`)
	// uids matches the UIDs of Kubernetes. Another server could send a file path as a UID.
	uids = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
)

// maxPart is the length of the longest generated name. fileName truncates longer names to it, but not the UID. So a
// file name has at most 233 characters.
const maxPart = 63

// fileName returns the name of an object's file.
func fileName(o Object) (string, error) {
	if !uids.MatchString(o.UID) {
		return "", fmt.Errorf("the UID %q can't be part of a file name", o.UID)
	}
	name := o.Pool.Resource.Resource
	for _, part := range []string{o.Pool.Namespace, o.Name} {
		if part = unsafeCharacter.ReplaceAllString(part, "_"); part != "" {
			name += "_" + part[:min(len(part), maxPart)]
		}
	}
	return name + "_" + o.UID + ".yaml", nil
}

// restorable returns an object as YAML that kubectl create accepts. It checks that the YAML has the content of raw.
func restorable(kind schema.GroupKind, raw []byte) ([]byte, error) {
	object := &unstructured.Unstructured{}
	if err := decodejson.Unmarshal(raw, &object.Object); err != nil {
		return nil, err
	}
	if path := finished.SuspendField(kind); path != nil {
		if err := unstructured.SetNestedField(object.Object, true, path...); err != nil {
			return nil, err
		}
	}
	switch kind {
	case schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}:
		forgetUID(object)
	case schema.GroupKind{Kind: "Pod"}: // the server creates no Pod with containers of kubectl debug
		unstructured.RemoveNestedField(object.Object, "spec", "ephemeralContainers")
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	made, err := yaml.JSONToYAML(noYAML.ReplaceAllFunc(text, func(character []byte) []byte {
		at, _ := utf8.DecodeRune(character)
		return fmt.Appendf(nil, `\u%04x`, at)
	}))
	if err != nil {
		return nil, err
	}
	again, err := yaml.YAMLToJSON(made)
	if err != nil || !bytes.Equal(again, text) {
		return nil, errors.Join(errors.New("the object can't be written as YAML"), err)
	}
	return append([]byte(comment(kind)), made...), nil
}

// comment returns the comment at the beginning of a file, which explains the effect of a restore. The server drops the
// status of a new object. A Workflow keeps its status, because its type has no status subresource.
func comment(kind schema.GroupKind) string {
	text := "# Saved by kubectl genname prune. To restore the object, run kubectl create -f with this file.\n"
	switch {
	case kind == (schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}):
		return text + "# Restoring this Workflow keeps its status. If it has finished, it does not start again.\n" +
			"# It is saved with suspend: true.\n"
	case finished.Knows(kind):
		text += fmt.Sprintf("# Restoring this %s starts it again.\n", kind.Kind)
	}
	if finished.SuspendField(kind) != nil {
		text += "# It is saved with suspend: true, so it starts when you set suspend: false.\n"
	}
	return text
}

// forgetUID removes the selector and the labels that the server derived from a Job's UID and name. The server refuses a
// new Job with labels for another UID. If they are missing, the server adds new ones.
func forgetUID(job *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(job.Object, "spec", "selector")
	for _, label := range []string{
		batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name", // the last two are older
	} {
		unstructured.RemoveNestedField(job.Object, "metadata", "labels", label)
		unstructured.RemoveNestedField(job.Object, "spec", "template", "metadata", "labels", label)
	}
}
