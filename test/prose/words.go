package prose

import (
	"regexp"
	"strings"
)

// Word is a word to avoid, and its replacement.
type Word struct {
	Pattern *regexp.Regexp
	Instead string
}

// Words are the left column of the table of words. Some patterns are narrower than the word, because the word also
// has another meaning.
var Words = []Word{
	{words(`answer(s|ed|ing)?`), "response"},
	{words(`rights`), "permission"},
	{words(`(you|user|who) may( not)?`), "can, can't, have permission"},
	{words(`name spaces?`), "name pool"},
	{words(`says? (the|a|that|no) prefix`), "has this generateName"},
	{words(`names that clients make|named by clients?`), "client-generated names"},
	{words(`(one|\d+|extra|more|unknown|of|its|the server's) tr(y|ies)`), "attempt"},
	{words(`makers?|made by`), "creator, created by"},
	{words(`un?marked|marks?`), "creation ID annotation"},
	{words(`strangers?`), "unexpected object"},
	{words(`outlook|hopeless`), "circuit breaker"},
	{words(`injur(e|es|ed|y|ies)|contestants?`), "fault"},
	{words(`pursue[sd]?`), "retry"},
	{words(`look(s|ed|ing)? (at|for|what)`), "check"},
	{words(`comes? and goe?s?|came and went`), "is created and deleted"},
	{words(`(is|are|was|were|be|been) (told|said)|says? so`), "prints, reports, warns"},
	{words(`(is|are|was|be) away`), "is unreachable"},
	{words(`under way`), "in progress"},
	{words(`names? of (its|their) own`), "fixed name"},
	{words(`one instant`), "consistent"},
	{words(`judge[sd]?`), "evaluate"},
	{words(`headroom`), "room"},
	{words(`folders?|for ever|anew|amid|some \d+|milliards?|misspel[t]`), "US English, see the table"},
}

// words returns the expression for whole words.
func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(` + pattern + `)\b`) }

// nameWords matches the words of the list in an identifier that Split has split. Some are missing, because they have
// another meaning in the names of libraries.
var nameWords = words(`answer(s|ed|ing)?|rights|tries|makers?|made by|un?marked|marks?|strangers?|outlook|hopeless|` +
	`learn(s|ed|ing)?|injur(e|es|ed|y|ies)|contestants?|pursue[sd]?|(is |was )?away|under way|name spaces?|one instant|` +
	`judge[sd]?|headroom|told|tells?|said|says?|nobody|somebody|folders?|anew|amid|milliards?|hono[u]r(s|ed)?`)

var (
	lowerUpper = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	upperWord  = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// Split returns the words of an identifier or of the name of a file in lower case, separated by spaces.
func Split(name string) string {
	name = lowerUpper.ReplaceAllString(name, "$1 $2")
	name = upperWord.ReplaceAllString(name, "$1 $2")
	return strings.ToLower(strings.NewReplacer("_", " ", ".", " ", "-", " ").Replace(name))
}
