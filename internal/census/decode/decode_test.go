package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/randfill"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// decodeAll decodes a page from r.
func decodeAll(r io.Reader) (Page, []object.Object, error) {
	var objects []object.Object
	p, err := List(r, Options{Job: true}, func(o *object.Object) error {
		kept := *o
		kept.Owners, kept.Finalizers = slices.Clone(o.Owners), slices.Clone(o.Finalizers)
		objects = append(objects, kept)
		return nil
	})
	return p, objects, err
}

// fields are FieldsV1 that own metadata.generateName, or that look as if they did.
var fields = []string{
	`{}`, `{"f:metadata":{"f:name":[[{}]]}}`,
	`{"f:metadata":{"f:generateName":{}}}`,
	`{"f:a":{"f:generateName":{}},"f:metadata":{"f:labels":{".":{},"f:x":{}},"f:generateName":{}},"f:z":{}}`,
	`{"f:metadata":{"f:labels":{".":{},"f:generateName":{}}}}`,
	`{"f:spec":{"f:generateName":{}},"f:metadata":{"f:generateNames":{}}}`,
	`{"f:metadata":{"k:{\"uid\":\"f:generateName\"}":{"f:generateName":{}}}}`,
	`{"f:metadata":{"k:{\"}":{},"v:\\":{},"f:generateName":{}}}`,
	`{"f:spec":{"f:` + strings.Repeat("x", bufferSize) + `":{}},"f:metadata":{"f:generateName":{}}}`,
}

func inBothFormats(list *metav1.PartialObjectMetadataList) map[string][]byte {
	return map[string][]byte{"protobuf": censustest.Protobuf(list), "JSON": censustest.JSON(list)}
}

// The decoder reads any metadata as servers write it, whatever the size of the chunks.
func TestDecodeReadsWhatServersWrite(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 4).Funcs(
		func(s *string, c randfill.Continue) {
			*s = fmt.Sprintf("s%d%s", c.Int63(), strings.Repeat("é", c.Intn(9)))
		},
		func(tm *metav1.Time, c randfill.Continue) { *tm = metav1.Unix(1+c.Int63n(4e9), 0) },
		func(f *metav1.FieldsV1, c randfill.Continue) {
			*f = *metav1.NewFieldsV1(fields[c.Intn(len(fields))])
		},
	)
	for range 100 {
		var list metav1.PartialObjectMetadataList
		fill.Fill(&list)
		list.TypeMeta = metav1.TypeMeta{Kind: MetadataList, APIVersion: "meta.k8s.io/v1"}
		var want []object.Object
		for i := range list.Items {
			o := &list.Items[i]
			o.Labels = map[string]string{
				"app": o.Name, "job-name": "j", "controller-uid": "old", "batch.kubernetes.io/controller-uid": "u",
			}
			for j := range o.ManagedFields {
				o.ManagedFields[j].Subresource = []string{"", "status"}[j%2]
			}
			id := ""
			if i%2 == 0 {
				id = "y"
				o.Annotations = map[string]string{"other": "x", "genname.dev/creation-id": id}
			}
			identity := object.Identity{UID: string(o.UID), ResourceVersion: o.ResourceVersion, CreationID: id, Deleting: o.DeletionTimestamp != nil}
			for _, owner := range o.OwnerReferences {
				is := owner.Controller != nil && *owner.Controller
				identity.Owners = append(identity.Owners, object.Owner{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID), Controller: is})
			}
			deleted := int64(0)
			if at := o.DeletionTimestamp; at != nil {
				deleted = at.Unix()
				if grace := o.DeletionGracePeriodSeconds; grace != nil {
					deleted -= *grace
				}
			}
			want = append(want, object.Object{
				Job: object.JobRef{Name: "j", UID: "u"}, Deleted: deleted, Finalizers: o.Finalizers,
				Namespace: o.Namespace, Name: o.Name, GenerateName: o.GenerateName,
				Created: o.CreationTimestamp.Unix(), Labels: o.Labels, Identity: identity,
				Creator: object.Creator(censustest.CreatorOf(o.ObjectMeta)), HasCreationID: id != "",
			})
		}
		wantPage := Page{
			Kind: MetadataList, ResourceVersion: list.ResourceVersion, Continue: list.Continue, Objects: int64(len(want)),
		}
		if list.RemainingItemCount != nil {
			wantPage.Remaining = max(0, *list.RemainingItemCount)
		}
		for format, body := range inBothFormats(&list) {
			for speed, r := range map[string]io.Reader{
				"at once":     bytes.NewReader(body),
				"by the byte": iotest.OneByteReader(bytes.NewReader(body)),
				"with EOF":    iotest.DataErrReader(bytes.NewReader(body)),
			} {
				p, objects, err := decodeAll(r)
				if err != nil {
					t.Fatalf("%s %s: %v", format, speed, err)
				}
				if diff := cmp.Diff(wantPage, p) + cmp.Diff(want, objects, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s %s: (-want +got)\n%s", format, speed, diff)
				}
			}
		}
	}
}

