package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var update = flag.Bool("update", false, "write docs/schemas and docs/reference/formats")

// kinds are the published kinds.
var kinds = []any{v1alpha1.AuditReport{}, v1alpha1.CollisionReport{}, v1alpha1.CreateLine{}, v1alpha1.DuplicateReport{}, v1alpha1.LintReport{}, v1alpha1.PruneReport{}, v1alpha1.VersionReport{}}

// probabilities are the fields with numbers from 0 to 1.
var probabilities = map[string]bool{
	"AuditExceeded.nextCreate": true,
	"AuditGate.failAbove":      true,
	"AuditRoom.probability":    true,
	"ChurnPolicy.anyFails":     true,
	"Room.probability":         true,
	"NextCreate.noRetry":       true,
	"NextCreate.serverRetry":   true,
	"Policy.anyFails":          true,
	"Policy.nextCreateFails":   true,
}

// enums are the string types with a fixed set of values: their constants.
var enums = []reflect.Type{
	reflect.TypeFor[v1alpha1.AttemptsSource](), reflect.TypeFor[v1alpha1.CreateOutcome](), reflect.TypeFor[v1alpha1.CreateResult](),
	reflect.TypeFor[v1alpha1.DuplicateGrade](), reflect.TypeFor[v1alpha1.LintLevel](), reflect.TypeFor[v1alpha1.PruneReason](),
	reflect.TypeFor[v1alpha1.PolicyName](),
}

// generator generates schemas from Go types and their comments.
type generator struct {
	t         *testing.T
	comments  comments
	constants map[string][]any // the values of the constants by their type
}

// schemaOf returns the schema of a kind.
func (g generator) schemaOf(kind reflect.Type) *jsonschema.Schema {
	special := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[metav1.Time](): {Type: "string", Format: "date-time"},
		reflect.TypeFor[metav1.TypeMeta](): {Type: "object", Properties: map[string]*jsonschema.Schema{
			"apiVersion": {Const: constant(v1alpha1.GroupVersion.String()), Description: "The API version of the report."},
			"kind":       {Const: constant(kind.Name()), Description: "The kind of the report."},
		}},
	}
	for _, of := range enums {
		special[of] = &jsonschema.Schema{Type: "string", Enum: g.constants[of.Name()]}
	}
	schema, err := jsonschema.ForType(kind, &jsonschema.ForOptions{TypeSchemas: special})
	if err != nil {
		g.t.Fatal(err)
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = kind.Name()
	schema.Description = g.comments.of(kind, "")
	if _, isReport := kind.FieldByName("TypeMeta"); isReport {
		schema.Required = append([]string{"apiVersion", "kind"}, schema.Required...)
	}
	g.complete(kind, schema)
	return schema
}

func constant(value any) *any { return &value }

// complete adds the comments and ranges of the fields to the schema of a struct.
func (g generator) complete(of reflect.Type, schema *jsonschema.Schema) {
	for field := range fields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue // field of an embedded type with a special schema
		}
		owner := g.owner(of, field)
		if comment := g.comments.of(owner, field.Name); comment != "" {
			property.Description = comment
		}
		bound(property, owner.Name()+"."+name)
		inner := field.Type
		if inner.Kind() == reflect.Slice {
			property.Types, property.Type = nil, "array" // our lists are never null
			inner, property = inner.Elem(), property.Items
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[metav1.Time]() {
			g.complete(inner, property)
		}
	}
}

// bound sets the range of a number.
func bound(property *jsonschema.Schema, field string) {
	number := false
	for _, t := range append([]string{property.Type}, property.Types...) {
		number = number || t == "number" || t == "integer"
	}
	zero, one := 0.0, 1.0
	switch {
	case !number:
	case strings.HasSuffix(field, "Log10"):
		property.Maximum = &zero
	case probabilities[field]:
		property.Minimum, property.Maximum = &zero, &one
	default:
		property.Minimum = &zero
	}
}

// owner returns the struct that declares a field. This is the struct of, or a struct that is embedded in it.
func (g generator) owner(of reflect.Type, field reflect.StructField) reflect.Type {
	if len(field.Index) == 1 {
		return of
	}
	return of.FieldByIndex(field.Index[:len(field.Index)-1]).Type
}

// fields returns the fields of a struct and of its embedded structs.
func fields(of reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, field := range reflect.VisibleFields(of) {
			if !field.Anonymous && !yield(field) {
				return
			}
		}
	}
}

