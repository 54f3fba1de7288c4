// Package flagvalue owns what flags take: words, probabilities, durations with days,
// numbers of attempts, numbers as people write them. It knows no command.
package flagvalue
