package said

import (
	"slices"
	"strings"
)

// A slot is an attribute of which a thing has one value at a time. Phrases are separated by commas, and a|b stands for
// either word.
type slot struct {
	name   string
	cues   string // nouns that name the slot: "indentation"
	leads  string // phrases before the value that name the slot: "indent with"; _ stands for the topic
	owns   string // verbs between a value and its topic: "owns"
	verbs  string // further verbs of choosing
	things string // things that stand directly before the value: "node", of "use Node 22"

	values []string // a closed list: the value, and "=" and its synonyms, or ":" and its synonyms if the value itself is no word of texts. + marks
	// synonyms that mean the value only beside a cue
	shape shape // of open values, if values is nil

	cued    bool // values count only beside a cue or a leading phrase
	alone   bool // a value without a verb is enough: "tabs"
	taste   bool // a person and a project may differ in it
	topical bool // a topic is required
	own     bool // there must be no topic
	before  bool // the cue stands before the topic: "default editor"

	compiled
}

// slots lists all slots. If a text fits several, the first one counts.
//
// Attributes of which things often have several values are left out: databases, programming languages, frameworks, editors, operating
// systems, services of continuous integration, spoken languages. pip and conda are values only beside a cue, because people use them
// together with other package managers.
var slots = compile([]slot{
	{
		name: "indentation", alone: true, taste: true,
		cues:  "indentation, indent, indenting, indents, indent style, indentation style, whitespace, indentation character",
		leads: "indent with, indents with, indent using, indent by, indented with, indent _ with, indent _ by, indent _ using, is indented with, are indented with",
		values: []string{
			"tabs=tab, hard tabs, tab characters, tab character, tab indentation, tabs for indentation, indentation with tabs",
			"spaces=space, soft tabs, space characters, +space",
			"2-spaces=2 spaces, 2 space, two spaces, two space, 2 space indent, two space indent, 2 space indents, 2 space tabs",
			"3-spaces=3 spaces, 3 space, three spaces, three space",
			"4-spaces=4 spaces, 4 space, four spaces, four space, 4 space indent, four space indent, 4 space indents, 4 space tabs",
			"8-spaces=8 spaces, 8 space, eight spaces, eight space, 8 space indent",
		},
	},
	{
		name: "indentation-width", shape: count, taste: true,
		cues: "indentation width, indent width, indent size, indentation size, shiftwidth",
	},
	{name: "tab-width", shape: count, taste: true, cues: "tab width, tab size, tab stop, tabstop"},
	{
		name: "quotes", alone: true, taste: true,
		cues:  "quotes, quote, quote style, quotation marks, quoting, quoting style, strings, string quotes, string literals",
		leads: "quote strings with, quote with, quote _ with, strings go|goes in, strings are|is in, strings are|is written|put in",
		values: []string{
			"single=single quotes, single quote, single quoted strings, single quotation marks, +single, +single quoted",
			"double=double quotes, double quote, double quoted strings, double quotation marks, +double, +double quoted",
		},
	},
	{
		name: "semicolons", alone: true, taste: true,
		cues:  "semicolon style, semicolon usage",
		leads: "end|terminate statements|lines with, end|terminate _ statements|lines with, statements end with",
		values: []string{
			"yes:semicolons, semicolon, +required, +mandatory",
			"no:omit semicolons, without semicolons, skip semicolons, leave out semicolons, leave off semicolons, semicolon free, semicolonless, semicolon free style",
		},
	},
	{
		name: "line-length", shape: columns,
		cues: `line length, max line length, maximum line length, line width, max line width, maximum line width, line length limit, column limit,
			print width, printwidth, line limit, text width, line wrap`,
		leads: "lines are|is at most, lines at most, lines have at most, keep lines to|under|below, wrap|break lines at, wrap at, limit lines to, lines wrap|break at",
	},
	{
		name: "line-endings", alone: true,
		cues:   "line endings, line ending, line ending style, end of line, newlines, newline style, eol",
		values: []string{"lf=lf, lf line endings, unix line endings, lf endings, unix newlines, +unix", "crlf=crlf, crlf line endings, windows line endings, crlf endings, windows newlines, +windows"},
	},
	{
		name: "theme", alone: true, taste: true,
		cues: "theme, mode, color scheme, colour scheme, color theme, colour theme, appearance, ui theme",
		values: []string{
			"dark=dark mode, dark theme, dark themes, dark color scheme, dark colour scheme, dark ui, darkmode, +dark",
			"light=light mode, light theme, light themes, light color scheme, light colour scheme, light ui, lightmode, bright mode, +light",
		},
	},
	{
		name: "javascript-packages", alone: true,
		cues: `package manager, package managers, packages, dependencies, installing|install packages|dependencies, package management, dependency management, dependency manager, node package manager,
			javascript package manager, js package manager, typescript package manager, npm client, node packages, javascript, js`,
		leads:  "install with, install dependencies with, install packages with, manage packages with, manage dependencies with, install using",
		values: []string{"npm", "pnpm", "yarn", "bun"},
	},
	{
		name: "python-packages", alone: true,
		cues: `package manager, package managers, packages, dependencies, installing|install packages|dependencies, package management, dependency management, dependency manager, python package manager,
			python packages, python dependencies, python`,
		leads:  "install with, install dependencies with, install packages with, manage packages with, manage dependencies with, install using",
		values: []string{"poetry", "uv", "pipenv", "pdm", "pip=+pip", "conda=+conda"},
	},
	{
		name: "java-build", cues: "build tool, build system, builds, build", leads: "build with, builds with, built with, build _ with",
		values: []string{"maven=mvn", "gradle"},
	},
	{
		name: "javascript-tests", cues: "test runner, test framework, testing framework, tests, testing, test suite, javascript test runner, js test runner",
		leads: "test with, run tests with, write tests with, write tests in, tests run|runs with|on|under, tests are run|written with|in", values: []string{"jest", "vitest", "mocha", "jasmine"},
	},
	{
		name: "python-tests", cues: "test runner, test framework, testing framework, tests, testing, test suite, python test runner",
		leads: "test with, run tests with, write tests with, write tests in, tests run|runs with|on|under, tests are run|written with|in", values: []string{"pytest", "unittest"},
	},
	{
		name: "python-formatter", cues: "formatter, code formatter, formatting, code formatting, code", owns: "formats",
		leads: "format _ with, format _ code with, format code with", values: []string{"black=+black", "ruff=+ruff", "yapf", "autopep8"},
	},
	{
		name: "javascript-formatter", cues: "formatter, code formatter, formatting, code formatting, code", owns: "formats",
		leads: "format _ with, format _ code with, format code with", values: []string{"prettier=+prettier", "biome=+biome", "dprint"},
	},
	{name: "bundler", cues: "bundler, module bundler, javascript bundler", leads: "bundle with", values: []string{"vite=+vite", "webpack=+webpack", "rollup=+rollup", "parcel=+parcel", "esbuild=+esbuild", "rspack=+rspack"}},
	{
		name: "modules", cues: "module system, modules, module format",
		values: []string{"esm=es modules, esm, ecmascript modules, esmodules, +es", "commonjs=cjs, commonjs modules"},
	},
	{
		name: "keybindings", taste: true, cues: "keybindings, keybinding, key bindings, keymap, bindings, keyboard shortcuts, editing mode, editor mode, keys",
		values: []string{"vim=+vim, +vi, vim mode, vi mode, vim motions", "emacs=+emacs, emacs mode", "vscode=+vscode, +vs code"},
	},
	{name: "shell", taste: true, cues: "shell, login shell, interactive shell", values: []string{"bash=+bash", "zsh=+zsh", "fish=+fish", "powershell=+powershell", "nushell=+nushell"}},
	{
		name: "naming", alone: true, taste: true, cues: "naming, names, naming convention, naming style, case, identifiers, name style", leads: "name _ in|with, write _ in, named in, are named in, are, are in, are written in",
		values: []string{
			"camel:camelcase, camel case, lower camel case, lowercamelcase", "pascal:pascalcase, pascal case, upper camel case, uppercamelcase",
			"snake:snake_case, snake case, snakecase", "kebab:kebab case, kebabcase, dash case", "screaming:screaming_snake_case, screaming snake case, upper_snake_case",
		},
	},
	{
		name: "language", cued: true, taste: true, values: languages,
		cues: "language, answers, replies, responses, answer language, response language, reply language, preferred language",
		leads: `answer in, answers in, answer me in, answers me in, reply to me in, respond to me in, reply in, replies in, respond in, responds in, communicate in, communicates in, talk to me in, talk in, write to me in,
			write _ in, writes _ in, is in, are in, are written in, is written in, explain in`,
		things: "comments, code comments, commit messages, docs, documentation, release notes, error messages, log messages, changelogs, changelog entries",
	},
	{
		name: "spelling", taste: true, cues: "spelling, english, english spelling",
		values: []string{"british=british english, british spelling, uk english, uk spelling, +british, +uk, en-gb", "american=american english, american spelling, us english, us spelling, +american, +us, en-us"},
	},
	{
		name: "answer-length", taste: true, cues: "answers, replies, responses, answer length, explanations",
		leads: "be, keep answers, keep replies, keep responses, keep explanations", verbs: "give, gives, give me, provide, provides, write",
		values: []string{
			"short:short answers, concise answers, brief answers, terse answers, short replies, brief replies, concise replies, short responses, concise responses, brief responses, terse responses, +short, +brief, +concise, +terse",
			"long:long answers, detailed answers, thorough answers, verbose answers, detailed replies, long replies, detailed responses, long responses, verbose responses, thorough responses, +long, +detailed, +thorough, +verbose",
		},
	},
	{
		name: "tone", taste: true, cues: "tone, tone of voice, style of writing, writing tone", leads: "be, talk to me, write to me, address me",
		values: []string{"formal=formal tone, +formal, +formal with me, +formally", "informal=informal tone, casual tone, +informal, +casual, +informal|casual with me, +casually, +informally"},
	},
	{
		name:  "merge-strategy",
		cues:  "merge strategy, merge method, merging, merge style, pull requests, prs, merges, integration strategy",
		leads: "merge with|using|by, merge pull-requests|prs with|using|by, merge branches by, pull-requests|prs are merged with|using|by, pull-requests|prs get merged with|using|by",
		values: []string{
			"rebase=rebasing, rebase merges, rebase merge, rebase and merge", "squash=squashing, squash merges, squash merge, squash and merge, squash merging, squashed merges",
			"merge=merge commits, merge commit, merges, +merging",
		},
	},
	{name: "default-branch", shape: term, cues: "default branch, default git branch", leads: "default branch is called, default branch is named, default branch is renamed to"},
	{name: "units", alone: true, taste: true, cues: "units, measurements, measurement system, unit system, system of units, units of measurement", values: []string{"metric=metric units, metric system, metric measurements, +metric, +si", "imperial=imperial units, imperial system, imperial measurements, us customary units, +imperial"}},
	{name: "temperature", alone: true, taste: true, cues: "temperatures, temperature unit, temperature units, temperature, degrees, units", values: []string{"celsius=degrees celsius, centigrade", "fahrenheit=degrees fahrenheit"}},
	{
		name: "date-format", taste: true, cues: "dates, date format, date style, date formatting", leads: "dates is|are formatted|written|shown|displayed|rendered as|in, format|write|show|display|render dates as|in",
		values: []string{
			"iso=iso 8601, iso8601, iso dates, iso format, iso 8601 format, yyyy mm dd, +iso", "dd.mm.yyyy", "dd/mm/yyyy=+day first, +european", "mm/dd/yyyy=+month first, +us, +american", "dd mm yyyy", "mm dd yyyy", "yyyy/mm/dd", "unix:unix timestamps, +epoch",
		},
	},
	{
		name: "clock", taste: true, cues: "clock, time format, times, clock format",
		values: []string{
			"24:24 hour clock, 24h clock, 24 hour time, 24h time, 24 hour format, 24h format, +24 hour, +24h, +24 hours",
			"12:12 hour clock, 12h clock, 12 hour time, 12h time, 12 hour format, 12h format, am/pm, +12 hour, +12h, +12 hours",
		},
	},
	{name: "currency", cued: true, cues: "currency", leads: "prices are in, show prices in", values: currencies},
	{name: "time-zone", shape: zone, cues: "time zone, timezone, tz", leads: "times are in, time zone is in, am on|in"},
	{name: "pronouns", taste: true, cues: "pronouns", values: []string{"she:+she/her, +she, +she/her/hers", "he:+he/him, +he, +he/him/his", "they:+they/them, +they, +they/them/theirs"}},
	{
		name: "license", cued: true, cues: "license, licence", leads: "is licensed under, licensed under, is released under, released under, is under, relicensed to, relicensed _ to",
		values: []string{
			"mit=mit, mit license, mit licence", "apache=apache 2.0, apache license, apache, apache2, apache 2, apache license 2.0", "gpl-2=gplv2, gpl 2, gpl 2.0", "gpl-3=gplv3, gpl 3, gpl 3.0", "agpl=agpl, agplv3, agpl 3, agpl 3.0",
			"lgpl=lgpl, lgplv3, lgpl 3", "bsd-2=bsd 2, bsd 2 clause, 2 clause bsd", "bsd-3=bsd 3, bsd 3 clause, 3 clause bsd", "mpl=mpl, mpl 2.0, mpl 2", "unlicense", "isc", "proprietary=+proprietary", "bsl=bsl, business source license",
		},
	},
	{name: "log-level", cues: "log level, logging level, log verbosity, loglevel", leads: "log at, logs at", values: []string{"trace=+trace", "debug=+debug", "info=+info", "warn=+warn, +warning", "error=+error", "fatal=+fatal"}},
	{
		name: "port", shape: port, cues: "port, port number",
		leads: "listens on port, listens on, listens at port, listen on port, listen on, runs on port, run on port, is on port, are on port, is moved to port, is served on port, served on port, is exposed on port, binds to port, is on, is available on port, is reachable on port, is listening on port, is running on port, starts on port, serves on port",
	},
	{
		name: "version", shape: version, topical: true, cues: "version, version number",
		leads:  "is pinned to, pinned to, is pinned at, is pinned to version, is on version, is at version",
		verbs:  "targets, target, are on, am on, is on, upgraded to, upgrade to, have upgraded to, has upgraded to, have updated to, updated to, update to, require, requires, need, needs, is pinned to, are pinned to, pin, pinned to, downgraded to, downgrade to",
		things: tools,
	},
	{
		name: "deadline", shape: date, cues: "deadline, due date",
		leads:  "is due on, is due, due on, are due on, are due, is due by, due by",
		things: "beta, alpha, rc, release candidate, mvp, prototype",
	},
	{name: "release-date", shape: date, cues: "release date, ship date", leads: "ships on, ship on, is released on"},
	{name: "launch-date", shape: date, cues: "launch date, go live date", leads: "launch on, launches on, goes live on"},
	{name: "event-date", shape: dayOfYear, topical: true, cues: "start date", leads: "starts|begins|start|begin on, is scheduled for, takes place on, is moved to"},
	{
		name: "deploy-day", cued: true, cues: "deploy day, deployment day, deploys, deployments, day of deploys, deploy days, deployment days",
		leads: `deploy on, deploys on, deploys are on, deploys happen on, deploys go out on, deployments happen on, deployments go out on, deployments are on, deploy to production on,
			is deployed on, are deployed on, deploy, deploys`,
		values: slices.Concat(weekdays, []string{"every-day:every day, daily, any day", "every-weekday:every weekday, on weekdays, weekdays, any weekday"}),
	},
	{
		name: "release-day", cued: true, values: weekdays, cues: "release day, day of releases",
		leads: "releases happen on, releases go out on, releases are on, releases are cut on, is released on, are released on",
	},
	{
		name: "starts", shape: clocktime, topical: true, cues: "start time, starting time",
		leads: "is at, starts|start|begins|begin at, kicks|kick off at, is scheduled at|for, takes place at, is moved to, moved to",
	},
	{name: "timeout", shape: quantity, cues: "timeout, time limit, time out", leads: "times out after, time out after, timeout after"},
	{
		name: "ttl", shape: duration, cues: "ttl, time to live, lifetime, length, duration",
		leads: "expires|expire after|in, last|lasts, last|lasts for, live|lives for, is|are valid for, is|are cached for",
	},
	{name: "retention", shape: quantity, cues: "retention, retention period", leads: "is kept for, are kept for, is retained for, are retained for"},
	{name: "interval", shape: quantity, cues: "interval, polling interval, poll interval", leads: "runs every, polls every, is run every"},
	{name: "rate-limit", shape: rate, cues: "rate limit, ratelimit, throttle, request limit", leads: "is rate limited to, are limited to, is limited to"},
	{name: "retries", shape: times, cues: "retries, retry count, max retries, maximum retries, retry limit, number of retries", leads: "retries|retry at most, retry _, retry _ at most, is|are retried, is|are retried at most"},
	{name: "limit", shape: quantity, topical: true, cues: "limit, quota, cap"},
	{name: "size", shape: quantity, topical: true, cues: "size"},
	{name: "length", shape: quantity, topical: true, cues: "length, duration"},
	{name: "budget", shape: quantity, cues: "budget"},
	{
		name: "coverage", shape: quantity, leads: "coverage is|are at least, test coverage is|are at least",
		cues: "coverage threshold, test coverage threshold, minimum coverage, minimum test coverage, required coverage, required test coverage, coverage minimum, coverage requirement",
	},
	{name: "threshold", shape: quantity, topical: true, cues: "threshold"},
	{name: "target", shape: quantity, topical: true, cues: "target, goal"},
	{name: "owner", shape: title, cues: "owner", leads: "is owned by, are owned by, owned by, belongs|belong to", owns: "owns", topical: true},
	{name: "maintainer", shape: title, cues: "maintainer", leads: "is maintained by, are maintained by, maintained by", topical: true},
	{name: "lead", shape: title, cues: "lead, leader", leads: "is led by, are led by"},
	{name: "contact", shape: title, cues: "contact, point of contact, contact person", topical: true},
	{name: "email", shape: mail, cues: "email, e mail, email address, e mail address, mail address"},
	{name: "url", shape: url, cues: "url, address", leads: "is at, lives at, is hosted at, are at, is available at, is reachable at, is served at, live at, are hosted at, runs at, is moved to"},
	{name: "host", shape: url, cues: "host, hostname"},
	{name: "homepage", shape: url, cues: "homepage, home page, website, web site"},
	{name: "name", shape: title, cues: "name", leads: "is called, am called, call me"},
	{name: "residence", shape: place, own: true, taste: true, cues: "location, city, place of residence", leads: "live in, lives in, is based in, are based in, am based in, based in, moved to, relocated to"},
	{name: "country", shape: country, own: true, taste: true, cues: "country, country of residence", leads: "live in, lives in, is based in, are based in, am based in, based in, moved to, relocated to"},
	{name: "employer", shape: proper, own: true, cues: "employer", leads: "work at, works at, is employed at, is employed by"},
	{name: "job-title", shape: title, cues: "job title"},
	{name: "chief-executive", shape: title, cues: "ceo, chief executive, chief executive officer"},
	{name: "region", shape: term, cues: "region, cloud region, aws region"},
	{name: "state", topical: true, cues: "flag, feature flag, toggle", leads: "is, are", values: []string{"on=enabled, turned on, switched on, activated", "off=disabled, turned off, switched off, deactivated"}},
	{name: "default", shape: term, topical: true, before: true, cues: "default", leads: "defaults to, default to"},
	{name: "preferred", shape: term, topical: true, before: true, cues: "preferred, favourite, favorite"},
	{name: "primary", shape: term, topical: true, before: true, cues: "primary"},
})