// The published schemas and the pages of docs/reference/formats follow from the types
// of pkg/api/v1alpha1.
func TestGenerated(t *testing.T) {
	g := readTypes(t)
	for _, kind := range kinds {
		of := reflect.TypeOf(kind)
		schema := g.schemaOf(of)
		data, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, path(of.Name()), append(data, '\n'))
		file := strings.ToLower(of.Name())
		page := fmt.Sprintf("# %s\n\n%s\n\nThe table and the [JSON Schema](../../schemas/v1alpha1/%s.json) have the same fields. "+
			"[Machine-readable output](../output-formats.md) explains null, absent fields, times and probabilities.\n\n%s",
			of.Name(), schema.Description, file, table(t, schema))
		compare(t, filepath.Join(docs(), "reference", "formats", file+".md"), []byte(page))
	}
}

func compare(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; make schemas writes it", path)
	}
}

// table returns a row for each field, by its path.
func table(t *testing.T, schema *jsonschema.Schema) string {
	var out strings.Builder
	out.WriteString("| field | type | meaning |\n|---|---|---|\n")
	addRows(t, &out, schema, "")
	return out.String()
}

func addRows(t *testing.T, out *strings.Builder, schema *jsonschema.Schema, prefix string) {
	for _, name := range schema.PropertyOrder {
		property := schema.Properties[name]
		path := prefix + name
		if property.Description == "" {
			t.Errorf("%s has no comment that says what it is", path)
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", path, typeOf(property), strings.ReplaceAll(property.Description, "|", `\|`))
		if property.Items != nil {
			addRows(t, out, property.Items, path+"[].")
		}
		addRows(t, out, property, path+".")
	}
}

func typeOf(s *jsonschema.Schema) string {
	if s.Const != nil {
		return fmt.Sprintf("`%v`", *s.Const)
	}
	var types []string
	for _, name := range append(append([]string{}, s.Types...), s.Type) {
		switch {
		case name == "" || name == "null":
		case name == "number" && s.Maximum != nil && *s.Maximum == 1:
			types = append(types, "probability")
		case s.Format == "date-time":
			types = append(types, "time")
		case s.Items != nil && s.Items.Type != "":
			types = append(types, "list of "+s.Items.Type+"s")
		default:
			types = append(types, name)
		}
	}
	for _, name := range s.Types {
		if name == "null" {
			types = append(types, "null")
		}
	}
	return strings.Join(types, " or ")
}

const version = `{"apiVersion": "genname.dev/v1alpha1", "kind": "VersionReport",
	"client": {"gitVersion": "v1", "goVersion": "go1.26", "platform": "linux/amd64"},
	"server": {"gitVersion": "v1.34.4", "major": "1", "minor": "34", "attempts": 8, "attemptsSource": "metric"}}`

// The test detects differences from a schema.
func TestValidate(t *testing.T) {
	for _, test := range []struct{ name, old, by, want string }{
		{"as it is", "", "", ""},
		{"a new field", `"major"`, `"patch": "4", "major"`, "additional"},
		{"another kind", `VersionReport`, `NonsuchReport`, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind, object, ours := parse(strings.Replace(version, test.old, test.by, 1))
			if !ours {
				t.Fatal("not taken for one of ours")
			}
			err := validate(kind, object)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want one about %q", err, test.want)
			}
		})
	}
}

// Objects of other groups and all other outputs are not compared.
func TestParse(t *testing.T) {
	for output, want := range map[string]bool{
		"A prefix: 0 of": false, "{": false, "{}": false, `{"apiVersion": "v1", "kind": "Pod"}`: false,
		"apiVersion: genname.dev/v1alpha1\nkind: X\n": true, "---\n{\n  kind: \"X\",\n  apiVersion: \"genname.dev/v1alpha1\",\n}\n": true,
	} {
		if kind, _, ours := parse(output); ours != want || ours && kind != "X" {
			t.Errorf("%q is compared: %t", output, ours)
		}
	}
}

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

// readTypes reads the source of pkg/api/v1alpha1.
func readTypes(t *testing.T) generator {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(docs(), "..", "pkg", "api", "v1alpha1", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	g := generator{t, comments{}, map[string][]any{}}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			d, ok := declaration.(*ast.GenDecl)
			if ok && d.Tok == token.TYPE {
				g.comments.add(d)
			}
			if ok && d.Tok == token.CONST {
				g.addConstants(d)
			}
		}
	}
	return g
}

func (g generator) addConstants(constants *ast.GenDecl) {
	for _, spec := range constants.Specs {
		constant := spec.(*ast.ValueSpec)
		if of, is := constant.Type.(*ast.Ident); is {
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				g.t.Fatal(err)
			}
			g.constants[of.Name] = append(g.constants[of.Name], value)
		}
	}
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
