package lint

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFile is the name of git's files with patterns.
const ignoreFile = ".gitignore"

// ignoreList is a list of patterns as git has them in .gitignore, for the files below a
// directory. The last pattern that matches a file counts.
type ignoreList struct {
	dir      string // absolute
	patterns []ignorePattern
}

type ignorePattern struct {
	glob      string
	negated   bool // matching files are no longer ignored
	directory bool // it is for directories only
}

// newIgnoreList returns the list of the lines, or the line that is not a pattern.
func newIgnoreList(dir string, lines []string) (list ignoreList, wrong string) {
	list.dir = dir
	for _, line := range lines {
		text := strings.TrimRight(line, " \r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var p ignorePattern
		text, p.negated = strings.CutPrefix(text, "!")
		text = strings.TrimPrefix(text, `\`)
		text, p.directory = strings.CutSuffix(text, "/")
		anchored := strings.Contains(text, "/")
		p.glob = strings.TrimPrefix(text, "/")
		if !anchored {
			p.glob = "**/" + p.glob
		}
		if !doublestar.ValidatePattern(p.glob) {
			wrong = line
			continue
		}
		list.patterns = append(list.patterns, p)
	}
	return list, wrong
}

// match reports whether the list ignores a file, and whether it has a pattern for the file.
func (l ignoreList) match(file string, directory bool) (ignored, known bool) {
	relative, err := filepath.Rel(l.dir, file)
	if err != nil {
		return false, false
	}
	relative = filepath.ToSlash(relative)
	if relative == "." || strings.HasPrefix(relative, "../") {
		return false, false
	}
	for _, p := range l.patterns {
		if p.directory && !directory {
			continue
		}
		if is, err := doublestar.Match(p.glob, relative); err == nil && is {
			ignored, known = !p.negated, true
		}
	}
	return ignored, known
}

// ignores has the lists that apply to a directory. --exclude and the configuration come first, then .gitignore by
// directory.
type ignores struct {
	excludes []ignoreList
	git      map[string][]ignoreList // by directory, from the repository's root down; nil to ignore .gitignore
}

// ignored reports whether a walk leaves out a file or a directory.
func (i *ignores) ignored(name string, directory bool) bool {
	file, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	for _, list := range i.excludes {
		if out, known := list.match(file, directory); known {
			return out
		}
	}
	if i.git == nil {
		return false
	}
	lists := i.listsOf(filepath.Dir(file))
	for at := len(lists) - 1; at >= 0; at-- {
		if out, known := lists[at].match(file, directory); known {
			return out
		}
	}
	return false
}

// listsOf returns the lists of .gitignore from the root of the repository to a directory.
func (i *ignores) listsOf(dir string) []ignoreList {
	if lists, known := i.git[dir]; known {
		return lists
	}
	var lists []ignoreList
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil && dir != filepath.Dir(dir) {
		lists = i.listsOf(filepath.Dir(dir))
	}
	if text, err := os.ReadFile(filepath.Join(dir, ignoreFile)); err == nil {
		list, _ := newIgnoreList(dir, strings.Split(string(text), "\n")) // git skips invalid patterns, too
		lists = append(lists[:len(lists):len(lists)], list)
	}
	i.git[dir] = lists
	return lists
}

// inRepository returns the path of a file relative to its repository. Without a repository, it is relative to the
// working directory.
func inRepository(root, file string) string {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	relative, err := filepath.Rel(root, absolute)
	if err != nil || strings.HasPrefix(relative, "..") {
		return ""
	}
	return path.Clean(filepath.ToSlash(relative))
}
