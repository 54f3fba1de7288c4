package decode

import "bytes"

const (
	// creationID is the annotation of objects that this plugin makes, that of
	// pkg/once.
	creationID = "genname.dev/creation-id"
	// maxMaker is how much is kept of a text that says who made an object.
	// Controllers and managers may have names as long as etcd takes them.
	maxMaker = 253
)

// Maker is who made an object: its controller, or without one a field manager.
type Maker struct {
	APIVersion, Kind, Name string // of the controller

	Manager string
	// Certain is whether Manager owns the object's generateName, and is not just
	// that of the oldest entry of its managedFields.
	Certain bool
}

// controlledBy notes a controller of the object; the first counts.
func (d *decoder) controlledBy(owner Maker) {
	if d.object.Maker.Kind == "" && owner.Kind != "" {
		owner.Certain = true
		d.object.Maker = owner
	}
}

// managedEntry is what counts of an entry of managedFields.
type managedEntry struct {
	manager     string
	time        int64 // Unix seconds; 0 if not known
	subresource bool  // of a part of the object like its status
	owner       bool  // of metadata.generateName
}

// managedBy notes an entry: the first that owns generateName counts, else the
// oldest, and of equals the first.
func (d *decoder) managedBy(e managedEntry) {
	m := &d.object.Maker
	switch older := m.Manager == "" || e.time != 0 && (d.oldest == 0 || e.time < d.oldest); {
	case m.Certain || e.manager == "" || e.subresource:
	case e.owner:
		*m = Maker{Manager: e.manager, Certain: true}
	case older:
		m.Manager, d.oldest = e.manager, e.time
	}
}

// fieldsScan finds out whether the fields of a FieldsV1, which are added as they
// come, have metadata.generateName. Keys of them may hold any text.
type fieldsScan struct {
	owns bool

	depth           int
	inText, escaped bool
	text            [len(fieldGenerateName) + 1]byte // of the key that is being read
	length          int
	inMetadata      bool
}

var generateName = []byte("generateName")

const (
	fieldMetadata     = "f:metadata"
	fieldGenerateName = "f:generateName"
)

func (s *fieldsScan) add(chunk []byte, last bool) {
	if whole := last && s.depth == 0; whole && !bytes.Contains(chunk, generateName) {
		return
	}
	for _, c := range chunk {
		if s.inText {
			s.addText(c)
			continue
		}
		switch c {
		case '"':
			s.inText, s.length = true, 0
		case '{', '[':
			s.depth++
		case '}', ']':
			s.depth--
		}
	}
}

// addText takes a character of a key, or the quotation mark after it.
func (s *fieldsScan) addText(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inText = false
		s.endOfKey()
		return
	}
	if s.length < len(s.text) {
		s.text[s.length] = c
		s.length++
	}
}

func (s *fieldsScan) endOfKey() {
	switch key := string(s.text[:s.length]); {
	case s.depth == 1:
		s.inMetadata = key == fieldMetadata
	case s.depth == 2 && s.inMetadata && key == fieldGenerateName:
		s.owns = true
	}
}
