package experiment

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"text/template"
)

// Seen is the number of creates to the first failure under each prefix.
type Seen struct {
	ServerAttempts, ClientAttempts int
	Creates                        []int
}

//go:embed page.md.tmpl
var page string

// Write writes the page README.md into dir, and its data into dir/measured. The data are results.json and the number
// of creates under each prefix.
func Write(dir string, r Results, seen []Seen) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text, err := r.page()
	if err != nil {
		return err
	}
	table, err := table(seen)
	if err != nil {
		return err
	}
	measured := filepath.Join(dir, "measured")
	if err := os.MkdirAll(measured, 0o755); err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		filepath.Join(dir, "README.md"):               text,
		filepath.Join(measured, "results.json"):       append(data, '\n'),
		filepath.Join(measured, "first-failures.csv"): table,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r Results) page() ([]byte, error) {
	t, err := template.New("README.md").Parse(page)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, r)
	return text.Bytes(), err
}

func table(seen []Seen) ([]byte, error) {
	rows := [][]string{{"server_attempts", "client_attempts", "creates_to_first_failure"}}
	for _, s := range seen {
		for _, creates := range s.Creates {
			rows = append(rows, []string{strconv.Itoa(s.ServerAttempts), strconv.Itoa(s.ClientAttempts), strconv.Itoa(creates)})
		}
	}
	var text bytes.Buffer
	err := csv.NewWriter(&text).WriteAll(rows)
	return text.Bytes(), err
}
