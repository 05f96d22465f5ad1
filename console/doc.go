// Package console owns the web pages for auditors, and for the people whose agents use the kernel.
//
// The console has no access of its own to the stored data. A page calls the operations of package api with the key of the signed-in person,
// like any other client: roles, limits, the log and the metrics are those of the service, and a page does not show what the service
// refuses.
//
// Pages are made on the server and need no script: each is the method body of its data, built from the elements of internal/markup. One
// script module does what only a browser can do: it verifies evidence in the reader's browser, and follows events. Nothing is fetched from
// another origin.
//
// Text by agents, tools and strangers is data. It is escaped by internal/markup, its control and format characters are shown as signs, and
// it is isolated from the direction of the surrounding text. So it cannot run, and cannot hide or reorder the text around it.
//
// A sign-in is a cookie with the key, sealed with a secret of the service (AES-256-GCM). It ends half an hour after the last page, twelve
// hours after it began, at sign-out, and when the key is revoked, because each page presents the key again.
package console
