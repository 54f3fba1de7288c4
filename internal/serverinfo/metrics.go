package serverinfo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/client-go/rest"
)

// gateTimeout is the time limit for the request of the metrics. The metrics only make the number of attempts more
// certain, so an audit doesn't wait longer.
const gateTimeout = 10 * time.Second

// maxFamily is the largest accepted size of the metric. The metric usually has tens of kilobytes.
const maxFamily = 1 << 20

// askGate gets the state of the feature gate from /metrics. ok is false if the user has no
// permission, or the server is too busy. The response is in Protobuf, which costs kube-apiserver
// half as much as text and has a fifth of its size.
func askGate(ctx context.Context, client *rest.RESTClient) (on, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	format := string(expfmt.NewFormat(expfmt.TypeProtoDelim))
	scrape, err := client.Get().MaxRetries(0).AbsPath("/metrics").SetHeader("Accept", format).Stream(ctx)
	if err != nil {
		return false, false
	}
	defer func() { _ = scrape.Close() }()
	return readGate(scrape)
}

// readGate returns whether the feature gate is on in a scrape of /metrics. ok is false if the
// scrape doesn't have the gate.
func readGate(scrape io.Reader) (on, ok bool) {
	family, err := findFamily(bufio.NewReader(scrape), featureGateMetric)
	if err != nil {
		return false, false
	}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == featureGateNameAttr && label.GetValue() == featureGate {
				return metric.GetGauge().GetValue() == 1, true
			}
		}
	}
	return false, false
}

// findFamily returns one metric of a scrape. A scrape is a sequence of messages, each with its length before it. A
// scrape can have megabytes, so findFamily decodes only the named metric.
func findFamily(scrape *bufio.Reader, name string) (*dto.MetricFamily, error) {
	// The name is a family's first field.
	begin := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	for {
		size, err := binary.ReadUvarint(scrape)
		if err != nil {
			return nil, err
		}
		head, err := scrape.Peek(int(min(size, uint64(len(begin)))))
		if err != nil {
			return nil, err
		}
		if bytes.Equal(head, begin) {
			return readFamily(scrape, size)
		}
		if _, err := io.CopyN(io.Discard, scrape, int64(min(size, 1<<62))); err != nil {
			return nil, err
		}
	}
}

// readFamily reads a metric that has the given number of bytes.
func readFamily(scrape io.Reader, size uint64) (*dto.MetricFamily, error) {
	if size > maxFamily {
		return nil, fmt.Errorf("a metric of %d bytes", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(scrape, body); err != nil {
		return nil, err
	}
	family := &dto.MetricFamily{}
	return family, proto.Unmarshal(body, family)
}
