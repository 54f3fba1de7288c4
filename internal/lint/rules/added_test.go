package rules

import (
	"fmt"
	"strings"
	"testing"
)

// A name of the maximum length is fine, and one more byte is an error. The object's own fields lower the maximum.
func TestLongestNameForOtherControllers(t *testing.T) {
	tasks := "spec: {tasks: [{name: master}, {name: worker-of-it}]}"
	workers := func(replicas int) string {
		return fmt.Sprintf("spec: {mpiReplicaSpecs: {Worker: {replicas: %d}}}", replicas)
	}
	for name, test := range map[string]struct {
		version, kind, spec string
		longest             int
	}{
		"RayCluster":                  {"ray.io/v1", "RayCluster", "spec: {}", 53},
		"RayJob":                      {"ray.io/v1", "RayJob", "spec: {}", 47},
		"RayService":                  {"ray.io/v1", "RayService", "spec: {}", 47},
		"SparkApplication":            {"sparkoperator.k8s.io/v1beta2", "SparkApplication", "spec: {}", 63},
		"Volcano Job":                 {"batch.volcano.sh/v1alpha1", "Job", tasks, 48},
		"Volcano Job, unnamed task":   {"batch.volcano.sh/v1alpha1", "Job", "spec: {tasks: [{replicas: 2}]}", 52},
		"MPIJob of the launcher only": {"kubeflow.org/v2beta1", "MPIJob", "spec: {}", 54},
		"MPIJob of 10 workers":        {"kubeflow.org/v2beta1", "MPIJob", workers(10), 54},
		"MPIJob of 11 workers":        {"kubeflow.org/v2beta1", "MPIJob", workers(11), 53},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(length int) string {
				return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n%s\n",
					test.version, test.kind, strings.Repeat("a", length), test.spec)
			}
			if found := check(t, childNames, object(test.longest), Tree{}); len(found) != 0 {
				t.Errorf("%d bytes: %+v", test.longest, found)
			}
			found := check(t, childNames, object(test.longest+1), Tree{})
			help := fmt.Sprintf("shorten the name to %d bytes", test.longest)
			if len(found) != 1 || found[0].Level != "error" || found[0].Help != help {
				t.Errorf("%d bytes: %+v, want %q", test.longest+1, found, help)
			}
		})
	}
}

// An MPIJob of the training operator has another controller, without the limit.
func TestOtherMPIJob(t *testing.T) {
	text := "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata:\n  name: " + strings.Repeat("a", 63) + "\n"
	if found := check(t, childNames, text, Tree{}); len(found) != 0 {
		t.Errorf("%+v, want no finding", found)
	}
}
