package dashboard

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// The picture is XML, and shows each panel of the deployed dashboard, its series, and the
// values in its unit.
func TestSVG(t *testing.T) {
	d, err := Read("../../../deploy/exporter/grafana/genname.json")
	if err != nil {
		t.Fatal(err)
	}
	d.To, d.Step = d.From.Add(10*time.Minute), 15*time.Second
	labels := map[string]string{"namespace": "ci", "resource": "configmaps", "prefix": "a<b-", "creator": "tekton"}
	var want []string
	for _, panel := range d.Panels {
		want = append(want, panel.Title)
		for _, target := range panel.Targets {
			panel.Series = append(panel.Series, Series{
				Legend: target.Legend(labels), Labels: labels,
				Points: []Point{{0, 1500}, {15, 3000}, {300, 4 << 20}, {600, 2500}},
			})
		}
	}
	text := text(t, d.SVG())
	for _, want := range append(want, "ci configmaps/a<b-", "tekton", "2.5k", "4 MiB", "5 min") {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%q is not in the picture", want)
		}
	}
}

// A line ends at a gap.
func TestPaths(t *testing.T) {
	d := &Dashboard{Step: 15 * time.Second}
	d.To = d.From.Add(time.Minute)
	got := d.paths(Series{Points: []Point{{0, 0}, {15, 50}, {45, 100}, {60, 0}}}, box{0, 0, 60, 100}, 100)
	if want := "M0.0 100.0L15.0 50.0 M45.0 0.0L60.0 100.0"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 0.25: "0.25", 12: "12", 1500: "1.5k", 300_000: "300k", 14_348_907: "14.3M"} {
		if got := number(value); got != want {
			t.Errorf("number(%g) = %q, want %q", value, got, want)
		}
	}
}

// text returns the texts of an SVG document, each in a line.
func text(t *testing.T, svg []byte) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("\n")
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, is := token.(xml.CharData); is {
			out.Write(data)
			out.WriteString("\n")
		}
	}
}
