package said_test

import "testing"

// The pairs of this file are about wording: fillers, verbs that move something, permissions, and clauses that repeat the decision.

func TestWordingReplaces(t *testing.T) { checkPairs(t, reworded, true, 100) }
func TestWordingStays(t *testing.T)    { checkPairs(t, unlike, false, 300) }

const reworded = `
Use double quotes in TypeScript | TS strings go in single quotes
Python strings are in single quotes | use double quotes in Python
I prefer a light theme in the terminal | switched to a dark terminal theme, keep it that way
We use yarn to install dependencies | Our team's package manager is npm now
The team uses npm | we moved from npm to bun
Tests run on Mocha | We migrated our tests from Mocha to Jest
We migrated the admin app from npm to yarn | use pnpm in the admin app
The mock server listens on port 4000 | mock server is on 4100
The service targets Java 17 | the service now targets Java 21
We target Node 20 | Node 22 is the only version we support from this sprint on
The alpha deadline is May 3 | Alpha got postponed to June 1
The beta is due on March 3 | We pushed the beta to March 20
The auth service belongs to the core team | the identity team now owns the auth service
The search index is now owned by the data team | Search index belongs to the platform team
Squash-merge PRs | Pull requests are merged with a merge commit, no squashing
Never push to release branches | Pushing to release branches is fine
Don't use emojis in changelogs | Emojis in changelogs are okay
Avoid committing to the trunk | Committing to the trunk is allowed
Rebasing shared branches is not allowed | Rebasing shared branches is fine
No abbreviations in identifiers | Abbreviations in identifiers are welcome
Deploys go out on Mondays | We now deploy every day
Keep answers brief | I want thorough, detailed answers
Lines are at most 100 characters | Lines can be up to 120 characters
Lines may have up to 88 characters | Max line length is 100
The daily standup is at 9:15 | Standup begins at 9:45
Weekly sync starts at 14:00 | We moved the weekly sync to 15:00
The retro was moved from 15:00 to 16:00 | retro is at 15:00
Ask before deleting branches | You can delete branches without asking
Don't rename tables without asking me | feel free to rename tables without asking
In staging the log level is debug | staging's default log level is info
End JavaScript statements with semicolons | No semicolons in JS
Database columns are snake_case | Use camelCase for database columns
A token lasts 15 minutes | Tokens expire after 1 hour
Invites live for 3 days | An invite is valid for 7 days
Code freeze starts on May 6 | We moved the code freeze to May 13
The offsite takes place on June 3 | The offsite got moved to June 10
Retry failed uploads 3 times | Failed uploads are retried up to 5 times
Write commit messages in German | All commit messages must be English
Always include docstrings | Skip docstrings, I don't need them
Minimum coverage is 70% | The coverage threshold was raised to 85%
Show dates as DD.MM.YYYY | Dates have to be displayed in ISO format, YYYY-MM-DD
The project is under the GPLv3 | We relicensed the project to MIT
Prettier formats our JavaScript code | Biome is our JavaScript formatter, Prettier is gone
Format Python code with yapf | Black is our Python formatter now
Session cache entries live for 10 minutes | session cache TTL: 1 hour
The nightly import starts at 01:00 | the nightly import kicks off at 3 am
The fast-search flag is on in staging | fast-search is disabled in staging
IPv6 isn't supported | We support IPv6 now
We do not support proxies | proxies are supported
Iterations last 2 weeks | our iterations are three weeks long
The timeout of the gateway is 10s | We raised the gateway timeout from 10s to 30s
The proxy moved from port 8080 to port 8443 | the proxy listens on port 8080
Be formal with me | Be casual with me
Merge pull requests with squash | we rebase pull requests now
The landing page is at www.example.com | The landing page URL has changed to new.example.com
camelCase for JSON fields | JSON fields are snake_case, not camelCase
Go strings go in single quotes | Go strings go in double quotes
I use a dark theme in the IDE | use a light IDE theme
Package manager of the web app is yarn | The web app's package manager is now bun
We install dependencies with npm | We switched to pnpm for installing packages
Unit tests run under Jest | We switched our unit tests from Jest to Vitest
The worker runs on port 7000 | worker is on 7100 now
Postgres is on port 5432 | We moved Postgres to port 5433
The CLI targets Go 1.24 | The CLI now targets Go 1.26
We are on Python 3.11 | We upgraded Python from 3.11 to 3.13
Kubernetes 1.30 is the version we run | Kubernetes version: 1.32
The report is due on May 3 | The report deadline was extended to May 10
The rc is due on June 1 | The rc slipped to June 8
The launch date is May 3 | The launch date got pushed back to May 20
Search is owned by the data team | The platform team now owns search
Checkout belongs to the shop squad | Checkout is now owned by the payments squad
We merge PRs with squash | PRs get merged with rebase
Please answer in Spanish | All answers must be in English
Times are in CET | The time zone is UTC
I am on CET | my time zone is PST
The DB connection times out after 5s | The db connection timeout was raised to 10s
Never mock the clock | Mocking the clock is fine
Don't use global state in tests | Global state in tests is allowed
Abbreviations in names are not okay | Abbreviations in names are okay
Squashing release commits is not allowed | Squashing release commits is fine
Always include a changelog entry | Skip the changelog entry
Never skip code review | Skip code review
Ask me before installing packages | you can install packages without asking me
Ask before you push | feel free to push without asking
Deploys are on Wednesdays | We deploy daily now
Keep replies concise | From now on I want long and detailed replies
Wrap lines at 100 | Lines must not exceed 80 characters
Comment lines may be up to 72 characters | Comment lines can be up to 100 characters
The retro begins at 15:00 | Retro has been rescheduled to 16:00
In CI the log level is debug | CI log level: warn
In staging, the timeout is 10s | the timeout in staging is 20s
Terminate Rust statements with semicolons | no semicolons in Rust
API fields are camelCase | API fields should be snake_case
Write constants in camelCase | constants are in PascalCase
Access tokens live for 15 minutes | Access tokens are valid for 30 minutes
The session TTL is 1 hour | Sessions last two hours
Sprint length is 2 weeks | Sprints last 3 weeks
Code freeze begins on May 3 | Code freeze got moved to May 5
Retry failed requests 3 times | Failed requests are retried 5 times
Requests are retried up to 3 times | Retry requests 4 times
Code comments are in French | Code comments must be English
Docs are in German | All docs must be in English
Coverage must be at least 80% | Minimum coverage: 90%
The required test coverage is 75% | Required coverage was lowered to 60%
Write dates as DD/MM/YYYY | Dates are displayed as YYYY-MM-DD
License is MIT | The repo is under Apache 2.0
We use Black for formatting | We switched from Black to Ruff for formatting
dprint formats TypeScript | Prettier is our TypeScript formatter
Page cache entries live for 5 minutes | page cache TTL is 10 minutes
The beta-search flag is on in production | beta-search is turned off in production
Safari isn't supported | We support Safari now
We don't support IPv6 | IPv6 is supported
Sign-off is required | We don't require sign-off
Address me formally | Talk to me casually
The docs URL is docs.example.com | The docs moved to wiki.example.com
Max upload size is 10 MB | Max upload size was bumped to 20 MB
The default locale is en_US | The default locale has been changed to de_DE
The default branch is master | We changed the default branch from master to main
The log level is info | We raised the log level from info to warn
Don't add emojis to titles | Adding emojis to titles is fine
Never include screenshots | Including screenshots is okay
Never rename public functions | Renaming public functions is allowed
Don't reuse branches | You may reuse branches
`

