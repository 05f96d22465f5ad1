package said_test

import (
	"fmt"

	"github.com/graphkernel/graphkernel/belief/said"
)

func ExampleOf() {
	for _, text := range []string{"Makefiles use tabs", "Use spaces in Makefiles.", "don't use tabs in Makefiles", "API port: 9090"} {
		l, err := said.Of(text, "")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l)
	}
	// Output:
	// said#makefile said-indentation tabs
	// said#makefile said-indentation spaces
	// not said#makefile said-indentation tabs
	// said#api said-port 9090
}
