package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// asKubectl reads a file as kubectl create does (StreamVisitor and
// FlattenListVisitor of k8s.io/cli-runtime), or returns the error that stops it.
func asKubectl(file []byte) ([]runtime.Object, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(decoded(file)), guessed)
	var found []runtime.Object
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		text := bytes.TrimSpace(document.Raw)
		if len(text) == 0 || bytes.Equal(text, []byte("null")) {
			continue
		}
		object, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
		if err != nil {
			return found, err
		}
		pending := []runtime.Object{object}
		for i := 0; i < len(pending); i++ {
			if !meta.IsListType(pending[i]) {
				if kind := pending[i].GetObjectKind().GroupVersionKind(); kind.Version == "" || kind.Kind == "" {
					return found, errors.New("no mapping")
				}
				found = append(found, pending[i])
				continue
			}
			items, err := meta.ExtractList(pending[i])
			if err != nil {
				return found, err
			}
			pending = append(pending, items...)
		}
	}
}

// same fails the test if kubectl reads the whole file, but Read finds other objects in it.
func same(t *testing.T, file []byte) {
	t.Helper()
	want, err := asKubectl(file)
	if err != nil {
		return
	}
	objects, broken := Read(file)
	if len(broken) == 1 && strings.Contains(broken[0].Err.Error(), "a List in more than") {
		return
	}
	if len(broken) > 0 {
		t.Fatalf("kubectl reads all, but here %v", broken)
	}
	var got []map[string]any
	for _, o := range objects {
		got = append(got, o.Object)
	}
	for _, object := range want {
		content := object.(*unstructured.Unstructured).Object
		at := indexOf(got, content)
		if at < 0 {
			t.Fatalf("kubectl finds %v, and here are\n%v", content, got)
		}
		got = append(got[:at], got[at+1:]...)
	}
	if len(got) > 0 {
		t.Fatalf("kubectl does not find %v", got)
	}
}

func indexOf(objects []map[string]any, object map[string]any) int {
	for i, o := range objects {
		if reflect.DeepEqual(o, object) {
			return i
		}
	}
	return -1
}

// placed checks the position of each field of an object. It fails the test if the file has another value at that
// position. placed skips fields that the second parser doesn't know.
func placed(t *testing.T, file []byte) {
	t.Helper()
	objects, _ := Read(file)
	lines := strings.Split(strings.ReplaceAll(string(decoded(file)), "\r\n", "\n"), "\n")
	for _, o := range objects {
		each(o.Object, nil, func(path []any, value any) {
			at := o.Position(path...)
			if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len([]rune(lines[at.Line-1]))+1 {
				t.Fatalf("%v stands at %+v of %d lines", path, at, len(lines))
			}
			_, is := o.Document.root.find(append(o.path[:len(o.path):len(o.path)], path...))
			name, named := path[len(path)-1].(string)
			if !is || !named || !plain(name) {
				return
			}
			rest := string([]rune(lines[at.Line-1])[at.Column-1:])
			if rest = strings.TrimLeft(rest, `'"`); !strings.ContainsAny(rest, `\!&*?`) && !strings.HasPrefix(rest, name) {
				t.Fatalf("%v stands at %+v, where is %q", path, at, rest)
			}
			after, _ := strings.CutPrefix(rest, name+": ")
			if text, is := value.(string); is && plain(after) && plain(text) && after != text {
				t.Fatalf("%v is %q, and at %+v stands %q", path, text, at, after)
			}
		})
	}
}

// plain reports whether a text means the same in YAML 1.1 and 1.2, and with any quotes.
func plain(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-/.") == "" &&
		!strings.HasPrefix(text, "-") && !strings.HasPrefix(text, ".")
}

func each(value any, path []any, visit func([]any, any)) {
	if len(path) > 0 {
		visit(path, value)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			each(below, append(path[:len(path):len(path)], name), visit)
		}
	case []any:
		for i, item := range value {
			each(item, append(path[:len(path):len(path)], i), visit)
		}
	}
}

