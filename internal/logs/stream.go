package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxLine is the number of bytes of a line that each container can keep in memory. All longer lines share maxLong
	// bytes. If no memory is left, the reader delivers a line in parts.
	maxLine, maxLong = 1 << 20, 32 << 20
	bufferSize       = 64 << 10

	rotated = "the log was rotated" // reason of a gap
)

var (
	errOtherRun = errors.New("the container was restarted")
	errNotThere = errors.New("the response doesn't have the last line that was read")
	seed        = maphash.MakeSeed()
)

// position identifies the last line of a run that was delivered. A request can resume only at a whole second. So its
// response repeats some lines up to the position.
type position struct {
	last    fingerprint
	end     string    // the last bytes of that line
	latest  time.Time // the latest time of a line
	rest    string    // unterminated end of the last response
	rotated bool      // that response doesn't have the last line
}

// fingerprint identifies a line by its time and a hash. If lines in a row have equal times, the hash covers them all.
type fingerprint struct {
	at   time.Time
	hash uint64
}

func (m fingerprint) next(at time.Time, text []byte) fingerprint {
	var hash maphash.Hash
	hash.SetSeed(seed)
	if m.at.Equal(at) {
		fmt.Fprint(&hash, m.hash, " ")
	}
	_, _ = hash.Write(text)
	return fingerprint{at, hash.Sum64()}
}

// request sends one request for the log, and delivers the lines after the position.
func (c *container) request(ctx context.Context, options corev1.PodLogOptions, lines *atomic.Int64) error {
	options.Container, options.Timestamps = c.Name, true
	if !c.read.last.at.IsZero() {
		// Lines of stdout and stderr can be out of order.
		options.SinceTime = &metav1.Time{Time: c.read.last.at.Truncate(time.Second).Add(-time.Second)}
	}
	body, err := c.follower.config.Client.Pods(c.Namespace).GetLogs(c.Pod, &options).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	before := c.read
	if before.last.at.IsZero() { // no earlier line shows which run the response has
		err := c.checkRun(options.Previous)
		if s := c.state(); !s.ended || s.gone {
			err = c.recheck(ctx, options.Previous)
		}
		if err != nil {
			return err
		}
	}
	r := &reader{container: c, ctx: ctx, previous: options.Previous, lines: lines, skips: !c.read.last.at.IsZero()}
	r.cut = r.skips
	err = r.readAll(bufio.NewReaderSize(body, bufferSize))
	if c.read != before {
		c.quiet = false
	} else if err == nil {
		c.quiet = true
	}
	return err
}

// reader reads one response.
type reader struct {
	container *container
	ctx       context.Context
	previous  bool
	lines     *atomic.Int64 // number of lines; nil if nothing counts them
	seen      fingerprint   // fingerprint of the last line of the response
	skips     bool          // the response has not reached the position yet
	cut       bool          // the next line can lack its beginning and its time, which are before sinceTime
	failure   error         // the last line has no time
	printing  bool          // the line of the current parts is passed on
	long      int64         // bytes of maxLong that the current line has
}

