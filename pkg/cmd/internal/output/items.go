package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// itemsPrinter prints the same as kubectl's printer of JSON or YAML, but item by item, because the whole text of
// 100,000 items takes a gigabyte.
type itemsPrinter struct {
	separator     string // before all objects but the first
	sorted        bool   // fields
	fields, items list
	field         func(field) ([]byte, error)
	item          func(any) ([]byte, error)

	inert func(io.Writer) io.Writer // or nil
	more  bool
}

// field is a field of an object, with its value as JSON.
type field struct {
	name  string
	value json.RawMessage
}

// byItem returns a printer that prints items one by one, if the format permits it. Otherwise it returns whole.
func byItem(format string, whole printers.ResourcePrinter) printers.ResourcePrinter {
	switch format {
	case "json":
		const indent, line = "    ", "\n    "
		return &itemsPrinter{
			inert:  InertJSON,
			fields: list{"{" + line, "," + line, "\n}\n"},
			items:  list{`"items": [` + line + indent, "," + line + indent, line + "]"},
			field: func(f field) ([]byte, error) {
				text, err := json.MarshalIndent(f.value, indent, indent)
				return fmt.Appendf(nil, "%q: %s", f.name, text), err
			},
			item: func(item any) ([]byte, error) { return json.MarshalIndent(item, indent+indent, indent) },
		}
	case "yaml":
		return &itemsPrinter{
			separator: "---\n", sorted: true, items: list{begin: "items:\n"},
			field: func(f field) ([]byte, error) { return yaml.Marshal(map[string]any{f.name: f.value}) },
			item:  func(item any) ([]byte, error) { return yaml.Marshal([]any{item}) },
		}
	}
	return whole
}

func (p *itemsPrinter) PrintObj(object runtime.Object, to io.Writer) error {
	fields, items, err := fieldsOf(object)
	if err != nil {
		return err
	}
	if p.sorted {
		slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	}
	if p.inert != nil {
		to = p.inert(to)
	}
	out := &CheckedWriter{Writer: to}
	if p.more {
		_, _ = io.WriteString(out, p.separator)
	}
	p.more = true
	return p.fields.print(out, len(fields), func(i int) ([]byte, error) {
		if fields[i].name != "items" || !items.IsValid() || items.Len() == 0 {
			return p.field(fields[i])
		}
		return nil, p.items.print(out, items.Len(), func(i int) ([]byte, error) {
			return p.item(items.Index(i).Addr().Interface())
		})
	})
}

// fieldsOf returns the fields of an object in their order, and its items. The field of the items is empty.
func fieldsOf(object runtime.Object) (fields []field, items reflect.Value, err error) {
	empty := reflect.New(reflect.TypeOf(object).Elem())
	empty.Elem().Set(reflect.ValueOf(object).Elem())
	items = reflect.ValueOf(object).Elem().FieldByName("Items")
	if items.IsValid() {
		empty.Elem().FieldByName("Items").Set(reflect.MakeSlice(items.Type(), 0, 0))
	}
	text, err := json.Marshal(empty.Interface())
	if err != nil {
		return nil, items, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, err = decoder.Token()
	for err == nil && decoder.More() {
		var f field
		name, tokenErr := decoder.Token()
		f.name = fmt.Sprint(name)
		err = errors.Join(tokenErr, decoder.Decode(&f.value))
		fields = append(fields, f)
	}
	return fields, items, err
}

// list is the text around the elements of a list.
type list struct{ begin, between, end string }

func (l list) print(out *CheckedWriter, n int, element func(i int) ([]byte, error)) error {
	before := l.begin
	for i := range n {
		_, _ = io.WriteString(out, before)
		text, err := element(i)
		_, _ = out.Write(text)
		if err := errors.Join(err, out.Err()); err != nil {
			return err
		}
		before = l.between
	}
	_, err := io.WriteString(out, l.end)
	return err
}
