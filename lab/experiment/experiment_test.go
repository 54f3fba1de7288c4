// Package experiment compares failures on a real kube-apiserver, whose prefixes have 729 names, with the model of
// pkg/analyze. README.md has a larger measurement.
package experiment

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	poolSize = int64(27 * 27)
	prefixes = 4
	// tail bounds false alarms. If the model is right, the number of failures lies in a tail of this probability, on
	// either side. With two numbers and two sides, fewer than one run in two million fails by chance.
	tail = 1e-7
)

// failures are the creates that fail with a number of existing names. creates is the number for all prefixes.
type failures struct {
	attempts, existing, creates int
	options                     []controlplane.Option
}

var measured = []failures{
	{1, 182, 500, []controlplane.Option{controlplane.WithoutServerRetries}},
	{8, 569, 6000, nil}, // at about this number of names, one attempt more or less has the clearest effect
}

// Real servers, with and without retries, have as many failures as the model predicts. (KEP-4420 calls this not
// testable end to end.)
func TestServersFollowTheModel(t *testing.T) {
	for _, f := range measured {
		cp := controlplane.New(t, append(f.options, controlplane.SuffixLength(2))...)
		secrets := harness.Clientset(t, cp).CoreV1().Secrets(harness.Namespace(t, cp))
		var failed atomic.Int64
		var group errgroup.Group
		for i := range prefixes {
			group.Go(func() error { return f.under(t.Context(), secrets, fmt.Sprintf("rate-%d-", i), &failed) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		low, high := f.bounds()
		t.Logf("%d attempts: %d failures, bounds %d and %d", f.attempts, failed.Load(), low, high)
		if n := int(failed.Load()); n < low || n > high {
			t.Errorf("%d attempts: %d failures, want %d to %d", f.attempts, n, low, high)
		}
	}
}

// under creates objects under a prefix, one after the other. under deletes each before the next create, so that all
// creates have the same chance. The model does not depend on which names exist.
func (f failures) under(ctx context.Context, secrets typedcorev1.SecretInterface, prefix string, failed *atomic.Int64) error {
	for i := range f.existing {
		name := prefix + string([]byte{names.Alphabet[i/27], names.Alphabet[i%27]})
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := secrets.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for range f.creates / prefixes {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
		created, err := secrets.Create(ctx, object, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err):
			failed.Add(1)
			continue
		case err == nil:
			err = secrets.Delete(ctx, created.Name, metav1.DeleteOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// probability returns the probability of each number of failures.
func (f failures) probability() []float64 {
	m, err := analyze.NewModel(poolSize, f.attempts)
	if err != nil {
		panic(err) // the arguments are constants
	}
	p := m.NextFails(int64(f.existing))
	lnFactorial := func(n int) float64 {
		ln, _ := math.Lgamma(float64(n + 1))
		return ln
	}
	d, n := make([]float64, f.creates+1), f.creates
	for i := range d {
		d[i] = math.Exp(lnFactorial(n) - lnFactorial(i) - lnFactorial(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return d
}

// bounds returns the narrowest range of failures. The probability of fewer failures, and of more, is at most tail each.
func (f failures) bounds() (low, high int) {
	d := f.probability()
	high = len(d) - 1
	for below := d[0]; below <= tail; below += d[low] {
		low++
	}
	for above := d[high]; above <= tail; above += d[high] {
		high--
	}
	return low, high
}