// readAll reads the response to its end.
func (r *reader) readAll(in *bufio.Reader) error {
	defer r.free()
	for begins := true; ; {
		r.free()
		part, ends, err := r.readPart(in)
		if err != nil && !begins && r.printing {
			r.container.follower.line(r.container.Container, part)
			r.container.gap(time.Time{}, "the response ended within a long line")
		}
		switch {
		case errors.Is(err, io.EOF) && begins:
			if err := r.end(part); err != nil || len(part) > 0 {
				return err
			}
			return r.failure
		case errors.Is(err, io.EOF) && r.skips:
			return errNotThere
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := r.take(part, begins); err != nil {
			return err
		}
		if c := r.container; !ends && r.printing && !c.split {
			c.split = true
			c.follower.config.Event(LongLine{c.Container})
		}
		begins = ends
	}
}

// end records the text after the last line break of a response. The text is empty or the beginning of a line.
func (r *reader) end(rest []byte) error {
	c := r.container
	if !r.cut && !beginsStamp(rest) {
		return kubeletError(rest)
	}
	if r.skips {
		at, _, err := split(rest)
		switch {
		case len(rest) == 0:
			return errNotThere
		case err != nil || !at.After(c.read.latest): // the beginning of a line that was passed on before
			return io.ErrUnexpectedEOF
		}
		if err := c.recheck(r.ctx, r.previous); err != nil {
			return err
		}
	}
	if len(rest) < len(c.read.rest) && strings.HasPrefix(c.read.rest, string(rest)) {
		return io.ErrUnexpectedEOF // an earlier response had more of the line
	}
	c.read.rest, c.read.rotated = string(rest), r.skips
	return nil
}

// readPart reads a line without its line break. If there is no memory for the line, it reads only a part of the line.
func (r *reader) readPart(in *bufio.Reader) (part []byte, ends bool, err error) {
	for int64(len(part)) < maxLine+r.long || r.grow() {
		more, err := in.ReadSlice('\n')
		part = append(part, more...)
		switch {
		case err == nil:
			return part[:len(part)-1], true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return part, false, err
		}
	}
	return part, false, nil
}

// grow reserves memory for a longer line. It returns false if the long lines of all containers need all the memory.
func (r *reader) grow() bool {
	long := &r.container.follower.long
	if long.Add(maxLine) > maxLong {
		long.Add(-maxLine)
		return false
	}
	r.long += maxLine
	return true
}

func (r *reader) free() {
	r.container.follower.long.Add(-r.long)
	r.long = 0
}

// take delivers a part of a line, unless the line was delivered before.
func (r *reader) take(part []byte, begins bool) error {
	c := r.container
	if !begins {
		if r.printing {
			c.follower.line(c.Container, part)
		}
		return nil
	}
	at, text, err := split(part)
	if err != nil {
		r.withoutTime(err)
		return nil
	}
	if r.failure != nil && !r.skips {
		c.gap(at, "a line has no time")
	}
	r.cut, r.failure = false, nil
	r.seen = r.seen.next(at, text)
	if r.printing, err = r.isNew(); err != nil || !r.printing {
		return err
	}
	if r.lines != nil {
		r.lines.Add(1)
	}
	c.pass(r.seen, text)
	return nil
}

// withoutTime handles a line without a time. It is the end of a line that was delivered before, or an error of the
// kubelet. Once a response has begun, the kubelet can report an error only as its last line.
func (r *reader) withoutTime(err error) {
	if !r.cut {
		r.failure = err
	}
	r.cut, r.printing = false, false
}

// kubeletError truncates the text, because it can be a line of a program.
func kubeletError(text []byte) error {
	const enough = 200
	if len(text) > enough {
		return fmt.Errorf("the kubelet reports: %s…", text[:enough])
	}
	return fmt.Errorf("the kubelet reports: %s", text)
}

// beginsStamp reports whether a text can be the beginning of a line with a time.
func beginsStamp(text []byte) bool {
	stamp, _, complete := bytes.Cut(text, []byte(" "))
	if complete {
		_, _, err := split(text)
		return err == nil
	}
	return len(bytes.Trim(stamp, "0123456789-+:.TZ")) == 0
}

func split(line []byte) (time.Time, []byte, error) {
	stamp, text, found := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil || !found {
		return time.Time{}, nil, kubeletError(line)
	}
	return at.UTC(), text, nil
}

// isNew reports whether a line comes after the position. If the response lacks the position, isNew reports a gap, or
// returns errOtherRun.
func (r *reader) isNew() (bool, error) {
	c := r.container
	switch {
	case !r.skips:
		return true, nil
	case r.seen == c.read.last:
		r.skips = false
		return false, nil
	case !r.seen.at.After(c.read.latest):
		return false, nil
	}
	if err := c.recheck(r.ctx, r.previous); err != nil {
		return false, err
	}
	r.skips = false
	c.gap(r.seen.at, rotated)
	return true, nil
}

// pass delivers a line, and remembers it as the position from which the log continues.
func (c *container) pass(m fingerprint, text []byte) {
	c.follower.line(c.Container, text)
	if len(c.tail) == tailLines {
		c.tail = c.tail[1:]
	}
	c.tail = append(c.tail, string(text[:min(len(text), tailBytes)]))
	c.last, c.read.end = m.at, string(text[max(0, len(text)-tailBytes):])
	c.read.last, c.read.rest, c.read.rotated = m, "", false
	if m.at.After(c.read.latest) {
		c.read.latest = m.at
	}
}

// passRest delivers the last line of an ended run if the line has no line break.
func (c *container) passRest() {
	if at, text, err := split([]byte(c.read.rest)); err == nil {
		if c.read.rotated {
			c.gap(at, rotated)
		}
		c.pass(c.read.last.next(at, text), text)
	}
}

// checkEnd reads the last record of an ended run with a request without sinceTime. All other requests leave out lines
// with times before the position. The record can be the end of a line.
func (c *container) checkEnd(previous bool) {
	if c.read.last.at.IsZero() {
		return
	}
	body, err := c.follower.config.Client.Pods(c.Namespace).GetLogs(c.Pod, &corev1.PodLogOptions{
		Container: c.Name, Timestamps: true, Previous: previous, TailLines: new(int64(1)),
	}).Stream(c.follower.ctx)
	if err != nil {
		return
	}
	defer func() { _ = body.Close() }()
	r, in, last := &reader{container: c}, bufio.NewReaderSize(body, bufferSize), []byte(nil)
	defer r.free()
	for err == nil {
		var part []byte
		if part, _, err = r.readPart(in); len(part) > 0 {
			last = part
		}
	}
	at, text, broken := split(last)
	end := text[max(0, len(text)-tailBytes):]
	same := !at.Before(c.read.last.at) && strings.HasSuffix(c.read.end, string(end))
	if !errors.Is(err, io.EOF) || broken != nil || same || c.recheck(c.follower.ctx, previous) != nil {
		return
	}
	c.gap(time.Time{}, "its log ends with another line, perhaps because the clock of its node was set back")
}
