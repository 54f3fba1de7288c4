package cmd_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// The first 24 lines of --help have the usage, examples and the common flags. --help of each command fits two screens,
// and has each flag. "help COMMAND" has their whole texts.
func TestHelpFitsTwoScreens(t *testing.T) {
	printed := func(args ...string) string {
		var out, errOut bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
		if code := cmd.Execute(t.Context(), args, streams); code != 0 || errOut.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", args, code, errOut.String())
		}
		return out.String()
	}
	for _, command := range cmd.NewCommand().Commands() {
		if command.Name() == "options" {
			continue
		}
		short, whole := printed(command.Name(), "--help"), printed("help", command.Name())
		if lines := strings.Count(short, "\n"); lines > 60 {
			t.Errorf("%s --help has %d lines", command.Name(), lines)
		}
		screen := strings.Join(strings.SplitAfter(short, "\n")[:min(24, strings.Count(short, "\n"))], "")
		for _, section := range []string{"\nUsage:\n", "\nExamples:\n", "\nCommon flags:\n"} {
			isFlags := section == "\nCommon flags:\n"
			if command.HasExample() && !strings.Contains(screen, section) && (!isFlags || command.HasLocalFlags()) {
				t.Errorf("the first screen of %s --help lacks %q", command.Name(), section)
			}
		}
		if _, others, _ := strings.Cut(short, screen); strings.Contains(others, "\nCommon flags:") {
			t.Errorf("%s --help has common flags on its second screen", command.Name())
		}
		for line := range strings.Lines(short) {
			if len(line) > 81 && !strings.HasPrefix(line, "  kubectl genname") {
				t.Errorf("%s --help has a line of %d bytes: %s", command.Name(), len(line), line)
			}
		}
		command.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if !strings.Contains(short, "--"+f.Name) {
				t.Errorf("%s --help lacks --%s", command.Name(), f.Name)
			}
			if !strings.Contains(strings.Join(strings.Fields(whole), " "), strings.Join(strings.Fields(f.Usage), " ")) {
				t.Errorf("help %s lacks the text of --%s", command.Name(), f.Name)
			}
		})
	}
	for line := range strings.Lines(printed()) {
		if len(line) > 81 {
			t.Errorf("the help of the plugin has a line of %d bytes: %s", len(line), line)
		}
	}
	if short := printed("audit", "--help"); !strings.Contains(short, "\n  -o, --output              wide, json, yaml,") {
		t.Errorf("audit --help lacks the formats of -o:\n%s", short)
	}
}
