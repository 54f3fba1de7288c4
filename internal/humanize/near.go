package humanize

// Farthest is the largest distance at which two words are similar.
const Farthest = 2

// DidYouMean returns a question with the word that is most similar to a misspelled one, or "" if no word is
// similar. If several are, it uses the first. The question has the prefix before the word.
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

// Distance returns the number of changes that turn one word into another (optimal string alignment). A change
// inserts, deletes or replaces a byte, or swaps two neighboring bytes. Distance returns Farthest+1 if the lengths
// differ by more than Farthest.
func Distance(a, b string) int {
	if difference := len(a) - len(b); difference > Farthest || difference < -Farthest {
		return Farthest + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	now, before, earlier := rows[0], rows[1], rows[2] // the row of this byte of a, and the two before
	for j := range now {
		now[j] = j
	}
	for i := range len(a) {
		now, before, earlier = earlier, now, before
		now[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			now[j+1] = min(before[j+1]+1, now[j]+1, before[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], earlier[j-1]+1)
			}
		}
	}
	return now[len(b)]
}
