package derive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const vectorsFile = "../../../docs/spec/vectors.json"

var update = flag.Bool("update", false, "write docs/spec/vectors.json")

// vector is one entry of docs/spec/vectors.json: the input of a derivation, and each
// of its results.
type vector struct {
	Comment    string          `json:"comment"`
	Secret     *string         `json:"secret"`
	Source     string          `json:"source"`
	Who        []string        `json:"who"`
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Namespace  string          `json:"namespace"`
	Form       string          `json:"form"`
	Value      string          `json:"value"`
	D          int             `json:"d"`
	N          int             `json:"n"`
	YAML       *string         `json:"yaml"`
	Object     json.RawMessage `json:"object"`
	Body       string          `json:"body_hex,omitempty"`

	PRK       string  `json:"prk_hex"`
	IDInput   string  `json:"id_input_hex"`
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Label     *string `json:"label"`
	Canonical *string `json:"canonical"`
	Digest    *string `json:"digest"`
}

// input is the part of a vector that a person writes.
type input struct {
	comment string
	source  Source // without the digest of a content, which ofContent adds
	object  Object
	content string // JSON, or YAML if the comment begins with YAML, or protobuf if it begins with k8s
}

var job = Object{Group: "batch", Kind: "Job", Namespace: "shop", GenerateName: "migrate-"}

