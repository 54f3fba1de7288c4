package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	imagepng "image/png"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// density is how many pixels of a PNG one of the picture is, for sharp text on
// screens of today.
const density = 2

// PNG draws the chart as a PNG image of 2000 by 1080 pixels.
func (c Chart) PNG() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p, err := newPNG()
	if err != nil {
		return nil, err
	}
	c.draw(p)
	var out bytes.Buffer
	err = imagepng.Encode(&out, p.image)
	return out.Bytes(), err
}

// png is the canvas of a PNG image.
type png struct {
	image         *image.RGBA
	strokes       *rasterx.Dasher
	regular, bold *opentype.Font
}

// newPNG returns an image that is empty but for its background.
func newPNG() (*png, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, err
	}
	size := image.Rect(0, 0, width*density, height*density)
	p := &png{image: image.NewRGBA(size), regular: regular, bold: bold}
	p.strokes = rasterx.NewDasher(size.Dx(), size.Dy(), rasterx.NewScannerGV(size.Dx(), size.Dy(), p.image, size))
	draw.Draw(p.image, size, image.NewUniform(rgb(background)), image.Point{}, draw.Src)
	return p, nil
}

func (p *png) line(points []point, style stroke) {
	var dash []float64
	for _, length := range style.dash {
		dash = append(dash, length*density)
	}
	const noMiter = 4 << 6
	p.strokes.SetStroke(pixels(style.width), noMiter,
		rasterx.ButtCap, rasterx.ButtCap, rasterx.RoundGap, rasterx.Round, dash, 0)
	p.strokes.SetColor(rgb(style.color))
	for i, at := range points {
		place := fixed.Point26_6{X: pixels(at.x), Y: pixels(at.y)}
		if i == 0 {
			p.strokes.Start(place)
		} else {
			p.strokes.Line(place)
		}
	}
	p.strokes.Stop(false)
	p.strokes.Draw()
	p.strokes.Clear()
}

func (p *png) text(at point, text string, style textStyle) {
	length := p.measure(text, style)
	along, across := -style.anchor*length, style.size*capHeight/2 // from at to the beginning of the baseline
	if !style.vertical {
		p.write(p.image, point{at.x + along, at.y + across}, text, style)
		return
	}
	// The text is written into a separate image, which is then rotated.
	const margin = 4
	flat := image.NewRGBA(image.Rect(0, 0, int((length+2*margin)*density), int((style.size+2*margin)*density)))
	p.write(flat, point{margin, margin + style.size}, text, style)
	left, top := int((at.x+across-margin-style.size)*density), int((at.y-along+margin)*density)
	for y := range flat.Rect.Dy() {
		for x := range flat.Rect.Dx() {
			place := image.Rect(left+y, top-x, left+y+1, top-x+1)
			draw.Draw(p.image, place, flat, image.Point{x, y}, draw.Over)
		}
	}
}

// write writes text whose baseline begins at a place.
func (p *png) write(on draw.Image, at point, text string, style textStyle) {
	drawer := font.Drawer{
		Dst: on, Src: image.NewUniform(rgb(style.color)), Face: p.face(style),
		Dot: fixed.Point26_6{X: pixels(at.x), Y: pixels(at.y)},
	}
	drawer.DrawString(text)
}

// measure returns the length of a text in pixels of the picture.
func (p *png) measure(text string, style textStyle) float64 {
	return float64(font.MeasureString(p.face(style), text)) / 64 / density
}

// face returns the typeface of a text in its size.
func (p *png) face(style textStyle) font.Face {
	typeface := p.regular
	if style.bold {
		typeface = p.bold
	}
	face, err := opentype.NewFace(typeface, &opentype.FaceOptions{
		Size: style.size * density, DPI: 72, Hinting: font.HintingNone,
	})
	if err != nil {
		panic(err) // cannot be: opentype refuses no size
	}
	return face
}

// pixels returns a length in 64ths of a pixel of the image.
func pixels(x float64) fixed.Int26_6 { return fixed.Int26_6(x * density * 64) }

// rgb returns the color of #rrggbb.
func rgb(hex string) color.RGBA {
	c := color.RGBA{A: 255}
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		panic(err) // the colors are ours
	}
	return c
}
