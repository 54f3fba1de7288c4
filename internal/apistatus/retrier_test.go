package apistatus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var errAny = errors.New("any")

// Each pause is twice as long as the previous one, up to the longest, plus a jitter of up to 50%.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retrier := NewRetrier(100*time.Millisecond, 500*time.Millisecond, time.Hour)
		for i, want := range []time.Duration{100, 200, 400, 500, 500, 500} {
			began := time.Now()
			if err := retrier.Wait(t.Context(), errAny); err != nil {
				t.Fatal(err)
			}
			want *= time.Millisecond
			if took := time.Since(began); took < want || took > want*3/2 {
				t.Errorf("pause %d was %s, want %s to %s", i, took, want, want*3/2)
			}
		}
	})
}

func TestPauseOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retrier := NewRetrier(100*time.Millisecond, time.Second, time.Minute)
		busy := fmt.Errorf("list: %w", apierrors.NewTooManyRequests("busy", 7))
		began := time.Now()
		if err := retrier.Wait(t.Context(), busy); err != nil || time.Since(began) != 7*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		began = time.Now()
		err := retrier.Wait(t.Context(), apierrors.NewTooManyRequests("busy", 54))
		if !errors.Is(err, ErrTimeUp) || time.Since(began) > 0 {
			t.Errorf("a pause that ends after the deadline: %v after %s", err, time.Since(began))
		}
	})
}

func TestNoRequestAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		retrier := NewRetrier(time.Second, time.Minute, 10*time.Second)
		for {
			err := retrier.Wait(t.Context(), errAny)
			if took := time.Since(began); took > 10*time.Second {
				t.Fatalf("a request after %s", took)
			}
			if errors.Is(err, ErrTimeUp) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := NewRetrier(time.Nanosecond, time.Second, 0).Wait(t.Context(), errAny); !errors.Is(err, ErrTimeUp) {
		t.Errorf("a try without any time: %v", err)
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := NewRetrier(time.Minute, time.Minute, time.Hour).Wait(ctx, errAny)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
