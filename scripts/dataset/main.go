// A static Go program: goroutines, a map and garbage.
package main

import "fmt"

func work(n int, results chan<- int) {
	counts := map[string]int{}
	for i := 0; i < n; i++ {
		counts[fmt.Sprintf("key %d", i%1000)] += i
	}
	results <- len(counts)
}

func main() {
	results := make(chan int)
	for i := 0; i < 4; i++ {
		go work(20000, results)
	}
	total := 0
	for i := 0; i < 4; i++ {
		total += <-results
	}
	fmt.Println(total)
}
