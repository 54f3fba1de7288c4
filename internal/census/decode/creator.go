package decode

import "bytes"

const (
	// creationID is the annotation of objects that the plugin creates, that of pkg/once.
	creationID = "genname.dev/creation-id"
	// maxCreator limits the bytes kept of a text that describes a creator. Names of controllers and
	// managers can be as long as etcd accepts.
	maxCreator = 253
	// maxOrigin limits the length of Object.Origin.
	maxOrigin = 4 << 10
)

// Creator is the creator of an object: its controller, or else a field manager.
type Creator struct {
	APIVersion, Kind, Name string // of the controller

	Manager string
	// Certain is true for a controller, and for a Manager that owns the object's generateName. It is false
	// if Manager is only that of the oldest entry of managedFields.
	Certain bool
}

// controlledBy records a controller of the object. The first one counts.
func (d *decoder) controlledBy(owner Creator) {
	if d.object.Creator.Kind == "" && owner.Kind != "" {
		owner.Certain = true
		d.object.Creator = owner
	}
}

// managedEntry holds the needed fields of an entry of managedFields.
type managedEntry struct {
	manager     string
	time        int64 // Unix seconds; 0 if unknown
	subresource bool  // the entry is for a subresource like status
	owner       bool  // the entry owns metadata.generateName
}

// managedBy records an entry. The first entry that owns generateName counts, else the oldest. Of
// entries with equal times, the first counts.
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

// fieldsScan finds out whether a FieldsV1 has metadata.generateName. It gets the text in chunks. Its
// keys can contain any text.
type fieldsScan struct {
	owns bool

	known           bool // the result is final
	depth           int
	inText, escaped bool
	text            [len(fieldGenerateName) + 1]byte // of the current key
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

// addText reads the text of a key from chunk, including the quotation mark or the backslash after it.
// It returns the number of bytes read.
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
