package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const stdin = "-"

// input is the input of the command.
type input struct {
	sources []lint.Source
	missing []lint.Unreadable
	skipped []v1alpha1.LintSkipped // links, pipes, devices and the like in directories

	here    repository
	others  map[string]repository // of files outside the repository, by the directory of the user
	trees   trees
	ignores ignores
}

// input returns the files, URLs and directories of the command line. close closes the repositories.
func (o *options) input() (in *input, closes func()) {
	in = &input{
		here: o.repository, others: map[string]repository{}, trees: trees{}, ignores: ignores{excludes: o.excludes},
	}
	if !o.noInline {
		in.ignores.git = map[string][]ignoreList{}
	}
	if o.Kustomize != "" {
		in.sources = []lint.Source{o.kustomized()}
	}
	for _, name := range o.Filenames {
		if err := o.expand(in, name); err != nil {
			in.missing = append(in.missing, lint.Unreadable{File: name, Err: err})
		}
	}
	return in, func() {
		for _, other := range in.others {
			other.close()
		}
	}
}

func (in *input) around(path string) repository {
	if _, inside := in.here.relative(path); inside {
		return in.here
	}
	if !isDirectory(path) {
		path = filepath.Dir(path)
	}
	if _, known := in.others[path]; !known {
		in.others[path] = newRepository(path)
	}
	return in.others[path]
}

// expand adds the sources of a value of -f, as kubectl does: stdin, a URL, a file, the files of a
// directory, or a pattern of files.
func (o *options) expand(in *input, name string) error {
	switch {
	case name == stdin:
		in.sources = append(in.sources, lint.Source{Name: name, Read: func(context.Context) ([]byte, error) {
			return io.ReadAll(o.In)
		}})
		return nil
	case isURL(name):
		in.sources = append(in.sources, lint.Source{Name: shown(name), Read: func(ctx context.Context) ([]byte, error) {
			content, err := download(ctx, name)
			var failure *url.Error
			if errors.As(err, &failure) {
				failure.URL = shown(name)
			}
			return content, err
		}})
		return nil
	}
	paths, err := expandPattern(name)
	if err != nil {
		return fmt.Errorf("pattern %q is not valid: %w", name, err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("the path %q does not exist", name)
	}
	read := readNamed
	if paths[0] != name {
		read = readMatched
	}
	var failure error
	for _, path := range paths {
		failure = errors.Join(failure, o.walk(in, path, read))
	}
	return failure
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// shown returns a URL without its password, and without its query, which can be a token or a signature. Others can
// read a report.
func shown(name string) string {
	address, err := url.Parse(name)
	if err != nil {
		scheme, _, _ := strings.Cut(name, "//")
		return scheme + "//xxxxx"
	}
	if address.RawQuery != "" {
		address.RawQuery = "xxxxx"
	}
	return address.Redacted()
}

func (o *options) walk(in *input, root string, read func(string) ([]byte, error)) error {
	count, repository := len(in.sources)+len(in.skipped), in.around(root)
	var failure error
	isDir := false
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failure = errors.Join(failure, err)
			return nil
		case path == root && entry.IsDir():
			isDir = true
			return nil
		case entry.IsDir() && (!o.Recursive || entry.Name() == ".git" || in.ignores.ignored(repository, path, true)):
			return filepath.SkipDir
		case entry.IsDir(), path != root && in.ignores.ignored(repository, path, false):
			return nil
		case path == root:
			in.sources = append(in.sources, in.named(repository, path, read))
		case o.Recursive || slices.Contains(resource.FileExtensions, filepath.Ext(path)):
			in.found(repository, path)
		}
		return nil
	})
	if isDir && failure == nil && err == nil && len(in.sources)+len(in.skipped) == count {
		failure = o.nothing(root)
	}
	return errors.Join(failure, err)
}

func (in *input) named(repository repository, path string, read func(string) ([]byte, error)) lint.Source {
	return lint.Source{
		Name: filepath.ToSlash(path), Tree: in.trees.of(repository, path),
		Read: func(context.Context) ([]byte, error) { return read(path) },
	}
}

// found adds a file of a directory. Like kubectl, lint doesn't follow links to directories.
func (in *input) found(repository repository, path string) {
	info, err := repository.stat(path)
	isManifest := slices.Contains(resource.FileExtensions, filepath.Ext(path))
	var reason v1alpha1.LintSkipReason
	switch {
	case err == nil && info.IsDir(), err != nil && isDirectory(path):
		reason = v1alpha1.LintLink
	case !isManifest:
		return
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		reason = v1alpha1.LintOutside
	case err == nil && !info.Mode().IsRegular():
		reason = v1alpha1.LintSpecial
	}
	if reason != "" {
		in.skipped = append(in.skipped, v1alpha1.LintSkipped{File: filepath.ToSlash(path), Reason: reason})
		return
	}
	in.sources = append(in.sources, lint.Source{
		Name: filepath.ToSlash(path), Found: true, Tree: in.trees.of(repository, path),
		Read: func(context.Context) ([]byte, error) { return repository.read(path) },
	})
}

func (o *options) nothing(root string) error {
	if o.Recursive {
		return fmt.Errorf("the directory %q and the directories below it have no .json, .yaml or .yml files", root)
	}
	return fmt.Errorf("the directory %q has no .json, .yaml or .yml files\n"+
		"To read the directories below it, use -R:\n  kubectl genname lint -R -f %s", root, root)
}

func (o *options) kustomized() lint.Source {
	name := filepath.ToSlash(filepath.Join(o.Kustomize, "kustomization.yaml"))
	return lint.Source{Name: name, Rendered: true, Read: func(ctx context.Context) ([]byte, error) {
		return kustomize.Build(ctx, kustomize.OnDisk(), o.Kustomize)
	}}
}

const downloadTimeout = time.Minute

func download(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("unable to read URL %q, server reported %s", shown(url), response.Status)
	}
	return io.ReadAll(response.Body)
}
