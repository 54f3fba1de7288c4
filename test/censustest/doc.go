// Package censustest has test data for the census: a population of objects and their lists as servers
// encode them. Its oracle counts the objects in a simpler way than the census. It imports nothing of
// the code that it tests, and no program imports it.
package censustest
