// The drivers of IRR sources: a whois server that speaks the `!` protocol, and an RPSL dump in a file.
import type { IrrSource } from '../../registry/irr-source.ts'
import { urlDriver } from '../driver/url-driver.ts'
import { createDumpSource } from './dump-source.ts'
import { dumpForm, parseDumpUrl, parseWhoisUrl, whoisForm } from './url.ts'
import { createWhoisSource } from './whois-source.ts'

export type IrrContext = {
  /** How long a dump that lost many objects must stay the same before it is used, in milliseconds. */
  readonly confirmMs: number
}

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
