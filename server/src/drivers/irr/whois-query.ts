// The questions of the `!` protocol, one line each (IRRd documentation, "Whois queries", section "IRRd style queries").
// The only place that makes such lines: whatever goes into one is checked here, so that no text of a customer can end a
// line and begin another.
import { parseAsn } from '../../net/asn.ts'
import type { Asn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { parseAsSetName, parseRegistryName } from '../../registry/objects/rpsl-objects.ts'

/**
 * What a connection begins with, in lines of which the first has no answer: keep it open, who asks, when to close it after
 * silence, and which registries to search, in their order.
 */
export function openingLines(sources: readonly string[], idleSeconds: number): string[] {
  const lines = ['!!', '!nPharos', `!t${Math.min(1_000, Math.max(1, Math.ceil(idleSeconds)))}`]
  return sources.length === 0 ? lines : [...lines, `!s${sources.map(parseRegistryName).join(',')}`]
}

/** All less specific route objects, and those of the prefix itself, in full. */
export function routesQuery(prefix: Prefix): string {
  return `!r${parsePrefix(prefix)},L`
}

/** The direct members of an as-set, separated by blanks. */
export function membersQuery(name: string): string {
  return `!i${parseAsSetName(name)}`
}

export function autNumQuery(asn: Asn): string {
  return `!maut-num,AS${parseAsn(asn)}`
}

/** One line for each source: `RADB:N:0-4711`. */
export function serialsQuery(sources: readonly string[]): string {
  return `!j${sources.length === 0 ? '-*' : sources.map(parseRegistryName).join(',')}`
}
