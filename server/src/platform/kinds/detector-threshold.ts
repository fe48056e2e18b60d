// Thresholds of the detector for a team or a prefix of it. The settings of the source of kind `flows` apply to all
// other addresses.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { covers, parsePrefix, type Prefix } from '../../net/prefix.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, referenceById } from '../engine/field.ts'
import type { CheckContext, Kind } from '../engine/kind.ts'
import { Flag, Optional, PrefixText, Strict, TeamSlug } from '../engine/schema.ts'
import { announcementKind } from './announcement.ts'
import { prefixKind } from './prefix.ts'
import { teamKind } from './team.ts'
import { parsePrefixField } from './values.ts'

const Rate = (expects: string) => Type.Number({ exclusiveMinimum: 0, maximum: 1e15, expects })
const bps = Rate('bits per second, such as 1000000000')
const pps = Rate('packets per second, such as 100000')

export const detectorThresholdKind = defineKind({
  name: 'detector_threshold',
  plural: 'detector thresholds',
  section: 'detector_thresholds',
  element: Strict({
    team: TeamSlug,
    prefix: Optional(PrefixText),
    bps: Optional(bps),
    pps: Optional(pps),
    ratio: Optional(
      Type.Number({
        exclusiveMinimum: 1,
        maximum: 1e6,
        expects: 'a multiple of usual traffic, greater than 1',
      }),
    ),
    network_bps: Optional(bps),
    network_pps: Optional(pps),
    outgoing_bps: Optional(bps),
    outgoing_pps: Optional(pps),
    min_seconds: Optional(Type.Integer({ minimum: 0, maximum: 600, expects: 'seconds, at most 600' })),
    locked: Optional(Flag),
  }),
  // Teams have their own thresholds.
  table: { name: 'detector_thresholds', id: 'id', where: sql`t.managed_by = 'platform'` },
  identity: ['team', 'prefix'],
  keyOf: ({ team: slug, prefix: value }) => `${slug} ${value ?? 'all addresses'}`,
  fields: {
    team: referenceById('detector_thresholds', 'team_id', teamKind),
    prefix: mapped('detector_thresholds', ['prefix'], {
      read: (row): Prefix | null => (row.prefix === null ? null : parsePrefix(row.prefix)),
      write: (value) => ({ prefix: value }),
      initial: null,
    }),
    bps: column('detector_thresholds', 'bps', { initial: null, isShown: true }),
    pps: column('detector_thresholds', 'pps', { initial: null, isShown: true }),
    ratio: column('detector_thresholds', 'ratio', { initial: null, isShown: true }),
    network_bps: column('detector_thresholds', 'network_bps', { initial: null }),
    network_pps: column('detector_thresholds', 'network_pps', { initial: null }),
    outgoing_bps: column('detector_thresholds', 'outgoing_bps', { initial: null }),
    outgoing_pps: column('detector_thresholds', 'outgoing_pps', { initial: null }),
    min_seconds: column('detector_thresholds', 'min_seconds', { initial: null }),
    locked: column('detector_thresholds', 'locked', { initial: false }),
  },
  wakes: 'flows',
  check(context, elements): void {
    const held = heldPrefixes(context)
    for (const { path, element } of elements) {
      // A ratio alone would make any traffic of a new customer an attack.
      if (element.bps === undefined && element.pps === undefined)
        context.problem(path, 'bps or pps is required')
      const place = [...path, 'prefix']
      const value =
        element.prefix === undefined ? undefined : parsePrefixField(context, place, element.prefix)
      if (value !== undefined && !held.get(element.team)?.some((one) => covers(one, value)))
        context.problem(place, `team ${element.team} holds no prefix that covers ${value}`)
      if (element.prefix === undefined || value !== undefined)
        context.add(detectorThresholdKind, path, { ...element, prefix: value })
      else context.checkReferences(detectorThresholdKind, path, { ...element, prefix: value })
    }
  },
})

/** Holdings of teams after the document is applied, by their key: prefixes and announcements. */
function heldPrefixes(context: CheckContext): ReadonlyMap<string, readonly Prefix[]> {
  const held = [...fieldsOf(context, prefixKind), ...fieldsOf(context, announcementKind)]
  const groups = Map.groupBy(held, ({ team: slug }) => slug ?? '')
  const prefixesOf = (list: typeof held) => list.flatMap(({ prefix: value }) => value ?? [])
  return new Map([...groups].map(([slug, list]) => [slug, prefixesOf(list)]))
}

/** The fields of all elements of a kind that exist after the document is applied. */
function fieldsOf<F>(context: CheckContext, kind: Kind<F>): Readonly<Partial<F>>[] {
  const [rows, entries] = [context.rows(kind), context.entries(kind)]
  return [...context.keys(kind)].map(
    (key) => ({ ...rows.get(key)?.fields, ...entries.get(key)?.fields }) as Partial<F>,
  )
}