var languages = []string{
	"english", "german=deutsch", "french", "spanish", "italian", "portuguese", "dutch", "polish", "russian", "ukrainian", "czech", "swedish", "norwegian", "danish", "finnish",
	"greek", "turkish", "arabic", "hebrew", "hindi", "japanese", "chinese=mandarin", "korean", "vietnamese", "thai", "indonesian", "romanian", "hungarian", "bulgarian", "croatian", "catalan",
}

var currencies = []string{
	"eur=euro, euros, +€", "usd=us dollars, us dollar, dollars, dollar, +$", "gbp=pounds, british pounds, pounds sterling, sterling", "chf=swiss francs, swiss franc, francs", "jpy=yen", "cad=canadian dollars", "aud=australian dollars",
	"sek", "nok", "dkk", "pln=zloty", "inr=rupees", "cny=yuan", "brl=reais",
}

var weekdays = []string{
	"monday=mondays", "tuesday=tuesdays", "wednesday=wednesdays", "thursday=thursdays", "friday=fridays", "saturday=saturdays", "sunday=sundays",
}

// tools lists things of which one version is in use at a time.
const tools = `node, go, python, java, jdk, openjdk, ruby, php, rust, typescript, kotlin, scala, swift, elixir, erlang, dart, flutter, deno, react, angular, vue, svelte, next,
	nuxt, django, rails, flask, laravel, symfony, spring, spring boot, postgres, mysql, mariadb, mongodb, redis, elasticsearch, kafka, sqlite, kubernetes, k8s, terraform,
	ansible, helm, docker, gradle, maven, webpack, vite, eslint, prettier, jest, vitest, tailwind, bootstrap, dotnet, .net, c#, pnpm, npm, yarn, bun, ubuntu, debian, alpine,
	xcode, ecmascript, numpy, pytorch, tensorflow, pydantic, fastapi, sqlalchemy, pytest, hibernate, junit, graphql, openapi, protobuf, grpc, express, electron, react native`

