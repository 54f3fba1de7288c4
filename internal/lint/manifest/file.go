package manifest

// File is a file of manifests. File drops its text after it was read, and reads the file again if a caller needs a
// position.
type File struct {
	// Slim leaves the schemas out of CustomResourceDefinitions. An error in a schema
	// is then not found.
	Slim bool

	load   func() ([]byte, error)
	chunks []chunk
	parsed []*Document
}

// NewFile returns the file with the text, which load returns again.
func NewFile(text []byte, load func() ([]byte, error)) *File {
	return &File{load: load, chunks: split(decoded(text))}
}

// Each visits the documents in order. Each passes the objects that kubectl create would send, then the objects in
// them, and the error of a broken document.
func (f *File) Each(visit func(objects []*Object, broken *Broken)) {
	first := 0 // the comments before a document belong to it
	for i, c := range f.chunks {
		document := &Document{file: f, number: i, preface: first, start: c.start, size: len(c.text)}
		objects, err := c.objects(document)
		if err != nil || len(objects) > 0 {
			first = i + 1
		}
		var broken *Broken
		if err != nil {
			b := c.broken(err)
			broken = &b
		}
		for _, o := range objects {
			objects = append(objects, embedded(o)...)
		}
		if broken != nil || len(objects) > 0 {
			visit(objects, broken)
		}
	}
}

// Release forgets the text.
func (f *File) Release() {
	f.chunks = nil
	for _, d := range f.parsed {
		d.parsed, d.root, d.remarks = false, field{}, nil
	}
	f.parsed = nil
}

// chunk returns the text of a document, or false if the file has changed.
func (f *File) chunk(d *Document) (chunk, bool) {
	if f.chunks == nil && f.load != nil {
		if text, err := f.load(); err == nil {
			f.chunks = split(decoded(text))
		}
	}
	if d.number >= len(f.chunks) {
		return chunk{}, false
	}
	c := f.chunks[d.number]
	return c, c.start == d.start && len(c.text) == d.size
}

// Read returns the objects of a text, which kubectl create would send, and the
// documents that can't be read.
func Read(text []byte) (objects []*Object, broken []Broken) {
	NewFile(text, nil).Each(func(found []*Object, failure *Broken) {
		objects = append(objects, found...)
		if failure != nil {
			broken = append(broken, *failure)
		}
	})
	return objects, broken
}
