// Package console owns the pages that people read in a browser: auditors, and the people whose agents these are.
//
// It has no way of its own to what is stored. A page asks the operations of package api, with the key of whoever signed in, as any other
// client does: roles, limits, the log and the metrics are those of the service, and what the service refuses is not shown.
//
// Pages are made on the server and need no script: each is the method body of its data, of the elements of internal/markup. One module adds what
// only a browser can do: it verifies evidence where it is read, and follows events. Nothing is fetched from another origin.
//
// What agents, tools and strangers wrote is data. It is escaped by internal/markup, its control and format characters are shown as signs, and it
// is isolated from the direction of the text around it, so that it neither runs, nor hides, nor reorders what is beside it.
//
// A sign-in is a cookie that holds the key, sealed with a secret of the service (AES-256-GCM). It ends half an hour after the last page, twelve
// hours after it began, at sign-out, and when the key is revoked, since each page presents the key again.
package console