// A compiled slot has its phrases split into words.
type compiled struct {
	cuePhrases, leadPhrases, ownPhrases, verbPhrases, thingPhrases [][]string
	forms                                                          []value
}

// A value is a phrase of a closed list.
type value struct {
	words []string
	name  string
	weak  bool // it means the value only beside a cue
}

// compile splits the phrases of all slots.
func compile(list []slot) []slot {
	for i := range list {
		list[i].compiled = list[i].compile()
	}
	return list
}

func (s *slot) compile() compiled {
	split := func(list string) [][]string {
		if list == "" {
			return nil
		}
		return lines(list)
	}
	c := compiled{
		cuePhrases: split(s.cues), leadPhrases: split(s.leads), ownPhrases: split(s.owns), verbPhrases: slices.Concat(choosing, split(s.verbs)),
		thingPhrases: split(s.things),
	}
	for _, entry := range s.values {
		canonical, synonyms, hidden := strings.Cut(entry, ":")
		if !hidden {
			canonical, synonyms, _ = strings.Cut(entry, "=")
		}
		if !hidden && !strings.Contains(synonyms, "+"+canonical) {
			c.forms = append(c.forms, value{words: phrase(canonical), name: canonical})
		}
		for synonym := range strings.SplitSeq(synonyms, ",") {
			text, weak := strings.CutPrefix(strings.TrimSpace(synonym), "+")
			if text == "" {
				continue
			}
			for _, words := range lines(text) {
				c.forms = append(c.forms, value{words: words, name: canonical, weak: weak})
			}
		}
	}
	slices.SortStableFunc(c.forms, func(a, b value) int { return len(b.words) - len(a.words) })
	return c
}
