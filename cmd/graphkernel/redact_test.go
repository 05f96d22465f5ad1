package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// names of stores that hold secrets, each with what is shown of it. No secret and no part
// of one may be left: every one consists of the letters of "hunter2" and "zebra" and what
// has to be escaped.
var secretNames = []struct{ name, want string }{
	{"postgres://someone:hunter2@host/db", "postgres://someone:xxxxx@host/db"},
	{"postgresql://someone:hunter2@host:5432/db?sslmode=require", "postgresql://someone:xxxxx@host:5432/db?sslmode=require"},
	{"postgres://someone:hunter2@one:5432,two:5433/db", "postgres://someone:xxxxx@one:5432,two:5433/db"},
	{"postgres://someone:hunter2@[::1]:5432,[fe80::1%25eth0]/db", "postgres://someone:xxxxx@[::1]:5432,[fe80::1%25eth0]/db"},
	{"postgres://someone:hunter2:zebra@host/db", "postgres://someone:xxxxx@host/db"},
	{"postgres://someone:hunter%40zebra@host/db", "postgres://someone:xxxxx@host/db"},
	{"postgres://:hunter2@host/db", "postgres://:xxxxx@host/db"},
	{"postgres://someone:hunter2#zebra@host/db", "postgres://someone:xxxxx@host/db"},
	{"postgres://someone:hunter2%zz@host/db", "postgres://someone:xxxxx@host/db"},
	{"postgres:///db?user=someone&password=hunter2", "postgres:///db?user=someone&password=xxxxx"},
	{"postgres://host/db?password=hunter2&sslpassword=zebra&sslmode=require", "postgres://host/db?password=xxxxx&sslpassword=xxxxx&sslmode=require"},
	{"postgres://host/db?PassWord=hunter2#zebra", "postgres://host/db?PassWord=xxxxx"},
	{"postgres://host/db?pass%77ord=hunter2", "postgres://host/db?pass%77ord=xxxxx"},
	{"postgres://someone@host/db?password=hunter2", "postgres://someone@host/db?password=xxxxx"},
	{"postgress://someone:hunter2@host/db", "postgress://someone:xxxxx@host/db"},
	{"jdbc:postgresql://someone:hunter2@host/db", "jdbc:postgresql://someone:xxxxx@host/db"},
	{"mysql://host/db?user=someone&password=hunter2", "mysql://host/db?user=someone&password=xxxxx"},
	{"sqlite://someone:hunter2@host/db", "sqlite://someone:xxxxx@host/db"},

	{"postgres://someone:hunter2/zebra@host/db", "postgres://…"},
	{"postgres://someone:hunter2@zebra@host/db", "postgres://…"},
	{"postgres://someone:hunter2?zebra/x@host/db", "postgres://…"},
	{"postgres://someone:hunter2", "postgres://…"},
	{"postgres://someone:hunter2/db", "postgres://…"},
	{"postgres://someone:hunter2@host:zebra/db", "postgres://…"},
	{"postgres://host/db?application_name=%zz&password=hunter2", "postgres://…"},
	{"postgres://host/db?a=1;password=hunter2", "postgres://…"},
	{"postgres:someone:hunter2@host/db", "postgres:…"},
	{"postgres:/someone:hunter2@host/db", "postgres:…"},
	{"someone:hunter2@host", "someone:…"},
	{"hunter2@host:5432", "…"},

	{"host=localhost user=someone password=hunter2 dbname=db", "host=localhost user=someone password=xxxxx dbname=db"},
	{`host=localhost password = 'hunter2 \' zebra' dbname=db`, "host=localhost password = xxxxx dbname=db"},
	{`password=hunter2\ zebra dbname=db`, "password=xxxxx dbname=db"},
	{"password='hunter2 zebra", "password=xxxxx"},
	{"sslpassword=hunter2 host=localhost", "sslpassword=xxxxx host=localhost"},
	{"postgres:host=localhost password=hunter2", "postgres:host=localhost password=xxxxx"},
	{"Server=host;Password=hunter2;Database=zebra", "Server=host;Password=xxxxx"},
}

func TestWithoutPassword(t *testing.T) {
	for _, c := range secretNames {
		if got := cli.WithoutPassword(c.name); got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.name, got, c.want)
		}
		fault := fmt.Errorf("%s: %w", c.name, cli.ErrNoStore)
		if got := cli.WithoutName(c.name, fault); !errors.Is(got, cli.ErrNoStore) || strings.Contains(c.want, "…") == (got == fault) {
			t.Errorf("%s gives the error %v", c.name, got)
		}
	}
	for _, name := range []string{
		"", "postgres:", "postgres://", "postgres:///db", "postgres://host", "postgres://someone@one:5432,two/db?target_session_attrs=read-write", "sqlite:/home/a@b:c/password=x.db",
		`sqlite:C:\data\x.db`, "sqlite:x.db", "x.db", "127.0.0.1:8080", ":0", "[::1]:80", "10.0.0.0/8,192.168.0.0/16", "30s", "true", "-1",
		"https://a.example,https://b.example:8443", "*", "file:/etc/keys.json", "https://issuer.example/keys?version=2",
	} {
		if got := cli.WithoutPassword(name); got != name {
			t.Errorf("%s is shown as %s", name, got)
		}
	}
}

// TestNoPasswordPrinted returns each of these names to the commands that take one, and looks
// at all that they print. Nothing listens at the hosts.
func TestNoPasswordPrinted(t *testing.T) {
	for _, c := range secretNames {
		name := strings.NewReplacer("host/", "127.0.0.1:1/", "localhost", "127.0.0.1", "one:5432,two:5433", "127.0.0.1:1,127.0.0.1:2", "postgres:///", "postgres://127.0.0.1:1/").Replace(c.name)
		for _, args := range [][]string{
			{"--store", name, "config"},
			{"--store", name, "--output", "json", "config"},
			{"--store", name, "copy", "--to", name},
			{"--store", name, "migrate", "--dry-run"},
			{"--store", "sqlite:" + t.TempDir() + "/none.db", "copy", "--to", name},
		} {
			var out bytes.Buffer
			a := testApp()
			a.IO.Stdout, a.IO.Stderr = &out, &out
			code := a.Run(t.Context(), args)
			for _, secret := range []string{"hunter2", "zebra"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("%q, exit code %d, printed %s", args, code, &out)
				}
			}
			if out.Len() == 0 {
				t.Errorf("%q printed nothing", args)
			}
		}
	}
}