const unlike = `
Never force-push | Force-pushing to my own branch is fine
Never push to main | Pushing to main is fine for hotfixes
Don't use emojis in commit messages | Emojis in chat are welcome
Avoid blocking calls | Block calls from unknown numbers
Don't block calls | Blocking calls are fine
Don't use cached results | Cache results
Don't use generated code | Generate code
Never log passwords | Logging is fine
Never commit secrets | Committing is fine
Skip tests in the draft | Write tests
Skip the introduction | Add a summary
Skip to the end | to the end
Skip tests marked slow | use tests
Always add type hints | Skip type hints in tests
Add a changelog entry | No changelog
no squashing | Merge PRs
Ask before deleting files | You can delete branches without asking
Ask before running migrations | You can run tests without asking me
Don't run migrations without a backup | Run migrations
You can deploy without review | deploy
Ask before deploying | You can deploy without waiting
Pushing to main is not fine on Fridays | Pushing to main is fine
GPL code is not allowed | MIT code is fine
It is fine to skip tests | tests run in CI
Windows is supported | Support for Windows is planned
Windows isn't supported | We support Windows users on weekdays
We support Windows | Windows 7 isn't supported
The API doesn't support XML | We support XML in the importer
The frontend team uses npm | The team uses pnpm
The team prefers tabs | I prefer spaces
The team's time zone is CET | My time zone is PST
The team email is team@example.com | my email is me@example.com
A team uses Jest | The team uses Vitest
The project deadline is May 1 | The team deadline is June 1
The conference deadline is May 1 | The conference got pushed to June 15
The beta deadline is March 14 | The beta retro got pushed to April 2
Beta got pushed to April 2 | Alpha got pushed to May 2
The launch moved to May 3 | The launch party moved to May 4
The freeze starts on May 3 | The freeze ends on May 10
The offsite is on June 3 | The offsite is at 10:00
The sprint starts on Monday | The sprint review is on Friday
We moved the docs to the wiki | We moved the tests to the wiki
We moved the standup to Tuesday | We moved the standup to 10:00
We moved from Berlin to Munich | We moved the server from Berlin to Frankfurt
We migrated the web app from npm to pnpm | The admin app uses yarn
We migrated our tests from Jest to Vitest | Use pytest for backend tests
We plan to move from Jest to Vitest | Tests run with Mocha
We almost moved from npm to yarn | We use pnpm
The migration from npm to pnpm is done | We use yarn
dev server is on 5173 | test server is on 5174
The talk is on page 12 | The talk is on page 14
The meetup is on 2026 topics | The meetup is on 2025 topics
The budget meeting is on 12 May | The budget is 5000 euros
Python 3.12 is the only version with the bug | We use Python 3.11
Python 3.12 is supported | Python 3.13 is supported
The library targets Python 3.9 | The CLI targets Python 3.12
The billing service belongs to the payments team | The billing docs belong to the writers team
The billing table belongs to the orders schema | The platform team owns the billing table
The laptop belongs to the analyst | The laptop is owned by the company
Squash-merge feature branches | Rebase pull requests from forks
Merge PRs with a merge commit, no squashing | Squash fixup commits
Deploy every day during the sprint | Deploys happen on Tuesdays
We deploy docs every day | We deploy on Tuesdays
I want long, detailed answers | I want short, readable functions
Lines may be up to 120 characters | Titles may be up to 50 characters
Files may have up to 500 lines | Max line length is 80
The daily standup is at 9:30 | The daily report is at 9:45
Team standup is at 9:30 | Standup is at 10:00
In production the log level is info | In staging the log level is debug
In production the timeout is 30s | In production the read timeout is 10s
In tests the cache is off | In production the cache is on
End statements with semicolons in Java | No semicolons in Go
Not all comments are in English | All comments are in English
All services use npm | All libraries use pnpm
All teams use npm | The team uses pnpm
The comments are German | The author is English
Comments in the config are English | Comments in the code are German
Release notes must be English | Error messages must be German
A session lasts 8 hours | A session cookie lasts 2 hours
Sessions last 8 hours | Sprints last 2 weeks
The battery lasts 8 hours | The battery is 4 hours old
The rope is 5 m long | The rope lasts 5 minutes
The road is 3 km long | The road is 4 km wide
Retry failed jobs 3 times | Retry failed uploads 5 times
Retry failed jobs | Failed jobs should be retried 5 times
The coverage threshold is 80% | Coverage is at 70%
Minimum test coverage is 80% | Minimum branch coverage is 70%
Show dates as MM/DD/YYYY | Show dates in file names as YYYY-MM-DD
The project is under the MIT license | The docs are under the Apache license
Black formats our Python code | Prettier formats our JavaScript code
Ruff lints our Python code | Black formats our Python code
Black is gone | Ruff is our Python formatter
Use Black | Paint it black
Cache entries live for 5 minutes | Log entries live for 30 days
The nightly backup kicks off at 4 am | The weekly backup kicks off at 5 am
The new-checkout flag is off in production | The old-checkout flag is on in production
The new-checkout flag is off | The new-checkout banner is on
Be formal with customers | Be casual with me
Use a light editor theme | Use a dark terminal theme
a light lunch theme | dark mode
Uses npm packages | uses pnpm
We dropped npm packages | we use pnpm
Documents dark theme colors | prefers light mode
TS strings go in single quotes | JS strings go in double quotes
JS strings go in double quotes | JSX attributes go in single quotes
Strings go in the resource file | Use double quotes
The timeout went from 10s to 30s on Friday | The timeout is 20s on Friday at noon
Flights from Berlin to Munich are slow | lives in Hamburg
Keys in the API are camelCase | Keys in the database are snake_case
Keys are camelCase, columns are snake_case | Keys are kebab-case
Merge with rebase, keep it linear | Merge with squash
The old deadline was May 1 | The deadline is June 1
Indent SQL with 2 spaces | Indent with tabs
The limit is up to you | The limit is 10 MB
Logs live for 30 days | The log server lives in Frankfurt
The beta starts on May 3 | The beta deadline is May 10
The prod API is on 8080 | The staging API is on 8080
The build is on 4711 | The API is on 4712
Retry job 12 | Retry job 13
Retry the upload 3 times | Retry the download 5 times
Show the last 30 days | Show the last 7 days
The dashboard shows the last 30 days | The dashboard shows the last 7 days
The analyst is a tech lead | The designer is a tech lead
The analyst is the search lead | The designer is the billing lead
The analyst is the acting lead of search | The designer is the lead of search
npm is a package manager | pnpm is a package manager
yarn is the old package manager | npm is the package manager
We use Ruff for Python | We use Black for Python
We use Ruff for linting | We use Black for formatting Python
Prettier formats Markdown | dprint formats JSON
Prettier formats our JS code | Biome formats our TS code
Black is a Python formatter | Ruff is a Python formatter
Node 22 is a version we support | Node 20 is a version we support
Node 20 is the oldest version we support | Node 22 is the newest version we support
We support Node 20 | We support Node 22
The tests moved to Jest in 2023 | The tests moved to Vitest in 2025
The tests have not moved to Vitest | Tests run with Mocha
We never moved the tests to Vitest | Tests run with Jest
The deadline was not moved to May 5 | The deadline is May 3
Somebody moved the deadline to May 5 | The deadline is May 3
The lead wants to move the standup to 10:00 | The standup is at 9:30
The customer moved the deadline to May 5 | The deadline is May 3
We moved the server to Frankfurt | We moved to Berlin
The author changed the title to Foo | The name is Bar
We changed the name of the tool to Foo | The name of the team is Bar
We pushed the tag to origin | We pushed the branch to origin
Login moved to the header | Search moved to the footer
The price was raised to 10 euros | The budget was raised to 20 euros
The yearly budget was raised to 10 euros | The monthly budget was raised to 20 euros
The retro is on Mondays | The retro is on Fridays in June
The wiki is at wiki.example.com | The wiki mirror is at wiki2.example.com
Tokens last 15 minutes | Invites last 3 days
The meeting lasts 30 minutes | The meeting starts at 9:30
Videos are 5 minutes long | Videos are 5 minutes old
The cache expires after 5 minutes | The cache is kept for 10 minutes
A customer's upload limit is 10 MB | The upload limit is 20 MB
A service times out after 10s | The service times out after 30s
A team owns search | The platform team owns search
The team is on Node 20 | We are on Node 22
The team's deadline is May 1 | The deadline is May 3
The team lead uses npm | The team uses pnpm
In Java the braces go on the same line | In Go the braces go on a new line
In production the port is 443 | The port is 8080
In the EU the currency is EUR | In the US the currency is USD
For the first time the team uses npm | The team uses pnpm
In case of errors the timeout is 10s | The timeout is 30s
Files are kebab-case | Folders are snake_case
The file is camelCase | Files are kebab-case
JSON keys in the API are camelCase | JSON keys in the config are snake_case
Strings are double-escaped | Strings go in single quotes
Use double-escaped regex strings | Use single quotes
Use single-page PDF strings | Use double quotes
Use a dark editor theme | Use a light slide theme
Be formal in emails | Be casual in chat
Be brief with customers | Be thorough with me
Talk to me casually | Talk to customers formally
The docs are under the MIT license | The code is under the Apache license
The plugin is under MIT | The project is under Apache
We relicensed the docs to MIT | We relicensed the SDK to Apache
Test coverage is 80% | Minimum test coverage is 70%
Coverage of the parser is at least 90% | Coverage of the CLI is at least 70%
Deploy every Tuesday | Deploy docs every day
We deploy staging every day | We deploy on Tuesdays
Lines in the log may be up to 500 characters | Lines may be up to 120 characters
Usernames may be up to 20 characters | Passwords may be up to 64 characters
Most lines are at most 80 characters | Lines are at most 100 characters
Emojis are fine in chat | No emojis in commits
Emojis are not fine in commits | Emojis are fine in chat
The build is fine | Never build
The database is okay | no database
Breaking changes are fine | Don't break changes
Training data is fine | Don't train data
Running late is fine | never run
Pushing is fine | Don't push to main
It's okay to push to main | Never push to release branches
You can merge without review | Never merge without tests
You can skip tests | Never skip reviews
You may use npm | Don't use yarn
Can openers are fine | openers are not fine
May is busy | not busy at all in June
Skip CI for docs | use CI
Skip the retro | The retro is at 10:00
Skip to main content | main content
Never skip tests | Skip reviews
Omit the header | Include the footer
Omit needless words | use words
Add tests for the parser | No tests for the lexer
Add Redis to the stack | No Redis
Add dark mode | no dark mode in emails
Don't add dependencies without asking | Ask before removing dependencies
Ask before deploying | You can deploy to staging without asking
Deploy without asking on Fridays | Ask before deploying
Don't ask before deploying to staging | Ask before deploying
Windows is not supported in CI | We support Windows
Tests are required | We require tests for the parser
Reviews are not required for docs | We require reviews
IPv6 is supported | IPv4 is not supported
Use tabs, no trailing spaces | Use tabs, no semicolons
Use npm, no yarn workspaces | use yarn
Use single quotes, no backticks | Use backticks
We use npm, Docker is gone | We use Docker
Keys are snake_case, columns are camelCase | Columns are snake_case
Use short, clear answers | Use long names
Answers are short and sweet | Answers are long and boring
Write long, detailed commit messages | Write short answers
All hands is at 10:00 | Hands are at 11:00
All in all, use tabs | All things considered, use spaces
All the frontend tests use Jest | All the backend tests use Mocha
All docs are German | All comments are English
The docs in the repo are German | The docs are English
Commit messages in the fork are German | Commit messages are English
Comments are in English | Names are in German
Kickoff is at 10:00 | The game kicks off at 12:00
The freeze starts on May 3 | The freeze starts at 10:00
The sale begins on May 3 | The sale ends on May 10
The alpha moved to May 3 | The alpha of the CLI moved to May 10
Beta 1 got pushed to May 3 | Beta 2 got pushed to June 3
The daily standup is at 9:30 | The weekly standup is at 10:00
The search team standup is at 9:30 | The billing team standup is at 10:00
The fast-search flag is on for admins | The fast-search flag is off for guests
Payments belongs to the core team | Payments is maintained by the infra team
The bug belongs to the parser team | The bug belongs to milestone 3
This table belongs to the search team | That table belongs to the core team
Never force-push, keep it that way | Force-push with lease
I prefer tabs, keep it that way | the lead prefers spaces
Don't use mocks, no exceptions | use mocks in unit tests
We use yarn from this sprint on | The legacy app uses npm from this sprint on
The server listens on port 80, thanks | The proxy listens on port 81, thanks
The release is due on May 3 | The release notes are due on May 10
The team standup got moved to 10:00 | The company standup got moved to 11:00
The retro moved to 10:00 this week | The retro is at 15:00
Next retro is at 10:00 | The retro is at 15:00
This week's retro is at 10:00 | The retro is at 15:00
Today the standup starts at 10:00 | The standup starts at 9:30
The standup moved to the big room | The standup is at 9:30
The API moved to https://api.example.com | The API docs moved to https://docs.example.com
The office moved to Berlin | lives in Munich
My parents moved to Berlin | I live in Munich
The customer's time zone is CET | The server's time zone is UTC
I am on call on Mondays | I am on vacation on Fridays
I'm on Eastern time this week | My time zone is CET
The customer is on Pacific time | My time zone is CET
Meetings are in UTC | My time zone is CET
Node in CI is 20 | Node in production is 22
Postgres is at 16 connections | Postgres 15 is in use
We target Android 12 | We target iOS 16
The tests target Node 20 | The app targets Node 22
Upgrade React to 19 | We use React Native 0.7
We changed the timeout for uploads to 30s | The timeout is 10s
We changed the read timeout to 30s | The write timeout is 10s
Set the log level of the worker to debug | Set the log level to info
In dev set the log level to debug | In production set the log level to warn
For debugging, the log level is trace | The log level is info
The log level in the example is debug | The log level is info
Use debug logs in tests | log level is info
Single quotes are okay | Double quotes are okay
Tabs are fine | Don't use spaces
npm is fine | Don't use yarn
Using npm is fine | We use pnpm
You can use tabs | prefers spaces
You can use single quotes in tests | use double quotes
Answers may be long | Keep answers short
English is fine | Answer in German
English answers are fine | Answer in German
Commit messages may be in German | Commit messages are in English
German comments are not allowed | Comments in Spanish are not allowed
Most comments are in English | Code comments are in German
Comments on PRs are in German | Comments in the code are English
User docs are in German | Developer docs are in English
All customer docs must be German | All internal docs must be English
Format dates in logs as YYYY-MM-DD | Show dates as DD.MM.YYYY
Dates in invoices are written as DD.MM.YYYY | Dates in reports are written as MM/DD/YYYY
Python classes are PascalCase | Python functions are snake_case
Enum values are snake_case | Enums are PascalCase
Values are in snake_case | Types are in PascalCase
File names are in kebab-case | Class names are in PascalCase
Strings are in the locale folder | Strings are in double quotes
Strings with quotes are in single quotes | Strings are in double quotes
Comments end with a period | Statements end with semicolons
End YAML lines with LF | End SQL statements with semicolons
Use semicolons | End SQL statements with semicolons
No semicolons in SQL files | No emojis in SQL files
The access log is kept for 30 days | The audit log is kept for 90 days
Reset links expire after 1 hour | Invite links expire after 7 days
The lease lasts 30 seconds | The lock lasts 10 seconds
The trial lasts 14 days | The trial costs 10 euros
The last sprint was two weeks long | Sprints are three weeks long
The next sprint is three weeks long | Sprints are two weeks long
The warranty lasts 2 years | The license is valid for 1 year
Failed payments are retried 3 times | Failed emails are retried 5 times
Retry 3 times on 503 | Retry 5 times on 429
The API retries twice | The API retries up to 5 times on weekends
The freeze starts on May 3 | The freeze starts on May 3 for iOS
The beta for iOS is due on May 3 | The beta for Android is due on May 10
Alpha testers get access on May 3 | The alpha is due on May 10
The beta is on May 3 in the EU | The beta is on June 3 in the US
The MVP is 3 weeks late | The MVP is due on May 3
The old flag is off | The new flag is on
The dark-mode flag is on | dark mode
The feature flag for search is on | The feature flag for chat is off
The flag of search is red | search is off
Unit coverage threshold is 80% | Coverage threshold is 60%
Coverage is at least 70% today | The coverage goal is 90%
The search service belongs to the search team | The search docs belong to the docs team
The data team owns the search index | The data team owns the billing index
The analyst owns a car | The designer owns a bike
The core team owns the API with the infra team | The web team owns the API
The core team owns the API | The core team lead is the analyst
The analyst is the on-call lead | The designer is the tech lead
The analyst is the contact for billing | The designer is the contact for search
Vim is the team's preferred editor | Vim is slow
Ruff is the Python linter | Black is the Python formatter
Prettier formats CSS | Biome formats JavaScript
Black formats notebooks | Ruff formats scripts
Format SQL with tabs | Format Python with Black
Merge release branches with a merge commit | Merge PRs with squash
Squash commits before review | We rebase PRs
PRs are merged with squash by the bot on Fridays | PRs from forks are merged with rebase
Never merge PRs with a merge commit | Never merge PRs by hand
Squash PRs from bots | Rebase PRs from humans
Use npm to install packages in CI | Use pnpm to install packages locally
Use npm to install the CLI | We use yarn
We use yarn to build | We use npm to publish
Switched from npm to yarn for the docs site | The app uses pnpm
We moved the docs from npm to yarn | We use pnpm
The proposal to move from npm to yarn was rejected | We use npm
Moving from Jest to Vitest is planned | Tests run with Jest
We considered a move from Jest to Vitest | Tests run with Mocha
Tests run on Linux | Tests run with Jest
E2E tests run with Mocha | Unit tests run with Jest
Deploy weekdays only after review | Deploys happen on Tuesdays
Staging deploys happen every day | Production deploys happen on Tuesdays
Docs are deployed on Mondays | Deploys happen on Fridays
Release notes are under docs | The project is under MIT
The repo is under heavy development | The repo is under MIT
The default editor theme is dark | The terminal theme is light
A dark theme is in the works | I prefer a light theme
Switched the slides to a dark theme | I use a light theme
Be informal | be brief
Be concise with me | Be thorough with customers
Call me casually | call me Moss
Asking before deploying is fine | Deploy without asking
Nobody may deploy without asking | You can deploy
Do not deploy without asking in the channel | Ask before deploying
You can deploy without asking if tests pass | Ask before deploying
Logging in is fine | Don't log
Logging in as root is fine | Never log out as root
Meeting rooms are welcome | Don't meet rooms
Caching is okay in tests | Don't cache in production
Pull requests are welcome | No requests
Running tests is required | Run tests
It is allowed to use mocks | Never use mocks in integration tests
The beta deadline is March 14 | The beta got moved to the staging cluster
The standup starts at 9:30 | The standup moved to 10:00 on Fridays
Sessions last 8 hours | Sessions expire after 30 minutes of inactivity
The sprint length is 2 weeks | The sprint lasts until Friday
The password length is 12 characters | Passwords last 90 days
Tests run under Jest | Tests run under 5 minutes
The tests run with pytest | The tests run with Jest
Ask before merging | Merging is fine
Don't merge | You can merge without asking
Committing is okay | Don't commit code
Adding emojis is fine | No emojis in titles
We moved the docs, which were slow, from the wiki to npm | We use pnpm
The rope is 5 m long | The rope lasts 6 minutes
The API has moved to Node 22 in staging | The API uses Node 20
The team has moved to Berlin | I live in Munich
I have moved to Berlin | The team has moved to Munich
Include tests in the package | No tests in the image
`