// With NoLabels, the decoder still reads the Job of a Pod if Options.Job is set.
func TestDecodeJob(t *testing.T) {
	for _, test := range []struct {
		options Options
		labels  map[string]string
		want    object.JobRef
	}{
		{Options{Job: true, NoLabels: true}, map[string]string{"job-name": "j", "controller-uid": "u"}, object.JobRef{Name: "j", UID: "u"}},
		{Options{Job: true, NoLabels: true}, map[string]string{"batch.kubernetes.io/job-name": "j", "job-name": "old"}, object.JobRef{Name: "j"}},
		{Options{}, map[string]string{"job-name": "j", "controller-uid": "u"}, object.JobRef{}},
	} {
		list := population(1)
		list.Items[0].Labels = test.labels
		for format, body := range inBothFormats(list) {
			_, err := List(bytes.NewReader(body), test.options, func(o *object.Object) error {
				if o.Job != test.want || test.options.NoLabels == (o.Labels != nil) {
					t.Errorf("%s, %+v: %+v, labels %v, want %+v", format, test.options, o.Job, o.Labels, test.want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

func population(n int) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: MetadataList, APIVersion: "meta.k8s.io/v1"}}
	for _, o := range censustest.Population([]string{"a"}, n) {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	return list
}

// Wherever a stream is truncated, the decoder returns an error.
func TestDecodeMissesTheEnd(t *testing.T) {
	for format, body := range inBothFormats(population(20)) {
		last := len(body)
		if format == "protobuf" {
			last -= 4 // contentEncoding and contentType, empty
		}
		for n := range last {
			_, _, err := decodeAll(bytes.NewReader(body[:n]))
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, new(Malformed)) {
				t.Fatalf("%s cut to %d of %d bytes: %v", format, n, len(body), err)
			}
		}
	}
}

func TestDecodeErrorOfTheReader(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", "k8s", "k8s\x00", "k8s\x00\x12\x7f", `{"items":[`} {
		_, _, err := decodeAll(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("after %q: %v", head, err)
		}
	}
}

// message returns a length-delimited field. The caller can give a wrong length.
func message(number protowire.Number, length uint64, content string) string {
	b := protowire.AppendTag(nil, number, protowire.BytesType)
	return string(protowire.AppendVarint(b, length)) + content
}

// Field numbers of k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto (ListMeta) and
// k8s.io/apimachinery/pkg/runtime/generated.proto (TypeMeta).
const (
	typeMetaKind     protowire.Number = 2
	listMetaContinue protowire.Number = 3
)

func bytesField(number protowire.Number, content string) string {
	return message(number, uint64(len(content)), content)
}

func inItem(meta string) string {
	return "k8s\x00" + bytesField(unknownRaw, bytesField(listItems, bytesField(itemMetadata, meta)))
}

// tooMuch is larger than a JSON value together with the bytes that were read before it.
const tooMuch = MaxObject + 1<<20

var hostile = map[string]string{
	"a list of 2^60 bytes":  "k8s\x00" + message(unknownRaw, 1<<60, "\x12"),
	"an item of 2^60 bytes": "k8s\x00" + bytesField(unknownRaw, message(listItems, 1<<60, "")),
	"an item of 2^60 in 2^61 bytes": "k8s\x00" +
		message(unknownRaw, 1<<61, message(listItems, 1<<60, message(itemMetadata, 1<<59, message(metaName, 1<<58, "x")))),
	"a name of 2^63 bytes":         inItem(message(metaName, 1<<63, "x")),
	"a name of all but 2^64 bytes": inItem(message(metaName, 1<<64-1, "x")),
	"a continue token of 2 MB": "k8s\x00" +
		bytesField(unknownRaw, bytesField(listMetadata, bytesField(listMetaContinue, strings.Repeat("x", 2<<20)))),
	"a varint without end":         "k8s\x00" + strings.Repeat("\xff", 100),
	"a length without end":         "k8s\x00\x12" + strings.Repeat("\xff", 100),
	"a group":                      "k8s\x00\x13",
	"field 0":                      "k8s\x00\x02\x00",
	"a name that is a number":      inItem("\x08\x01"),
	"an item that is a number":     "k8s\x00" + bytesField(unknownRaw, "\x10\x01"),
	"an object without a name":     inItem(""),
	"a number beyond its message":  "k8s\x00" + bytesField(unknownRaw, "\x08\xff") + "\x01",
	"a fixed64 beyond its message": "k8s\x00" + bytesField(unknownRaw, "\x09\x00"),
	"only the magic":               "k8s\x00",
	"another kind": "k8s\x00" +
		bytesField(unknownTypeMeta, bytesField(typeMetaKind, "Status")) + message(unknownRaw, 0, ""),
	"encoded content": "k8s\x00" +
		bytesField(unknownContentEncoding, "gzip") + message(unknownRaw, 0, ""),
	"nothing":                 "",
	"JSON: an array":          "[]",
	"JSON: null":              "null",
	"JSON: another kind":      `{"kind":"Pod","items":[]}`,
	"JSON: a name of 11 MB":   `{"items":[{"metadata":{"name":"` + strings.Repeat("x", tooMuch) + `"}}]}`,
	"JSON: a key of 11 MB":    `{"` + strings.Repeat("x", tooMuch) + `":1}`,
	"JSON: a number of 11 MB": `{"x":` + strings.Repeat("1", tooMuch) + `}`,
	"JSON: 11 MB of space":    `{"items":[` + strings.Repeat(" ", tooMuch) + `]}`,
	"JSON: an object of 11 MB": `{"items":[{"metadata":{"name":"x"},"data":{` +
		strings.Repeat(`"k":"v",`, tooMuch/8) + `"k":"v"}}]}`,
	"fields of 2^60 bytes":                 inItem(bytesField(metaName, "x") + bytesField(metaManagedFields, bytesField(managedFieldsV1, message(fieldsRaw, 1<<60, "{")))),
	"JSON: owners that are text":           `{"items":[{"metadata":{"name":"x","ownerReferences":"x"}}]}`,
	"JSON: managed at a time that is none": `{"items":[{"metadata":{"name":"x","managedFields":[{"time":"now"}]}}]}`,
	"JSON: labels that are text":           `{"items":[{"metadata":{"name":"x","labels":"x"}}]}`,
	"JSON: a label that is a number":       `{"items":[{"metadata":{"name":"x","labels":{"app":1}}}]}`,
	"JSON: an object of 100,000 levels":    `{"items":[{"x":` + strings.Repeat("[", 100_000),
	"JSON: 100,000 levels":                 `{"x":` + strings.Repeat("[", 100_000),
	"JSON: a name that is a number":        `{"items":[{"metadata":{"name":1}}]}`,
	"JSON: a time that is none":            `{"items":[{"metadata":{"name":"x","creationTimestamp":"now"}}]}`,
	"JSON: metadata that is text":          `{"items":[{"metadata":"x"}]}`,
	"JSON: items that are an object":       `{"items":{}}`,
	"JSON: a bad escape":                   `{"items":[{"metadata":{"name":"\x"}}]}`,
	"JSON: no items":                       `{"metadata":{}}`,
	"JSON: an object without metadata":     `{"items":[{}]}`,
}

// For hostile bytes, the decoder returns an error and uses little memory.
func TestDecodeHostileBytes(t *testing.T) {
	for name, body := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := decodeAll(strings.NewReader(body))
		runtime.ReadMemStats(&after)
		if !errors.As(err, new(Malformed)) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want Malformed or an unexpected EOF", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 6*MaxObject {
			t.Errorf("%s: %d bytes allocated", name, took)
		}
	}
}

// The decoder accepts any order of fields and keys, unknown fields, numbers instead of messages, nulls, and duplicate
// names. It also accepts bytes that are not UTF-8, and skips fields that the census doesn't need.
func TestDecodeLeniently(t *testing.T) {
	meta := "\x50\x05" + "\x68\x01" + "\xb5\x011234" + "\xb9\x0112345678" + bytesField(metaNamespace, "ns") + bytesField(metaName, "n")
	item := bytesField(7, "x") + bytesField(itemMetadata, meta)
	for name, body := range map[string]string{
		"protobuf": "k8s\x00" +
			bytesField(unknownRaw, bytesField(listItems, item)+bytesField(listMetadata, bytesField(listMetaContinue, "c"))),
		"JSON": `{"items":[{"spec":{"metadata":{"name":"wrong"}},` +
			`"metadata":{"uid":null,"labels":null,"creationTimestamp":null,"name":"n",` +
			"\"annotations\":{\"x\":1},\"finalizers\":\"\xff\"," + `"selfLink":1,"namespace":"other","namespace":"ns"}}],` +
			`"extra":[1,{"x":[true]}],"metadata":{"continue":"c","remainingItemCount":null},"kind":"SecretList"}`,
	} {
		p, objects, err := decodeAll(strings.NewReader(body))
		want := []object.Object{{Namespace: "ns", Name: "n"}}
		if err != nil || p.Continue != "c" || !cmp.Equal(want, objects) {
			t.Errorf("%s: %+v, %+v, want %+v and the continue token c: %v", name, objects, p, want, err)
		}
	}
}

// The decoder reads a list even if the name of a controller or manager is very long.
func TestDecodeLongCreators(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	yes := true
	for _, meta := range []metav1.ObjectMeta{
		{Name: "a", OwnerReferences: []metav1.OwnerReference{{Kind: long, Name: long, APIVersion: long, Controller: &yes}}},
		{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: long}}},
		{Name: "a", Annotations: map[string]string{long: long}},
	} {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: MetadataList, APIVersion: "meta.k8s.io/v1"}}
		list.Items = []metav1.PartialObjectMetadata{{ObjectMeta: meta}}
		for format, body := range inBothFormats(list) {
			_, objects, err := decodeAll(bytes.NewReader(body))
			want := object.Creator(censustest.CreatorOf(meta))
			if err != nil || len(objects) != 1 || objects[0].Creator != want || len(want.Kind+want.Manager) > maxCreator {
				t.Errorf("%s: %.99v, %v", format, objects, err)
			}
		}
	}
}

