package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/client-go/rest"
)

// download reads a list in pages and discards it, which is the least work that any client can do. download uses one
// connection without compression, and requests the same metadata as the audit.
func download(ctx context.Context, config *rest.Config, path string, limit int) (sample, error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return sample{}, err
	}
	defer client.CloseIdleConnections()
	began := time.Now()
	token := ""
	for {
		query := url.Values{"limit": {fmt.Sprint(limit)}}
		if token != "" {
			query.Set("continue", token)
		}
		if token, err = downloadPage(ctx, client, config.Host+path+"?"+query.Encode()); err != nil {
			return sample{}, err
		}
		if token == "" {
			return sample{Seconds: time.Since(began).Seconds()}, nil
		}
	}
}

func downloadPage(ctx context.Context, client *http.Client, url string) (token string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return "", errors.New(response.Status)
	}
	body := bufio.NewReaderSize(response.Body, 64<<10)
	if token, err = continueToken(body); err != nil {
		return "", fmt.Errorf("GET %s: %w", url, err)
	}
	_, err = io.Copy(io.Discard, body)
	return token, err
}

// continueToken finds the continue token, which comes before the items. The fields of the envelope are TypeMeta and
// the list. The fields of the list are ListMeta and the items. The token is field 3 of ListMeta.
func continueToken(r *bufio.Reader) (string, error) {
	if _, err := r.Discard(len("k8s\x00")); err != nil {
		return "", err
	}
	typeMeta, err := field(r)
	if err == nil {
		_, err = r.Discard(int(typeMeta))
	}
	if err == nil {
		_, err = field(r) // the list
	}
	if err != nil {
		return "", err
	}
	length, err := field(r)
	if err != nil {
		return "", err
	}
	meta := make([]byte, length)
	if _, err := io.ReadFull(r, meta); err != nil {
		return "", err
	}
	for len(meta) > 0 {
		number, kind, n := protowire.ConsumeTag(meta)
		if n < 0 {
			return "", protowire.ParseError(n)
		}
		meta = meta[n:]
		if number == 3 && kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(meta)
			return string(value), protowire.ParseError(min(n, 0))
		}
		if n = protowire.ConsumeFieldValue(number, kind, meta); n < 0 {
			return "", protowire.ParseError(n)
		}
		meta = meta[n:]
	}
	return "", nil
}

// field reads the tag of a field and returns the length of its content.
func field(r *bufio.Reader) (uint64, error) {
	if _, err := binary.ReadUvarint(r); err != nil {
		return 0, err
	}
	return binary.ReadUvarint(r)
}
