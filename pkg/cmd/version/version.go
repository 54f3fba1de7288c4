// Package version is the command that shows the versions, and how many names the server tries per create.
// internal/serverinfo sends the requests.
package version

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	factory    cmdutil.Factory
	printFlags *output.Flags
	clientOnly bool
}

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, factory: conn.Factory, printFlags: output.NewFlags()}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions, and the attempts that the server makes per create",
		Long: templates.LongDesc(`
			Show the versions of the plugin and of the server, and the number of names that the
			server tries per create. If the number is 1, a create fails if the generated name is taken.

			In Kubernetes 1.30 to 1.34, an administrator can change this number. So version reads the
			number from the server's metric kubernetes_feature_enabled. Without permission to read
			/metrics, version prints the default of the server's version, with the word "default".`),
		Example: templates.Examples(`
			# Show the versions, and the number of names that the server tries
			kubectl genname version

			# Print only the number of names, for a script
			kubectl genname version -o jsonpath='{.server.attempts}'`),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.clientOnly, "client", false, "Print only the client version, without contacting the server")
	o.printFlags.AddFlags(cmd)
	return cmd
}

// Run prints the versions. If the server is unreachable, it prints only the version of the client.
func (o *options) Run(ctx context.Context) error {
	report := &v1alpha1.VersionReport{TypeMeta: v1alpha1.TypeOf("VersionReport"), Client: clientVersion()}
	var failure error
	if !o.clientOnly {
		report.Server, failure = o.serverVersion(ctx)
	}
	if err := o.print(report); err != nil {
		return err
	}
	return failure
}

func clientVersion() v1alpha1.ClientVersion {
	return v1alpha1.ClientVersion{
		GitVersion: buildinfo.Version(), GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func (o *options) serverVersion(ctx context.Context) (*v1alpha1.ServerVersion, error) {
	config, err := o.factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	server, err := serverinfo.Get(ctx, config)
	if err != nil {
		return nil, err
	}
	v := server.Version()
	return &v1alpha1.ServerVersion{
		GitVersion: v.GitVersion, Major: v.Major, Minor: v.Minor,
		EmulationMajor: v.EmulationMajor, EmulationMinor: v.EmulationMinor,
		GoVersion: v.GoVersion, Platform: v.Platform,
		Retries: server.Retries(),
	}, nil
}

func (o *options) print(report *v1alpha1.VersionReport) error {
	if o.printFlags.ForMachines() {
		return o.printFlags.Print(report, o.Out)
	}
	fmt.Fprintf(o.Out, "Client Version: %s\n", report.Client.GitVersion)
	if report.Server == nil {
		return nil
	}
	emulated := ""
	if s := report.Server; s.EmulationMinor != "" && s.EmulationMinor != s.Minor {
		emulated = fmt.Sprintf(" (emulates %s.%s)", s.EmulationMajor, s.EmulationMinor)
	}
	fmt.Fprintln(o.Out, terminal.OneLine(fmt.Sprintf("Server Version: %s%s", report.Server.GitVersion, emulated)))
	_, err := fmt.Fprintf(o.Out, "Names tried per create: %s\n", describeRetries(report.Server.Retries))
	return err
}

func describeRetries(r v1alpha1.Retries) string {
	if r.Attempts == nil {
		return "unknown"
	}
	how := map[v1alpha1.AttemptsSource]string{
		v1alpha1.SourceMetric:  "from the server's metric kubernetes_feature_enabled",
		v1alpha1.SourceVersion: "the server's version supports no other number",
		v1alpha1.SourceDefault: "the default of the server's version, which an administrator can change",
		v1alpha1.SourceFlag:    "as given by --server-attempts",
	}[r.AttemptsSource]
	return fmt.Sprintf("%d (%s)", *r.Attempts, how)
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cmdutil.UsageErrorf(cmd, "Unexpected args: %v", args)
	}
	return nil
}
