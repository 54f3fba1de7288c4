package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Audit runs the plugin's audit of all ConfigMaps with these flags, and compares the counts with an earlier list
// without faults. Audit fails if the counts differ. An incomplete report is returned without a comparison and without
// an error.
func Audit(ctx context.Context, plugin string, server kubernetes.Interface, flags ...string) (*v1alpha1.AuditReport, error) {
	list, err := server.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, plugin, append([]string{"audit", "configmaps", "-A", "--min-count=0", "-o", "json"}, flags...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	code := cmd.ProcessState.ExitCode()
	var report v1alpha1.AuditReport
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		return nil, fmt.Errorf("an audit with exit code %d and no report: %w: %s", code, err, &stderr)
	}
	if (code == 0) != report.Complete || report.Complete == (len(report.Skipped) > 0) {
		return nil, fmt.Errorf("an audit with exit code %d, complete: %v, skipped: %+v: %s", code, report.Complete, report.Skipped, &stderr)
	}
	if !report.Complete {
		return &report, nil
	}
	return &report, asListed(&report, list.Items)
}

// asListed compares a report with the objects of a list.
func asListed(report *v1alpha1.AuditReport, objects []corev1.ConfigMap) error {
	want, got := map[string]int64{}, map[string]int64{}
	for _, object := range objects {
		if object.GenerateName != "" && derive.GeneratedFrom(object.Name, object.GenerateName) {
			want[object.Namespace+"/"+object.GenerateName]++
		}
	}
	for _, item := range report.Items {
		got[item.Namespace+"/"+item.Prefix] = item.Names
	}
	if !maps.Equal(want, got) || report.Summary.Objects != int64(len(objects)) {
		return fmt.Errorf("the audit counts %v of %d objects, a list %v of %d", got, report.Summary.Objects, want, len(objects))
	}
	return nil
}
