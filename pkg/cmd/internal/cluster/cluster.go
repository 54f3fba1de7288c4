// Package cluster owns the cluster whose names audit and report count: its resource types, and the attempts per
// create. The package never counts, and draws no conclusion.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Cluster is a cluster whose names are counted, and the attempts of its server.
type Cluster struct {
	Config *rest.Config // configuration of lists

	factory    cmdutil.Factory
	server     *serverinfo.Server
	flag       *flagvalue.Attempts
	serverWait ServerWait
}

// near is the longest round trip to a server that counts as near, on a fast network. There compression costs more time
// than it saves, and it costs kube-apiserver more than encoding the list does.
const near = 5 * time.Millisecond

// New gets the server's version. New gets the server's attempts in the background, because they are needed last,
// unless the flag sets them. A nil flag means that nothing depends on the attempts. New waits for an unreachable
// server.
func New(
	ctx context.Context, factory cmdutil.Factory, flag *flagvalue.Attempts, wait ServerWait,
) (*Cluster, error) {
	config, err := factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	if isDefaultServer(config.Host) {
		wait.For = 0
	}
	c := &Cluster{Config: rest.CopyConfig(config), factory: factory, flag: flag, serverWait: wait}
	if err := c.Await(ctx, func() (err error) {
		c.server, err = serverinfo.Get(ctx, config)
		return err
	}); err != nil {
		return nil, err
	}
	c.Config.DisableCompression = c.Config.DisableCompression || c.server.RoundTrip < near
	if flag != nil && !flag.Given() {
		go c.server.Retries()
	}
	return c, nil
}

// GitVersion returns the version of the server.
func (c *Cluster) GitVersion() string { return c.server.Version().GitVersion }

// EmulatedVersion returns the version that decides how the server serves lists. The result is the emulated version if
// the server reports one, and otherwise the server's own version.
func (c *Cluster) EmulatedVersion() string {
	if v := c.server.Version(); v.EmulationMajor != "" && v.EmulationMinor != "" {
		return v.EmulationMajor + "." + v.EmulationMinor
	}
	return c.GitVersion()
}

// Retries returns the attempts that the server itself makes.
func (c *Cluster) Retries() v1alpha1.Retries {
	if c.flag.Given() {
		return c.flag.Retries()
	}
	return c.server.Retries()
}

// RetriesOf returns the attempts that the server of one API makes.
func (c *Cluster) RetriesOf(api schema.GroupVersion) (retries v1alpha1.Retries, note string) {
	if c.flag.Given() {
		return c.flag.Retries(), ""
	}
	return c.server.RetriesOf(api)
}

// Resources returns the named resource types, or all types of the server. If a namespace is counted, it omits
// cluster-scoped types. Resources waits for the server.
func (c *Cluster) Resources(
	ctx context.Context, named []string, namespace string,
) (found []census.Resource, skipped []census.Skipped, err error) {
	if len(named) == 0 {
		c.Config = withoutWarnings(c.Config) // all types are counted, also deprecated ones
	}
	err = c.Await(ctx, func() error {
		found, skipped, err = c.resources(ctx, named, namespace)
		return err
	})
	return found, skipped, err
}

// resources returns the resource types that the server has now.
func (c *Cluster) resources(
	ctx context.Context, named []string, namespace string,
) ([]census.Resource, []census.Skipped, error) {
	if len(named) > 0 {
		mapper, err := c.factory.ToRESTMapper()
		if err != nil {
			return nil, nil, err
		}
		return census.Resolve(mapper, named)
	}
	// kubectl's cache isn't used, because it can lack a new type.
	client, err := discovery.NewDiscoveryClientForConfig(withoutWarnings(c.Config))
	if err != nil {
		return nil, nil, err
	}
	found, skipped, err := census.Discover(ctx, client)
	if err != nil {
		return nil, nil, err
	}
	skipped = c.withUnavailable(skipped)
	outside := func(r census.Resource) bool { return namespace != "" && !r.Namespaced }
	return slices.DeleteFunc(found, outside), skipped, nil
}

// withoutWarnings returns a copy of a configuration, without warnings of the server.
func withoutWarnings(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// suggestTime limits the requests for a suggestion.
const suggestTime = 5 * time.Second

// Suggest adds the most similar type to an error of Resources about an unknown type, or the reason why its API can't be
// discovered.
func (c *Cluster) Suggest(ctx context.Context, err error) error {
	var unknown census.NoSuchType
	if !errors.As(err, &unknown) || strings.HasSuffix(unknown.Resource, "-") { // then it is a prefix
		return err
	}
	client, failure := c.factory.ToDiscoveryClient()
	if failure != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	// Without types, there is no suggestion.
	found, skipped, _ := census.Discover(ctx, discovery.ToDiscoveryInterfaceWithContext(client))
	return unknown.Explain(found, c.withUnavailable(skipped))
}

// CheckNamespace returns an error unless the namespace exists. known is false if the user has no permission to read
// the namespace.
func (c *Cluster) CheckNamespace(ctx context.Context, name string) (known bool, err error) {
	client, err := c.factory.KubernetesClientSet()
	if err != nil {
		return false, err
	}
	err = c.Await(ctx, func() error {
		_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsForbidden(err):
		return false, nil
	case !apierrors.IsNotFound(err):
		return true, err
	}
	return true, SuggestNamespace(ctx, client, name, err)
}

// SuggestNamespace adds the most similar namespace to an error about a missing one. Without a list there is no
// suggestion.
func SuggestNamespace(ctx context.Context, client kubernetes.Interface, missing string, err error) error {
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	list, failure := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: maxNamespaces})
	if failure != nil {
		return err
	}
	var others []string
	for _, namespace := range list.Items {
		others = append(others, namespace.Name)
	}
	return apistatus.Explain(err, humanize.DidYouMean("", missing, others))
}

