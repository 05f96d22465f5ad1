package said_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/said"
)

var constraints = belief.Constraints{Functional: said.Functional()}

func of(t *testing.T, text, key string) belief.Literal {
	t.Helper()
	l, err := said.Of(text, key)
	if err != nil {
		t.Fatalf("Of(%q, %q): %v", text, key, err)
	}
	if err := l.Check(); err != nil {
		t.Errorf("Of(%q, %q) = %s: %v", text, key, l, err)
	}
	if !said.Is(l) {
		t.Errorf("Is(%s) = false", l)
	}
	if again, err := said.Of(text, key); err != nil || again != l {
		t.Errorf("Of(%q, %q) = %s, and then %s, %v", text, key, l, again, err)
	}
	return l
}

func conflict(a, b belief.Literal) bool {
	base := belief.Base{{Literal: a, Span: belief.Always, Rank: belief.Rank{Event: 1}}, {Literal: b, Span: belief.Always, Rank: belief.Rank{Event: 2}}}
	_, ok := belief.Consistent(&constraints, base)
	return !ok
}

// pairs splits lines of the form "text | text".
func pairs(t *testing.T, table string) (list [][2]string) {
	t.Helper()
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, b, ok := strings.Cut(line, " | ")
		if !ok {
			t.Fatalf("line %q, want two texts", line)
		}
		list = append(list, [2]string{a, b})
	}
	return list
}

func checkPairs(t *testing.T, table string, want bool, least int) {
	t.Helper()
	list := pairs(t, table)
	if len(list) < least {
		t.Fatalf("%d pairs, want at least %d", len(list), least)
	}
	for _, p := range list {
		a, b := of(t, p[0], ""), of(t, p[1], "")
		if conflict(a, b) != want || conflict(b, a) != want {
			t.Errorf("%q and %q: conflict is %t\n\t%s\n\t%s", p[0], p[1], !want, a, b)
		}
	}
}

func TestReplaces(t *testing.T) { checkPairs(t, replacing, true, 150) }
func TestStays(t *testing.T)    { checkPairs(t, staying, false, 180) }

