// The bootstrap registries of IANA (RFC 9224), which map address space to RDAP servers. Pure.
import { covers, lengthOf, parsePrefix, type Prefix } from '../../net/prefix.ts'

export type Service = { readonly prefix: Prefix; readonly urls: readonly URL[] }

/** Parses a bootstrap file; throws a TypeError if it is not one. Unknown forms of entries are left out. */
export function parseBootstrap(text: string): readonly Service[] {
  const services = (parseJson(text) as { services?: unknown } | null)?.services
  if (!Array.isArray(services)) throw new TypeError('not a bootstrap file: it has no services')
  return services.flatMap((service: unknown) => {
    const [prefixes, urls] = Array.isArray(service) ? (service as unknown[]) : []
    if (!Array.isArray(prefixes) || !Array.isArray(urls)) return []
    const bases = urls.flatMap(readBase)
    return bases.length === 0 ? [] : prefixes.flatMap((prefix: unknown) => readService(prefix, bases))
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TypeError('not a bootstrap file: not JSON', { cause: error })
  }
}

function readService(text: unknown, urls: readonly URL[]): Service[] {
  try {
    return typeof text === 'string' ? [{ prefix: parsePrefix(text), urls }] : []
  } catch {
    return []
  }
}

/** A base URL ends with a slash (RFC 9224 section 3). */
function readBase(text: unknown): URL[] {
  if (typeof text !== 'string' || !URL.canParse(text)) return []
  const url = new URL(text.endsWith('/') ? text : `${text}/`)
  return /^https?:$/.test(url.protocol) ? [url] : []
}

/** Returns the base URLs of the most specific entry that covers the prefix, secure ones first. */
export function basesOf(services: readonly Service[], prefix: Prefix): readonly URL[] {
  const [best] = services
    .filter((service) => covers(service.prefix, prefix))
    .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
  return (best?.urls ?? []).toSorted(
    (a, b) => Number(b.protocol === 'https:') - Number(a.protocol === 'https:'),
  )
}
