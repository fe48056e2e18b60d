// Checks prefixes, ASNs and announcements of the operator's file, and makes them entries.
import { reservedAsn } from '../net/asn.ts'
import { bogonOf } from '../net/bogon.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { isDefaultRoute, parsePrefix, prefixParts, type Prefix } from '../net/prefix.ts'
import { parseTime } from '../text/time.ts'
import { given, type CheckContext } from './check-context.ts'
import { isOperatorsWord, type PassedAt } from './platform.ts'
import type { Path } from './problem.ts'
import type { Element } from './schema.ts'

export function checkPrefixes(context: CheckContext): void {
  const holders = holdersOf(context)
  for (const { index, element } of context.shaped.written.prefixes) {
    const path = ['prefixes', index]
    const { team, name, location } = element
    context.refer('teams', team, [...path, 'team'])
    if (location !== undefined) context.refer('locations', location, [...path, 'location'])
    const prefix = readPrefix(context, [...path, 'prefix'], element.prefix)
    if (prefix === undefined) continue
    const fields = { team, prefix, ...given({ name, location }) }
    const key = `${team} ${prefix}`
    if (context.firstTime(`prefix ${prefix}`, [...path, 'prefix'], `prefix ${prefix} is claimed twice`)) {
      context.add({ kind: 'prefix', key, fields, path }, `prefix ${prefix}`)
    }
    const holder = holders.get(prefix)
    if (holder !== undefined && holder !== team) {
      context.problem(
        [...path, 'prefix'],
        `prefix ${prefix} is held by team ${holder}; take it from that team first`,
      )
    }
  }
}

/** Who will still hold each prefix of the database when the file has been applied. */
function holdersOf(context: CheckContext): Map<Prefix, string> {
  if (context.isPruned('prefixes')) return new Map()
  return new Map([...context.current.prefix.values()].map(({ fields }) => [fields.prefix, fields.team]))
}

function readPrefix(context: CheckContext, path: Path, text: string): Prefix | undefined {
  try {
    const prefix = parsePrefix(text)
    if (!isDefaultRoute(prefix)) return prefix
    context.problem(path, `${text} is the default route, which nobody holds`)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    const meant = error.canonical === undefined ? '' : `; write ${error.canonical}`
    context.problem(path, `${text}: ${error.message}${meant}`)
  }
  return undefined
}

export function checkAsns(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.asns) {
    const path = ['asns', index]
    const { team, asn, name } = element
    context.refer('teams', team, [...path, 'team'])
    noticeReserved(context, [...path, 'asn'], asn)
    const verified = readPassed(context, [...path, 'verified'], element.verified)
    const fields = { team, asn, ...given({ name, verified }) }
    context.add({ kind: 'asn', key: `${team} AS${asn}`, fields, path }, `AS${asn} of team ${team}`)
    if (isOperatorsWord(verified)) checkOneHolder(context, team, asn, path)
  }
}

/** The operator verifies an ASN for one team only; what another team has proven ends. */
function checkOneHolder(context: CheckContext, team: string, asn: number, path: Path): void {
  const place = [...path, 'verified']
  if (!context.firstTime(`verified AS${asn}`, place, `AS${asn} is verified for two teams`)) return
  const written = context.shaped.written.asns.map(({ element }) => element)
  const holder = [...context.current.asn.values()]
    .map(({ fields }) => fields)
    .filter((row) => row.asn === asn && row.team !== team && isOperatorsWord(row.verified))
    .find((row) => {
      const named = written.find((one) => one.team === row.team && one.asn === asn)
      return named ? named.verified !== false : !context.isPruned('asns')
    })
  if (holder === undefined) return
  const msg = `AS${asn} is verified for team ${holder.team}; set verified: false there to take it from that team`
  context.problem(place, msg)
}

function noticeReserved(context: CheckContext, path: Path, asn: number): void {
  const reserved = reservedAsn(asn)
  if (reserved && !reserved.documentation) context.notice(path, `AS${asn} is reserved: ${reserved.name}`)
}