const replacing = `
prefers tabs | prefers spaces
Indent with tabs. | We always use 4 spaces for indentation
I prefer tabs | the user prefers spaces
use 2 spaces | use 4 spaces
Indentation: tabs | Use 2-space indentation
prefers tabs in Makefiles | Makefiles use spaces
In Makefiles, use tabs | use spaces in Makefiles
Tabs, not spaces | Use spaces instead of tabs
prefers tabs over spaces | indent using spaces
uses npm | uses pnpm
We use npm | We switched from npm to pnpm
uses yarn | the package manager is pnpm
We've switched to bun | We use yarn as package manager
the project uses npm | the project now uses pnpm
Dependencies are managed elsewhere | dependencies are not managed elsewhere
we use poetry | we use uv for Python
the API listens on port 8080 | The API port is 9090
The API runs on port 8080. | The port of the API is 9090
API port: 8080 | the API's port is 3000
We use Node 20 | We use Node 22
We use Node.js 20 | Node version: 22
Go version is 1.25 | Go version: 1.26
We're on Go 1.25 | we upgraded to Go 1.26
The backend uses Python 3.11 | the backend uses Python 3.12
use Java 17 in CI | use Java 21 in CI
the deadline of the beta is 1 May | beta deadline: 15 May
The beta deadline is May 1st | The deadline for the beta has been moved to 15 May
the report is due on Friday | the report is due on Monday
the owner of billing is the platform team | billing is owned by the payments team
the payments team owns billing | the owner of billing is the platform team
Billing owner: platform team | Billing is owned by the payments team
default branch is main | default branch is master
The default branch is "main" | The default branch is now develop
prefers dark mode | prefers light mode
Dark mode | theme: light
use the dark theme | the theme is light
likes dark mode | uses a light theme
never force-push | force-push
do not use mocks | use mocks
Don’t use mocks | we use mocks
avoid mocks | use mocks
never commit generated files | always commit generated files
No emojis in commit messages | use emojis in commit messages
we don't deploy on Fridays | deploy on Fridays
we no longer use Docker | we use Docker
the API does not support pagination | the API supports pagination
issue 12 is fixed | issue 12 is not fixed
don't use tabs | use tabs
Use single quotes | use double quotes
prefers double quotes in Python | Use single quotes in Python
use semicolons | omit semicolons
never use semicolons | use semicolons
Max line length is 80 | line length: 100 characters
Wrap lines at 80 columns | the maximum line length is 120
use LF line endings | use CRLF line endings
We use Jest for tests | the test runner is Vitest
use camelCase for variables | variables use snake_case
name files in kebab-case | use snake_case for files
answers in German | answer in English
Reply in German | replies should be in English
write commit messages in English | commit messages are in German
prefers short answers | prefers detailed answers
prefers rebase over merge | prefers merge commits
use metric units | prefers imperial units
currency is EUR | the currency is USD
The time zone is CET | timezone: Europe/Berlin
License: MIT | the license is Apache 2.0
The project is licensed under MIT | the project is licensed under the AGPL
use the 24-hour clock | prefers a 12-hour clock
log level is debug | set the log level to info
Deploys happen on Tuesdays only | Deploys happen on Fridays
deploys go out on Tuesdays | We deploy on Thursdays
release day is Monday | releases happen on Wednesdays
the timeout of the API is 30s | API timeout: 60 seconds
The upload limit is 10 MB | upload limit: 20 MB
the rate limit is 100 requests per minute | rate limit: 200 requests per minute
max retries: 3 | set max retries to 5
staging URL is https://staging.example.com | the staging URL is https://stage.example.org
email is lead@example.com | my email address is lead@example.org
The staging server is at staging.example.com | staging server is at stage.example.org
lives in Berlin | moved to Munich
the job title is staff engineer | job title: principal engineer
preferred editor is Vim | the preferred editor is Emacs
The default locale is en_US | default locale: de_DE
The standup is at 9:30 | the standup starts at 10am
use ES modules | uses CommonJS
uses Maven | switched to Gradle
use vim keybindings | uses emacs keybindings
uses British English | use American spelling
pronouns: she/her | my pronouns are they/them
the coverage threshold is 80% | coverage threshold: 90%
tab width is 4 | tab size: 8
call me Zed | call me Moss
My name is Zed | call me Moss
Ask before deleting files | Don't ask before deleting files
I am vegetarian | I am not vegetarian
remember that we use npm | remember: we use pnpm
Note: prefers tabs | Note: prefers spaces
from now on, use pnpm | use npm
Please use spaces. | Please use tabs!
TABS | spaces
Let's use npm | let's use pnpm
The project has switched to Vitest | The project uses Jest
use pnpm, not npm | use npm
use npm rather than yarn | use yarn
the code style uses tabs | the code style uses spaces
2-space indentation | 4-space indentation
Indent size is 2 | Indent size: 4
Indentation is 2 spaces | Indentation is 4 spaces
Quotes: single | Quotes: double
string quotes are double | prefers single quotes
the API is on port 8080 | the API is on port 9090
API now listens on 9090 | API listens on port 8080
Postgres runs on port 5432 | Postgres port is 5433
Port for the API is 8080 | API port = 9090
the Go version in CI is 1.25 | the Go version in CI is 1.26
python version = 3.12 | python version = 3.13
The version of Terraform is 1.5 | we use Terraform 1.6
beta deadline is 1 May | the deadline for beta moved to 15 May
Deadline: May 1 | Deadline: May 15
due date is 2026-01-01 | the due date is 2026-02-01
The owner of the search service is the analyst | The search service is owned by the designer
search owner is the analyst | the designer owns search
The maintainer of the CLI is the analyst | CLI maintainer: the designer
git default branch: main | git default branch: trunk
default branch for billing is main | billing default branch is master
use dark mode in the IDE | use light mode in the IDE
likes dark mode | likes light mode
wants dark mode | wants light mode
Timezone: CET | Timezone: PST
prices are in euros | prices are in dollars
Default currency is EUR | Default currency is USD
licensed under MIT | licensed under GPLv3
Merge strategy: squash | Merge strategy: rebase
use tabs for indentation in Go | use spaces for indentation in Go
line length 80 | line length 120
keep lines under 80 characters | keep lines under 100 characters
limit lines to 100 characters | wrap lines at 80
Use Celsius | use Fahrenheit
lives in Munich | lives in Berlin
moved to Hamburg | lives in Berlin
employer is Acme | employer is Globex
works at Acme | works at Globex
job title is CTO | job title is CEO
the meeting starts at 9:00 | the meeting starts at 10:00
cache TTL is 60s | cache TTL is 300s
cache ttl: 5 minutes | the cache ttl is 10 minutes
max retries is 3 | max retries is 5
page size is 20 | page size is 50
rate limit is 100 req/s | rate limit is 200 req/s
the backup interval is 6 hours | the backup interval is 12 hours
logs are kept for 30 days | logs are kept for 90 days
retention is 30 days | retention: 90 days
do not use emojis | use emojis
use TDD | don't use TDD
avoid abbreviations | use abbreviations
never use the word foo | use the word foo
commits are signed | commits are not signed
commit messages should be in the imperative | commit messages should not be in the imperative
We don't do code review | we do code review
the analyst is on the team | the analyst is no longer on the team
instead of npm use pnpm | use npm
Instead of tabs, use spaces | use tabs
product owner is the analyst | product owner is the designer
The deadline for the beta is 1 May 2026. | The beta's deadline is 15 May 2026.
The beta deadline is now May 15 | beta deadline: 1 May
The billing team owns billing | Billing is owned by the growth team
Payments owner is the core team | Payments owner is now the growth team
We use four spaces | prefers tabs
We prefer tabs | indent with 2 spaces
Node version is 20 | Node version is 22
We're on Node 20 | we are now on Node 22
our API is on port 80 | our API listens on port 81
The admin console's port is 9090 | the admin console listens on port 9191
Use yarn for installing packages | use npm
Use dark theme | Use light theme
The user likes dark mode | The user likes light mode
the editor theme is dark | the editor theme is light
Default branch: main | default branch: master
The default branch was renamed to main | the default branch is master
the default branch is called main | the default branch is master
don't use mocks | use mocks
do not rebase | rebase
Write tests in Jest | use Vitest for tests
Commit messages are written in English | write commit messages in German
Answers should be in English | answer in German
uses spaces for indentation | uses tabs for indentation
Code is indented with tabs | code is indented with spaces
the repo uses tabs | the repo uses spaces
this repo uses npm | this repo uses pnpm
this project uses Go 1.25 | this project uses Go 1.26
The server timeout is 30 s | the server timeout is 45 s
timeout: 30s | timeout: 60s
The password length is 12 characters | the password length is 16 characters
max file size is 10MB | max file size is 20MB
file size limit: 10 MB | file size limit: 20 MB
the deploy day is Tuesday | the deploy day is Thursday
Release day: Monday | Release day: Wednesday
Team standup is at 9:30 | Team standup is at 10:15
Daily is at 9 am | Daily is at 10 am
Always answer in German | Always answer in English
the product name is Foo | the product name is Bar
The tech lead is Foo | the tech lead is Bar
The tech lead of search is Foo | search tech lead: Bar
prefers pytest | prefers unittest
tests use pytest | tests use unittest
lint is enabled | lint is disabled
Caching is on | Caching is off
Debug mode is off | Debug mode is on
The API uses port 8080 | the API uses port 8081
Requires Go 1.25 | requires Go 1.26
Use UTC | don't use UTC
in this repo we use npm | in this repo we use pnpm
For tests use Jest | use Vitest for tests
In CI, use npm | in CI we use pnpm
`

