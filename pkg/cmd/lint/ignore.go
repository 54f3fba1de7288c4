package lint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
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
	steps     []string // patterns of path.Match, or **
	negated   bool     // matching files are not ignored after all
	directory bool     // it is for directories only
}

// anyDirectories is the step that matches any number of directories.
const anyDirectories = "**"

func newIgnoreList(dir string, lines []string) (list ignoreList, wrong string) {
	list.dir = dir
	for _, line := range lines {
		text := strings.TrimRight(line, " \r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var p ignorePattern
		text, p.negated = strings.CutPrefix(text, "!")
		text, p.directory = strings.CutSuffix(text, "/")
		if !strings.Contains(text, "/") {
			p.steps = []string{anyDirectories}
		}
		text = strings.ReplaceAll(strings.TrimPrefix(text, "/"), "[!", "[^") // path.Match has only [^
		p.steps = append(p.steps, strings.Split(text, "/")...)
		if p.steps[len(p.steps)-1] == anyDirectories {
			p.steps = append(p.steps, "*") // not the directory itself
		}
		if slices.ContainsFunc(p.steps, invalidStep) {
			wrong = line
			continue
		}
		list.patterns = append(list.patterns, p)
	}
	return list, wrong
}

func invalidStep(step string) bool {
	_, err := path.Match(step, "")
	return err != nil
}

// match reports whether the names of a path match. A ** first matches no directory, and one more directory after each
// failed attempt. Only the last ** is tried again, so the time grows with the product of both lengths.
func (p ignorePattern) match(names []string) bool {
	step, name := 0, 0
	again, after := -1, 0 // the last **, and the name after the directories that it matches
	for name < len(names) {
		if step < len(p.steps) && p.steps[step] == anyDirectories {
			again, after = step, name
			step++
			continue
		}
		if step < len(p.steps) {
			if is, err := path.Match(p.steps[step], names[name]); err == nil && is {
				step, name = step+1, name+1
				continue
			}
		}
		if again < 0 {
			return false
		}
		after++
		step, name = again+1, after
	}
	return step == len(p.steps)
}

func (l ignoreList) match(file string, directory bool) (ignored, known bool) {
	relative, err := filepath.Rel(l.dir, file)
	if err != nil {
		return false, false
	}
	if relative == "." || !filepath.IsLocal(relative) {
		return false, false
	}
	names := strings.Split(filepath.ToSlash(relative), "/")
	for _, p := range l.patterns {
		if p.directory && !directory {
			continue
		}
		if p.match(names) {
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

func (i *ignores) ignored(in repository, name string, directory bool) bool {
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
	lists := i.listsOf(in, filepath.Dir(file))
	for at := len(lists) - 1; at >= 0; at-- {
		if out, known := lists[at].match(file, directory); known {
			return out
		}
	}
	return false
}

// maxPatterns limits the time for a file. Lint skips a .gitignore with more patterns, as it skips an unreadable one.
const maxPatterns = 10_000

func (i *ignores) listsOf(in repository, dir string) []ignoreList {
	if lists, known := i.git[dir]; known {
		return lists
	}
	relative, inside := in.relative(dir)
	if !inside {
		return nil
	}
	var lists []ignoreList
	if relative != "." && !in.has(filepath.Join(dir, ".git")) {
		lists = i.listsOf(in, filepath.Dir(dir))
	}
	if text, err := in.read(filepath.Join(dir, ignoreFile)); err == nil {
		list, _ := newIgnoreList(dir, strings.Split(string(text), "\n")) // git skips invalid patterns, too
		count := len(list.patterns)
		for _, above := range lists {
			count += len(above.patterns)
		}
		if count <= maxPatterns {
			lists = append(lists[:len(lists):len(lists)], list)
		}
	}
	i.git[dir] = lists
	return lists
}