func inputs() []input {
	key := FromKey("prod-migrate-4f2a9c1")
	configMap := Object{Kind: "ConfigMap", Namespace: "shop", GenerateName: "settings-"}
	role := func(generateName string) Object {
		return Object{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop", GenerateName: generateName}
	}
	pin := Object{Kind: "Secret", Namespace: "shop", GenerateName: "pin-"}
	second := job
	second.Document, second.Copy = 2, 41
	content := FromContent("prod-migrate-4f2a9c1", "")
	oneMore := job
	oneMore.Copy = 1
	sent := func(content string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"settings-","namespace":"shop"},` + content + `}`
	}
	return []input{
		{"a key", key, job, `{"data":{"a":"<&>","b":"1"}}`},
		{"an owner and a purpose", FromOwner("6b1f2d0e-8a55-4f4b-9a43-0c2f5d1f7a10", "worker-3"), Object{Group: "batch", Kind: "Job", Namespace: "shop", GenerateName: "w-"}, `{}`},
		{"random bits", FromRandom("0123456789abcdef0123456789abcdef"), job, `{}`},
		{"an owner and an empty purpose", FromOwner("6b1f2d0e-8a55-4f4b-9a43-0c2f5d1f7a10", ""), job, `{}`},
		{"a cut inside a character drops the character", FromKey("k"), role(strings.Repeat("a", 52) + "é"), `{}`},
		{"a cut behind a character", FromKey("k"), role(strings.Repeat("a", 51) + "é"), `{}`},
		{"characters of four bytes", FromKey("k"), role(strings.Repeat("😀", 14)), `{}`},
		{"two generateNames with the same 53 bytes have different names", FromKey("k"), role(strings.Repeat("a", 60)), `{}`},
		{"the other of the two", FromKey("k"), role(strings.Repeat("a", 61)), `{}`},
		{"a fixed name", key, Object{Group: "batch", Kind: "Job", Namespace: "shop", Name: "migrate-"}, `{}`},
		{"the third document, the 42nd copy", key, second, `{}`},
		{"a cluster-scoped type", key, Object{Kind: "Namespace", GenerateName: "pr-"}, `{}`},
		{"a key with NUL and newline", FromKey("a\x00b\nc"), job, `{}`},
		{"a key in NFC", FromKey("caf\u00e9"), job, `{}`},
		{"the same key in NFD is another key", FromKey("cafe\u0301"), job, `{}`},
		{"lengths separate the parts", FromKey("ab"), Object{Group: "c", Kind: "d", GenerateName: "e"}, `{}`},
		{"the same bytes, divided otherwise", FromKey("a"), Object{Group: "bc", Kind: "d", GenerateName: "e"}, `{}`},
		{"a content, the first of its kind", content, job, `{"data":{"a":"<&>","b":"1"}}`},
		{"an equal content", content, oneMore, `{"data":{"b":"1","a":"<&>"}}`},
		{"another content", content, job, `{"data":{"a":"<&>"}}`},
		{"a content in another namespace has the same digest", content, Object{Group: "batch", Kind: "Job", Namespace: "other", GenerateName: "migrate-"}, `{"data":{"a":"<&>","b":"1"}}`},
		{"a content of a cluster-scoped type", content, Object{Kind: "Namespace", GenerateName: "pr-"}, `{"metadata":{"labels":{"a":"b"}}}`},
		{"a body in protobuf is content as it is", content, Object{Kind: "ConfigMap", Namespace: "shop", GenerateName: "settings-"}, "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x0d\n\x0b\x12\tsettings-"},
		{"the content of a Secret needs a secret", content, pin, `{"data":{"a":"MTIzNA=="}}`},
		{"a content without a digest", content, configMap, sent(`"spec":{"a":1e400}`)},
		{"order of members", key, configMap, sent(`"data":{"b":"2","a":"1","\u20ac":"3","\ud83d\ude00":"4","\ufb33":"5"}`)},
		{"1.0, 1e3 and -0 are integers", key, configMap, sent(`"spec":{"a":1.0,"b":1e3,"c":-0.0,"d":-7}`)},
		{"the largest integer", key, configMap, sent(`"spec":{"a":9007199254740991}`)},
		{"larger integers are rounded", key, configMap, sent(`"spec":{"a":9007199254740993,"b":-9223372036854775807,"c":18446744073709551616}`)},
		{"fractions", key, configMap, sent(`"spec":{"a":0.5,"b":0.10,"c":-2.5e3,"d":333333333.33333329,"e":0.002}`)},
		{"the notation changes at 1e21 and 1e-6", key, configMap, sent(`"spec":{"a":1e21,"b":999999999999999900000,"c":1e-6,"d":9.5e-7,"e":-1.5e+300,"f":5e-324}`)},
		{"null in a map is absent, and null in a list stays", key, configMap, sent(`"spec":{"a":null,"b":[null,{"c":null}]}`)},
		{"empty maps and lists stay", key, configMap, sent(`"spec":{"emptyDir":{},"args":[]}`)},
		{"creationTimestamp, status and annotations of tools", key, configMap, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{` +
			`"annotations":{"genname.dev/creation-id":"x","kubectl.kubernetes.io/last-applied-configuration":"x","kubernetes.io/change-cause":"x"},` +
			`"creationTimestamp":null,"generateName":"settings-","labels":{"genname.dev/run":"x"},"namespace":"shop"},"status":{}}`},
		{"a status that encoders of typed objects write is absent", key, job, `{"status":{"phase":"","ready":false,"replicas":0,"load":-0.0,"conditions":null,"items":[{},0,[""]],"loadBalancer":{"ingress":[]}}}`},
		{"other values of status are content", key, job, `{"status":{"phase":"Done","replicas":0,"counts":[0,1,{"a":null,"b":true}]}}`},
		{"maps and lists that are empty in status only", key, job, `{"spec":{"a":false,"b":0,"c":"","d":{},"e":[]},"status":{"a":[{}]}}`},
		{"a number that no 64-bit float is near: no digest", key, configMap, sent(`"spec":{"a":1e400}`)},
		{"a group in another version is the same group", key, Object{Group: "batch", Kind: "Job", Namespace: "shop", GenerateName: "migrate-"}, `{"apiVersion":"batch/v1beta1","data":{"a":"<&>","b":"1"}}`},
		{"labels and owners are content", key, configMap, `{"metadata":{"generateName":"settings-","labels":{"a":"b","c":null},"ownerReferences":[{"uid":"1"}]}}`},
		{"U+2028, U+007F and control characters", key, configMap, sent(`"data":{"a":"\u2028\u007f\u0000\u001f\b\t\n\f\r\"\\/"}`)},
		{
			"data of a Secret is hashed with a secret only", key,
			pin,
			`{"data":{"a":"MTIzNA=="},"stringData":{"b":"5678"},"type":"Opaque"}`,
		},
		{"base64 in a Secret is written again: line breaks, pad bits, nulls", key, pin, `{"data":{"a":"MTIz\nNA==\r\n","b":"YR==","c":null,"d":""},"stringData":{"e":null,"f":"","g":"é"}}`},
		{"stringData of a Secret replaces data", key, pin, `{"data":{"a":"MQ==","b":"Mg=="},"stringData":{"a":"3"}}`},
		{"empty data of a Secret is absent", key, pin, `{"data":{"a":null},"stringData":{},"type":"Opaque"}`},
		{"base64 in a Secret that can't be read stays", key, pin, `{"data":{"a":"?","b":"YQ","c":"YQ= ="}}`},
		{"a Secret of another group is no Secret", key, Object{Group: "example.com", Kind: "Secret", Namespace: "shop", GenerateName: "pin-"}, `{"data":{"a":"x"},"stringData":{"a":"y"}}`},
		{"YAML: numbers", key, configMap, "spec: {octal: 0644, octal12: 0o644, hex: 0x1F, binary: 0b11, decimal: 08, " +
			"plus: +7, zero: -0, integer: 1.0, dot: 1., exponent: 1e3, signed: 1E+3, separated: 1_000}\n"},
		{"YAML: numbers in capitals and with signs", key, configMap, "spec: {a: 0X1F, b: 0B11, c: 0O17, d: -0644, e: +0x1F, f: 1E3, g: 1e1_0, h: 0x_1F}\n"},
		{"YAML: numbers out of range are text", key, configMap, "spec: {a: 1e400, b: -1e400, c: 0xFFFFFFFFFFFFFFFFF, d: 0x_, e: 0x, f: 100000000000000000000000}\n"},
		{"YAML: fractions", key, configMap, "spec: {a: .5, b: 0.10, c: 1_000.25, d: 15e-1, e: -1.5E-7}\n"},
		{"YAML: a fraction with _, and the tag !", key, configMap, "spec: {a: .1_0, b: .1__0, c: ._1, d: ! 6}\n"},
		{"YAML: booleans", key, configMap, "spec: {a: yes, b: off, c: y, d: N, e: TRUE, f: False, g: On, h: 'yes', i: yEs}\n"},
		{"YAML: null, absent and empty", key, configMap, "spec: {a: ~, b: null, c: , d: '', e: {}, f: [], g: [~], h: 'null'}\n"},
		{"YAML: text that looks like another type", key, configMap, "data:\n  quoted: \"0644\"\n  single: '1e3'\n  date: 2026-11-05\n" +
			"  time: 2026-11-05T03:04:05Z\n  clock: 12:30:45\n  version: 1.2.3\n  hash: 4f2a9c1\n"},
		{"YAML: keys are strings", key, configMap, "data: {17: a, yes: b, 0644: c, 1e3: d, 1.0: e, 2026-11-05: f, -7: g}\n"},
		{"YAML: keys with a point or an exponent", key, configMap, "data: {1e6: a, 12e7: b, -0.0: c, 100000.0: d}\n"},
		{"YAML: tags", key, configMap, "spec: {a: !!str 0644, b: !!int '5', c: !!float 5, d: !!bool 'yes', e: !!null '', f: !!str yes, g: !!map {}, h: !!seq []}\n"},
		{"YAML: merged maps count where they are", key, configMap, "spec:\n  a: {v: 1, <<: {v: 2, w: 2}}\n  b: {<<: [{v: 1}, {v: 2, w: 2}], w: 3}\n"},
		{"YAML: the last of equal keys counts", key, configMap, "{data: {a: '1', a: '2'}, spec: {a: {b: 1}, a: {c: 2}}}\n"},
		{"YAML: blocks, anchors and merged maps", key, configMap, "data: &d\n  literal: |\n    a\n    b\n  folded: >-\n    a\n    b\nspec:\n  <<: *d\n  own: \"\\u00e9\"\n"},
	}
}

