// Package browser holds the console's pages in a browser: Debian's Chromium, driven over the DevTools protocol. It is a module of its own, so that nothing of
// what drives it comes into the kernel. `make browser` installs what the tests need and runs them; their screenshots are in bin/browser.
package browser
