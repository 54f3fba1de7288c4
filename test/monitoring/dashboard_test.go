package monitoring

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// dashboard contains the fields of deploy/exporter/grafana/genname.json that the test reads.
type dashboard struct {
	Panels []struct {
		Type, Title string
		Targets     []struct{ Expr string }
	}
}

// Every query of the dashboard can be evaluated. In a leak, the first row shows the growth, the prefix and its
// creator.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../deploy/exporter/grafana/genname.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	s := &simulation{pools: append(idle(30), leak("leak-", 0, 20, start), steady("churn-", 40, 20)), lasts: 30 * time.Minute, skips: forbidden}
	query := s.run(t)
	first := map[string]string{}
	rows := 0
	for _, panel := range d.Panels {
		if panel.Type == "row" {
			rows++
			continue
		}
		for _, target := range panel.Targets {
			vector := query(target.Expr)
			process := strings.Contains(target.Expr, "process_") || strings.Contains(target.Expr, "go_") // not of the simulation
			if len(vector) == 0 && !process {
				t.Errorf("%s: nothing for %s", panel.Title, target.Expr)
			}
			if rows == 1 {
				first[panel.Title] = vector.String()
			}
		}
	}
	for title, want := range map[string][]string{
		"Prefixes that grow fast": {"=> 1 "},
		"Names gained in an hour": {`prefix="leak-"`},
		"Created by":              {`prefix="leak-"`, `creator="leaky-operator"`},
	} {
		for _, text := range want {
			if !strings.Contains(first[title], text) {
				t.Errorf("%s: no %s in %s", title, text, first[title])
			}
		}
	}
}