// vectors returns each input with and without a secret.
func vectors(t *testing.T) (all []vector) {
	t.Helper()
	const text = "0123456789abcdef0123456789abcdef"
	withSecret, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []Secret{{}, withSecret} {
		for _, in := range inputs() {
			v := vectorOf(t, secret, in)
			if secret != (Secret{}) {
				v.Secret = new(string)
				*v.Secret = text
			}
			all = append(all, v)
		}
	}
	return all
}

func vectorOf(t *testing.T, secret Secret, in input) vector {
	t.Helper()
	o := in.object
	v := vector{
		Comment: in.comment, APIVersion: strings.TrimPrefix(o.Group+"/v1", "/"), Kind: o.Kind, Namespace: o.Namespace,
		Form: o.parts()[3], Value: o.parts()[4], D: o.Document, N: o.Copy, Object: json.RawMessage(in.content),
		PRK: hex.EncodeToString(secret.prk()),
	}
	switch {
	case strings.HasPrefix(in.comment, "YAML: "):
		object, err := yaml.YAMLToJSON([]byte(in.content))
		if err != nil {
			t.Fatal(err)
		}
		v.YAML, v.Object = &in.content, object
	case strings.HasPrefix(in.content, "k8s"):
		v.Object, v.Body = json.RawMessage("null"), hex.EncodeToString([]byte(in.content))
	}
	digest := v.ofContent(t, secret, &in)
	parts := in.source.parts()
	v.Source, v.Who = parts[0], parts[1:]
	if v.Source == "key" || v.Source == "content" {
		label := RunLabel(in.source.first)
		v.Label = &label
	}
	if v.Source == "content" && digest == "" {
		return v // has no ID
	}
	v.IDInput = hex.EncodeToString(encode("id", append(parts, o.parts()...)...))
	v.ID, v.Name = secret.ID(in.source, o), o.Name
	if o.GenerateName != "" {
		v.Name = secret.Name(v.ID, o.GenerateName)
	}
	if v.Canonical != nil && v.Source != "content" {
		digest = secret.DigestOf(v.ID, *v.Canonical)
	}
	if v.Digest = &digest; digest == "" {
		v.Digest = nil
	}
	return v
}

