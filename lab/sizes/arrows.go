package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// arrows returns the number of arrows between the files of a package, and how many of them run back in the best order
// of the files. An arrow is a use of names that another file declares.
func arrows(directory string) (all, back int, err error) {
	set, info := token.NewFileSet(), types.Info{Uses: map[*ast.Ident]types.Object{}}
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return 0, 0, err
		}
		files = append(files, file)
	}
	ignored := types.Config{Error: func(error) {}} // the imports are missing
	_, _ = ignored.Check(directory, set, files, &info)
	uses := map[[2]string]bool{}
	for identifier, object := range info.Uses {
		from, to := set.Position(identifier.Pos()).Filename, set.Position(object.Pos()).Filename
		if to != "" && from != to {
			uses[[2]string{from, to}] = true
		}
	}
	return len(uses), leastBack(paths, uses), err
}

// leastBack moves each file to its best place until nothing improves.
func leastBack(order []string, uses map[[2]string]bool) int {
	count := func(order []string) (back int) {
		for use := range uses {
			if slices.Index(order, use[0]) > slices.Index(order, use[1]) {
				back++
			}
		}
		return back
	}
	least := count(order)
	for i := 0; i < len(order)*len(order); i++ {
		from, to := i/len(order), i%len(order)
		moved := slices.Insert(slices.Delete(slices.Clone(order), from, from+1), to, order[from])
		if back := count(moved); back < least {
			least, order, i = back, moved, -1
		}
	}
	return least
}
