package secrets

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// planted is made of parts, so that no scanner takes this file for one with a secret.
const planted = "Tr0ub4" + "dor-3"

// slashed and signed are passwords with signs that end a word, or begin a variable.
const slashed, signed, chosen = "9@tm!(B" + "/2HPRNz?4", "xK9#mP2" + "$vLq8", "river" + "Stone69"

// TestForms finds a secret in each form in which it may be written, and within strings in strings as well.
func TestForms(t *testing.T) {
	var lines []string
	random := rand.New(rand.NewPCG(7, 7))
	for range 6 {
		line := make([]byte, 64)
		for i := range line {
			line[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random.IntN(64)]
		}
		lines = append(lines, string(line))
	}
	body := strings.Join(lines, "\n")
	const begin, end = "-----BEGIN RSA PRI" + "VATE KEY-----", "-----END RSA PRI" + "VATE KEY-----"
	basic := base64.StdEncoding.EncodeToString([]byte("admin:" + planted))
	live := "sk_li" + "ve_4eC39HqLyjWDarjtT1zdp7dc"
	for _, c := range []struct{ text, secret string }{
		{begin + "\n" + body + "\n… output cut", lines[5]},
		{begin + "\n" + body, lines[5]},
		{begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + body + "\n[cut]", lines[0]},
		{begin + "\n" + body + "\nQUJD" + "RA==", "QUJD" + "RA=="},
		{"> " + begin + "\n> " + strings.Join(lines, "\n> "), lines[5]},
		{"key.pem:1:" + begin + "\nkey.pem:2:" + lines[0] + "\nkey.pem-3-" + lines[1], lines[1]},
		{"1\t" + begin + "\n2\t" + lines[0] + "\n3\t" + lines[1], lines[1]},
		{"cut …\n" + body + "\n" + end, lines[0]},
		{"<password>" + planted + "</password>", planted},
		{"<db:adminPassword type='text'>\n  " + planted + "\n</db:adminPassword>", planted},
		{"<password><![CDATA[" + planted + "]]></password>", planted},
		{"&lt;password&gt;" + planted + "&lt;/password&gt;", planted},
		{`<property name="password" value="` + planted + `"/>`, planted},
		{"<key>password</key>\n\t<string>" + planted + "</string>", planted},
		{"User{name=admin, password=" + planted + "}", planted},
		{"[user=admin password=" + planted + "]", planted},
		{`{"password":"` + slashed + `"}`, slashed},
		{`{"password":"9@t` + `m!\"` + slashed[8:] + `"}`, slashed[8:]},
		{`{"password":"9@t` + `m!\\` + slashed[8:] + `"}`, slashed[8:]},
		{"PASSWORD='" + slashed + "'", slashed},
		{"DB_PASSWORD=" + slashed, slashed},
		{"db:\n  password: " + slashed + "\n  port: 1", slashed},
		{"PGPASSWORD=" + signed + " psql -h db", signed},
		{"mysql --password " + planted + " shop", planted},
		{"the password for the staging box is " + chosen, chosen},
		{"The password of admin on db1 is: " + chosen + ".", chosen},
		{"the passphrase for the key was '" + chosen + "', I think", chosen},
		{"Authorization: Basic " + basic, basic},
		{`headers = {"authorization": "Basic ` + basic + `"}`, basic},
		{"ls\ncurl -u admin:" + planted + " https://db.example/x", planted},
		{`k = "` + live + `"`, live},
	} {
		for level, text := 0, c.text; level <= escapedLevels; level++ {
			found := Standard().Scan(text)
			redacted, _ := Standard().Redact(text, &Key{1})
			if len(found) == 0 || strings.Contains(redacted, c.secret) {
				t.Errorf("%d strings around it, %q: found %v, left %q", level, text, found, redacted)
			}
			if !strings.Contains(text, c.secret) && level < 1 {
				t.Fatalf("%q does not have %q", text, c.secret)
			}
			again, err := json.Marshal(map[string]string{"command": text})
			if err != nil {
				t.Fatal(err)
			}
			text = string(again)
			var v any
			if level > 0 && json.Unmarshal([]byte(redacted), &v) != nil {
				t.Errorf("redacted it is no JSON: %s", redacted)
			}
		}
	}
	for _, text := range []string{
		"the password for the api is base64Encoded", "the password of a user is Argon2id hashed", "the password for it is stored in column2", "Basic authentication1", "basic dXNlcjpwYXNz" + "d29yZA==",
		`{"password":"hash(pw1)"}`, `{"password":"${PASS1}"}`, `{"password":"[A-Za-z0-9]{8,}"}`, `{"password":"<your-password-1>"}`, `password: "min:8|max:16"`, "<password>changeme</password>", "<Password1 />x</p>",
		begin + "\n...\n" + end, begin + "\nMII...", "grep -r '" + begin + "' . | head -3", "PASSWORD=$DB_PASS1", "password=${X1}abc", `match "password\":\s*\"\w+1"`, "echo '" + end + "'", "--password flag2",
		"<password><![CDATA[]]></password>", `<property name="password" value="${db.pass1}"/>`, `<input name="password" value="changeme"/>`, "<key>password</key><string>string</string>", `{"password":"\\"}`, "password[0]", "password: Hash1(x)==y", "password = b[1]!=Old(2)", "password: $(cat /run/Secret1)", "password: @Value1({x})", "PASSWORD=$1+$X2", "password := randomString(12)+1", "Password{x1}",
	} {
		if found := Standard().Scan(text); len(found) > 0 {
			t.Errorf("%q: %s takes %q for a secret", text, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

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
