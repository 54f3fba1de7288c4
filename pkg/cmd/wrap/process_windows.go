package wrap

import "os"

// ofTerminal are the signals that a console sends to all of its processes. Windows has no other signals.
var ofTerminal = []os.Signal{os.Interrupt}

func forwarded() []os.Signal { return ofTerminal }

// inForeground is always true, because Windows can't send an interrupt to a single process.
func inForeground() bool { return true }

func codeOf(state *os.ProcessState) int { return state.ExitCode() }
