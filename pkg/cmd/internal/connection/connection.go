// Package connection has kubectl's connection flags, and makes the configuration of all clients from them. The
// configuration sets a time limit for each request, the user's policy for credential plugins, and kubectl's
// headers. It sends requests to no other server. The package itself sends no request.
package connection

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/component-base/logs"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/kuberc"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// defaultRequestTimeout bounds every request if --request-timeout isn't set. kube-apiserver itself
// gives a create 34 s and a list 60 s.
const defaultRequestTimeout = time.Minute

// Connection is the connection of all commands to the cluster. Connection has kubectl's connection flags, and one way
// to create a client from them.
type Connection struct {
	Factory cmdutil.Factory
	Limiter flowcontrol.RateLimiter // can be nil

	streams          genericiooptions.IOStreams
	flags            *genericclioptions.ConfigFlags
	warnings         warningCounter
	warningsAsErrors bool
	headers          genericclioptions.CommandHeaderRoundTripper
	pluginPolicy     clientcmdapi.PluginPolicy
	ctx              context.Context // done when the user interrupts
}

// reaching are the flags of the cluster and the user, without secrets.
var reaching = []string{
	"kubeconfig", "context", "cluster", "user", "server", "proxy-url", "as", "as-uid", "as-group", "as-user-extra",
	"certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name",
}

// Reaching returns the flags of a command that another command needs to reach the same cluster as the same user.
func Reaching(cmd *cobra.Command) string {
	return reference.Words(flagvalue.Words(cmd.InheritedFlags(), func(name string) bool {
		return slices.Contains(reaching, name)
	})...)
}

// warningCounter has the methods of client-go's warning writer that the connection uses.
type warningCounter interface {
	rest.WarningHandler
	WarningCount() int
}

// inertWarnings escapes warnings, because a server repeats texts of manifests and webhooks in them.
type inertWarnings struct{ warningCounter }

func (w inertWarnings) HandleWarningHeader(code int, agent, message string) {
	w.warningCounter.HandleWarningHeader(code, agent, terminal.Escaped(message))
}

// New returns a connection whose flags have their defaults.
func New(streams genericiooptions.IOStreams) *Connection {
	c := &Connection{streams: streams}
	c.flags = genericclioptions.NewConfigFlags(true).
		WithDeprecatedPasswordFlag().
		WithDiscoveryBurst(300).WithDiscoveryQPS(50). // the limits of kubectl
		WithWarningPrinter(streams).
		WithWrapConfigFn(c.configure)
	c.warnings = inertWarnings{rest.NewWarningWriter(terminal.NewStderr(streams.ErrOut), rest.WarningWriterOptions{
		Deduplicate: true, Color: printers.AllowsColorOutput(streams.ErrOut),
	})}
	c.Factory = cmdutil.NewFactory(c.flags)
	return c
}

// initLogs initializes the logs once in a process.
var initLogs = sync.OnceFunc(func() {
	logs.InitLogs()
	klog.EnableContextualLogging(true)
	log.SetOutput(printableLog{})
})

// printableLog writes the log of libraries. Its text is escaped, because kustomize logs names from files of others.
type printableLog struct{}

func (printableLog) Write(text []byte) (int, error) {
	return logs.KlogWriter{}.Write([]byte(terminal.OneLine(string(text))))
}

// AddTo gives root and all commands below it the flags, and the hooks before and after a run.
func (c *Connection) AddTo(root *cobra.Command) {
	flags := root.PersistentFlags()
	c.flags.AddFlags(flags)
	timeout := flags.Lookup("request-timeout")
	timeout.Usage = "How long to wait for the response to one request, like 5s or 2m. 0 is one minute"
	kuberc.NewPreferences().AddFlags(flags)
	flags.BoolVar(&c.warningsAsErrors, "warnings-as-errors", false,
		"Treat warnings received from the server as errors and exit with a non-zero exit code")
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		initLogs() // kubectl's hook would do this, but this hook replaces it

		if !klog.V(1).Enabled() { // client-go logs errors that it also returns
			cmd.SetContext(klog.NewContext(cmd.Context(), logr.Discard()))
		}
		c.ctx = cmd.Context()
		c.headers.ParseCommandHeaders(cmd, args)
		return c.ReadPluginPolicy(cmd)
	}
	root.PersistentPostRunE = func(*cobra.Command, []string) error { return c.checkWarnings() }
}