// files has manifests in all supported forms.
var files = []struct{ name, text string }{
	{"a document", "apiVersion: v1\nkind: A\nmetadata:\n  generateName: a-\n"},
	{"two documents", "apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n"},
	{"separators", "---\n---\napiVersion: v1\nkind: A\n--- # next\n\n---\n\n# nothing\n---\napiVersion: v1\nkind: B\n---\n"},
	{"a bad separator", "apiVersion: v1\nkind: A\n--- {}\napiVersion: v1\nkind: B\n"},
	{"CRLF", "apiVersion: v1\r\nkind: A\r\nmetadata:\r\n  generateName: a-\r\n---\r\napiVersion: v1\r\nkind: B\r\n"},
	{"no line feed at the end", "apiVersion: v1\nkind: A\nmetadata: {generateName: a-}"},
	{"JSON", "{\"apiVersion\": \"v1\",\n\t\"kind\": \"A\",\n\t\"metadata\": {\"generateName\":\"a-\"}}\n"},
	{"a row of JSON", `{"apiVersion":"v1","kind":"A"}` + "\n" + `{"apiVersion":"v1","kind":"B","x":[1,{"y":"z"}]} {"apiVersion":"v1","kind":"C"}`},
	{"JSON, then YAML", "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n---\napiVersion: v1\nkind: B\nmetadata:\n  name: b\n"},
	{"JSON that is broken", `{"apiVersion":"v1","kind":"A"} {"apiVersion":"v1","kind":"B"} {`},
	{"flow style", "{apiVersion: v1, kind: A, metadata: {\n\tgenerateName: a-}}\n"},
	{"a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n-\n  apiVersion: v1\n  kind: B\n"},
	{"Lists in a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: A}\n- {apiVersion: v1, kind: B}\n"},
	{"a typed List", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n"},
	{"kinds that end in List", "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\n---\napiVersion: example.com/v1\nkind: AllowList\nitems: []\n---\n" +
		"apiVersion: example.com/v1\nkind: AllowList\nitems:\n- {host: a}\n---\napiVersion: example.com/v1\nkind: AllowList\nitems: null\n"},
	{"items of another kind", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nitems:\n- metadata: {name: b}\n"},
	{"an alias", "apiVersion: v1\nkind: A\na: &a {b: c}\nd: *a\ne: [*a, *a]\n"},
	{"merges", "apiVersion: v1\nkind: A\nbase: &base {x: one, y: two}\nother: &other {x: three, z: four}\na: {<<: *base, y: five}\nb: {y: six, <<: *base}\nc: {<<: [*base, *other]}\n"},
	{"YAML 1.1", "apiVersion: v1\nkind: A\nyes: no\non: off\noctal: 010\ntime: 2001-01-01\nsexagesimal: 1:30\nbinary: !!binary aGVsbG8=\n"},
	{"names twice", "apiVersion: v1\nkind: A\nx: one\nx: two\n"},
	{"block scalars", "apiVersion: v1\nkind: A\ntext: |\n  kind: B\n  # no comment\nafter: x\n"},
	{"quotes", "\"apiVersion\": 'v1'\n'kind': \"A\"\n\"k\\u0069nd2\": \"\\x41\"\n"},
	{"characters of several bytes", "apiVersion: v1\nkind: A\ntext: {é: ü, b: c}\n"},
	{"a byte order mark", "\xef\xbb\xbfapiVersion: v1\nkind: A\n"},
	{"UTF-16", "\xff\xfek\x00i\x00n\x00d\x00:\x00 \x00A\x00\n\x00a\x00p\x00i\x00V\x00e\x00r\x00s\x00i\x00o\x00n\x00:\x00 \x00v\x001\x00\n\x00"},
	{"bytes that are no text", "apiVersion: v1\nkind: A\ntext: \xff\xfe\n"},
	{"a directive", "%YAML 1.1\n---\napiVersion: v1\nkind: A\n"},
	{"an end", "apiVersion: v1\nkind: A\n...\n"},
	{"a tab", "apiVersion: v1\nkind: A\nmetadata:\n\tname: a\n"},
	{"no kind", "a: b\n"},
	{"no object", "- a\n- b\n"},
	{"kind in escapes", `{"apiVersion":"v1","\u006bind":"A"}`},
	{"nothing", ""},
	{"a comment", "# kind: A\n"},
	{"null", "null\n---\n~\n"},
}

func TestReadsAsKubectl(t *testing.T) {
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			same(t, []byte(f.text))
			placed(t, []byte(f.text))
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file.text))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		same(t, file)
		placed(t, file)
		for _, o := range first(Read(file)) {
			o.Comments()
		}
	})
}