// ofContent sets the canonical content, and returns its digest. If the source has a content, ofContent adds the digest
// to it.
func (v *vector) ofContent(t *testing.T, secret Secret, in *input) (digest string) {
	t.Helper()
	canonical, ok := in.content, true
	if v.Body == "" {
		content := contentIn(t, v.Object)
		canonical, ok = secret.Canonical(in.object, content)
		if digest := secret.Digest("", in.object, content); !ok && digest != "" {
			t.Errorf("%s: the digest %s without a canonical form", in.comment, digest)
		}
		if ok {
			v.Canonical = &canonical
		}
	}
	if in.source.kind != "content" || !ok {
		return ""
	}
	digest = secret.DigestOfKey(in.source.first, in.object, canonical)
	if in.source = FromContent(in.source.first, digest); digest == "" {
		v.Canonical = nil
	}
	return digest
}

// contentIn returns the content of a vector. A number that no float64 is near stays a json.Number.
func contentIn(t *testing.T, text []byte) (content map[string]any) {
	t.Helper()
	if err := kubejson.Unmarshal(text, &content); err == nil {
		return content
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		t.Fatal(err)
	}
	return content
}

// docs/spec/vectors.json has the results of this package. A released entry never changes.
func TestVectors(t *testing.T) {
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(vectors(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(vectorsFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/spec/vectors.json differs. If the derivation was meant to change, run go test ./derive -update in pkg/once")
	}
}
