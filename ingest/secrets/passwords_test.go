package secrets

import (
	"strings"
	"testing"
)

// planted is made of parts, so that no scanner takes this file for one with a secret.
const planted = "Tr0ub4" + "dor-3"

// TestPasswords finds passwords in URLs and in prose, and takes no placeholder, path or program for one.
func TestPasswords(t *testing.T) {
	for _, c := range []struct{ text, rule string }{
		{"postgres://app:W@db.example:5432/shop", "url-password"},
		{"clone https://anna:W@git.example/shop.git now", "url-password"},
		{"redis://:W@cache.example", "url-password"},
		{`DSN="amqp://shop:W@[::1]:5672/"`, "url-password"},
		{"the password is W", "password-in-text"},
		{"The Password is: W.", "password-in-text"},
		{"my password was W, and now it is another", "password-in-text"},
		{"password: W", "password-in-text"},
		{"passwd=W", "password-in-text"},
		{`{"password": "W"}`, "password-in-text"},
		{"Das Passwort ist W", "password-in-text"},
		{"curl -d user=anna&password=W&x=1 x", "password-in-text"},
		{"PASSPHRASE = 'W'", "password-in-text"},
	} {
		text := strings.ReplaceAll(c.text, "W", planted)
		found := Standard().Scan(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != planted || found[0].Rule != c.rule && found[0].Rule != "generic-api-key" {
			t.Errorf("%q: found %v, want the password by %s", text, found, c.rule)
		}
	}
	for _, text := range []string{
		"postgres://postgres:postgres@localhost/test", "postgres://USER:PASSWORD@HOST/DB", "postgres://user:$PASSWORD@host/db", "https://user:<password>@host", "postgres://app:${DB_PASS}@db/x",
		"https://host.example:8080/@scope/package1", "docker://alpine:3.20@sha256:" + strings.Repeat("ab12", 16), "git+ssh://git@github.com:org/repo1.git", "https://a.example/x?to=b:c1@d", "mysql://root:%s@tcp(host)/db",
		"http://localhost:3000@", "postgres://app:your-password-1@db/x",
		"the password is wrong", "password: string", "password: required", "password = hash2.digest", "password=os.environ['P4SS']", "password: user1.password2", "password is at least 12 characters", "password: 8ch",
		"the password is stored in /etc/secret1", "password: password123", "passwd=test1234", "passwords are hashed 10 times", "password: ~/.pgpass2", "password: https://vault.example/v1", "password: my_setting_2", "password=%s1", "password: '' # 2 of 3",
		"password is base64-encoded", "password: $2b", "passphrase: std::string2",
	} {
		if found := Standard().Scan(text); len(found) > 0 {
			t.Errorf("%q: %s takes %q for a password", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}
