package decode

import "bytes"

const (
	// creationID is the annotation of objects that this plugin makes, that of
	// pkg/once.
	creationID = "genname.dev/creation-id"
	// maxCreator is how much is kept of a text that says who made an object.
	// Controllers and managers may have names as long as etcd takes them.
	maxCreator = 253
	// maxOrigin is the length of the longest Object.Origin.
	maxOrigin = 4 << 10
)

// Creator is who made an object: its controller, or without one a field manager.
type Creator struct {
	APIVersion, Kind, Name string // of the controller

	Manager string
	// Certain is whether Manager owns the object's generateName, and is not just
	// that of the oldest entry of its managedFields.
	Certain bool
}

// controlledBy notes a controller of the object; the first counts.
func (d *decoder) controlledBy(owner Creator) {
	if d.object.Creator.Kind == "" && owner.Kind != "" {
		owner.Certain = true
		d.object.Creator = owner
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
	m := &d.object.Creator
	switch older := m.Manager == "" || e.time != 0 && (d.oldest == 0 || e.time < d.oldest); {
	case m.Certain || e.manager == "" || e.subresource:
	case e.owner:
		*m = Creator{Manager: e.manager, Certain: true}
	case older:
		m.Manager, d.oldest = e.manager, e.time
	}
}

// fieldsScan finds out whether the fields of a FieldsV1, which are added as they
// come, have metadata.generateName. Keys of them may hold any text.
type fieldsScan struct {
	owns bool

	known           bool // it is, whatever comes
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
	for i := 0; i < len(chunk) && !s.known; i++ {
		switch c := chunk[i]; {
		case s.inText:
			i += s.addText(chunk[i:]) - 1
		case c == '"':
			s.inText, s.length = true, 0
		case c == '{', c == '[':
			s.depth++
		case c == '}', c == ']':
			s.depth--
			s.known = s.inMetadata && s.depth == 1
		}
	}
}

// addText takes the text of a key as far as it goes in chunk, with the quotation
// mark or the backslash after it, and returns how much that was.
func (s *fieldsScan) addText(chunk []byte) (taken int) {
	if s.escaped {
		s.escaped = false
		s.keep(chunk[:1])
		return 1
	}
	for i, c := range chunk {
		if c == '"' || c == '\\' {
			s.keep(chunk[:i])
			s.inText, s.escaped = c != '"', c == '\\'
			if !s.inText {
				s.endOfKey()
			}
			return i + 1
		}
	}
	s.keep(chunk)
	return len(chunk)
}

func (s *fieldsScan) keep(text []byte) { s.length += copy(s.text[s.length:], text) }

func (s *fieldsScan) endOfKey() {
	switch key := s.text[:s.length]; {
	case s.depth == 1:
		s.inMetadata = string(key) == fieldMetadata
	case s.depth == 2 && s.inMetadata && string(key) == fieldGenerateName:
		s.owns, s.known = true, true
	}
}
