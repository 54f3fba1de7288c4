package wrap

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/intercept"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// newRun returns the run of the idempotency key, or nil without a key.
func (o *options) newRun(foreign *connection.Foreign) (*keyed.Run, error) {
	if o.keys.Key == "" {
		return nil, nil
	}
	config := rest.CopyConfig(foreign.Limited)
	config.QPS = -1
	transport, err := intercept.Client(config)
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfigAndClient(config, transport)
	if err != nil {
		return nil, err
	}
	find := func(
		ctx context.Context, resource schema.GroupVersionResource, namespace string,
	) ([]idempotency.Existing, error) {
		return o.keys.Key.Find(ctx, client, resource, namespace, time.Duration(o.retryTimeout))
	}
	return keyed.New(o.keys.Key, o.keys.Secrets, find), nil
}

// named limits the lines about objects of the key.
const named = 10

// leftOver returns the lines about objects of the key that the program didn't create in this run.
func leftOver(run *keyed.Run) (lines []string) {
	if run == nil {
		return nil
	}
	unmatched := run.Unmatched()
	if n := len(unmatched); n > 0 {
		lines = append(lines, terminal.Warningf("wrap: the program did not create %s of the key again. To check:",
			humanize.Count(n, "object")))
	}
	for _, each := range unmatched[:min(named, len(unmatched))] {
		lines = append(lines, terminal.Sprintf("  kubectl get %s", each.Argument()))
	}
	if more := len(unmatched) - named; more > 0 {
		lines = append(lines, fmt.Sprintf("  (%d more)", more))
	}
	if others := run.Others(); len(others) > 0 {
		lines = append(lines, terminal.Warningf("the run ignores %s with its label, like %s. Another user created the "+
			"object, or "+run.WhyIgnored(), humanize.Count(len(others), "object"), others[0]))
	}
	return lines
}
