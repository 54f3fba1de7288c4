package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const root = "../../"

// The container gets the settings of the Deployment. A setting that the lab doesn't know is
// an error, not ignored.
func TestRunFlags(t *testing.T) {
	text, err := os.ReadFile(root + "deploy/exporter/base/deployment.yaml")
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

// The guide has the commands of a leak, and the one that deletes the objects.
func TestGuideCommands(t *testing.T) {
	commands, err := guideCommands(root + guidePage)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(commands[0], "kubectl create ") || !strings.HasPrefix(strings.TrimSpace(commands[1]), "kubectl genname prune ") {
		t.Errorf("%q", commands)
	}
}

// A trial fails if an alert is missing, late, or fires for an incident that has none.
func TestCompareAlerts(t *testing.T) {
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	trial := &trial{began: began, stoppedAt: began.Add(20 * time.Minute), incidents: []incident{
		{namespace: "leak", title: "leak", fires: growsFast, within: 5 * time.Minute},
		{namespace: "burst", title: "burst"},
		{title: "server", fires: behind, within: 6 * time.Minute},
	}}
	fired := func(changes ...func(map[alert]time.Time)) map[alert]time.Time {
		all := map[alert]time.Time{
			{growsFast, "leak"}: began.Add(4 * time.Minute), {behind, ""}: began.Add(25 * time.Minute),
		}
		for _, change := range changes {
			change(all)
		}
		return all
	}
	for name, test := range map[string]struct {
		fired map[alert]time.Time
		want  string
	}{
		"all": {fired(), ""},
		"missing": {
			fired(func(all map[alert]time.Time) { delete(all, alert{growsFast, "leak"}) }), "leak: GeneratedNamesGrowFast did not fire",
		},
		"late": {
			fired(func(all map[alert]time.Time) { all[alert{behind, ""}] = began.Add(27 * time.Minute) }), "server: GeneratedNameWatchBehind fired after 7m0s",
		},
		"too many": {
			fired(func(all map[alert]time.Time) { all[alert{growsFast, "burst"}] = began.Add(3 * time.Minute) }),
			`GeneratedNamesGrowFast fired in namespace "burst" after 3m0s`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := trial.compareAlerts(test.fired)
			if got := ""; err != nil {
				if got = err.Error(); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
			} else if test.want != "" || !strings.Contains(table, "| leak | `GeneratedNamesGrowFast` | 240 s | 300 s |") {
				t.Errorf("no error %q, and the table is\n%s", test.want, table)
			}
		})
	}
}
