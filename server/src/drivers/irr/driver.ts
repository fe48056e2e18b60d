// The drivers of IRR sources: a whois server that speaks the `!` protocol, and an RPSL dump in a file.
import type { IrrSource } from '../../registry/irr-source.ts'
import { urlDriver } from '../driver/url-driver.ts'
import { createDumpSource } from './dump-source.ts'
import { createWhoisSource } from './whois-source.ts'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseRegistryName } from '../../registry/objects/rpsl-objects.ts'

export type IrrContext = {
  /** How long a dump that lost many objects must stay the same before it is used, in milliseconds. */
  readonly confirmMs: number
}

/** The registries are searched in the order given; all by default. A dump may be compressed. */
const whoisForm = 'whois://host:43?sources=RADB&sources=RIPE'
const dumpForm = 'file:/path/of/a/dump'

export const whois = urlDriver<ReturnType<typeof parseWhoisUrl>, IrrContext, IrrSource>({
  kind: 'whois',
  schemes: ['whois:'],
  forms: [whoisForm],
  parse: parseWhoisUrl,
  create: createWhoisSource,
})

export const dump = urlDriver<ReturnType<typeof parseDumpUrl>, IrrContext, IrrSource>({
  kind: 'dump',
  schemes: ['file:'],
  forms: [dumpForm],
  parse: parseDumpUrl,
  create: (settings, { confirmMs }) => createDumpSource({ ...settings, confirmMs }),
})

/** Parses the URL of a whois server; throws a TypeError with the problem. */
function parseWhoisUrl(text: string) {
  const url = parsePlainUrl(text, whoisForm)
  if (url.hostname === '' || (url.pathname !== '' && url.pathname !== '/'))
    throw problem(text, `the host is missing, as in ${whoisForm}`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(url.port || 43), sources: sourcesOf(url, text) }
}

/** Parses the URL of an RPSL dump; throws a TypeError with the problem. */
function parseDumpUrl(text: string) {
  const url = parsePlainUrl(text, dumpForm)
  if (url.host !== '' || !isAbsolute(text.slice('file:'.length).replace(/^\/\//, '')))
    throw problem(text, 'the path must be absolute, as in file:/var/lib/irr/ripe.db.route.gz')
  const sources = sourcesOf(url, text)
  url.search = ''
  return { file: fileURLToPath(url), sources }
}

function parsePlainUrl(text: string, form: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username !== '' || url.password !== '' || url.hash !== '')
    throw problem(text, `write ${form}`)
  return url
}

/** `sources` is the only parameter. */
function sourcesOf(url: URL, text: string): string[] {
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'sources')
  if (unknown !== undefined) throw problem(text, `unknown parameter ${unknown} (known: sources)`)
  const names = url.searchParams.getAll('sources').flatMap((list) => list.split(','))
  try {
    return names.map(parseRegistryName)
  } catch (error) {
    throw problem(text, (error as Error).message)
  }
}

/** The message contains no credentials. */
function problem(text: string, what: string): TypeError {
  return new TypeError(`IRR source ${JSON.stringify(text.replace(/\/\/[^@/]*@/, '//'))}: ${what}`)
}
