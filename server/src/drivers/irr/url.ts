// Which IRR source a line of the configuration stands for: from its URL to a driver.
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { IrrSource } from '../../registry/irr-source.ts'
import { createDumpSource } from './dump-source.ts'
import { createWhoisSource } from './whois-source.ts'
import { parseRegistryName } from '../../registry/data/rpsl-objects.ts'

/**
 * `whois://host:43?sources=RADB&sources=RIPE`, or `file:/path/of/a/dump.rpsl?sources=RIPE`, also compressed. The registries
 * are searched in their order; without them, all that there are. Throws with what to write instead; reads and connects
 * nothing. `confirmMs`: how long a dump that lost many objects must stay so before it is used.
 */
export function createIrrSource(text: string, confirmMs: number): IrrSource {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const sources = url && sourcesOf(url, text)
  if (url?.protocol === 'whois:' && isPlain(url)) {
    if (url.hostname === '' || (url.pathname !== '' && url.pathname !== '/'))
      throw bad(text, 'a host is missing')
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    return createWhoisSource({ host, port: Number(url.port || 43), sources: sources! })
  }
  if (url?.protocol === 'file:' && isPlain(url)) {
    if (url.host !== '' || !isAbsolute(text.slice('file:'.length).replace(/^\/\//, ''))) {
      throw bad(text, 'a file has its whole path, as in file:/var/lib/irr/ripe.db.route.gz')
    }
    return createDumpSource({
      file: fileURLToPath(withoutQuery(url)),
      sources: sources!,
      confirmMs,
    })
  }
  throw bad(text, 'write whois://host:43?sources=RADB&sources=RIPE or file:/path/of/a/dump')
}

/** The only parameter there is. */
function sourcesOf(url: URL, text: string): string[] {
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'sources')
  if (unknown !== undefined) throw bad(text, `there is no parameter ${unknown}, only sources`)
  const names = url.searchParams.getAll('sources').flatMap((list) => list.split(','))
  try {
    return names.map(parseRegistryName)
  } catch (error) {
    throw bad(text, (error as Error).message)
  }
}

function isPlain({ username, password, hash }: URL): boolean {
  return username === '' && password === '' && hash === ''
}

function withoutQuery(url: URL): URL {
  const plain = new URL(url)
  plain.search = ''
  return plain
}

function bad(text: string, what: string): Error {
  return new Error(`IRR source ${JSON.stringify(text.replace(/\/\/[^@/]*@/, '//'))}: ${what}`)
}
