package flagvalue

import (
	"fmt"
	"slices"
	"strings"
)

// Enum is a flag that takes one of a few words. Help, completion and the error
// of any other word have them from here.
type Enum[T ~string] struct {
	Value T

	words []T
}

// NewEnum returns an Enum with a default, and all words in the order in which
// they are shown.
func NewEnum[T ~string](value T, words ...T) Enum[T] { return Enum[T]{Value: value, words: words} }

// Set takes one of the words.
func (e *Enum[T]) Set(text string) error {
	if !slices.Contains(e.words, T(text)) {
		return fmt.Errorf("must be %s", alternatives(e.Words()))
	}
	e.Value = T(text)
	return nil
}

func (e *Enum[T]) String() string { return string(e.Value) }

// Type names the value in help.
func (e *Enum[T]) Type() string { return "string" }

// Words returns the values that the flag takes.
func (e *Enum[T]) Words() []string {
	words := make([]string, 0, len(e.words))
	for _, word := range e.words {
		words = append(words, string(word))
	}
	return words
}

// Usage returns the flag's help. It has a description and the words, each with its meaning if
// meanings has one.
func (e *Enum[T]) Usage(what string, meanings map[T]string) string {
	words := e.Words()
	for i, word := range e.words {
		if meaning := meanings[word]; meaning != "" {
			words[i] += " (" + meaning + ")"
		}
	}
	return what + ": " + alternatives(words)
}

// alternatives returns "a or b" or "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
