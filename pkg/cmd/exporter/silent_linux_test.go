package exporter

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sixty scrapes succeed while 3,000 clients of another address ask for the metrics, some again and again,
// and read nothing. Only Linux has a second address.
func TestScrapesBesideSilentClients(t *testing.T) {
	address := serve(t, largeRegistry())
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second}
	silent := func() net.Conn {
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			return nil
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, _ = io.WriteString(conn, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 20))
		return conn
	}
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 30 {
		clients.Go(func() {
			var held []net.Conn
			for range 100 {
				held = append(held, silent())
			}
			<-done
			for _, conn := range held {
				if conn != nil {
					_ = conn.Close()
				}
			}
		})
	}
	for range 12 { // clients that connect again as soon as they are disconnected
		clients.Go(func() {
			for {
				conn := silent()
				if conn == nil {
					return
				}
				_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
				_, _ = conn.Read(make([]byte, 1))
				_ = conn.Close()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	defer clients.Wait()
	defer close(done)
	for i := range 60 {
		if code, _, body := read(t, "http://"+address+"/metrics"); code != http.StatusOK || len(body) < 300_000 {
			t.Errorf("scrape %d: %d, %d bytes", i, code, len(body))
		}
	}
	runtime.GC() // garbage isn't in use
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if used := (memory.HeapInuse + memory.StackInuse) >> 20; used > 128 {
		t.Errorf("%d MiB are in use", used)
	}
}
