// Command now prints the seconds of its clock.
package main

import (
	"fmt"
	"time"
)

func main() { fmt.Println(time.Now().Unix()) }
