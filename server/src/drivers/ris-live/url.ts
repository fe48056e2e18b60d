// The URL of RIS Live, as the configuration writes it: `wss://ris-live.ripe.net/v1/ws/?client=...&table=...&reference=...`.
// `table` and `reference` are ours; everything else is sent to the server.
import { parsePrefix, type Prefix } from '../../net/prefix.ts'

export type RisLiveAddress = {
  /** The URL without credentials and parameters, for operators. */
  readonly name: string
  readonly url: URL
  /** An endpoint that returns the routes of prefixes, as RIPEstat's BGP State does; undefined without. */
  readonly table: URL | undefined
  /** Prefixes that every collector has or that change regularly, from which the collectors are learned. */
  readonly references: readonly Prefix[]
}

/**
 * A beacon of each family, which RIPE NCC announces and withdraws every two hours
 * (https://ris.ripe.net/docs/routing-beacons/), so that every collector reports a change; and two networks of RIPE NCC, which
 * every collector has, for tables.
 */
const defaultReferences = ['84.205.64.0/24', '2001:7fb:fe00::/48', '193.0.0.0/21', '2001:67c:2e8::/48']

/** Throws a TypeError with the problem. */
export function parseRisLiveUrl(text: string): RisLiveAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^wss?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '')
    throw new TypeError('visibility source: write wss://ris-live.ripe.net/v1/ws/?client=name')
  const tables = url.searchParams.getAll('table')
  const references = url.searchParams.getAll('reference')
  url.searchParams.delete('table')
  url.searchParams.delete('reference')
  return {
    name: `${url.protocol}//${url.host}${url.pathname}`,
    url,
    table: tables.length === 0 ? undefined : tableUrl(tables),
    references: (references.length === 0 ? defaultReferences : references).map(referenceOf),
  }
}

function tableUrl([text = '', ...others]: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || others.length > 0)
    throw new TypeError(
      'visibility source: table is one URL, such as https://stat.ripe.net/data/bgp-state/data.json',
    )
  return url
}

function referenceOf(text: string): Prefix {
  try {
    return parsePrefix(text)
  } catch (error) {
    throw new TypeError(`visibility source: reference ${text}: ${(error as Error).message}`, { cause: error })
  }
}