const staying = `
prefers dark mode | uses Go
we use Go | we use PostgreSQL
uses pnpm | uses Go
prefers tabs in Makefiles | prefers spaces in Python
prefers spaces | use tabs in Makefiles
supports Node 20 | supports Node 22
tests run on Node 20 | tests run on Node 22
issue 12 is fixed | issue 14 is fixed
issue 12 is fixed | issue 14 is not fixed
fix issue number 12 | fix issue number 14
the API listens on port 8080 | the admin console listens on port 9090
open port 80 | open port 443
The reviewer prefers tabs | prefers spaces
the frontend lead prefers tabs | the backend lead prefers spaces
we use HTTP | we do not use HTTPS
uses C++ | does not use C#
uses npm scripts | uses pnpm workspaces
uses npm to publish packages | uses pnpm to install dependencies
migrating from npm to pnpm | uses yarn
uses npm and pnpm | uses yarn
uses either npm or yarn | uses pnpm
some services use npm | some services use pnpm
a team uses npm | a team uses pnpm
Two services use npm | two services use pnpm
Can we use npm? | we use pnpm
was using npm | uses pnpm
used to prefer tabs | prefers spaces
uses npm unless the lockfile says otherwise | uses pnpm
use tabs when editing Go | use spaces
use tabs except in YAML | use spaces
prefers dark roast coffee | prefers light mode
the settings page has dark mode | the settings page has light mode
added dark mode to the settings page | added light mode to the settings page
dark mode is broken | light mode is broken
Document the dark mode | Document the light mode
removed support for npm | removed support for yarn
tools like npm | tools like pnpm
uses pip | uses uv
uses conda | uses poetry
uses VS Code | uses Vim
speaks German | speaks English
docs are available in English | docs are available in German
Released version 1.2 | Released version 1.3
version 1 is deprecated | version 2 is deprecated
Minimum Go version is 1.24 | Go version is 1.26
the API version is 2 | the app version is 3
use Node 20 for the legacy app | use Node 22
We use Node 22 | We use Go 1.26
use step 2 | use step 3
the default branch is main | the default branch is protected
the default branch of billing is main | the default branch of web is master
the owner of billing is the platform team | the owner of search is the payments team
the owner of billing is the platform team | the owner of billing is away
the owner of billing is a contractor | the owner of billing is the platform team
billing is owned by the payments team | billing is maintained by the platform team
the deadline of the beta is 1 May | the deadline of the launch is 15 May
the deadline of the beta is 1 May | the deadline of the beta is strict
API timeout is 30s | DB timeout is 10s
the timeout is 60s | the timeout is 1 minute
my name is Zed | the project name is Atlas
lives in Berlin | lives in Germany
moved to Kubernetes | moved to Postgres
the config lives in config.yaml | the data lives in data.yaml
works at night | works at Acme
don't use mocks in unit tests | use mocks
don't use mocks in unit tests | use mocks in integration tests
never push to main without review | push to main
don't commit secrets, use the vault | commit secrets, use the vault
not only tests run on CI | only tests run on CI
we don't always squash | we squash
don't use tabs | use spaces
don't use npm | don't use yarn
use --no-verify | use --verify
no-op handlers are fine | op handlers are fine
issue no 5 is fixed | issue 5 is fixed
Prefers tabs. Hates long functions. | prefers spaces
prefers tabs, especially for Go | prefers spaces
verwendet npm | verwendet pnpm
use camelCase for variables | use kebab-case for files
use Jest for unit tests | use Mocha for integration tests
write docs in English | write commit messages in German
answers in German | write code comments in English
release day is Monday | deploy day is Tuesday
the standup is at 9:30 | the retro is at 10:00
The API is at https://api.example.com | the docs are at https://docs.example.com
tabs outside Makefiles | spaces inside Makefiles
converts tabs to spaces | uses tabs
npm is slow | pnpm is fast
it uses npm | it uses pnpm
considering a switch to pnpm | uses npm
prefers tabs | the lead wants spaces
the project uses tabs | I prefer spaces
the package manager is slow | the package manager is npm
responds within 24 hours | responds within 12 hours
use rebase before pushing | squash before merging
the license server is at license.example.com | License: MIT
Tests should not hit the network | Tests hit the network
We use GitHub Actions | We use Jenkins
prices start at 10 euros | prices start at 20 dollars
use npm 10 | use pnpm 9
a port is open | a port is not known
also uses yarn | uses npm
never amend commits | amend commits only when asked
do not run tests on push | run tests on merge
don't touch legacy code | touch legacy code carefully
the user isn't a developer | the user is a designer
no meetings on Fridays | meetings on Mondays
doesn't eat meat | eats fish
use spaces in YAML | use 2 spaces in JSON
The server has 4 cores | the server has 16 GB of memory
we use Node 20 in production | we use Node 22 in development
Go 1.26 is released | We use Go 1.25
Billing uses port 8080 | Search uses port 8081
exposes port 8080 | exposes port 9090
port 8080 is for the API | port 9090 is for metrics
The API version is v1 | the API timeout is 30s
the deadline is 1 May | the launch date is 15 May
the deadline is 1 May | the beta is 15 May
the analyst leads the mobile team | the designer leads the web team
the analyst leads the mobile team | the designer joined the mobile team
the analyst maintains the docs | the designer maintains the docs
default branch is main | feature branches start with feat
the branch is main | the remote is origin
the staging URL is https://a.example.com | the production URL is https://b.example.com
the email of the lead is a@example.com | the email of support is b@example.com
lives in Berlin | lives in a flat
lives in Berlin | lives with two cats
works at Acme | works from home
works at Acme | works at a hospital on weekends
name is Zed | username is zed42
the user's name is Zed | the user's dog's name is Rex
the name of the branch is main | the name of the app is Foo
use English in commits | use German in tickets
answers in German | questions in English
The frontend is in TypeScript | the backend is in Go
tests are in English class | docs are in English
prefers short functions | prefers detailed comments
prefers short answers | prefers detailed commit messages
write short commit messages | write detailed docs
be brief in chat | be thorough in reviews
use metric in Europe | use imperial in the US
currency of orders is EUR | currency of payroll is CHF
the EU store uses EUR | the US store uses USD
Mondays are for planning | Fridays are for demos
no deploys on Fridays | deploys happen on Tuesdays
deploys happen on Tuesdays and Thursdays | deploys happen on Mondays
deploy staging on Mondays | deploy production on Tuesdays
retro is at 15:00 on Fridays | retro is at 10:00 on Mondays
Build timeout is 10 minutes | Test timeout is 5 minutes
Timeout is 10s for reads | Timeout is 30s for writes
use jest for the web app | use mocha for the server
uses jest | uses cypress
uses pytest | uses jest
uses Maven for the backend | uses npm for the frontend
uses Gradle for Android | uses Maven for the server
use webpack for the old app | use vite for the new app
ESM is preferred in libraries | CommonJS is needed in scripts
use camelCase for JSON keys | use snake_case for columns
classes use PascalCase | functions use camelCase
constants use SCREAMING_SNAKE_CASE | variables use camelCase
squash merge feature branches | rebase release branches
single quotes in strings | double quotes in JSX
strings are immutable | use double quotes
semicolons are optional | use semicolons
unix line endings in shell scripts | windows line endings in batch files
MIT for libraries | AGPL for servers
library is licensed under MIT | server is licensed under AGPL
debug logs go to stdout | info logs go to a file
log level is debug for auth | log level is warn for billing
Search is enabled | Chat is disabled
telemetry is disabled in tests | telemetry is enabled in production
tests are disabled | lint is enabled
the flag is on | the flag is red
use vim mode in the shell | use emacs mode in the debugger
the analyst's pronouns are she/her | the designer's pronouns are he/him
theme of the talk is light | prefers dark mode
light reading before bed | dark mode
likes light music | likes dark chocolate
yarn is also wool | uses npm
npm registry is private | uses pnpm
use the npm registry | use the yarn registry
use npm to install globally | use pnpm
the space bar is broken | prefers tabs
use one space after a period | use tabs
leave two spaces between sentences | use tabs
use 2 spaces after a period | use 4 spaces
use 2 spaces between columns | use 4 spaces
opened 4 tabs | closed 2 tabs
use two tabs for results | use spaces
we prefer quality over speed | we prefer speed
the customer prefers email | the customer prefers phone calls on weekdays
I prefer tabs but the team uses spaces | use spaces
the analyst said we use npm | the designer said we use pnpm
according to the docs use npm | use pnpm
the README says to use npm | the guide says to use yarn
if tests fail use npm | use pnpm
to publish use npm | to install use pnpm
in CI use npm | locally use pnpm
On Windows, use CRLF line endings | On Linux, use LF line endings
For Python, use 4 spaces | For JavaScript, use 2 spaces
Python: 4 spaces | JavaScript: 2 spaces
tabs (Go only) | spaces
never say no | say yes
no one owns search | the platform team owns search
I like tea | I don't like coffee
likes npm | likes pnpm
doesn't like npm | uses npm
the printer is off | the printer is on the second floor
alerts are on | alerts are off at night
my sister lives in Berlin | I live in Munich
my birthday is 1 May | the deadline is 2 May
the API must return 404 | the API must not return 500
port is open | port is 8080
default export is banned | default exports are fine
the owner of billing is kind | the owner of billing is the platform team
the owner of billing is Spanish | the owner of billing is the platform team
issue 7 belongs to milestone 2 | issue 8 belongs to milestone 3
billing belongs to the payments domain | billing is owned by the platform team
the retro starts at 10:00 | the retro ends at 11:00
the library builds with Go 1.25 | the library builds with Go 1.26
dependencies are managed by npm | dependencies are managed by pip
strict mode is on | strict mode is on the roadmap
The max upload size is 10 MB | The max image size is 5 MB
the tabs of the settings page | the spaces of the settings page
the office is in Berlin | the office is in use
be concise | be polite
use spaces around operators | use tabs
Docker is used for local development | Kubernetes is used for production
npm is used in the frontend | pnpm is used in the admin app
Use UTC in logs | use CET in the UI
we have no staging server | we have a production server
requires Node 20 or newer | requires Node 18 or newer
The linter rejects tabs | prefers tabs
We use npm because CI needs it | we use pnpm because it is fast
doesn't mind tabs | prefers spaces
don't log passwords | log requests
uses Apache | the license is MIT
prefers Fridays | we deploy on Tuesdays
first name is Zed | last name is Moss
The API host is a.example.com | The API URL is https://a.example.com/v1
billing currency is EUR | reporting currency is USD
tab width is 8 | indent width is 4
coverage threshold is 80% | coverage goal is 90%
hometown is Hamburg | lives in Berlin
release date is 1 May | launch date is 15 May
the HTTP port is 80 | the HTTPS port is 443
likes light colours | prefers dark mode
prefers German | answers in English
the user's email is a@example.com | the billing email is b@example.com
The API needs Node 22 | The API needs Go 1.26
use Python 3.12 for scripts | use Python 3.13 for services
my favourite editor is Vim | my favourite language is Go
the default port is 5432 | the default timeout is 30s
main branch is main | default branch is trunk
test database is on port 5433 | database is on port 5432
the old API listens on port 80 | the new API listens on port 81
port of staging is 80 | port of production is 443
staging uses Node 22 | production uses Node 20
I use npm at work | I use pnpm at home
use npm at work | use yarn at home
at work use tabs | at home use spaces
the first deadline is 1 May | the final deadline is 15 May
the review deadline is 1 May | the submission deadline is 15 May
the team lead owns deploys | the platform team owns search
the release owner is the analyst | the release owner is expected to be on call
Docs owner is the writer | docs reviewer is the lead
the lead prefers short answers | the analyst prefers detailed answers
use tabs to align columns | use spaces to indent
align with spaces | indent with tabs
tabs for indentation | spaces for alignment
use tabs for indentation | use spaces for alignment
indent with tabs | align with spaces
use tabs for indentation and spaces for alignment | use spaces
use single quotes | use backticks
single quotes are fine | double quotes are fine
double quotes are allowed | use single quotes
dark mode is supported | light mode is supported
dark mode is the default | light mode is available
dark mode drains less battery | light mode
support dark mode | support light mode
implement dark mode | implement light mode
fix dark mode | fix light mode
test dark mode | test light mode
add a dark theme | add a light theme
design uses light mode screenshots | prefers dark mode
screenshots use light mode | prefers dark mode
emails use light theme | app uses dark theme
never use npm install | use npm
do not use npm audit | use npm
don't use yarn v1 | use yarn
don't use Node 18 | use Node 20
don't run npm | uses npm
don't use tabs in YAML | uses tabs
not a fan of tabs | uses tabs
hates tabs | uses tabs
do not use single quotes in Go | use single quotes in JS
the API is not on port 8080 | the admin console is on port 8080
the deadline is not Friday | the deadline is Monday
Search is not owned by payments team | Search is owned by platform team
the default is not main | default branch is main
issue 12 is on | issue 14 is off
ticket 5 is owned by payments team | ticket 6 is owned by platform team
PR 5 is due Friday | PR 6 is due Monday
Sprint 12 ends on Friday | Sprint 13 ends on Monday
team A uses Node 20 | team B uses Node 22
v1 is due on 1 May | v2 is due on 15 May
version 1 of the API is stable | version 2 of the API is stable
API v1 listens on port 80 | API v2 listens on port 81
answer questions in German | answer emails in English
the timezone of the server is UTC | the timezone of the office is CET
the office closes at 18:00 | the office is at 10:00
meeting is at noon | lunch is at noon
the daily is at 9:00 | the weekly is at 10:00
password is required | password is not stored
Tests are not required for docs | tests are required
secrets are not logged | requests are logged
we do not support Windows | we support Linux
never commit .env | commit env.example
do not use var | use let
don't use any | use unknown
don't use any types | use types
avoid any in TypeScript | use any in tests
no unused imports | use imports
not using Redux | using Zustand
`

