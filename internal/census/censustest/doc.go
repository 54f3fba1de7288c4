// Package censustest has test data for the census: a population of objects, their lists as servers
// encode them, and an oracle that counts them in a simpler way. It imports nothing of the code that it
// tests, and no program imports it.
package censustest
