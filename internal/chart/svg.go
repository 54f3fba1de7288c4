package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// SVG draws the chart as an SVG document. Text stays text.
func (c Chart) SVG() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &svg{}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d"`+
		` role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">`+"\n", width, height)
	fmt.Fprintf(s, "<title>%s</title>\n", escaped(c.Title))
	fmt.Fprintf(s, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", background)
	c.draw(s)
	fmt.Fprintln(s, "</svg>")
	return s.Bytes(), nil
}

// svg is the canvas of an SVG document.
type svg struct{ bytes.Buffer }

func (s *svg) line(points []point, style stroke) {
	var path []string
	for _, p := range points {
		path = append(path, decimal(p.x)+","+decimal(p.y))
	}
	dash := ""
	if len(style.dash) > 0 {
		var lengths []string
		for _, length := range style.dash {
			lengths = append(lengths, decimal(length))
		}
		dash = ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round"%s/>`+"\n",
		strings.Join(path, " "), style.color, decimal(style.width), dash)
}

// capHeight is the height of capitals in common sans-serif fonts, as a share of
// the size of the font.
const capHeight = 0.72

func (s *svg) text(at point, text string, style textStyle) {
	anchor := "start"
	switch {
	case style.anchor > 0.75:
		anchor = "end"
	case style.anchor > 0.25:
		anchor = "middle"
	}
	weight, turn := "", ""
	if style.bold {
		weight = ` font-weight="bold"`
	}
	x, y := at.x, at.y+style.size*capHeight/2
	if style.vertical {
		x, y = at.x+style.size*capHeight/2, at.y
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, decimal(x), decimal(y))
	}
	fmt.Fprintf(s, "<text x=\"%s\" y=\"%s\" font-size=\"%s\" fill=\"%s\" text-anchor=\"%s\"%s%s>%s</text>\n",
		decimal(x), decimal(y), decimal(style.size), style.color, anchor, weight, turn, escaped(text))
}

// decimal returns a coordinate in hundredths of a pixel.
func decimal(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// escaped returns text as XML has it.
func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder takes all
	return out.String()
}
