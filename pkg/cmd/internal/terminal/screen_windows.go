package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences makes a console interpret control sequences, and returns a function that restores it.
func enableSequences(out *os.File) (undo func(), err error) {
	console := windows.Handle(out.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(console, before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil // the mode before
}

// watchSize does nothing, because a console's size is read whenever it is painted.
func watchSize() (resized <-chan os.Signal, stop func()) { return nil, func() {} }
