package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	imagepng "image/png"
	"io"
	"math"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

// drawn is a chart for suffixes of a length, existing names, and some numbers of attempts.
func drawn(t testing.TB, scale Scale, length int, existing int64, attempts ...int) Chart {
	t.Helper()
	names, err := analyze.NamePoolSize(length)
	if err != nil {
		t.Fatal(err)
	}
	c := Chart{
		Title: "jobs/nightly-report- -n ci: chance of a name conflict",
		Scale: scale, Existing: existing, Names: names,
	}
	for _, n := range attempts {
		m, err := analyze.NewModel(names, n)
		if err != nil {
			t.Fatal(err)
		}
		reached := map[float64]int64{} // it is asked for again and again
		c.Curves = append(c.Curves, Curve{
			Label: fmt.Sprintf("server+client (%d attempts)", n),
			Log10: func(creates int64) float64 { return m.AnyFails(existing, creates).Log10() },
			Reaches: func(p float64) int64 {
				if _, known := reached[p]; !known {
					room, err := m.Room(existing, p)
					if err != nil {
						panic(err)
					}
					reached[p] = room + 1
				}
				return reached[p]
			},
		})
	}
	return c
}

// charts are those of all, made once.
var charts map[string]Chart

// all are charts of every kind, with hard cases among them.
func all(t testing.TB) map[string]Chart {
	if charts != nil {
		return charts
	}
	charts = map[string]Chart{}
	for _, scale := range Scales {
		for _, c := range []struct {
			length   int
			existing int64
			attempts []int
		}{
			{5, 0, []int{1}},
			{5, 0, []int{1, 2}},
			{5, 0, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}},
			{5, 121, []int{1, 8, 16, 128}},
			{5, 1_000_000, []int{1, 8, 16, 128}},
			{5, 14_348_906, []int{1, 8}},
			{5, 13_000_000, []int{8, 1024}},
			{5, 0, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
			{1, 0, []int{1, 8}},
			{1, 26, []int{1}},
			{11, 9_000_000_000, []int{1, 8, 16, 128}},
			{11, 0, []int{1, 1024}},
		} {
			name := fmt.Sprintf("%s, %d characters, %d exist, %d attempts", scale, c.length, c.existing, c.attempts)
			charts[name] = drawn(t, scale, c.length, c.existing, c.attempts...)
		}
	}
	return charts
}

// box is where a text is.
type box struct {
	text                     string
	left, right, top, bottom float64
}