func TestSame(t *testing.T) {
	for _, texts := range [][]string{
		{"always run make test", "please run make test", "Run make test!", "We must run `make test`.", "you should run make test"},
		{"prefers tabs", "I prefer tabs", "the user prefers tabs", "use tabs", "We always use tabs."},
		{"don't force-push", "never force push", "Do not force-push!", "we don’t force-push", "you must not force-push"},
		{"We use Node 22", "Node version: 22", "use version 22 of Node", "we use Node v22"},
		{"API port: 9090", "the API listens on port 9090", "The port of the API is 9090."},
	} {
		want := of(t, texts[0], "")
		for _, text := range texts[1:] {
			if l := of(t, text, ""); l != want {
				t.Errorf("%q is %s, and %q is %s", texts[0], want, text, l)
			}
		}
	}
}

func TestKey(t *testing.T) {
	a, b := of(t, "Deploys happen on Tuesdays only", "deploy-day"), of(t, "from now on we ship on Thursday", "deploy-day")
	if want := "said#deploy-day"; a.Subject != want || a.Predicate != "said-key" {
		t.Errorf("the statement is %s, want the subject %s", a, want)
	}
	if !conflict(a, b) {
		t.Errorf("%s and %s do not conflict", a, b)
	}
	if o := of(t, "no such day", "deploy.day"); conflict(a, o) {
		t.Errorf("%s and %s conflict", a, o)
	}
	if n := of(t, "do not deploy", "deploy-day"); n.Not {
		t.Errorf("%s denies its text", n)
	}
	subjects := map[string]string{}
	for _, key := range []string{"a", "a-b", "a_b", "a.b", "a--b", "a-", "1.2", "1-2", "1_2", strings.Repeat("k", said.MaxKey)} {
		l := of(t, "text", key)
		if other, ok := subjects[l.Subject]; ok {
			t.Errorf("the keys %q and %q have the subject %s", other, key, l.Subject)
		}
		subjects[l.Subject] = key
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, key, want string }{
		{"", "", "blank"},
		{" \n\t", "", "blank"},
		{"\xff", "", "UTF-8"},
		{strings.Repeat("a", 8193), "", "8193 bytes, want at most 8192"},
		{"text", "Deploy", `"Deploy", want [a-z0-9]`},
		{"text", "-a", `"-a", want`},
		{"text", "a b", `"a b", want`},
		{"text", strings.Repeat("k", said.MaxKey+1), "want [a-z0-9]"},
	} {
		l, err := said.Of(c.text, c.key)
		if !errors.Is(err, belief.ErrForm) || !strings.Contains(err.Error(), c.want) || l != (belief.Literal{}) {
			t.Errorf("Of(%.20q, %.20q) = %s, %v, want an error with %q", c.text, c.key, l, err, c.want)
		}
	}
}