// configure completes the configuration of every client.
func (c *Connection) configure(config *rest.Config) *rest.Config {
	config.UserAgent = fmt.Sprintf("kubectl-genname/%s (%s/%s)", buildinfo.Version(), runtime.GOOS, runtime.GOARCH)
	config.WarningHandler = c.warnings
	config.QPS = -1 // no client-side rate limit by default, because the server has flow control
	config.RateLimiter = c.Limiter
	c.restrictPlugins(config)
	c.limit(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return checkedTransport{rt} })
	config.Wrap(ofServer(config))
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { // KEP-859, as kubectl
		return &genericclioptions.CommandHeaderRoundTripper{Delegate: rt, Headers: c.headers.Headers}
	})
	return config
}

// restrictPlugins applies the user's policy for credential plugins.
func (c *Connection) restrictPlugins(config *rest.Config) {
	if config.ExecProvider != nil {
		config.ExecProvider.PluginPolicy = c.pluginPolicy
	}
}

// limit limits the time and the size of each response.
func (c *Connection) limit(config *rest.Config) {
	timeout := config.Timeout
	if timeout == 0 { // not in the configuration: it would show in URLs, and so in errors
		timeout = defaultRequestTimeout
	}
	config.Wrap(apistatus.LimitResponses)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return &boundedTransport{rt, c, timeout} })
}

// ReadPluginPolicy reads which credential plugins the user's kuberc allows.
func (c *Connection) ReadPluginPolicy(cmd *cobra.Command) error {
	if cmdutil.KubeRC.IsDisabled() {
		return nil
	}
	path, err := cmd.Flags().GetString("kuberc")
	if err != nil {
		return err
	}
	preferences, err := kuberc.DefaultGetPreferences(path, c.streams.ErrOut)
	if err != nil || preferences == nil {
		return err
	}
	c.pluginPolicy.PolicyType = clientcmdapi.PolicyType(preferences.CredentialPluginPolicy)
	for _, entry := range preferences.CredentialPluginAllowlist {
		c.pluginPolicy.Allowlist = append(c.pluginPolicy.Allowlist, clientcmdapi.AllowlistEntry(entry))
	}
	return nil
}

// checkWarnings returns an error if there were warnings and the user wants warnings to be errors.
func (c *Connection) checkWarnings() error {
	count := c.warnings.WarningCount()
	switch {
	case !c.warningsAsErrors || count == 0:
		return nil
	case count == 1:
		return fmt.Errorf("%d warning received", count)
	}
	return fmt.Errorf("%d warnings received", count)
}

// DisablePrompts prevents client-go from asking the user for a name. client-go would ask on stdout, if there is a flag
// for a password without a value.
func (c *Connection) DisablePrompts() {
	if c.flags.Password != nil && *c.flags.Password == "" {
		c.flags.Password = nil
	}
}

// checkedTransport makes the HTTP cache of client-go's discovery check each response that
// has no lifetime. The cache compares the Date of a response with the client's clock, and
// takes every response from the future for fresh. If the client's clock is behind the
// server's, the cache would hide new resource types
// (k8s.io/client-go/third_party/forked/httpcache, getFreshness).
type checkedTransport struct{ next http.RoundTripper }

func (t checkedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil && resp.Header.Get("Etag") != "" && resp.Header.Get("Expires") == "" &&
		!strings.Contains(resp.Header.Get("Cache-Control"), "max-age") {
		resp.Header.Set("Cache-Control", "no-cache")
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t checkedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// Foreign is the connection for requests of another program. It adds credentials to them, and nothing else.
type Foreign struct {
	// Passing has no limits. The requests of Limited have a limit for time and size, and outlive an interrupt.
	Passing, Limited *rest.Config
	// Name is the name of the context, and Context has the names of its cluster and user, and its namespace.
	Name    string
	Context clientcmdapi.Context
}

// inCluster is the name of the context, the cluster and the user of a Pod without a kubeconfig.
const inCluster = "in-cluster"

// ToForeign returns the connection for requests of another program.
func (c *Connection) ToForeign() (*Foreign, error) {
	loader := c.flags.ToRawKubeConfigLoader()
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	c.restrictPlugins(config)
	limited := rest.CopyConfig(config)
	c.limit(limited)
	limited.Wrap(ofServer(limited))
	limited.Timeout = 0 // as a parameter of URLs, it would change the requests
	f := &Foreign{Passing: config, Limited: Uninterrupted(limited), Name: cmp.Or(*c.flags.Context, raw.CurrentContext)}
	if found := raw.Contexts[f.Name]; found != nil {
		f.Context = *found
	}
	f.Name = cmp.Or(f.Name, inCluster)
	f.Context.Cluster = cmp.Or(*c.flags.ClusterName, f.Context.Cluster, inCluster)
	f.Context.AuthInfo = cmp.Or(*c.flags.AuthInfoName, f.Context.AuthInfo, inCluster)
	f.Context.Namespace = namespace
	return f, nil
}
