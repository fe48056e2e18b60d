// Renders the parts of a mail as text and HTML. All external content is escaped here, once; the HTML loads no
// resources, has inline styles, and leaves colours to the mail program, so that dark mode works.

/** A paragraph, the lines of a text from another user, or figures with their labels. */
export type Paragraph =
  | string
  | { readonly quote: readonly string[] }
  | { readonly rows: readonly (readonly [label: string, value: string])[] }

export type MailParts = {
  readonly subject: string
  readonly paragraphs: readonly Paragraph[]
  /** Rendered between `paragraphs` and `after`. */
  readonly link?: { readonly label: string; readonly url: string }
  readonly after?: readonly Paragraph[]
  /** URL that ends mails of this kind, by RFC 8058; shown in the footer. */
  readonly unsubscribe?: string
}

/** The sender as named in the footer. */
export type Sender = {
  readonly provider: string
  /** An address for questions. */
  readonly contact: string
}

export type RenderedMail = {
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly unsubscribe?: string
}

export function renderMail(parts: MailParts, sender: Sender): RenderedMail {
  const { subject, unsubscribe } = parts
  return {
    subject,
    text: renderText(parts, sender),
    html: renderHtml(parts, sender),
    ...(unsubscribe === undefined ? {} : { unsubscribe }),
  }
}

const columns = 76

function renderText({ paragraphs, link, after = [], unsubscribe }: MailParts, sender: Sender): string {
  const blocks = [
    ...paragraphs.map(textOf),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    ...after.map(textOf),
    ['--', wrap(footer(sender)), ...(unsubscribe === undefined ? [] : [`Unsubscribe:\n${unsubscribe}`])].join(
      '\n',
    ),
  ]
  return `${blocks.join('\n\n')}\n`
}

function textOf(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return wrap(paragraph)
  if ('rows' in paragraph) {
    const width = Math.max(...paragraph.rows.map(([label]) => label.length))
    return paragraph.rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n')
  }
  return paragraph.quote.map((line) => wrap(line, '> ')).join('\n')
}

/** Lines of at most 76 characters, broken between words; every line starts with `prefix`. */
function wrap(text: string, prefix = ''): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(prefix + word)
  }
  return lines.join('\n')
}

function footer({ provider, contact }: Sender): string {
  return `This mail comes from ${provider}. Questions? Write to ${contact}.`
}

const page =
  'margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif'
const column = 'max-width:36em;margin:0 auto'
const button =
  'display:inline-block;padding:10px 20px;border:2px solid;border-radius:6px;font-weight:bold;text-decoration:none'
const quote = 'margin:0 0 16px;padding:0 0 0 14px;border-left:3px solid #808080'
const table = 'margin:0 0 16px;width:100%;border-collapse:collapse'
const cell = 'padding:8px 0;border-bottom:1px solid #c0c0c0;vertical-align:top'
const rule = 'margin:24px 0 12px;border:0;border-top:1px solid #808080'
const small = 'margin:0 0 16px;font-size:13px;word-break:break-word'

function renderHtml(
  { subject, paragraphs, link, after = [], unsubscribe }: MailParts,
  sender: Sender,
): string {
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    // Prevents mail programs from making phone and map links of numbers and addresses in quoted text.
    '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
    `<title>${escapeHtml(subject)}</title>`,
    '</head>',
    `<body style="${page}">`,
    `<div style="${column}">`,
    ...paragraphs.map(htmlOf),
    ...(link ? linkOf(link) : []),
    ...after.map(htmlOf),
    `<hr style="${rule}">`,
    `<p style="${small}">${escapeHtml(footer(sender))}</p>`,
    ...(unsubscribe === undefined
      ? []
      : [`<p style="${small}"><a href="${escapeHtml(unsubscribe)}">Unsubscribe</a></p>`]),
    '</div>',
    '</body>',
    '</html>',
  ]
  return `${lines.join('\n')}\n`
}

function htmlOf(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return `<p style="margin:0 0 16px">${escapeHtml(paragraph)}</p>`
  if ('rows' in paragraph)
    return `<table role="presentation" style="${table}">\n${paragraph.rows.map(rowOf).join('\n')}\n</table>`
  return `<blockquote style="${quote}">${paragraph.quote.map(escapeHtml).join('<br>\n')}</blockquote>`
}

const rowOf = ([label, value]: readonly [string, string]): string =>
  `<tr><td style="${cell}">${escapeHtml(label)}</td><td style="${cell};text-align:right;font-weight:bold">${escapeHtml(value)}</td></tr>`

/** The URL is also shown as text, for recipients who do not click buttons in mails. */
function linkOf({ label, url }: NonNullable<MailParts['link']>): readonly string[] {
  const address = escapeHtml(url)
  return [
    `<p style="margin:0 0 16px"><a href="${address}" style="${button}">${escapeHtml(label)}</a></p>`,
    `<p style="${small}">Or open this address: ${address}</p>`,
  ]
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for element content and for attribute values in double quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign]!)
}
