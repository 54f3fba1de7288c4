package time

import "syscall"

// The clock of a program is wrong by the seconds in the environment variable
// GENNAME_CLOCK. If it is a list, such as "600,-600", the clock steps to the next
// one every 700 ms. The monotonic clock is right.
var clockOffsets = parseOffsets()

const clockStep = int64(700 * Millisecond)

func parseOffsets() (offsets []int64) {
	text, _ := syscall.Getenv("GENNAME_CLOCK")
	offset, sign := int64(0), int64(1)
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',':
			offsets = append(offsets, sign*offset)
			offset, sign = 0, 1
		case text[i] == '-':
			sign = -1
		case text[i] >= '0' && text[i] <= '9':
			offset = 10*offset + int64(text[i]-'0')
		default:
			panic("GENNAME_CLOCK is no list of seconds: " + text)
		}
	}
	return offsets
}

// offsetAt returns how far the clock is ahead, in seconds.
func offsetAt(monotonic int64) int64 {
	if len(clockOffsets) == 0 { // before the package is initialized
		return 0
	}
	return clockOffsets[monotonic/clockStep%int64(len(clockOffsets))]
}
