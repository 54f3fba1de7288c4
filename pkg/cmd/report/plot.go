package report

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/chart"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// plotFlags are the flags of the chart.
type plotFlags struct {
	given   bool
	file    string
	scale   flagvalue.Enum[chart.Scale]
	retries retriesValue
}

// terminalPlot is the file that means the terminal.
const terminalPlot = "-"

func (p *plotFlags) toTerminal() bool { return p.file == terminalPlot }

// validate returns an error if the flags are invalid. machine is true if stdout is for machines.
func (p *plotFlags) validate(machine bool) error {
	ending := strings.ToLower(filepath.Ext(p.file))
	switch {
	case !p.given && (p.scale.Value != chart.Semilog || len(p.retries) > 0):
		return errors.New("--plot-scale and --plot-retries need --plot")
	case !p.given:
		return nil
	case !p.toTerminal() && ending != ".svg" && ending != ".png":
		return fmt.Errorf("--plot must be a file that ends in .svg or .png, or - for the terminal, not %q", p.file)
	case p.toTerminal() && machine:
		return errors.New("--plot=- can't be used with -o, because both print on stdout")
	case len(p.retries) > chart.MaxCurves:
		return fmt.Errorf("--plot-retries can draw at most %d curves, not %d", chart.MaxCurves, len(p.retries))
	}
	return nil
}

// plot draws the report's one population, into the file or on stdout.
func (o *options) plot(report *v1alpha1.CollisionReport, populations []report.Population) error {
	switch {
	case len(populations) != 1 && o.from != "":
		return fmt.Errorf("--plot draws one prefix, but %s has %d. Save an audit of one prefix:\n"+
			"  kubectl genname audit TYPE/PREFIX -o json > audit.json", o.from, len(populations))
	case len(populations) != 1:
		return fmt.Errorf("--plot draws one prefix, not %d. Name one prefix", len(populations))
	}
	c, err := o.chart(report)
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := o.draw(c); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// draw writes the chart to the terminal or the file of --plot.
func (o *options) draw(c chart.Chart) error {
	if o.plotFlags.toTerminal() {
		text, err := c.Text(terminal.Width(o.Out))
		fmt.Fprint(o.Out, text)
		return err
	}
	draw := c.SVG
	if strings.EqualFold(filepath.Ext(o.plotFlags.file), ".png") {
		draw = c.PNG
	}
	picture, err := draw()
	if err != nil {
		return err
	}
	return writeWhole(o.plotFlags.file, picture)
}

// chart returns the chart of the report. It has a curve for each number of retries, or for each
// policy if no number is given.
func (o *options) chart(report *v1alpha1.CollisionReport) (chart.Chart, error) {
	pool, item := report.NamePool, report.Items[0]
	c := chart.Chart{
		Title: fmt.Sprintf("Chance that a create fails, of %d^%d = %s names",
			pool.AlphabetSize, pool.SuffixLength, humanize.Grouped(pool.Names)),
		Scale: o.plotFlags.scale.Value, Existing: item.Existing, Names: pool.Names,
	}
	if item.Prefix != "" {
		subject := subjectOf(item.Group, item.Resource, item.Namespace, item.Prefix)
		c.Title = terminal.Sprintf("%s: chance that a create fails", subject)
	}
	for _, line := range o.plotLines(item) {
		model, err := analyze.NewModel(pool.Names, line.attempts)
		if err != nil {
			return c, err
		}
		c.Curves = append(c.Curves, curve(line.label, model, item.Existing))
	}
	return c, nil
}

// curve returns the curve of a model. Its chances are in their ranges, so that no
// calculation fails.
func curve(label string, model analyze.Model, existing int64) chart.Curve {
	return chart.Curve{
		Label: label,
		Log10: func(creates int64) float64 { return model.AnyFails(existing, creates).Log10() },
		Reaches: func(p float64) int64 {
			room, _ := model.Room(existing, p)
			return room + 1
		},
	}
}

// plotLine is a curve's number of attempts, and its name.
type plotLine struct {
	attempts int
	label    string
}

// plotLines returns the curves that the flags ask for.
func (o *options) plotLines(item v1alpha1.CollisionItem) []plotLine {
	var lines []plotLine
	for _, retries := range o.plotFlags.retries {
		label := strconv.Itoa(retries) + " retries"
		switch retries {
		case 0:
			label = "no retry"
		case 1:
			label = "1 retry"
		}
		lines = append(lines, plotLine{retries + 1, label})
	}
	if len(lines) == 0 {
		lines = policyLines(item.Policies)
	}
	return lines
}

// policyLines returns a curve for each known number of attempts.
func policyLines(policies []v1alpha1.Policy) []plotLine {
	var lines []plotLine
	for _, p := range policies {
		if p.Attempts == nil {
			continue
		}
		same := func(l plotLine) bool { return l.attempts == *p.Attempts }
		if at := slices.IndexFunc(lines, same); at >= 0 {
			lines[at].label += ", " + string(p.Name)
			continue
		}
		lines = append(lines, plotLine{*p.Attempts, string(p.Name)})
	}
	for i := range lines {
		lines[i].label += " (" + attemptsText(lines[i].attempts) + ")"
	}
	return lines
}

func attemptsText(attempts int) string {
	if attempts == 1 {
		return "1 attempt"
	}
	return strconv.Itoa(attempts) + " attempts"
}
