package output

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// itemsPrinter prints the same as one of kubectl's printers, but item by item. The whole text of
// 100,000 items takes a gigabyte.
type itemsPrinter struct {
	whole               printers.ResourcePrinter
	none                string // printed instead of begin, items and end if there are no items
	begin, between, end string
	item                func(any) ([]byte, error)
}

// byItem returns the printer of a format that prints items one by one, where it can.
func byItem(format string, whole printers.ResourcePrinter) printers.ResourcePrinter {
	switch format {
	case "json":
		const indent, line = "    ", "\n    "
		return &itemsPrinter{
			whole: whole, none: line + `"items": []`,
			begin: line + `"items": [` + line + indent, between: "," + line + indent, end: line + "]",
			item: func(item any) ([]byte, error) { return json.MarshalIndent(item, indent+indent, indent) },
		}
	case "yaml":
		return &itemsPrinter{
			whole: whole, none: "\nitems: []\n", begin: "\nitems:\n",
			item: func(item any) ([]byte, error) { return yaml.Marshal([]any{item}) },
		}
	}
	return whole
}

func (p *itemsPrinter) PrintObj(object runtime.Object, out io.Writer) error {
	empty, items := takeItems(object)
	if items == nil {
		return p.whole.PrintObj(object, out)
	}
	var text bytes.Buffer
	if err := p.whole.PrintObj(empty, &text); err != nil {
		return err
	}
	before, after, _ := bytes.Cut(text.Bytes(), []byte(p.none))
	if _, err := out.Write(append(before[:len(before):len(before)], p.begin...)); err != nil {
		return err
	}
	for i := range items.Len() {
		text, err := p.item(items.Index(i).Addr().Interface())
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte(p.between), text...)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	_, err := out.Write(append([]byte(p.end), after...))
	return err
}

// takeItems returns an object without its items, and the items. They are nil if there are none.
func takeItems(object runtime.Object) (empty runtime.Object, items *reflect.Value) {
	of := reflect.ValueOf(object).Elem()
	all := of.FieldByName("Items")
	if !all.IsValid() || all.Len() == 0 {
		return object, nil
	}
	copied := reflect.New(of.Type())
	copied.Elem().Set(of)
	copied.Elem().FieldByName("Items").Set(reflect.MakeSlice(all.Type(), 0, 0))
	return copied.Interface().(runtime.Object), &all
}
