package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// comments are the comments of the types of pkg/api/v1alpha1, by TYPE and TYPE.FIELD. Fields have their JSON names.
type comments map[string]string

// of returns the comment of a type or, with a name, of a field. A field without a comment gets the comment of its
// type.
func (c comments) of(owner reflect.Type, field string) string {
	if field == "" {
		return c[owner.Name()]
	}
	f, _ := owner.FieldByName(field)
	inner := f.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	for _, comment := range []string{c[owner.Name()+"."+field], c[inner.Name()]} {
		if comment != "" {
			return comment
		}
	}
	return ""
}

func readComments(t *testing.T) comments {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docs(), "..", "pkg", "api", "v1alpha1", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	found := comments{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if types, ok := declaration.(*ast.GenDecl); ok && types.Tok == token.TYPE {
				found.add(types)
			}
		}
	}
	return found
}

func (c comments) add(types *ast.GenDecl) {
	for _, spec := range types.Specs {
		spec := spec.(*ast.TypeSpec)
		name := spec.Name.Name
		described, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		c[name] = sentence(types.Doc.Text(), name, described)
		for _, field := range described.Fields.List {
			for _, ident := range field.Names {
				c[name+"."+ident.Name] = sentence(field.Doc.Text()+field.Comment.Text(), ident.Name, described)
			}
		}
	}
}

// sentence returns a comment without the name at its beginning, and with the JSON names of other fields.
func sentence(comment, name string, of *ast.StructType) string {
	text := strings.Join(strings.Fields(comment), " ")
	text = regexp.MustCompile(`^`+name+` (is|are|holds|lists|describes) `).ReplaceAllString(text, "")
	for _, field := range of.Fields.List {
		for _, other := range field.Names {
			tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			text = regexp.MustCompile(`\b`+other.Name+`\b`).ReplaceAllString(text, tag)
		}
	}
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
