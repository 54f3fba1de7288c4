// Package censustest is what the tests of the census share: a population of
// objects, lists of them as servers write them, and an oracle that counts them
// in a plainer way. It imports nothing of what it helps to test, and no program
// imports it.
package censustest
