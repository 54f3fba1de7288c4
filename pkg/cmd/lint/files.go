package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// This file has all functions of the package that open files. A repository opens files that the user didn't name. The
// user might not trust their author.

// repository is a directory with files that lint can read although the user didn't name them.
type repository struct {
	dir  string // absolute
	root *os.Root
}

// newRepository returns the repository that contains a directory, or the directory if there is none.
func newRepository(dir string) repository {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return repository{}
	}
	top := absolute
	for at := absolute; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		root = nil // reads fail
	}
	return repository{top, root}
}

func (r repository) close() {
	if r.root != nil {
		_ = r.root.Close()
	}
}

// relative returns a path relative to the repository, and whether it is inside. It doesn't follow links.
func (r repository) relative(path string) (string, bool) {
	absolute, err := filepath.Abs(path)
	if err != nil || r.dir == "" {
		return "", false
	}
	relative, err := filepath.Rel(r.dir, absolute)
	return relative, err == nil && filepath.IsLocal(relative)
}

// read returns the content of a regular file that is inside the repository after links.
func (r repository) read(path string) ([]byte, error) {
	relative, inside := r.relative(path)
	if !inside || r.root == nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("outside the repository")}
	}
	text, err := untrusted.ReadIn(r.root, relative)
	var failure *fs.PathError
	if errors.As(err, &failure) {
		err = &fs.PathError{Op: "read", Path: path, Err: failure.Err}
	}
	return text, err
}

func (r repository) readYAML(path string) ([]byte, error) {
	text, err := r.read(path)
	if err != nil {
		return nil, err
	}
	if err := untrusted.CheckAliases(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// stat returns the type of a file that is inside the repository after links.
func (r repository) stat(path string) (fs.FileInfo, error) {
	relative, inside := r.relative(path)
	if !inside || r.root == nil {
		return nil, fs.ErrNotExist
	}
	return r.root.Stat(relative)
}

// has reports whether a file exists, possibly as a link that lint doesn't follow.
func (r repository) has(path string) bool {
	relative, inside := r.relative(path)
	if !inside || r.root == nil {
		return false
	}
	_, err := r.root.Lstat(relative)
	return err == nil
}

// readNamed returns the content of a file that the user named, which can also be a pipe.
func readNamed(path string) ([]byte, error) { return os.ReadFile(path) }

// readMatched returns the content of a file that matches a pattern of the user.
func readMatched(path string) ([]byte, error) { return untrusted.ReadFile(path) }

// expandPattern returns the files of a pattern. A file that exists isn't a pattern.
func expandPattern(name string) ([]string, error) {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return []string{name}, nil
	}
	return filepath.Glob(name)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