export function checkAnnouncements(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.announcements) {
    const path = ['announcements', index]
    context.refer('teams', element.team, [...path, 'team'])
    noticeReserved(context, [...path, 'origin_asn'], element.origin_asn)
    checkRegions(context, path, element)
    const validated = readValidations(context, path, element.validated)
    const prefix = readPrefix(context, [...path, 'prefix'], element.prefix)
    if (prefix !== undefined) addAnnouncement(context, path, element, prefix, validated)
  }
}

/** A region that was closed takes no new announcements; one that is there already may stay named. */
function checkRegions(context: CheckContext, path: Path, element: Element<'announcements'>): void {
  const { regions, enabled, prefix } = element
  const before = context.current.announcement.get(prefix)?.fields.regions ?? []
  for (const [at, slug] of (regions ?? []).entries()) {
    const where = [...path, 'regions', at]
    if (context.refer('regions', slug, where) && !context.openRegions.has(slug) && !before.includes(slug)) {
      context.problem(where, `region ${slug} is not open`)
    }
  }
  if (enabled && regions === undefined && context.openRegions.size === 0) {
    context.problem([...path, 'enabled'], 'enabled needs a region, and none is open')
  }
}

type Validations = { irr?: PassedAt; rpki?: PassedAt; loa?: PassedAt }

function addAnnouncement(
  context: CheckContext,
  path: Path,
  element: Element<'announcements'>,
  prefix: Prefix,
  validated: Validations,
): void {
  const { team, origin_asn, description, enabled, suspended } = element
  const before = context.current.announcement.get(prefix)
  if (before && before.fields.team !== team) {
    const whose = `${prefix} is an announcement of team ${before.fields.team}`
    context.problem([...path, 'team'], `${whose}; it cannot change hands while it exists`)
  }
  checkSize(context, [...path, 'prefix'], prefix)
  if (enabled) checkEnabled(context, path, element, { ...before?.fields, ...validated })
  const regions = element.regions?.toSorted()
  const fields = {
    team,
    prefix,
    origin_asn,
    ...given({ description, enabled, suspended, regions }),
    ...validated,
  }
  context.add({ kind: 'announcement', key: prefix, fields, path }, `announcement ${prefix}`)
}

function checkSize(context: CheckContext, path: Path, prefix: Prefix): void {
  const { family, length } = prefixParts(prefix)
  const longest = family === 4 ? 24 : 48
  if (length > longest) {
    context.problem(path, `${prefix} is longer than /${longest}: other networks do not accept it`)
  }
  const bogon = bogonOf(prefix)
  if (bogon && !bogon.documentation) context.notice(path, `${prefix} overlaps ${bogon.block}, ${bogon.name}`)
}

function checkEnabled(
  context: CheckContext,
  path: Path,
  { regions }: Element<'announcements'>,
  validated: Validations,
): void {
  const missing = (['irr', 'rpki', 'loa'] as const).filter((name) => !validated[name])
  if (missing.length > 0) {
    const what = `enabled needs all validations, and ${missing.join(', ')} did not pass`
    context.problem(
      [...path, 'enabled'],
      `${what}; say enabled: false, or validated: true if you vouch for it`,
    )
  }
  if (regions?.length === 0) {
    context.problem([...path, 'regions'], 'enabled needs a region; leave regions out for all that are open')
  }
}

function readValidations(
  context: CheckContext,
  path: Path,
  validated: Element<'announcements'>['validated'],
): Validations {
  if (validated === undefined) return {}
  if (typeof validated === 'boolean') return { irr: validated, rpki: validated, loa: validated }
  const read = (name: 'irr' | 'rpki' | 'loa') =>
    readPassed(context, [...path, 'validated', name], validated[name])
  return given({ irr: read('irr'), rpki: read('rpki'), loa: read('loa') })
}

function readPassed(context: CheckContext, path: Path, value: PassedAt | undefined): PassedAt | undefined {
  if (typeof value !== 'string') return value
  const time = parseTime(value)?.toISOString()
  if (time === undefined) context.problem(path, `${value} is no time; write one as 2026-01-31T12:00:00Z`)
  return time
}
