package chart

import (
	"bytes"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// density is how many pixels of a PNG one of the picture is, for sharp text on
// screens of today.
const density = 2

// PNG draws the chart as a PNG image of 1920 by 1080 pixels.
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
	err = p.context.EncodePNG(&out)
	return out.Bytes(), err
}

// png is a canvas.
type png struct {
	context       *gg.Context
	regular, bold *opentype.Font
}

func newPNG() (*png, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, err
	}
	p := &png{context: gg.NewContext(width*density, height*density), regular: regular, bold: bold}
	p.context.SetHexColor(background)
	p.context.Clear()
	return p, nil
}

func (p *png) line(points []point, style stroke) {
	p.context.SetHexColor(style.color)
	p.context.SetLineWidth(style.width * density)
	p.context.SetLineCapButt()
	p.context.SetLineJoinRound()
	var dash []float64
	for _, length := range style.dash {
		dash = append(dash, length*density)
	}
	p.context.SetDash(dash...)
	for _, at := range points {
		p.context.LineTo(at.x*density, at.y*density)
	}
	p.context.Stroke()
}

func (p *png) text(at point, text string, style textStyle) {
	p.context.SetFontFace(p.face(style))
	p.context.SetHexColor(style.color)
	x, y := at.x*density, at.y*density
	p.context.Push()
	defer p.context.Pop()
	if style.vertical {
		p.context.RotateAbout(gg.Radians(-90), x, y)
	}
	p.context.DrawString(text, x-style.anchor*p.measure(text, style)*density, y+style.size*density*capHeight/2)
}

// measure is the length of a text in pixels of the picture.
func (p *png) measure(text string, style textStyle) float64 {
	return float64(font.MeasureString(p.face(style), text)) / 64 / density
}

func (p *png) face(style textStyle) font.Face {
	typeface := p.regular
	if style.bold {
		typeface = p.bold
	}
	face, err := opentype.NewFace(typeface, &opentype.FaceOptions{Size: style.size * density, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // cannot be: opentype refuses no size
	}
	return face
}
