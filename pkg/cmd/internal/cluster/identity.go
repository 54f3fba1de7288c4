package cluster

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// identityTimeout bounds the requests of this file, which a report can do without.
const identityTimeout = 5 * time.Second

// UID returns the UID of the namespace kube-system, which no two clusters share, or
// nothing if it can't be read.
func (c *Cluster) UID(ctx context.Context) string {
	client, err := c.factory.KubernetesClientSet()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	namespace, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(namespace.UID)
}

// Skew is the least difference between the clocks of the server and of this computer that
// matters. The server's time comes in whole seconds, and after a round trip.
const Skew = 30 * time.Second

// Now returns the server's time, and how far the server's clock is ahead of this computer's. The time is zero if the
// server doesn't return it. By default, every user can create a SelfSubjectReview, which has the time and is not
// stored. The server sets the time just before it responds, so Now compares it with the time of the response.
func (c *Cluster) Now(ctx context.Context) (now time.Time, ahead time.Duration, err error) {
	client, err := c.factory.KubernetesClientSet()
	if err != nil {
		return time.Time{}, 0, err
	}
	review, err := client.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || review.CreationTimestamp.IsZero() {
		return time.Time{}, 0, err
	}
	now = review.CreationTimestamp.UTC()
	return now, time.Until(now).Round(time.Second), nil
}

// Ahead returns how far the server's clock is ahead of this computer's. The result is 0 if the difference is less
// than Skew, or if the server doesn't return its time.
func (c *Cluster) Ahead(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	_, ahead, err := c.Now(ctx)
	if err != nil || ahead.Abs() < Skew {
		return 0
	}
	return ahead
}

// ClockWarning returns the warning that the clocks of the server and of this computer differ.
func ClockWarning(difference time.Duration) string {
	return terminal.Warningf("this machine's clock differs from the server's by %s. "+
		"The command uses the server's clock.",
		difference.Abs())
}
