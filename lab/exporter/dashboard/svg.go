package dashboard

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// The picture, in pixels.
const (
	pictureWidth  = 1000
	margin        = 14
	rowHeight     = 34
	panelHeight   = 262
	narrowest     = 370 // a panel
	narrowestStat = 200
	small         = 12.5
)

const (
	ink    = "#1f2328"
	faint  = "#59636e"
	grid   = "#d8dee4"
	other  = "#c2cad2" // series that the legend leaves out
	card   = "#ffffff"
	ground = "#f0f2f5"
)

var colors = []string{
	"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f",
}

// picture is an SVG document that grows downwards.
type picture struct {
	bytes.Buffer
	clips int
}

// box is the place of a panel.
type box struct{ x, y, w, h float64 }

// SVG draws the dashboard. Panels keep their order. A line has as many of a row as are
// readable.
func (d *Dashboard) SVG() []byte {
	var p picture
	y := float64(margin)
	p.text(margin, y+18, 19, ink, "start", true, d.Title)
	y += 34
	for _, line := range d.lines() {
		if line[0].Type == "row" {
			p.text(margin, y+20, 15, ink, "start", true, line[0].Title)
			y += rowHeight
			continue
		}
		x := float64(margin)
		for i, width := range widths(line) {
			d.draw(&p, line[i], box{x, y, width, panelHeight})
			x += width + margin
		}
		y += panelHeight + margin
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%.0[2]f" viewBox="0 0 %[1]d %.0[2]f"`+
		` role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">`+"\n", pictureWidth, y)
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", html.EscapeString(d.Title), ground)
	out.Write(p.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// lines divides the panels into lines of the picture.
func (d *Dashboard) lines() (lines [][]*Panel) {
	var space float64
	for _, panel := range d.Panels {
		needs := panel.narrowest() + margin
		if panel.Type == "row" {
			space = 0
			lines = append(lines, []*Panel{panel})
			continue
		}
		if needs > space {
			lines, space = append(lines, nil), pictureWidth-margin
		}
		space -= needs
		lines[len(lines)-1] = append(lines[len(lines)-1], panel)
	}
	return lines
}

func (p *Panel) narrowest() float64 {
	if p.Type == "stat" {
		return narrowestStat
	}
	return narrowest
}

// widths gives the space of a line that is left to the panels that are no stat.
func widths(line []*Panel) (all []float64) {
	space, wide := float64(pictureWidth-margin), 0
	for _, panel := range line {
		space -= panel.narrowest() + margin
		if panel.Type != "stat" {
			wide++
		}
	}
	for _, panel := range line {
		width := panel.narrowest()
		if panel.Type != "stat" {
			width += space / float64(wide)
		}
		all = append(all, width)
	}
	return all
}

// draw draws one panel.
func (d *Dashboard) draw(p *picture, panel *Panel, b box) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s"/>`+"\n", b.x, b.y, b.w, b.h, card, grid)
	p.text(b.x+12, b.y+21, 13.5, ink, "start", true, panel.Title)
	inner := box{b.x + 12, b.y + 36, b.w - 24, b.h - 46}
	switch {
	case len(panel.Series) == 0:
		p.text(b.x+b.w/2, b.y+b.h/2, small, faint, "middle", false, "no data")
	case panel.Type == "stat":
		drawStat(p, panel, inner)
	case panel.Type == "table":
		drawTable(p, panel, inner)
	default:
		d.drawLines(p, panel, inner)
	}
}

func drawStat(p *picture, panel *Panel, b box) {
	points := panel.Series[0].Points
	value := points[len(points)-1].Value
	p.text(b.x+b.w/2, b.y+b.h/2+14, 52, ink, "middle", true, format(value, panel.Unit))
}

// drawTable has the labels of each series, and its value.
func drawTable(p *picture, panel *Panel, b box) {
	const rows = 8
	y := b.y + 12
	p.text(b.x, y, small, faint, "start", false, "namespace, resource and prefix")
	p.text(b.x+b.w*0.62, y, small, faint, "start", false, "creator")
	p.text(b.x+b.w, y, small, faint, "end", false, "value")
	for _, series := range panel.Series[:min(len(panel.Series), rows)] {
		y += 22
		l := series.Labels
		name := strings.TrimSpace(l["namespace"] + " " + l["resource"] + "/" + l["prefix"])
		p.clipped(box{b.x, y - 14, b.w * 0.6, 20}, y, name)
		p.clipped(box{b.x + b.w*0.62, y - 14, b.w * 0.26, 20}, y, l["creator"])
		p.text(b.x+b.w, y, small, ink, "end", false, format(series.Points[len(series.Points)-1].Value, panel.Unit))
	}
	p.more(b.x, y+22, len(panel.Series)-rows)
}

// more writes how many are left out.
func (p *picture) more(x, y float64, n int) {
	if n > 0 {
		p.text(x, y, small, faint, "start", false, fmt.Sprintf("and %d more", n))
	}
}

func (p *picture) text(x, y, size float64, color, anchor string, bold bool, text string) {
	weight := ""
	if bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" font-size="%g" fill="%s" text-anchor="%s"%s>%s</text>`+"\n",
		x, y, size, color, anchor, weight, html.EscapeString(text))
}

// clipped is small text that ends with its box.
func (p *picture) clipped(b box, y float64, text string) {
	p.clips++
	fmt.Fprintf(p, `<clipPath id="c%d"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath>`, p.clips, b.x, b.y, b.w, b.h)
	fmt.Fprintf(p, `<g clip-path="url(#c%d)">`, p.clips)
	p.text(b.x, y, small, ink, "start", false, text)
	fmt.Fprintln(p, "</g>")
}