func first(objects []*Object, _ []Broken) []*Object { return objects }

// A text in an object can have several documents. At any depth, it can't have aliases that a file can't have.
func TestEmbeddedText(t *testing.T) {
	in := func(text string) string {
		return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {templates: [{resource: {manifest: %q}}]}\n", text)
	}
	bomb := "apiVersion: v1\nkind: Bomb\na: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 40) + "]\n"
	for _, test := range []struct{ text, kinds string }{
		{in("apiVersion: v1\nkind: A\n"), "Workflow A"},
		{in(`{"apiVersion": "v1", "kind": "A"}`), "Workflow A"},
		{in("apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: B}]\n"), "Workflow A B"},
		{in("apiVersion: v1\nkind: A\nx: {{ y }}\n---\nno: object\n"), "Workflow"},
		{in(in("apiVersion: v1\nkind: A\n") + "---\napiVersion: v1\nkind: B\n"), "Workflow Workflow A B"},
		{in(bomb), ""},
		{in(bomb + "--- x\n"), "Workflow"},
		{in(in(in(bomb))), "Workflow"},
	} {
		var kinds []string
		Each([]byte(test.text), func(objects []*Object, _ *Broken) {
			for _, o := range objects {
				kinds = append(kinds, o.GetKind())
				if at := o.Position("kind"); o.Embedded != (at.Line == 3) {
					t.Errorf("%s is embedded: %t, and stands in line %d", o.GetKind(), o.Embedded, at.Line)
				}
			}
		})
		if got := strings.Join(kinds, " "); got != test.kinds {
			t.Errorf("%.200s: %s, want %s", test.text, got, test.kinds)
		}
	}
}

// Read limits the depth of objects in objects and texts in texts, because paths and time grow with each level.
func TestNesting(t *testing.T) {
	const levels = 1000
	list := strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, levels) + strings.Repeat("]}", levels)
	if objects, broken := Read([]byte(list)); len(objects) > 0 || len(broken) != 1 || broken[0].Err.Error() != "a List in more than 10 Lists" {
		t.Errorf("%d objects, %v", len(objects), broken)
	}
	template := strings.Repeat(`{"apiVersion":"v1","kind":"Template","objects":[`, levels) + strings.Repeat("]}", levels)
	if objects, broken := Read([]byte(template)); len(objects) != maxNesting+1 || len(broken) > 0 {
		t.Errorf("%d objects, %v", len(objects), broken)
	}
	text := "apiVersion: v1\nkind: A\n"
	for range 2 * maxNesting {
		text = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n templates:\n - resource:\n    manifest: |\n     " +
			strings.ReplaceAll(text, "\n", "\n     ") + "\n"
	}
	if objects, broken := Read([]byte(text)); len(objects) != maxNesting+1 || len(broken) > 0 {
		t.Errorf("%d objects, %v", len(objects), broken)
	}
}

// An unreadable document doesn't affect the others. Its error has the line of the document.
func TestBroken(t *testing.T) {
	for _, test := range []struct{ text, kinds, broken string }{
		{"kind: A\napiVersion: v1\n---\nkind: [\n---\nkind: B\napiVersion: v1\n", "A B", "4"},
		{"kind: A\napiVersion: v1\n--- {}\nkind: B\napiVersion: v1\n", "A B", "3"},
		{"a: b\n---\nkind: B\napiVersion: v1\n", "B", "1"},
		{"kind: List\napiVersion: v1\nitems: [{kind: A, apiVersion: v1}, {kind: B}]\n", "A", "1"},
		{"kind: List\napiVersion: v1\nitems: [{a: b}, {kind: A, apiVersion: v1}, null, {kind: B, apiVersion: v1}]\n", "A B", "1"},
		{"{\"kind\":\"A\",\"apiVersion\":\"v1\"}\n{\"kind\":\"B\",\"apiVersion\":\"v1\"}\n{", "A B", "3"},
		{"{\n", "", "1"},
		{"kind: AllowList\napiVersion: example.com/v1\nitems: [a]\n---\nkind: AllowList\napiVersion: example.com/v1\nitems: {a: b}\n", "", "1 5"},
	} {
		objects, broken := Read([]byte(test.text))
		var kinds, lines []string
		for _, o := range objects {
			kinds = append(kinds, o.GetKind())
		}
		for _, b := range broken {
			lines = append(lines, fmt.Sprint(b.Line))
			if b.Err == nil {
				t.Error("no error")
			}
		}
		if strings.Join(kinds, " ") != test.kinds || strings.Join(lines, " ") != test.broken {
			t.Errorf("%q: objects %v, broken at %v; want %q, %q", test.text, kinds, broken, test.kinds, test.broken)
		}
	}
}