// Types whose names have no limit, such as Roles, can have a long name and a long generateName. The decoder truncates a
// long generateName to save memory. The result differs from all other prefixes. The decoder doesn't truncate a name,
// because the caller deletes objects by name.
func TestDecodeLongNames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: MetadataList, APIVersion: "meta.k8s.io/v1"}}
	for _, generateName := range []string{long + "a", long + "b", long[:maxString], long[:maxString+1], "run-"} {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(long, len(list.Items)), GenerateName: generateName},
		})
	}
	list.Continue = long
	for format, body := range inBothFormats(list) {
		_, objects, err := decodeAll(bytes.NewReader(body))
		if err != nil || len(objects) != len(list.Items) {
			t.Errorf("%s: %d objects, %v", format, len(objects), err)
			continue
		}
		different := map[string]bool{}
		for i, o := range objects {
			whole := list.Items[i].GenerateName
			different[o.GenerateName] = true
			if o.Name != list.Items[i].Name || len(o.GenerateName) > 2*maxString ||
				(o.GenerateName == whole) != (len(whole) <= maxString) || o.GenerateName[:4] != whole[:4] {
				t.Errorf("%s: object %d has a name of %d bytes and a generateName of %d", format, i, len(o.Name), len(o.GenerateName))
			}
		}
		if len(different) != len(objects) {
			t.Errorf("%s: %d different generateNames", format, len(different))
		}
	}
	d := &decoder{}
	if d.text([]byte(long)); slices.Contains(d.texts[:], long) {
		t.Error("a long text is remembered")
	}
}

