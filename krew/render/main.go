// Command render prints krew's manifest of the release that goreleaser created in a directory:
//
//	go run ./krew/render dist > dist/genname.yaml
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/krew"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: render DIRECTORY"))
	}
	manifest, err := render(os.Args[1])
	if err != nil {
		fail(err)
	}
	fmt.Print(string(manifest))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

func render(dir string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err != nil {
		return nil, err
	}
	var metadata struct{ Version string }
	if err := json.Unmarshal(data, &metadata); err != nil {
		return nil, fmt.Errorf("metadata.json: %w", err)
	}
	checksums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	return krew.Manifest("v"+metadata.Version, func(archive string) (string, error) {
		for line := range strings.Lines(string(checksums)) {
			if fields := strings.Fields(line); len(fields) == 2 && fields[1] == archive {
				return fields[0], nil
			}
		}
		return "", fmt.Errorf("checksums.txt has no %s", archive)
	})
}
