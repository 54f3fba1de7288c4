package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// known is what a finding and an entry of a baseline have in common. Lines change too often.
type known struct {
	rule, file string
	object     v1alpha1.LintObject
}

// baseline has the number of findings of each kind in a saved LintReport. A nil baseline has none.
type baseline map[known]int

func readBaseline(file string) (baseline, error) {
	data, err := readNamed(file)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	saved, err := v1alpha1.ReadLintReport(data)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %s: the file %w", file, err)
	}
	b := baseline{}
	for _, item := range saved.Items {
		b[known{item.Rule, item.File, item.Object}]++
	}
	return b, nil
}

// silence disables the findings of a result that the baseline has. silence returns the number of findings in the
// baseline that the result doesn't have.
func (b baseline) silence(result *lint.Result) (gone int) {
	for i := range result.Findings {
		f := &result.Findings[i]
		k := known{f.Rule.Name, f.Object.File, objectOf(f.Object)}
		if f.Silence == nil && b[k] > 0 {
			b[k]--
			f.Silence = &lint.Silence{Reason: "in the baseline"}
		}
	}
	for _, n := range b {
		gone += n
	}
	return gone
}

func inBaseline(result *lint.Result) (count int) {
	for _, f := range result.Findings {
		if isKnown(f) {
			count++
		}
	}
	return count
}

// isKnown reports whether the baseline has a finding. Comments and annotations have a place.
func isKnown(f lint.Finding) bool { return f.Silence != nil && f.Silence.File == "" }

func (o *options) saveBaseline(result *lint.Result, stderr *terminal.Stderr) error {
	saved := report(result)
	data, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.writeBaseline, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	stderr.Line(terminal.Sprintf("Wrote %s to %s. They are no findings with --baseline %[2]s.",
		humanize.Count(len(saved.Items), "finding"), o.writeBaseline))
	return nil
}

// configName is the name of the configuration of a repository.
const configName = ".genname.yaml"

// off is the level of a rule that is disabled.
const off = "off"

// config is the content of the configuration.
type config struct {
	// Exclude are patterns of files that a directory is walked without, as in .gitignore.
	Exclude []string `json:"exclude"`
	// Levels are the levels of rules: error, warning, note or off.
	Levels map[string]string `json:"levels"`
	// KubernetesVersion is the version that the manifests are for.
	KubernetesVersion string `json:"kubernetesVersion"`

	file string
}

// findConfig returns the configuration of the nearest directory, from the working directory up to the root of the
// repository, or "".
func findConfig(in repository, here string) string {
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, inside := in.relative(dir); !inside {
			return ""
		}
		if file := filepath.Join(dir, configName); in.has(file) {
			return file
		}
	}
}

func readConfig(in repository, file string) (config, error) {
	c := config{file: file}
	text, err := in.readYAML(file)
	if err != nil {
		return config{}, err
	}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return config{}, fmt.Errorf("%s: %w (the fields are exclude, levels and kubernetesVersion)", file, err)
	}
	return c, c.check()
}

// check returns an error if a value is invalid.
func (c config) check() error {
	for name, level := range c.Levels {
		if _, err := rules.Named(name); err != nil {
			return fmt.Errorf("%s: levels: %w", c.file, err)
		}
		switch level {
		case string(v1alpha1.LintError), string(v1alpha1.LintWarning), string(v1alpha1.LintNote), off:
		case "false": // off without quotes, in YAML 1.1
			c.Levels[name] = off
		default:
			return fmt.Errorf("%s: levels: %s must be error, warning, note or off, and not %q", c.file, name, level)
		}
	}
	if _, wrong := newIgnoreList(filepath.Dir(c.file), c.Exclude); wrong != "" {
		return fmt.Errorf("%s: exclude: pattern %q is not valid", c.file, wrong)
	}
	if _, ok := minorOf(c.KubernetesVersion); c.KubernetesVersion != "" && !ok {
		return fmt.Errorf("%s: %w", c.file,
			fmt.Errorf(badVersion, "kubernetesVersion", newestMinor, oldestMinor, c.KubernetesVersion))
	}
	return nil
}