// FuzzDecode searches for panics, hangs, and memory out of proportion to the input. FuzzDecode also checks that a
// response in chunks gives the same result.
func FuzzDecode(f *testing.F) {
	for _, body := range hostile {
		if len(body) < 1<<10 {
			f.Add([]byte(body))
		}
	}
	for _, body := range inBothFormats(population(2)) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p1, objects1, err1 := decodeAll(bytes.NewReader(body))
		p2, objects2, err2 := decodeAll(iotest.HalfReader(bytes.NewReader(body)))
		if p1 != p2 || len(objects1) != len(objects2) || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%+v %v at once, %+v %v in pieces", p1, err1, p2, err2)
		}
		total := 0
		for _, o := range objects1 {
			total += len(o.Name)
		}
		if total > 2*len(body) {
			t.Fatalf("%d bytes of names from %d", total, len(body))
		}
	})
}

// The objects have the labels and managedFields of pipeline runs, like the objects of lab/bench.
func BenchmarkList(b *testing.B) {
	list := population(10_000)
	fields := metav1.NewFieldsV1(`{"f:data":{".":{},"f:log":{},"f:result":{}},"f:metadata":{"f:generateName":{},` +
		`"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:pipeline":{},"f:run":{}}}}`)
	for i := range list.Items {
		o := &list.Items[i]
		o.UID, o.ResourceVersion = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", i)), fmt.Sprint(1_000_000+i)
		o.Labels = map[string]string{
			"app.kubernetes.io/name": "report", "app.kubernetes.io/managed-by": "pipelines",
			"pipeline": fmt.Sprint("pipeline-", i%97), "run": fmt.Sprint(i),
		}
		o.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "pipelines", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: &o.CreationTimestamp, FieldsType: "FieldsV1", FieldsV1: fields,
		}}
	}
	for format, body := range inBothFormats(list) {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := List(bytes.NewReader(body), Options{NoLabels: true, Job: true}, func(*object.Object) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list.Items)), "ns/object")
		})
	}
}
