package create

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// An object is in flight under the name that was sent last, until its outcome was handled.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{takes: time.Second, reports: []exactlyonce.Event{{Action: exactlyonce.NextName, NextName: "second"}}}
		c.ends = func(object string) (exactlyonce.Result, error) {
			time.Sleep(time.Second)
			switch object {
			case "lost":
				return exactlyonce.Result{Name: "lost"}, errUnknown
			case "refused":
				return exactlyonce.Result{}, errForbidden
			}
			return exactlyonce.Result{Outcome: exactlyonce.Created, Name: object}, nil
		}
		var s *Session
		expect := func(want ...string) {
			t.Helper()
			var got []string
			all, totals := s.InFlight()
			if totals.Objects() < len(all) {
				t.Errorf("%+v without %d in flight", totals, len(all))
			}
			for _, sent := range all {
				got = append(got, fmt.Sprint(sent.Document.Number, " ", sent.Name, " ", sent.Stored))
			}
			if !slices.Equal(got, want) {
				t.Errorf("in flight: %q, want %q", got, want)
			}
		}
		after := func(d time.Duration, want ...string) { time.AfterFunc(d, func() { expect(want...) }) }
		s = newSession(t.Context(), configOf(c), func(e Event) {
			switch {
			case endedAs(e, Created):
				expect("1 named true")
			case endedAs(e, Unknown):
				expect("2 second false")
			case endedAs(e, Failed):
				expect()
			}
		})
		after(time.Second/2, "1 named false")
		after(3*time.Second/2, "1 second false") // the next name, as the fake reports it
		after(5*time.Second/2, "2 lost false")
		if err := s.Create(input("configmaps/a/named", "configmaps/a/lost", "configmaps/a/refused")); err != nil {
			t.Error(err)
		}
		if s.End(); s.Totals().Objects() != 3 {
			t.Errorf("%+v", s.Totals())
		}
	})
}

// Dry runs store nothing, so nothing of them is in flight.
func TestNothingInFlightInADryRun(t *testing.T) {
	config := configOf(&cluster{})
	config.DryRun = ServerDryRun
	var s *Session
	s = newSession(t.Context(), config, func(Event) {
		if got, _ := s.InFlight(); len(got) > 0 {
			t.Errorf("%v", got)
		}
	})
	_ = s.Create(input("configmaps/a/x-"))
	s.End()
}
