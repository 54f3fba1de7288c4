package intercept

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// A body is the object in the body of a create request, in the client's encoding. insert adds the name and the creation
// ID. With an idempotency key, insert also adds the key's digest and label. It changes nothing else.
type body struct {
	apiVersion, kind, contentType string
	namespace, version            string // version is the resourceVersion
	name, generateName            string
	fingerprint                   [sha256.Size]byte // two equal objects have equal fingerprints
	content                       keyed.Canonical
	insert                        func(name string, id exactlyonce.ID, kind schema.GroupKind) []byte
}

// A Reason explains why a create request passes through unprotected.
type Reason string

// The reasons.
const (
	CBOR          Reason = "its body is CBOR"
	Encoded       Reason = "its body has a Content-Encoding"
	TooLarge      Reason = "its body has more than 3 MiB"
	Duplicate     Reason = "its body has a key twice"
	InvalidUTF8   Reason = "its body is not valid UTF-8"
	Unreadable    Reason = "its body can't be read"
	Contradiction Reason = "its body has another type or namespace than its URL"
	Elsewhere     Reason = "its URL begins with another path than the server of the kubeconfig"
	UnknownType   Reason = "the server's discovery doesn't have its type"
	NoReads       Reason = "objects of its type can't be read, or get no generated names"
	NoJSON        Reason = "its client doesn't accept JSON"
)

// maxBody is kube-apiserver's limit for a body, minus room for the name and the creation ID.
const maxBody = 3<<20 - 1<<10

// named is in the body of each object with a generateName, unless an unreadable body spells the key with escapes.
var named = []byte("generateName")

// bodyOf reads the object in the body of a create request. If bodyOf returns no body, the request passes through. If it
// returns a Reason, the user gets a warning.
func bodyOf(header http.Header, data []byte) (*body, Reason) {
	media, _, err := mime.ParseMediaType(cmp.Or(header.Get("Content-Type"), "application/json")) // as kube-apiserver
	if err != nil {
		return nil, "" // the server refuses it
	}
	var read *body
	var why Reason
	switch media {
	case "application/json":
		read, why = jsonBody(data)
	case "application/yaml":
		read, why = yamlBody(data)
	case protobufType:
		read, why = protobufBody(data)
	case "application/cbor":
		why = CBOR
	}
	switch {
	case why != "" && bytes.Contains(data, named):
		return nil, why
	case read == nil || read.name != "" || read.generateName == "" || read.isStored():
		return nil, ""
	}
	return read, ""
}

// isStored reports whether the object has the resourceVersion of a stored object. The server refuses such an object
// with a 500. After a 500, the proxy would not know whether an object exists.
func (b *body) isStored() bool {
	version, err := strconv.ParseUint(b.version, 10, 64)
	return err == nil && version > 0
}

// yamlBody converts YAML to JSON, which the proxy then sends. kube-apiserver converts YAML in the same way.
func yamlBody(data []byte) (*body, Reason) {
	converted, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, Unreadable
	}
	return jsonBody(converted)
}

func jsonBody(data []byte) (*body, Reason) {
	canonical := jsontext.Value(bytes.Clone(data))
	switch err := canonical.Format(jsontext.ReorderRawObjects(true)); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, Duplicate
	case err != nil && !utf8.Valid(data):
		return nil, InvalidUTF8
	case err != nil:
		return nil, Unreadable
	}
	object := membersOf(data)
	metadata := object.in("metadata")
	read := &body{
		contentType: "application/json", fingerprint: sha256.Sum256(canonical),
		content: func(secret derive.Secret, o derive.Object) (string, bool) {
			var content map[string]any
			if utiljson.Unmarshal(data, &content) != nil {
				return "", false // such as a number that no 64-bit float is near
			}
			return secret.Canonical(o, content)
		},
		insert: func(name string, id exactlyonce.ID, kind schema.GroupKind) []byte {
			annotations := membersOf(metadata.get("annotations")).set(exactlyonce.Annotation, quoted(id.Creation))
			if id.Digest != "" {
				annotations = annotations.set(derive.DigestAnnotation, quoted(id.Digest))
			}
			changed := metadata.set("name", quoted(name)).set("annotations", annotations.encode())
			if id.Run != "" {
				labels := membersOf(metadata.get("labels"))
				if len(labels) == 0 && exactlyonce.LabelledByTemplate[kind] {
					labels = object.in("spec").in("template").in("metadata").in("labels")
				}
				changed = changed.set("labels", labels.set(exactlyonce.RunLabel, quoted(id.Run)).encode())
			}
			return object.set("metadata", changed.encode()).encode()
		},
	}
	ok := true
	for into, value := range map[*string]jsontext.Value{
		&read.apiVersion: object.get("apiVersion"), &read.kind: object.get("kind"),
		&read.namespace: metadata.get("namespace"), &read.version: metadata.get("resourceVersion"),
		&read.name: metadata.get("name"), &read.generateName: metadata.get("generateName"),
	} {
		ok = text(value, into) && ok
	}
	for _, field := range []string{"annotations", "labels"} {
		if entries := metadata.get(field); entries != nil && entries.Kind() != jsontext.KindNull {
			ok = ok && entries.Kind() == jsontext.KindBeginObject
		}
	}
	if !ok {
		return nil, "" // the server refuses it
	}
	return read, ""
}
