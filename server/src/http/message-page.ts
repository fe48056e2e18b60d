// A page with a few sentences, for addresses that a browser opens: the end of an action, or an error where programs get a problem
// document.
import type { Problem } from '@pharos/contract/problem'

type Page = { readonly title: string; readonly body: string }

/** Returns the HTML of the page; `body` is HTML, `title` is text without characters to escape. */
export const messagePage = ({ title, body }: Page): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><link rel="stylesheet" href="/assets/portal.css"></head>
<body><main><h1>${title}</h1>
${body}</main></body>
</html>
`

/** The content security policy of a page without a form. */
export const messagePagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Returns the page of an error, with the same sentences as the problem document. */
export const problemPage = ({ title, detail, request_id: id }: Problem): string =>
  messagePage({
    title,
    body: `<p>${escapeText(detail)}</p>
<p><a href="/">Open the start page</a></p>
<p class="quiet">Request ${escapeText(id)}</p>
`,
  })

type Opened = {
  readonly method: string
  readonly url: string
  readonly headers: { readonly accept?: string | undefined }
}

/** Returns whether a browser opens the address as a page. The APIs and files have their own format. */
export const isOpenedByBrowser = ({ method, url, headers }: Opened): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  /\btext\/html\b/.test(headers.accept ?? '') &&
  !/^\/(?:v\d+|api|assets|\.well-known)(?:[/?]|$)/.test(url)

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for elements, and for attributes in double quotes. */
export const escapeText = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => escapes[one]!)
