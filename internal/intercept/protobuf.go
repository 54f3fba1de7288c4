package intercept

import (
	"bytes"
	"crypto/sha256"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// magic begins each protobuf body of Kubernetes. After it comes a runtime.Unknown message.
var magic = []byte("k8s\x00")

// The fields of runtime.Unknown and TypeMeta (k8s.io/apimachinery/pkg/runtime/generated.proto).
const (
	unknownType, unknownRaw, unknownEncoding = 1, 2, 3
	typeVersion, typeKind                    = 1, 2
)

// The fields of an object and ObjectMeta (k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto).
const (
	objectMetadata                                                           = 1 // of every type
	metaName, metaGenerateName                                               = 1, 2
	metaNamespace, metaVersion, metaLabels, metaAnnotations                  = 3, 6, 11, 12
	entryKey, entryValue                                    protowire.Number = 1, 2
)

// templateLabels are the fields with the labels of a Pod template (k8s.io/api/batch/v1 and core/v1).
var templateLabels = map[schema.GroupKind][]protowire.Number{
	{Group: "batch", Kind: "Job"}:   {2, 6, objectMetadata, metaLabels},
	{Kind: "ReplicationController"}: {2, 3, objectMetadata, metaLabels},
}

// protobufBody reads the envelope and the metadata. The decoder of a Kubernetes type merges repeated metadata fields,
// so insert appends another metadata field.
func protobufBody(data []byte) (*body, Reason) {
	envelope, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return nil, Unreadable
	}
	read := &body{contentType: protobufType, fingerprint: sha256.Sum256(data)}
	var raw, others []byte
	var encoding string
	ok = eachField(envelope, func(number protowire.Number, value, field []byte) bool {
		switch number {
		case unknownRaw:
			raw = value
			return true
		case unknownEncoding:
			encoding = string(value)
		case unknownType:
			others = append(others, field...)
			return read.readType(value)
		}
		others = append(others, field...)
		return true
	})
	switch {
	case encoding != "":
		return nil, Encoded
	case !ok || !read.readObject(raw):
		return nil, Unreadable
	}
	read.content = func(derive.Secret, derive.Object) (string, bool) { return string(data), true }
	read.insert = func(name string, id exactlyonce.ID, kind schema.GroupKind) []byte {
		var inherited []byte
		if path := templateLabels[kind]; path != nil && len(fieldsAt(raw, objectMetadata, metaLabels)) == 0 {
			inherited = fieldsAt(raw, path...)
		}
		all := append(bytes.Clone(magic), others...)
		all = protowire.AppendTag(all, unknownRaw, protowire.BytesType)
		return protowire.AppendBytes(all, append(bytes.Clone(raw), inserted(name, id, inherited)...))
	}
	return read, ""
}

// inserted returns a metadata field with the plugin's additions. labels are encoded label fields of the client to keep.
func inserted(name string, id exactlyonce.ID, labels []byte) []byte {
	metadata := appendEntry(appendText(nil, metaName, name), metaAnnotations, exactlyonce.Annotation, id.Creation)
	if id.Digest != "" {
		metadata = appendEntry(metadata, metaAnnotations, derive.DigestAnnotation, id.Digest)
	}
	if id.Run != "" {
		metadata = appendEntry(append(metadata, labels...), metaLabels, exactlyonce.RunLabel, id.Run)
	}
	return appendText(nil, objectMetadata, string(metadata))
}

func appendEntry(to []byte, number protowire.Number, key, value string) []byte {
	return appendText(to, number, string(appendText(appendText(nil, entryKey, key), entryValue, value)))
}

// fieldsAt returns the fields of the nested message at a path of field numbers.
func fieldsAt(message []byte, path ...protowire.Number) (fields []byte) {
	eachField(message, func(number protowire.Number, value, field []byte) bool {
		switch {
		case number != path[0]:
		case len(path) == 1:
			fields = append(fields, field...)
		default:
			fields = append(fields, fieldsAt(value, path[1:]...)...)
		}
		return true
	})
	return fields
}

func appendText(to []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), value)
}

func (b *body) readType(message []byte) bool {
	return eachField(message, func(number protowire.Number, value, _ []byte) bool {
		switch number {
		case typeVersion:
			b.apiVersion = string(value)
		case typeKind:
			b.kind = string(value)
		}
		return true
	})
}

// readObject reads an object's metadata as its decoder does. If a field occurs twice, the last value counts.
func (b *body) readObject(object []byte) bool {
	return eachField(object, func(number protowire.Number, metadata, _ []byte) bool {
		return number != objectMetadata || eachField(metadata, func(number protowire.Number, value, _ []byte) bool {
			switch number {
			case metaName:
				b.name = string(value)
			case metaGenerateName:
				b.generateName = string(value)
			case metaNamespace:
				b.namespace = string(value)
			case metaVersion:
				b.version = string(value)
			}
			return true
		})
	})
}

// eachField calls f for each field of a message until f returns false. value is nil unless the field has bytes.
// eachField returns false if f returned false, or if the message is invalid.
func eachField(message []byte, f func(number protowire.Number, value, field []byte) bool) bool {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeField(message)
		if size < 0 {
			return false
		}
		var value []byte
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			value, _ = protowire.ConsumeBytes(message[tag:])
		}
		if !f(number, value, message[:size]) {
			return false
		}
		message = message[size:]
	}
	return true
}
