package decode

import (
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field numbers of k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto.
const (
	itemMetadata protowire.Number = 1

	metaName              protowire.Number = 1
	metaGenerateName      protowire.Number = 2
	metaNamespace         protowire.Number = 3
	metaUID               protowire.Number = 5
	metaResourceVersion   protowire.Number = 6
	metaCreationTimestamp protowire.Number = 8
	metaDeletionTimestamp protowire.Number = 9
	metaGracePeriod       protowire.Number = 10
	metaLabels            protowire.Number = 11
	metaAnnotations       protowire.Number = 12
	metaOwnerReferences   protowire.Number = 13
	metaFinalizers        protowire.Number = 14
	metaManagedFields     protowire.Number = 17

	entryKey   protowire.Number = 1
	entryValue protowire.Number = 2

	managedManager     protowire.Number = 1
	managedTime        protowire.Number = 4
	managedFieldsV1    protowire.Number = 7
	managedSubresource protowire.Number = 8

	fieldsRaw protowire.Number = 1
)

// metadata reads the needed fields of a PartialObjectMetadata into d.object. The generated Unmarshal copies each label
// and each FieldsV1. These copies take longer than all other work of an audit.
func (d *decoder) metadata(object []byte) error {
	d.begin()
	return eachField(object, func(number protowire.Number, meta []byte) error {
		if number != itemMetadata {
			return nil
		}
		err := eachField(meta, d.metaField)
		if o := &d.object; o.Deleted != 0 {
			o.Deleted -= gracePeriod(meta)
		}
		return err
	})
}

// metaField reads a field of an ObjectMeta.
func (d *decoder) metaField(number protowire.Number, value []byte) (err error) {
	o := &d.object
	switch number {
	case metaName:
		o.Name = d.text(value)
	case metaGenerateName:
		o.GenerateName = d.text(value)
	case metaNamespace:
		o.Namespace = d.text(value)
	case metaUID:
		o.UID = string(value)
	case metaResourceVersion:
		o.ResourceVersion = string(value)
	case metaCreationTimestamp:
		o.Created, err = seconds(value)
	case metaDeletionTimestamp:
		o.Deleting = true
		o.Deleted, err = seconds(value)
	case metaFinalizers:
		o.Finalizers = append(o.Finalizers, head(d.text(value)))
	case metaLabels:
		if !d.options.NoLabels || d.options.Job {
			err = d.label(value)
		}
	case metaAnnotations:
		key, value, err := entry(value)
		if string(key) == creationID {
			o.HasCreationID, o.CreationID = true, head(string(value))
		}
		return err
	case metaOwnerReferences:
		var owner metav1.OwnerReference
		err = owner.Unmarshal(value)
		d.owner(&owner)
	case metaManagedFields:
		return d.managedField(value)
	}
	return err
}

// label reads an entry of labels.
func (d *decoder) label(message []byte) error {
	key, value, err := entry(message)
	if d.options.Job {
		d.object.Job.Label(key, value)
	}
	if d.options.NoLabels {
		return err
	}
	if d.object.Labels == nil {
		d.object.Labels = map[string]string{}
	}
	d.object.Labels[d.text(key)] = d.text(value)
	return err
}

// gracePeriod reads the field deletionGracePeriodSeconds of an ObjectMeta.
func gracePeriod(meta []byte) int64 {
	for len(meta) > 0 {
		number, kind, size := protowire.ConsumeField(meta)
		if size < 0 {
			return 0
		}
		if number == metaGracePeriod && kind == protowire.VarintType {
			_, _, tag := protowire.ConsumeTag(meta)
			period, _ := protowire.ConsumeVarint(meta[tag:])
			return int64(period)
		}
		meta = meta[size:]
	}
	return 0
}

// managedField reads an entry of managedFields.
func (d *decoder) managedField(entry []byte) error {
	var m managed
	err := eachField(entry, func(number protowire.Number, value []byte) (err error) {
		switch number {
		case managedManager:
			m.manager = d.text(value)
		case managedTime:
			m.at, err = seconds(value)
		case managedFieldsV1:
			return eachField(value, func(number protowire.Number, raw []byte) error {
				if number == fieldsRaw {
					m.fields = raw
				}
				return nil
			})
		case managedSubresource:
			m.subresource = d.text(value)
		}
		return err
	})
	d.managed = append(d.managed, m)
	return err
}

// entry reads an entry of a map.
func entry(message []byte) (key, value []byte, err error) {
	err = eachField(message, func(number protowire.Number, text []byte) error {
		switch number {
		case entryKey:
			key = text
		case entryValue:
			value = text
		}
		return nil
	})
	return key, value, err
}

// seconds reads a time as Unix seconds, or 0.
func seconds(message []byte) (int64, error) {
	var t metav1.Time
	if err := t.Unmarshal(message); err != nil || t.IsZero() {
		return 0, err
	}
	return t.Unix(), nil
}

// eachField calls visit with each length-delimited field of a message, and skips other fields. protowire.ConsumeField
// would parse each tag again, so that a list takes 1.4 times as long (BenchmarkList).
func eachField(message []byte, visit func(number protowire.Number, value []byte) error) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		if kind != protowire.BytesType {
			if size = protowire.ConsumeFieldValue(number, kind, message); size < 0 {
				return protowire.ParseError(size)
			}
			message = message[size:]
			continue
		}
		value, size := protowire.ConsumeBytes(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := visit(number, value); err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}

var textSeed = maphash.MakeSeed()

// text returns bytes as a string. If a recent string is equal, text returns that string. Long strings are not kept.
func (d *decoder) text(value []byte) string {
	if len(value) > maxString {
		return string(value)
	}
	recent := &d.texts[maphash.Bytes(textSeed, value)%uint64(len(d.texts))]
	if *recent != string(value) {
		*recent = string(value)
	}
	return *recent
}
