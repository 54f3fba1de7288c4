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

// Seen is the number of creates to the first conflict under each prefix.
type Seen struct {
	ServerTries, Attempts int
	Creates               []int
}

//go:embed page.md.tmpl
var page string

// Write writes the page internals/measured.md into docs, and its data into docs/measured. The data are results.json
// and the number of creates under each prefix.
func Write(docs string, r Results, seen []Seen) error {
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
	folder := filepath.Join(docs, "measured")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		filepath.Join(docs, "internals", "measured.md"): text,
		filepath.Join(folder, "results.json"):           append(data, '\n'),
		filepath.Join(folder, "first-conflicts.csv"):    table,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r Results) page() ([]byte, error) {
	t, err := template.New("measured.md").Parse(page)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, r)
	return text.Bytes(), err
}

func table(seen []Seen) ([]byte, error) {
	rows := [][]string{{"server_tries", "client_attempts", "creates_to_first_conflict"}}
	for _, s := range seen {
		for _, creates := range s.Creates {
			rows = append(rows, []string{strconv.Itoa(s.ServerTries), strconv.Itoa(s.Attempts), strconv.Itoa(creates)})
		}
	}
	var text bytes.Buffer
	err := csv.NewWriter(&text).WriteAll(rows)
	return text.Bytes(), err
}