func TestLong(t *testing.T) {
	a := of(t, strings.Repeat("word ", 1600)+"use", "")
	b := of(t, "never "+strings.Repeat("word ", 1600)+"use", "")
	if conflict(a, b) || a.Predicate != "said-so" {
		t.Errorf("%s and %s conflict", a, b)
	}
}

func TestFunctional(t *testing.T) {
	if err := constraints.Check(); err != nil {
		t.Error(err)
	}
	for _, p := range said.Functional() {
		if !strings.HasPrefix(p, "said-") || p == "said-so" {
			t.Errorf("%s is functional", p)
		}
		if l := (belief.Literal{Subject: "said", Predicate: p, Object: "x"}); l.Check() != nil {
			t.Error(l.Check())
		}
	}
}

func TestIs(t *testing.T) {
	for _, l := range []belief.Literal{
		{Subject: "said", Predicate: "is", Object: "yes"}, {Subject: "saidi", Predicate: "said-so", Object: "yes"}, {Subject: "team", Predicate: "said-so", Object: "yes"},
	} {
		if said.Is(l) {
			t.Errorf("Is(%s)", l)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, p := range slices.Concat(pairsOf(replacing), pairsOf(staying), pairsOf(reworded), pairsOf(unlike)) {
		f.Add(p, "")
	}
	for _, text := range []string{"'", "n't", "don't", "use", "=", "a=b", "-", "(", "…", "the a an", "no", "not", "\u200b", "use €", "in x, use", "K", "İ is ß"} {
		f.Add(text, "k")
		f.Add(text, "")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		l, err := said.Of(text, key)
		if err != nil {
			if !errors.Is(err, belief.ErrForm) {
				t.Fatal(err)
			}
			return
		}
		of(t, text, key)
		if conflict(l, l) {
			t.Errorf("%s conflicts with itself", l)
		}
	})
}

func pairsOf(table string) (texts []string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		texts = append(texts, strings.Split(strings.TrimSpace(line), " | ")...)
	}
	return texts
}
