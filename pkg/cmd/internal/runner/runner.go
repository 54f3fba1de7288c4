// Package runner runs the steps of a command, as kubectl does: Complete, Validate, Run. The package knows no command.
package runner

import (
	"context"

	"github.com/spf13/cobra"
)

// Options are the options of a command. Complete turns the command line and the kubeconfig into
// typed values, Validate returns an error if they are invalid, and Run does the work.
type Options interface {
	Complete(cmd *cobra.Command, args []string) error
	Validate() error
	Run(ctx context.Context) error
}

// RunE returns the RunE of a cobra.Command. RunE runs the steps in order, until one fails.
func RunE(o Options) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := o.Complete(cmd, args); err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		return o.Run(cmd.Context())
	}
}
