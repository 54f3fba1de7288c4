package chart

// canvas is an image to draw on. Coordinates are in pixels from the upper left
// corner.
type canvas interface {
	line(points []point, s stroke)
	text(at point, text string, s textStyle)
}

type point struct{ x, y float64 }

// stroke is the style of a line. dash is lengths of line and gap, empty for a
// solid line.
type stroke struct {
	color string // #rrggbb
	width float64
	dash  []float64
}

// textStyle is the style of a text. Its vertical position is the middle of its capitals. anchor is
// the part of the text, from 0 to 1, that is at its position.
type textStyle struct {
	size     float64
	color    string
	anchor   float64
	bold     bool
	vertical bool // reads upwards
}

// The picture has its own background, so that it looks the same on light and dark pages.
const (
	background = "#ffffff"
	ink        = "#1f2328"
	faintInk   = "#57606a"
	frameColor = "#8c959f"
	gridColor  = "#e4e8ec"
)

// distinct are colors that people with any color vision can distinguish (Okabe and Ito 2008). The
// yellow and the sky blue are left out, because they are faint on white.
var distinct = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7"}

// ordered are colors from dark to light along viridis. They are for more curves than there are
// distinct colors, in the order of the curves.
var ordered = []string{
	"#440154", "#482173", "#433e85", "#38588c", "#2d708e", "#25858e", "#1e9b8a", "#2ab07f", "#52c569",
}

// dashes are the dashes of lines, from solid to dotted.
var dashes = [][]float64{nil, {9, 4}, {2, 3}, {9, 3, 2, 3}}

// strokeOf returns the stroke of curve i of n. Neighbors differ in dash as well as in
// color.
func strokeOf(i, n int) stroke {
	s := stroke{width: 2.5, dash: dashes[i%len(dashes)]}
	if n <= len(distinct) {
		s.color = distinct[i]
		return s
	}
	s.color = ordered[i*(len(ordered)-1)/(n-1)]
	return s
}
