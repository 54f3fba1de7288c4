package lint

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
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
