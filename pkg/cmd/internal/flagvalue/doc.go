// Package flagvalue owns the types of flag values: words, probabilities, durations with days,
// numbers of attempts, and numbers as people write them. It knows no command.
package flagvalue