func TestPosition(t *testing.T) {
	text := "# a comment\nkind: A\napiVersion: v1\nmetadata:\n  labels: &l\n    app: x\n  generateName: a-\nspec:\n  same: *l\n  merged:\n    <<: *l\n    own: y\n  list:\n  - one\n  - {two: 2}\n---\n" +
		"kind: List\r\napiVersion: v1\r\nitems:\r\n- kind: B\r\n  apiVersion: v1\r\n  metadata: {name: b, é: {generateName: b-}}\r\n"
	objects, broken := Read([]byte(text))
	inJSON, brokenJSON := Read([]byte("{\n\t\"kind\": \"List\", \"apiVersion\": \"v1\",\n    \"items\": [\n        {\"kind\":\"C\",\"apiVersion\":\"v1\"},\n" +
		"        {\n            \"kind\": \"C\", \"apiVersion\": \"v1\", \"é\": \"\\ud83d\\ude00 \\/\",\"metadata\":{\"generateName\":\"c-\"}, \"x\": [ 1, true]\n        }\n    ]\n}\n"))
	objects, broken = append(objects, inJSON...), append(broken, brokenJSON...)
	if len(objects) != 4 || broken != nil {
		t.Fatal(objects, broken)
	}
	for _, test := range []struct {
		object int
		path   []any
		want   Position
	}{
		{0, []any{"metadata", "generateName"}, Position{7, 3}},
		{0, []any{"metadata"}, Position{4, 1}},
		{0, []any{"spec", "same"}, Position{9, 3}},
		{0, []any{"spec", "same", "app"}, Position{6, 5}},
		{0, []any{"spec", "merged", "app"}, Position{6, 5}},
		{0, []any{"spec", "merged", "own"}, Position{12, 5}},
		{0, []any{"spec", "list", 1}, Position{15, 5}},
		{0, []any{"spec", "list", 1, "two"}, Position{15, 6}},
		{0, []any{"metadata", "nonsuch", "x"}, Position{4, 1}},
		{1, []any{"metadata", "name"}, Position{22, 14}},
		{1, []any{"metadata", "é", "generateName"}, Position{22, 27}},
		{2, nil, Position{4, 9}},
		{3, []any{"metadata"}, Position{6, 69}},
		{3, []any{"metadata", "generateName"}, Position{6, 81}},
		{3, []any{"x", 1}, Position{6, 113}},
	} {
		if got := objects[test.object].Position(test.path...); got != test.want {
			t.Errorf("%v stands at %+v, want %+v", test.path, got, test.want)
		}
	}
}

func TestComments(t *testing.T) {
	text := "# before\n---\n# first\nkind: A # beside\napiVersion: v1\n# alone\n# two\nmetadata:\n  name: a\ntext: |\n  # none\n  kind # none\nquoted: \"x # none\"\nlast: x # end\n"
	objects, _ := Read([]byte(text))
	var got []string
	for _, c := range objects[0].Comments() {
		got = append(got, fmt.Sprintf("%d:%d %s %v %v", c.Line, c.Column, c.Text, c.Alone, c.Leads))
	}
	want := []string{
		"1:1 before true true", "3:1 first true true", "4:9 beside false false", "6:1 alone true false", "7:1 two true false",
		"14:9 end false false",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
