package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// curve is the chance that any create has failed, under the policies with a number of attempts.
type curve struct {
	model    analyze.Model
	policies []string
}

// validatePlot returns an error if --plot would have to draw several prefixes.
func (o *options) validatePlot(prefixes int) error {
	switch {
	case !o.plot || prefixes <= 1:
		return nil
	case o.from != "":
		return fmt.Errorf("--plot draws one prefix, but %s has %d. Save an audit of one prefix:\n"+
			"  kubectl genname audit TYPE/PREFIX -o json > audit.json", o.from, prefixes)
	}
	return fmt.Errorf("--plot draws one prefix, not %d. Name one prefix", prefixes)
}

func printPlot(out io.Writer, report *v1alpha1.CollisionReport) error {
	pool, item := report.NamePool, report.Items[0]
	if item.Existing >= pool.Names {
		return fmt.Errorf("--plot: all %d names exist: there is no curve to draw", pool.Names)
	}
	curves, err := curvesOf(item.Policies, pool.Names)
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	title := fmt.Sprintf("Chance that a create fails, of %d^%d = %s names",
		pool.AlphabetSize, pool.SuffixLength, humanize.Grouped(pool.Names))
	if item.Prefix != "" {
		title = terminal.Sprintf("%s: chance that a create fails", item.Argument())
	}
	fmt.Fprintf(out, "%s\n\n%s\n%8snames under the prefix (logarithmic)\n\n",
		title, chart(curves, item.Existing, terminal.Width(out)), "")
	for i, c := range curves {
		fmt.Fprintf(out, "%c  %-34s  0.1%% at %s, 50%% at %s\n", 'a'+i, c.label(),
			humanize.Grouped(c.reaches(item.Existing, 0.001)), humanize.Grouped(c.reaches(item.Existing, 0.5)))
	}
	if item.Existing > 0 {
		fmt.Fprintf(out, "now: %s names exist\n", humanize.Grouped(item.Existing))
	}
	return nil
}

func chart(curves []curve, existing int64, columns int) string {
	low, high := math.Inf(1), 0.0
	for _, c := range curves {
		low = min(low, float64(c.reaches(existing, 0.001)))
		high = max(high, float64(c.reaches(existing, 0.999)))
	}
	columns = max(columns, 40) - 13 // columns of the axis and of the last label
	names := func(place float64) float64 { return low * math.Pow(high/low, place) }
	var rows [][]float64
	var letters []asciigraph.CharSet
	for i, c := range curves {
		rows = append(rows, c.row(existing, columns, names))
		letters = append(letters, asciigraph.CreateCharSet(string(rune('a'+i))))
	}
	return asciigraph.PlotMany(rows, asciigraph.Height(10), asciigraph.Width(columns),
		asciigraph.LowerBound(0), asciigraph.UpperBound(100), asciigraph.SeriesChars(letters...),
		asciigraph.YAxisValueFormatter(func(percent float64) string { return fmt.Sprintf("%4.0f%%", percent) }),
		asciigraph.XAxisRange(0, 1), asciigraph.XAxisTickCount(columns/15+1),
		asciigraph.XAxisValueFormatter(func(place float64) string { return humanize.Round(int64(names(place))) }))
}

func curvesOf(policies []v1alpha1.Policy, names int64) (curves []curve, err error) {
	for _, p := range policies {
		if p.Attempts == nil {
			continue
		}
		i := slices.IndexFunc(curves, func(c curve) bool { return c.model.Attempts() == *p.Attempts })
		if i < 0 {
			model, err := analyze.NewModel(names, *p.Attempts)
			if err != nil {
				return nil, err
			}
			i, curves = len(curves), append(curves, curve{model: model})
		}
		curves[i].policies = append(curves[i].policies, string(p.Name))
	}
	return curves, nil
}

func (c curve) label() string {
	return strings.Join(c.policies, ", ") + " (" + humanize.Count(c.model.Attempts(), "attempt") + ")"
}

// reaches returns the number of names at which the chance is above p, for p between 0 and 1.
func (c curve) reaches(existing int64, p float64) int64 {
	room, _ := c.model.Room(existing, p) // p is in its range
	return min(existing+room+1, c.model.Names())
}

// row returns the chances in per cent for each column. row leaves out values near the axis and at the top, where all
// curves are equal.
func (c curve) row(existing int64, columns int, names func(place float64) float64) []float64 {
	row := make([]float64, columns)
	before := 0.0
	for i := range row {
		creates := int64(names(float64(i)/float64(columns-1))) - existing
		chance := 100 * math.Pow(10, c.model.AnyFails(existing, max(creates, 0)).Log10())
		row[i] = chance
		switch {
		case chance < 5 || before > 99.9:
			row[i] = math.NaN()
		case before < 5 && i > 0:
			row[i-1] = 0 // the curve can rise within a column
		}
		before = chance
	}
	return row
}