// maxNamespaces limits the namespaces that are compared with a misspelled one.
const maxNamespaces = 2_000

// NamespaceWarning returns a warning if a namespace in which nothing was found doesn't exist.
func (c *Cluster) NamespaceWarning(ctx context.Context, name string) []string {
	if _, err := c.CheckNamespace(ctx, name); apierrors.IsNotFound(err) {
		return []string{terminal.Warningf("%v", err)}
	}
	return nil
}

// askEvery is the interval at which a long-running command asks for the attempts again. The server can get another
// version, or other feature gates.
const askEvery = 10 * time.Minute

// RefreshRetries asks the server from time to time how many names it tries per create, until ctx is done. Other methods
// can run at the same time.
func (c *Cluster) RefreshRetries(ctx context.Context) {
	for !c.flag.Given() && apistatus.Sleep(ctx, askEvery) == nil {
		c.server.RefreshRetries(ctx)
		c.server.RefreshAPIServices(ctx)
	}
}

// withUnavailable adds the groups of unreachable servers to the types that discovery has skipped, and the reasons. If
// the groups can't be listed, it adds one item for all of them.
func (c *Cluster) withUnavailable(skipped []census.Skipped) []census.Skipped {
	if err := c.server.APIServicesError(); err != nil {
		skipped = append(skipped, census.Skipped{
			Group: "apiregistration.k8s.io", Reason: census.Unreachable,
			Message: fmt.Sprintf("can't find out which APIs other servers serve: %v", err),
		})
	}
	for _, u := range c.server.Unavailable() {
		message := fmt.Sprintf("discover %s: the server behind this API is unavailable: %s", u.API, u.Message)
		isGroup := func(s census.Skipped) bool { return s.Group == u.API.Group && s.Resource == "" }
		if at := slices.IndexFunc(skipped, isGroup); at >= 0 {
			skipped[at].Message = message
			continue
		}
		skipped = append(skipped, census.Skipped{Group: u.API.Group, Reason: census.Unreachable, Message: message})
	}
	return skipped
}

// ShowScan returns a function that prints the progress of a scan.
func ShowScan(stderr *terminal.Stderr) func(census.Progress) {
	return func(at census.Progress) {
		types, objects := humanize.Count(at.Types, "type"), humanize.Count(at.Objects, "object")
		if at.Objects == 0 {
			stderr.SetText(fmt.Sprintf("%d of %s, %s", at.Done, types, objects))
			return
		}
		stderr.SetText(fmt.Sprintf("%d of %s, %s: %s", at.Done, types, objects, at.Current.GroupResource()))
	}
}

// identityTimeout limits requests for the identity of a cluster. A report is possible without the identity.
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

// MinClockSkew is the least difference between the clocks of the server and of this computer that matters. A smaller
// difference can be an error of measurement: the server's time has whole seconds, and arrives after a round trip.
const MinClockSkew = 30 * time.Second

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

// ClockSkew returns how far the server's clock is ahead of this computer's. The result is 0 if the difference is less
// than MinClockSkew, or if the server doesn't return its time.
func (c *Cluster) ClockSkew(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	_, ahead, err := c.Now(ctx)
	if err != nil || ahead.Abs() < MinClockSkew {
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

// Types are the resource types that a command keeps counting.
type Types struct {
	find  findFunc
	named bool // by a user

	mu      sync.Mutex // guards the rest
	known   []census.Resource
	skipped []census.Skipped
}

// findFunc returns all resource types, and those that it leaves out.
type findFunc func(context.Context) ([]census.Resource, []census.Skipped, error)

// Types returns the types that Resources found. Its method Discover finds the types again.
func (c *Cluster) Types(known []census.Resource, skipped []census.Skipped, named bool, namespace string) *Types {
	find := func(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
		c.server.RefreshAPIServices(ctx)
		return c.resources(ctx, nil, namespace)
	}
	return &Types{find: find, named: named, known: known, skipped: skipped}
}

// Skipped returns the types that discovery left out.
func (t *Types) Skipped() []census.Skipped {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

// Discover finds the types that there are now. A known type stays if its group can't be discovered. If the user named
// types, Discover finds only these, in the versions that the server has now.
func (t *Types) Discover(ctx context.Context) ([]census.Resource, error) {
	found, skipped, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	return t.take(found, skipped), nil
}

// take stores the discovered types, and returns those that exist.
func (t *Types) take(found []census.Resource, skipped []census.Skipped) []census.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named {
		return slices.DeleteFunc(found, func(r census.Resource) bool { return !census.Contains(t.known, r) })
	}
	for _, r := range t.known {
		hides := func(s census.Skipped) bool { return s.Resource == "" && s.Group == r.Group }
		if slices.ContainsFunc(skipped, hides) && !census.Contains(found, r) {
			found = append(found, r)
		}
	}
	t.known, t.skipped = found, skipped
	return found
}
