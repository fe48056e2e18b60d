// The building blocks of the documentation's pages: escaped text, Markdown of this repository, and the frame of a page.
import { Marked } from 'marked'

/** HTML that may be inserted as it is. */
export type Html = string

export const escapedHtml = (text: string): Html =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Returns text of the contract as HTML: paragraphs, and code in backticks. */
export const textToHtml = (text: string): Html =>
  text
    .split('\n\n')
    .map((paragraph) => `<p>${inlineToHtml(paragraph)}</p>`)
    .join('')

/** Returns one line of the contract as HTML. */
export const inlineToHtml = (text: string): Html => escapedHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

export const codeBlock = (text: string): Html => `<pre tabindex="0"><code>${escapedHtml(text)}</code></pre>`

export const jsonBlock = (value: unknown): Html => codeBlock(JSON.stringify(value, null, 2))

/** Returns a table; a column that is empty in all rows is left out. */
export function table(heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const used = heads.map((_, column) => rows.some((row) => row[column] !== ''))
  const cells = (tag: string, row: readonly Html[]) =>
    `<tr>${row.map((cell, column) => (used[column] ? `<${tag}>${cell}</${tag}>` : '')).join('')}</tr>`
  return `<div class="table"><table><thead>${cells('th', heads)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`
}

/** An anchor for links to a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^a-z0-9_.]+/g, '-')
    .replace(/^-|-$/g, '')

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens)
      return `<h${depth} id="${anchorOf(text)}">${text}</h${depth}>\n`
    },
    code: ({ text }) => codeBlock(text),
    table(token) {
      const cell = ({ tokens }: { tokens: (typeof token.header)[number]['tokens'] }) =>
        this.parser.parseInline(tokens)
      return table(
        token.header.map(cell),
        token.rows.map((row) => row.map(cell)),
      )
    },
  },
})

/**
 * Renders a Markdown file of this repository; its text is trusted. `linkOf` returns the address of a link, or undefined for a
 * link that becomes plain text.
 */
export const markdownToHtml = (text: string, linkOf: (target: string) => string | undefined): Html =>
  (marked.parse(text, { async: false }) as string).replace(
    /<a href="([^"]*)">([^]*?)<\/a>/g,
    (_, target: string, content: Html) => {
      const href = linkOf(target)
      return href === undefined ? content : `<a href="${href}">${content}</a>`
    },
  )

/** Returns the headings of the second level of a Markdown text. */
export const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!)

export type NavigationSection = {
  readonly title: string
  readonly links: readonly { readonly href: string; readonly text: string; readonly words?: string }[]
}

export type DocumentPage = { readonly title: string; readonly body: Html }

/** Returns a whole page. `path` is its own, which is marked in the navigation. */
export function pageOf(
  { title, body }: DocumentPage,
  path: string,
  navigation: readonly NavigationSection[],
): Html {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapedHtml(title)} - Pharos API</title>
<link rel="stylesheet" href="/docs/assets/docs.css"><script src="/docs/assets/docs.js" defer></script></head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Documentation">
<a class="home" href="/docs">Pharos API</a>
<a href="/">Back to the portal</a>
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" hidden>
<p id="nothing-found" hidden>No page matches.</p>
${navigation.map((section) => sectionOf(section, path)).join('\n')}
</nav>
<main id="content">
${body}
</main>
</body>
</html>
`
}

function sectionOf({ title, links }: NavigationSection, path: string): Html {
  const open = links.some(({ href }) => href.split('#')[0] === path)
  const items = links.map(
    ({ href, text, words = '' }) =>
      `<li><a href="${href}"${href === path ? ' aria-current="page"' : ''} data-words="${escapedHtml(`${text} ${words}`.toLowerCase())}">${escapedHtml(text)}</a></li>`,
  )
  return `<details${open ? ' open' : ''}><summary>${escapedHtml(title)}</summary><ul>${items.join('')}</ul></details>`
}
