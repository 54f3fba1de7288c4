package main

import (
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The container gets the settings of the Deployment. A setting that the lab doesn't know is
// an error, not ignored.
func TestRunFlags(t *testing.T) {
	text, err := os.ReadFile("../../deploy/exporter/base/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(text, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	flags, err := runFlags(pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--user=65532:65532", "--read-only", "--security-opt=no-new-privileges", "--cap-drop=ALL",
		"--env=GOMEMLIMIT=200MiB", "--memory=268435456",
	} {
		if !slices.Contains(flags, want) {
			t.Errorf("no %s in %q", want, flags)
		}
	}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/genname"}}
	if _, err := runFlags(pod); err == nil {
		t.Error("a volume is ignored")
	}
}
