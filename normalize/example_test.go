package normalize_test

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/normalize"
)

func ExampleName() {
	for _, s := range []string{"  New York City ", "O'Neil, J.", "Straße", "C++", "/src/main.go", "東京・大阪"} {
		name, err := normalize.Name(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name)
	}
	_, err := normalize.Name("???")
	fmt.Println(err)
	// Output:
	// new-york-city
	// o-neil-j
	// strasse
	// c++
	// file:/src/main.go
	// 東京-大阪
	// nothing is left of the name: "???"
}

func ExampleTable() {
	var table *normalize.Table
	table, outcomes, err := table.With(
		normalize.Change{Alias: "NYC", Canonical: "New York City"},
		normalize.Change{Alias: "Big Apple", Canonical: "New York City"},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcomes, table.Resolve("nyc"), table.Members("nyc"))

	_, _, err = table.With(normalize.Change{Alias: "The City", Canonical: "NYC"})
	fmt.Println(errors.Is(err, normalize.ErrChain), err)
	// Output:
	// [added added] new-york-city [new-york-city big-apple nyc]
	// true chain of aliases: "nyc" cannot get the alias "the-city", because it is itself an alias of "new-york-city"; use "new-york-city"
}

func ExampleReadAliases() {
	const data = "alias,canonical\nNYC,New York City\nLA,Los Angeles\nL.A.,Louisiana\nla,Louisiana\n"
	list, err := normalize.ReadAliases([]byte(data), normalize.CSV)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(list.Entries, list.Changes)
	fmt.Println(list.Ambiguous)
	// Output:
	// 4 [{l-a louisiana false} {nyc new-york-city false}]
	// [{la [los-angeles louisiana]}]
}

func ExampleSuggest() {
	names := []string{"e-mail", "email", "john-smith", "smith-john", "un", "united-nations", "istanbul", "istambul"}
	for _, s := range normalize.Suggest(names, nil, normalize.SuggestOptions{}) {
		fmt.Println(s.Reason, s.Name, s.Others)
	}
	// Output:
	// punctuation e-mail [email]
	// inverted john-smith [smith-john]
	// initials un [united-nations]
	// spelling istambul [istanbul]
}
