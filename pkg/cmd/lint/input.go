package lint

import (
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
	"sync"
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

	trees   trees
	ignores ignores
}

// input returns the files, URLs and directories of the command line.
func (o *options) input() *input {
	in := &input{
		trees:   trees{root: newRepository().root, dirs: map[string]directory{}},
		ignores: ignores{excludes: o.excludes},
	}
	if !o.noInline {
		in.ignores.git = map[string][]ignoreList{}
	}
	if o.Kustomize != "" {
		in.sources = []lint.Source{o.kustomized()}
		return in
	}
	for _, name := range o.Filenames {
		if err := o.expand(in, name); err != nil {
			in.missing = append(in.missing, lint.Unreadable{File: name, Err: err})
		}
	}
	return in
}

// expand adds the sources of a value of -f, as kubectl does: stdin, a URL, a file, the files of a
// directory, or a pattern of files.
func (o *options) expand(in *input, name string) error {
	switch {
	case name == stdin:
		in.sources = append(in.sources, once(name, func(context.Context) ([]byte, error) { return io.ReadAll(o.In) }))
		return nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		in.sources = append(in.sources, once(name, func(ctx context.Context) ([]byte, error) {
			return download(ctx, name)
		}))
		return nil
	}
	paths := []string{name}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if paths, err = filepath.Glob(name); err != nil {
			return fmt.Errorf("pattern %q is not valid: %w", name, err)
		}
		if len(paths) == 0 {
			return fmt.Errorf("the path %q does not exist", name)
		}
	}
	var failure error
	for _, path := range paths {
		failure = errors.Join(failure, o.walk(in, path))
	}
	return failure
}

// once returns a source that can be read only once. The content of the source stays in memory.
func once(name string, read func(context.Context) ([]byte, error)) lint.Source {
	var reading sync.Once
	var text []byte
	var err error
	return lint.Source{Name: name, Read: func(ctx context.Context) ([]byte, error) {
		reading.Do(func() { text, err = read(ctx) })
		return text, err
	}}
}

// walk adds a file, or the files of a directory, or with -R of the whole tree.
func (o *options) walk(in *input, root string) error {
	count := len(in.sources) + len(in.skipped)
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
		case entry.IsDir() && (!o.Recursive || entry.Name() == ".git" || in.ignores.ignored(path, true)):
			return filepath.SkipDir
		case entry.IsDir(), path != root && in.ignores.ignored(path, false):
			return nil
		case path != root && isLinkToDirectory(path):
			if o.Recursive {
				in.skip(path, v1alpha1.LintLink)
			}
			return nil
		case path != root && !slices.Contains(resource.FileExtensions, filepath.Ext(path)):
			return nil
		case path != root && !readable(path):
			in.skip(path, v1alpha1.LintSpecial)
			return nil
		}
		in.sources = append(in.sources, o.source(in, path, path != root))
		return nil
	})
	if isDir && failure == nil && err == nil && len(in.sources)+len(in.skipped) == count {
		failure = o.nothing(root)
	}
	return errors.Join(failure, err)
}

func (in *input) skip(path string, reason v1alpha1.LintSkipReason) {
	in.skipped = append(in.skipped, v1alpha1.LintSkipped{File: filepath.ToSlash(path), Reason: reason})
}

// isLinkToDirectory reports whether a path is a symbolic link to a directory. Like kubectl, lint doesn't follow such
// links when it reads a directory.
func isLinkToDirectory(path string) bool {
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := os.Stat(path)
	return err == nil && target.IsDir()
}

// source returns the source of a file. A pipe can be read only once.
func (o *options) source(in *input, path string, found bool) lint.Source {
	read := func(context.Context) ([]byte, error) { return os.ReadFile(path) }
	source := lint.Source{Name: filepath.ToSlash(path), Read: read}
	if !readable(path) {
		source = once(source.Name, read)
	}
	source.Found, source.Tree = found, in.trees.of(path)
	return source
}

// readable reports whether a file can be read repeatedly, which a pipe can't. For a missing file it
// is true, because its reader reports the error.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// nothing returns the error of a directory without manifests.
func (o *options) nothing(root string) error {
	if o.Recursive {
		return fmt.Errorf("the directory %q and the directories below it have no .json, .yaml or .yml files", root)
	}
	return fmt.Errorf("the directory %q has no .json, .yaml or .yml files\n"+
		"To read the directories below it, use -R:\n  kubectl genname lint -R -f %s", root, root)
}

// kustomized returns the objects that kustomize builds of a directory.
func (o *options) kustomized() lint.Source {
	name := filepath.ToSlash(filepath.Join(o.Kustomize, "kustomization.yaml"))
	source := once(name, func(ctx context.Context) ([]byte, error) {
		return kustomize.Build(ctx, kustomize.OnDisk(), o.Kustomize)
	})
	source.Rendered = true
	return source
}

// A URL is read as kubectl reads it. A response of 500 or above is requested again.
const (
	downloadAttempts = 3
	downloadPause    = time.Second
	downloadTimeout  = time.Minute
)

// download returns the content of a URL.
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

// get requests a URL once, and reports whether another attempt can help.
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
		return nil, again, fmt.Errorf("unable to read URL %q, server reported %s", url, response.Status)
	}
	content, err = io.ReadAll(response.Body)
	return content, true, err
}
