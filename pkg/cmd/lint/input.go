package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/lint/messages"
)

const stdin = "-"

// sources returns what the user named, and an error for what is not there.
func (o *options) sources() ([]lint.Source, error) {
	if o.Kustomize != "" {
		return []lint.Source{o.kustomized()}, nil
	}
	var sources []lint.Source
	var failure error
	trees := trees{}
	for _, name := range o.Filenames {
		found, err := o.expand(name, trees)
		sources, failure = append(sources, found...), errors.Join(failure, err)
	}
	return sources, failure
}

// expand returns the sources that a value of -f names, as kubectl reads it: stdin,
// a URL, a file, the files of a folder, or a pattern of these.
func (o *options) expand(name string, trees trees) ([]lint.Source, error) {
	switch {
	case name == stdin:
		return []lint.Source{{Name: name, Read: func(context.Context) ([]byte, error) { return io.ReadAll(o.In) }}}, nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return []lint.Source{{Name: name, Read: func(ctx context.Context) ([]byte, error) {
			return download(ctx, name)
		}}}, nil
	}
	paths := []string{name}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if paths, err = filepath.Glob(name); err != nil {
			return nil, fmt.Errorf(messages.BadPattern, name, err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf(messages.NoPath, name)
		}
	}
	var sources []lint.Source
	var failure error
	for _, path := range paths {
		found, err := o.walk(path, trees)
		sources, failure = append(sources, found...), errors.Join(failure, err)
	}
	return sources, failure
}

// walk returns a file, or the files of a folder: with -R of those in it too.
func (o *options) walk(root string, trees trees) ([]lint.Source, error) {
	var sources []lint.Source
	var failure error
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failure = errors.Join(failure, err)
			return nil
		case entry.IsDir() && path != root && (!o.Recursive || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir(), path != root && !slices.Contains(resource.FileExtensions, filepath.Ext(path)):
			return nil
		}
		sources = append(sources, lint.Source{
			Name: filepath.ToSlash(path), Found: path != root, Tree: trees.of(path),
			Read: func(context.Context) ([]byte, error) { return os.ReadFile(path) },
		})
		return nil
	})
	return sources, errors.Join(failure, err)
}

// A URL is read as kubectl does: an answer of 500 and above is asked for again.
const (
	downloadAttempts = 3
	downloadPause    = time.Second
	downloadTimeout  = time.Minute
)

// download returns what is at a URL.
func download(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		content, again, err := get(ctx, url)
		if err == nil || !again || attempt == downloadAttempts {
			return content, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(downloadPause):
		}
	}
}

// get asks for a URL once, and reports whether it may help to ask again.
func get(ctx context.Context, url string) (content []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, true, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		again = response.StatusCode >= http.StatusInternalServerError
		return nil, again, fmt.Errorf(messages.BadResponse, url, response.Status)
	}
	content, err = io.ReadAll(response.Body)
	return content, true, err
}

// kustomized returns what kustomize makes of a folder, as create has it built.
func (o *options) kustomized() lint.Source {
	name := filepath.ToSlash(filepath.Join(o.Kustomize, "kustomization.yaml"))
	return lint.Source{Name: name, Rendered: true, Read: func(ctx context.Context) ([]byte, error) {
		return kustomize.Build(ctx, filesys.MakeFsOnDisk(), o.Kustomize)
	}}
}

// trees are what the folders say of the files in them, by folder.
type trees map[string]folder

// folder is what stands in one folder.
type folder struct {
	kustomization string
	resources     []string // of the kustomization
	chart         string
}

// of returns what the folders around a file say of who takes it.
func (t trees) of(path string) rules.Tree {
	var tree rules.Tree
	path, err := filepath.Abs(path)
	if err != nil {
		return tree
	}
	for within, dir := "", filepath.Dir(path); ; dir = filepath.Dir(dir) {
		about := t.look(dir)
		below, err := filepath.Rel(dir, path)
		if err == nil && slices.Contains(about.resources, filepath.ToSlash(below)) {
			tree.Kustomization = filepath.Base(about.kustomization)
		}
		if about.chart != "" && within == "templates" {
			tree.Chart = filepath.Base(about.chart)
		}
		if within = filepath.Base(dir); dir == filepath.Dir(dir) {
			return tree
		}
	}
}

// look reads what stands in a folder, once.
func (t trees) look(dir string) folder {
	about, known := t[dir]
	if known {
		return about
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			about.kustomization, about.resources = name, resourcesOf(content)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err == nil {
		about.chart = "Chart.yaml"
	}
	t[dir] = about
	return about
}

// resourcesOf returns the files that a kustomization takes; those of other
// folders are said there.
func resourcesOf(kustomization []byte) []string {
	var said struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(bytes.TrimSpace(kustomization), &said); err != nil {
		return nil // kustomize says what is wrong with it
	}
	for i, name := range said.Resources {
		said.Resources[i] = filepath.ToSlash(filepath.Clean(name))
	}
	return said.Resources
}
