package connection

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"
)

// profiling is kubectl's --profile, whose own code is not exported. Unlike
// kubectl's, the profile is written also if the command fails.
type profiling struct {
	name, output string
	started      bool
	file         *os.File // of a profile that is written as the command runs
}

func (p *profiling) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&p.name, "profile", "none",
		"Name of profile to capture. One of (none|cpu|heap|goroutine|threadcreate|block|mutex|trace)")
	flags.StringVar(&p.output, "profile-output", "profile.pprof", "Name of the file to write the profile to")
}

// start starts the profile, if the user asked for one.
func (p *profiling) start() (err error) {
	p.started = p.name != "none"
	switch p.name {
	case "none":
		return nil
	case "cpu":
		if p.file, err = os.Create(p.output); err == nil {
			err = pprof.StartCPUProfile(p.file)
		}
		return err
	case "trace":
		if p.file, err = os.Create(p.output); err == nil {
			err = trace.Start(p.file)
		}
		return err
	case "block":
		runtime.SetBlockProfileRate(1)
	case "mutex":
		runtime.SetMutexProfileFraction(1)
	}
	if pprof.Lookup(p.name) == nil {
		return fmt.Errorf("unknown profile '%s'", p.name)
	}
	return nil
}

// finish writes the profile, if one was started.
func (p *profiling) finish() error {
	if !p.started {
		return nil
	}
	switch p.name {
	case "cpu":
		pprof.StopCPUProfile()
	case "trace":
		trace.Stop()
	case "heap":
		runtime.GC() // so that the profile shows live objects, not garbage
	case "block":
		defer runtime.SetBlockProfileRate(0)
	case "mutex":
		defer runtime.SetMutexProfileFraction(0)
	}
	if p.file != nil {
		return p.file.Close()
	}
	profile := pprof.Lookup(p.name)
	if profile == nil {
		return nil
	}
	file, err := os.Create(p.output)
	if err != nil {
		return err
	}
	return errors.Join(profile.WriteTo(file, 0), file.Close())
}
