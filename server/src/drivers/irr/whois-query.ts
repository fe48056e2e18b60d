// The queries of the `!` protocol, one line each (IRRd documentation, "Whois queries", section "IRRd style queries").
// The only place that builds such lines: all input is validated here, so that no text of a customer can end a line and
// inject another one.
import { parseAsn } from '../../net/asn.ts'
import type { Asn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { parseAsSetName, parseRegistryName } from '../../registry/objects/rpsl-objects.ts'

/**
 * The first lines of a connection, the first of which has no answer: keep the connection open, the client's name, the idle
 * timeout, and the registries to search, in their order.
 */
export function openingLines(sources: readonly string[], idleSeconds: number): string[] {
  const lines = ['!!', '!nPharos', `!t${Math.min(1_000, Math.max(1, Math.ceil(idleSeconds)))}`]
  return sources.length === 0 ? lines : [...lines, `!s${sources.map(parseRegistryName).join(',')}`]
}

/** Queries the route objects of the prefix and of all less specific ones, in full. */
export function routesQuery(prefix: Prefix): string {
  return `!r${parsePrefix(prefix)},L`
}

/** Queries the direct members of an as-set; the answer is separated by blanks. */
export function membersQuery(name: string): string {
  return `!i${parseAsSetName(name)}`
}

export function autNumQuery(asn: Asn): string {
  return `!maut-num,AS${parseAsn(asn)}`
}

/** Queries the registries that are searched, in their order: `RADB,RIPE`. */
export const sourcesQuery = '!s-lc'

/** One line for each source: `RADB:N:0-4711`. */
export function serialsQuery(sources: readonly string[]): string {
  return `!j${sources.length === 0 ? '-*' : sources.map(parseRegistryName).join(',')}`
}
