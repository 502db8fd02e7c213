// The program of the one image on the real node: it prints its environment, and waits for its end.
//
// A container's first process gets no signal that it does not ask for.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	for _, variable := range os.Environ() {
		fmt.Println(variable)
	}
	<-ended
}