func (b box) overlaps(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// recorder is a canvas that remembers where texts and lines are. It measures
// with the font of the PNG, and a little more for wider fonts of viewers.
type recorder struct {
	t     *testing.T
	fonts [2]*opentype.Font
	boxes []box
	lines [][]point
}

func (r *recorder) line(points []point, _ stroke) { r.lines = append(r.lines, points) }

func (r *recorder) text(at point, text string, s textStyle) {
	const wider = 1.12
	p := &png{}
	p.regular, p.bold = r.fonts[0], r.fonts[1]
	length := p.measure(text, s) * wider
	b := box{text: text, left: at.x - s.anchor*length, top: at.y - s.size/2, bottom: at.y + s.size/2}
	b.right = b.left + length
	if s.vertical {
		b = box{text, at.x - s.size/2, at.x + s.size/2, at.y - (1-s.anchor)*length, at.y + s.anchor*length}
	}
	r.boxes = append(r.boxes, b)
}

// No text overlaps another or leaves the picture, and no line leaves the plot.
func TestNothingOverlaps(t *testing.T) {
	regular, err1 := opentype.Parse(goregular.TTF)
	bold, err2 := opentype.Parse(gobold.TTF)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for name, c := range all(t) {
		t.Run(name, func(t *testing.T) {
			r := &recorder{t: t, fonts: [2]*opentype.Font{regular, bold}}
			c.draw(r)
			for i, b := range r.boxes {
				if b.left < 0 || b.right > width || b.top < 0 || b.bottom > height {
					t.Errorf("%q leaves the picture: %+v", b.text, b)
				}
				for _, o := range r.boxes[:i] {
					if b.overlaps(o) {
						t.Errorf("%+v overlaps %+v", b, o)
					}
				}
			}
			for _, line := range r.lines {
				for _, p := range line {
					if math.IsNaN(p.x+p.y) || p.x < 0 || p.x > width || p.y < 0 || p.y > height {
						t.Fatalf("a line leaves the picture: %+v", p)
					}
				}
			}
		})
	}
}

// Every curve rises from the axis to the top, and is not a single point.
func TestCurvesAreWhole(t *testing.T) {
	for name, c := range all(t) {
		low, high := c.span()
		x, y := countAxis(low, high, c.Scale != Linear), chanceAxis(c.Scale)
		for i, curve := range c.Curves {
			points := c.points(curve, x, y)
			last := len(points) - 1
			if len(points) < 2 || points[0].y-points[last].y < (bottom-top)*0.9 {
				t.Errorf("%s: curve %d is %d points: %v", name, i, len(points), points)
			}
			for j := range points[1:] {
				if points[j+1].y > points[j].y+1e-9 || points[j+1].x < points[j].x {
					t.Errorf("%s: curve %d falls at %v", name, i, points[j:j+2])
				}
			}
		}
	}
}

// The curve of a known case goes through the known points: 50% at 4461 names, 0.1% at 170.
func TestCurveIsTrue(t *testing.T) {
	for _, test := range []struct {
		scale  Scale
		names  float64
		chance float64 // on the axis
	}{{Linear, 4461, 0.5}, {Semilog, 4461, 0.5}, {Log, 170, -3}, {Log, 4461, math.Log10(0.5)}} {
		c := drawn(t, test.scale, 5, 0, 1)
		low, high := c.span()
		x, y := countAxis(low, high, c.Scale != Linear), chanceAxis(c.Scale)
		want := point{across(x.place(test.names)), upwards((test.chance - y.low) / (y.high - y.low))}
		points := c.points(c.Curves[0], x, y)
		for i := range points[1:] {
			a, b := points[i], points[i+1]
			if a.x <= want.x && want.x <= b.x {
				if at := a.y + (b.y-a.y)*(want.x-a.x)/(b.x-a.x); math.Abs(at-want.y) > 0.5 {
					t.Errorf("%s: at %v names the curve is %v pixels off", test.scale, test.names, at-want.y)
				}
			}
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	c := drawn(t, Semilog, 5, 121, 1, 8)
	c.Title = "a <b> & \"c\"" + strings.Repeat("long ", 60)
	data, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	elements := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
	if elements < 20 || !bytes.Contains(data, []byte("now: 121")) {
		t.Errorf("%d elements\n%s", elements, data)
	}
}

// The PNG is opaque, so that it is the same on a dark page, and has the curves.
func TestPNG(t *testing.T) {
	data, err := drawn(t, Semilog, 5, 121, 1, 8).PNG()
	if err != nil {
		t.Fatal(err)
	}
	image, err := imagepng.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X != width*density || size.Y != height*density {
		t.Errorf("the size is %v", size)
	}
	colors := map[color.RGBA]int{}
	for y := range height * density {
		for x := range width * density {
			r, g, b, a := image.At(x, y).RGBA()
			colors[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}]++
		}
	}
	for c := range colors {
		if c.A != 255 {
			t.Fatalf("a pixel is not opaque: %v", c)
		}
	}
	blue, vermilion := color.RGBA{0, 0x72, 0xb2, 255}, color.RGBA{0xd5, 0x5e, 0, 255}
	if colors[blue] < 500 || colors[vermilion] < 500 {
		t.Errorf("%d pixels of the first curve, %d of the second", colors[blue], colors[vermilion])
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for name, c := range all(t) {
		for _, columns := range []int{40, 80, 132} {
			text, err := c.Text(columns)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Curves {
				if !strings.Contains(strings.SplitN(text, "names ", 2)[0], letters[i:i+1]) {
					t.Errorf("%s: curve %c is not drawn\n%s", name, letters[i], text)
				}
			}
			for line := range strings.SplitSeq(text, "\n") {
				if len([]rune(line)) > max(columns, 80) || strings.ContainsRune(line, '┤') && len([]rune(line)) > columns {
					t.Errorf("%s: %d columns in %d: %s", name, len([]rune(line)), columns, line)
				}
			}
		}
	}
}

func TestChartsThatCannotBe(t *testing.T) {
	many := make([]int, MaxCurves+1)
	for i := range many {
		many[i] = i + 1
	}
	for _, test := range []struct {
		chart Chart
		want  string
	}{
		{drawn(t, Linear, 5, 0), "no curve to draw"},
		{drawn(t, Linear, 5, 0, many...), "17 curves cannot be distinguished: at most 16"},
		{drawn(t, Linear, 1, 27, 1), "all 27 names exist: there is no curve to draw"},
	} {
		_, err1 := test.chart.SVG()
		_, err2 := test.chart.PNG()
		_, err3 := test.chart.Text(80)
		for _, err := range []error{err1, err2, err3} {
			if err == nil || err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		}
	}
}

func TestAxis(t *testing.T) {
	for _, test := range []struct {
		axis axis
		want string
	}{
		{countAxis(0, 14_000, false), "0 5,000 10,000 15,000"},
		{countAxis(0, 27, false), "0 5 10 15 20 25 30"},
		{countAxis(7, 900, true), "10 100 1,000"},
		{countAxis(1_000_000, 14_348_907, true), "1,000,000 2,000,000 5,000,000 10,000,000 20,000,000"},
		{countAxis(1, 5e15, true), "1 1,000 1,000,000 1e9 1e12 1e15"},
		{chanceAxis(Log), "0.0001% 0.001% 0.01% 0.1% 1% 10% 100%"},
		{chanceAxis(Semilog), "0% 20% 40% 60% 80% 100%"},
	} {
		var labels []string
		for _, tick := range test.axis.ticks {
			if tick.label != "" {
				labels = append(labels, tick.label)
			}
		}
		if got := strings.Join(labels, " "); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}
