package exporter

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

const (
	// sharedFor is the time for which all clients get the same text.
	sharedFor = time.Second
	// writeTimeout is the time limit for sending the text to a client.
	writeTimeout = 10 * time.Second
)

// scrapes serves the metrics. Clients that request them within a second share one text. So neither the number nor the
// speed of clients changes the work and the memory.
type scrapes struct {
	gatherer prometheus.Gatherer

	mu    sync.Mutex // held while a text is rendered, never while it is written
	texts map[form]*rendered
}

// form is a text format of the metrics, compressed or not.
type form struct {
	format expfmt.FormatType
	gzip   bool
}

// rendered is a text and the time at which it was rendered.
type rendered struct {
	at   time.Time
	text []byte
}

// ServeHTTP implements http.Handler.
func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	accepted := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	f := form{expfmt.TypeTextPlain, strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")}
	if accepted.FormatType() == expfmt.TypeOpenMetrics {
		f.format = expfmt.TypeOpenMetrics
	}
	text, err := s.text(f)
	// An error means that the writer has no deadlines. Then only the server's own time limit applies.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", string(expfmt.NewFormat(f.format)))
	header.Set("Content-Length", strconv.Itoa(len(text)))
	header.Set("Vary", "Accept, Accept-Encoding")
	if f.gzip {
		header.Set("Content-Encoding", "gzip")
	}
	_, _ = w.Write(text) // an error means that the client has closed the connection
}

// text returns the metrics in the given format. The text is at most a second old.
func (s *scrapes) text(f form) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.texts[f]; last != nil && time.Since(last.at) < sharedFor {
		return last.text, nil
	}
	text, err := s.render(f)
	if err != nil {
		return nil, err
	}
	if s.texts == nil {
		s.texts = map[form]*rendered{}
	}
	s.texts[f] = &rendered{time.Now(), text}
	return text, nil
}

func (s *scrapes) render(f form) ([]byte, error) {
	families, err := s.gatherer.Gather()
	if err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	encoder := expfmt.NewEncoder(&plain, expfmt.NewFormat(f.format))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return nil, err
		}
	}
	if closer, is := encoder.(expfmt.Closer); is {
		if err := closer.Close(); err != nil {
			return nil, err
		}
	}
	if !f.gzip {
		return plain.Bytes(), nil
	}
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := writer.Write(plain.Bytes()); err != nil {
		return nil, err
	}
	err = writer.Close()
	return zipped.Bytes(), err
}
