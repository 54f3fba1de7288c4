// Package once is about to become a library of its own. Until then it has the
// names of the command's package.
package once

import "github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"

// The types.
type (
	// Creator is that of exactlyonce.
	Creator = exactlyonce.Creator
	// Option is that of exactlyonce.
	Option = exactlyonce.Option
	// ID is that of exactlyonce.
	ID = exactlyonce.ID
	// Result is that of exactlyonce.
	Result = exactlyonce.Result
	// Error is that of exactlyonce.
	Error = exactlyonce.Error
	// Event is that of exactlyonce.
	Event = exactlyonce.Event
)

// The values.
const (
	Annotation = exactlyonce.Annotation
	RunLabel   = exactlyonce.RunLabel
	Created    = exactlyonce.Created
	Found      = exactlyonce.Found
)

// The errors.
var (
	ErrUnknown     = exactlyonce.ErrUnknown
	ErrRefused     = exactlyonce.ErrRefused
	ErrRenamed     = exactlyonce.ErrRenamed
	ErrTaken       = exactlyonce.ErrTaken
	ErrMismatch    = exactlyonce.ErrMismatch
	ErrExhausted   = exactlyonce.ErrExhausted
	ErrInterrupted = exactlyonce.ErrInterrupted
)

// The functions.
var (
	NewForConfig      = exactlyonce.NewForConfig
	For               = exactlyonce.For
	FromKey           = exactlyonce.FromKey
	NewID             = exactlyonce.NewID
	Unmarked          = exactlyonce.Untracked
	Derived           = exactlyonce.Derived
	WithScheme        = exactlyonce.WithScheme
	WithMapper        = exactlyonce.WithMapper
	WithEvents        = exactlyonce.WithEvents
	WithNamespace     = exactlyonce.WithNamespace
	WithAttempts      = exactlyonce.WithAttempts
	WithRetryTimeout  = exactlyonce.WithRetryTimeout
	WithCreateOptions = exactlyonce.WithCreateOptions
	WithBriefObjects  = exactlyonce.WithBriefObjects
	WithWholeObjects  = exactlyonce.WithWholeObjects
)
