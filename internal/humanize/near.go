package humanize

// Farthest is the number of typing errors up to which a word is near another one.
const Farthest = 2

// DidYouMean returns a question for the word that is most like a misspelled one, or "" if no word is near. Of
// several such words, it is the first. The prefix comes before the word.
func DidYouMean(prefix, misspelled string, words []string) string {
	nearest, best := "", min(Farthest, len(misspelled)/3)+1
	for _, word := range words {
		if d := Distance(misspelled, word); d < best {
			nearest, best = word, d
		}
	}
	if nearest == "" {
		return ""
	}
	return ". Did you mean " + prefix + nearest + "?"
}

// Distance returns how many bytes to insert, delete or replace to get from one word to another. It is Farthest+1 if
// their lengths differ by more than Farthest.
func Distance(a, b string) int {
	if difference := len(a) - len(b); difference > Farthest || difference < -Farthest {
		return Farthest + 1
	}
	before := make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range len(a) {
		diagonal := before[0]
		before[0] = i + 1
		for j := range len(b) {
			above := before[j+1]
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			before[j+1] = min(above+1, before[j]+1, diagonal+differs)
			diagonal = above
		}
	}
	return before[len(b)]
}
