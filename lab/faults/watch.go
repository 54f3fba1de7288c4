package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// settles is the time in which a watch must become correct after the last change. settles is long because the watch
// lists types without prefixes only once a minute, and finds a restored etcd after two of its checks.
const settles = 5 * time.Minute

// Watch is a plugin that runs audit --watch.
type Watch struct {
	plugin    string
	arguments []string
	cmd       *exec.Cmd
	ended     chan error
	stderr    harness.Transcript

	mu   sync.Mutex // guards last
	last *v1alpha1.AuditReport
}

// StartWatch starts the plugin, which prints a report each second.
func StartWatch(ctx context.Context, plugin string, arguments ...string) (*Watch, error) {
	w := &Watch{plugin: plugin, arguments: append(arguments, "-o=json"), ended: make(chan error, 1)}
	w.cmd = exec.CommandContext(ctx, plugin, append([]string{"audit", "--watch", "--interval=1s"}, w.arguments...)...)
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.cmd.Stderr = &w.stderr
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := w.read(out)
		w.ended <- errors.Join(err, w.cmd.Wait())
	}()
	return w, nil
}

// read decodes the reports until the output ends.
func (w *Watch) read(from io.Reader) error {
	for d := json.NewDecoder(from); ; {
		report := &v1alpha1.AuditReport{}
		switch err := d.Decode(report); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			_, _ = io.Copy(io.Discard, from)
			return err
		}
		w.mu.Lock()
		w.last = report
		w.mu.Unlock()
	}
}

func (w *Watch) report() *v1alpha1.AuditReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

func (w *Watch) kill() { _ = w.cmd.Process.Kill() }

// Until waits for a complete report that passes check.
func (w *Watch) Until(ctx context.Context, check func(*v1alpha1.AuditReport) error) error {
	wrong := errors.New("no report")
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, settles, true, func(context.Context) (bool, error) {
		if r := w.report(); r != nil {
			wrong = fmt.Errorf("skipped %+v, inconsistent %v", r.Skipped, r.Summary.Inconsistent)
			if r.Complete && len(r.Summary.Inconsistent) == 0 {
				wrong = check(r)
			}
		}
		select {
		case err := <-w.ended:
			w.ended <- err
			if wrong != nil {
				return false, fmt.Errorf("it has ended: %w", err)
			}
		default:
		}
		return wrong == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w; it says: %s", err, wrong, &w.stderr)
	}
	return nil
}

// UntilFresh waits until the watch has the names of an audit that begins now. No objects may be created or deleted in
// this time.
func (w *Watch) UntilFresh(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, w.plugin, append([]string{"audit"}, w.arguments...)...).Output()
	if err != nil {
		return err
	}
	var fresh v1alpha1.AuditReport
	if err := json.Unmarshal(out, &fresh); err != nil {
		return err
	}
	want := namesOf(&fresh)
	return w.Until(ctx, func(r *v1alpha1.AuditReport) error {
		if got := namesOf(r); !maps.Equal(got, want) {
			return fmt.Errorf("names are %v, those of a new audit %v", got, want)
		}
		return nil
	})
}

// namesOf returns the names of a report. namesOf skips prefixes with fewer than shownFrom names. An audit does not
// show them, but a watch does if they had more names before.
func namesOf(r *v1alpha1.AuditReport) map[pool]int64 {
	counted := map[pool]int64{}
	for _, i := range r.Items {
		if i.Names >= shownFrom {
			counted[pool{i.Group, i.Resource, i.Namespace, i.Prefix}] = i.Names
		}
	}
	return counted
}

// End interrupts the watch, which must exit without an error, and returns the last report.
func (w *Watch) End() (*v1alpha1.AuditReport, error) {
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		return nil, err
	}
	if err := <-w.ended; err != nil {
		return nil, fmt.Errorf("%w: %s", err, &w.stderr)
	}
	return w.report(), nil
}

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

// asListed compares the rows of generateNames, and the number of objects, with a list. The fixed names of mixed are in
// the report, too, as a stem.
func asListed(report *v1alpha1.AuditReport, objects []corev1.ConfigMap) error {
	want, got := map[string]int64{}, map[string]int64{}
	for _, object := range objects {
		if object.GenerateName != "" && derive.GeneratedFrom(object.Name, object.GenerateName) {
			want[object.Namespace+"/"+object.GenerateName]++
		}
	}
	for _, item := range report.Items {
		if item.Naming == v1alpha1.NamingGenerateName {
			got[item.Namespace+"/"+item.Prefix] = item.Names
		}
	}
	if !maps.Equal(want, got) || report.Summary.Objects != int64(len(objects)) {
		return fmt.Errorf("the audit counts %v of %d objects, a list %v of %d", got, report.Summary.Objects, want, len(objects))
	}
	return nil
}
