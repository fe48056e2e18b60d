// Announcements: prefixes that teams have announced. `enabled` and `regions` belong to the team once a row exists, so
// that applying a file again keeps the team's changes.
import { sql } from 'kysely'
import { Type, type Static } from 'typebox'
import { bogonOf } from '../../net/bogon.ts'
import { parsePrefix, prefixParts, type Prefix } from '../../net/prefix.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, referenceById, selected } from '../engine/field.ts'
import type { CheckContext, Field } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import {
  AsnNumber,
  Flag,
  Optional,
  Passed,
  PrefixText,
  ShortSlug,
  Strict,
  TeamSlug,
  Text,
} from '../engine/schema.ts'
import { asnKind } from './asn.ts'
import {
  insertPlatformAnnouncements,
  deletePlatformAnnouncement,
  objectionsToTransfers,
  updateAnnouncement,
} from './announcement.store.ts'
import { regionKind } from './region.ts'
import { teamKind } from './team.ts'
import { noticeReserved, readPassed, parsePrefixField, toPassed, toTime, type PassedAt } from './values.ts'

const validationNames = ['irr', 'rpki', 'loa'] as const

const AnnouncementElement = Strict({
  team: TeamSlug,
  prefix: PrefixText,
  origin_asn: AsnNumber,
  description: Optional(Text),
  regions: Optional(
    Type.Array(ShortSlug, { uniqueItems: true, expects: 'a list of different region slugs' }),
  ),
  enabled: Optional(Flag),
  suspended: Optional(Flag),
  validated: Optional(
    Type.Union(
      [Type.Boolean(), Strict({ irr: Optional(Passed), rpki: Optional(Passed), loa: Optional(Passed) })],
      { expects: 'true, false, or {irr, rpki, loa} with true, false or a time each' },
    ),
  ),
})

type AnnouncementElement = Static<typeof AnnouncementElement>

const validated = (name: 'irr_validated' | 'rpki_validated' | 'loa_validated'): Field<PassedAt> =>
  mapped('announcements', [name], {
    read: (row): PassedAt => toPassed(row[name]),
    write: (passed, now) => ({ [name]: toTime(passed, now) }),
    initial: false,
    isShared: true,
  })

/** The slugs of the announcement's regions in order. */
const slugsOf = (condition: ReturnType<typeof sql>) => sql`array(
  select r.slug from announcement_regions ar join regions r on r.id = ar.region_id
  where ar.announcement_id = t.id and ${condition} order by r.slug collate "C")`

export const announcementKind = defineKind({
  name: 'announcement',
  plural: 'announcements',
  section: 'announcements',
  element: AnnouncementElement,
  table: {
    name: 'announcements',
    id: 'id',
    select: {
      regions: slugsOf(sql`ar.configured`),
      known_regions: slugsOf(sql`true`),
      managed_by: sql.ref('t.managed_by'),
      is_withdrawn: sql`not t.enabled and not exists (
        select from announcement_regions ar where ar.announcement_id = t.id and ar.state <> 'withdrawn')`,
    },
    where: sql`t.deleted is null and (t.claimed is not null
      or t.managed_by = 'operator' and not exists (
        select from announcements o where o.prefix = t.prefix and o.claimed is not null and o.deleted is null))`,
  },
  identity: ['prefix'],
  fields: {
    team: referenceById('announcements', 'team_id', teamKind),
    prefix: mapped('announcements', ['prefix'], {
      read: ({ prefix }) => parsePrefix(prefix),
      write: (prefix) => ({ prefix }),
    }),
    origin_asn: column('announcements', 'origin_asn', { isShown: true }),
    description: column('announcements', 'description', { initial: '', isShared: true }),
    suspended: mapped('announcements', ['suspended'], {
      read: ({ suspended }) => suspended,
      write: (suspended) => ({ suspended, suspended_by: suspended ? 'staff' : null }),
      initial: false,
      isShared: true,
    }),
    irr: validated('irr_validated'),
    rpki: validated('rpki_validated'),
    loa: validated('loa_validated'),
    // Both are written together with the states of the regions and the status, by saveAnnouncement().
    enabled: { ...column('announcements', 'enabled', { initial: false, isShown: true }), write: () => ({}) },
    regions: selected<readonly string[]>('regions', {
      initial: [],
      isShown: true,
      reference: { kind: regionKind, isId: false },
    }),
  },
  disabled: { enabled: false },
  stateOf: ({ known_regions, managed_by, is_withdrawn }) => ({
    inUse: is_withdrawn ? null : 'it must be withdrawn first; apply again once it is',
    alsoRefersTo: (known_regions as readonly string[]).map((slug) => `region ${slug}`),
    isPrunable: managed_by === 'operator',
    setByOwner: ['enabled', 'regions'],
  }),
  wakes: 'announcements',
  outsideOfPortal: 'announcements belong to teams, which create them with checks of their own',
  check(context, elements): void {
    const openRegions = findOpenRegions(context)
    for (const { path, element } of elements) {
      noticeReserved(context, [...path, 'origin_asn'], element.origin_asn)
      const { validated: given, ...rest } = element
      const validations = readValidations(context, [...path, 'validated'], given)
      const prefix = parsePrefixField(context, [...path, 'prefix'], element.prefix)
      checkRegions(context, path, { ...element, prefix }, openRegions)
      const fields = { ...rest, prefix, regions: element.regions?.toSorted(), ...validations }
      if (prefix === undefined) {
        context.checkReferences(announcementKind, path, { ...fields, regions: element.regions })
        continue
      }
      checkPrefix(context, path, element, prefix)
      checkEnabled(context, path, element, prefix, validations)
      context.add(announcementKind, path, fields)
    }
  },
  objectionsTo: objectionsToTransfers,
  create(trx, created, now): Promise<void> {
    return insertPlatformAnnouncements(trx, announcementKind, created, now)
  },
  update(trx, change, now): Promise<void> {
    return updateAnnouncement(trx, announcementKind, change, now)
  },
  delete: deletePlatformAnnouncement,
})

/** The regions that accept announcements once the document is applied; a region with a wrong shape counts as open. */
function findOpenRegions(context: CheckContext): ReadonlySet<string> {
  const [rows, entries] = [context.rows(regionKind), context.entries(regionKind)]
  // A region of the document without `open` is open: a closed region is opened again.
  const isOpen = (slug: string) => (entries.get(slug) ?? rows.get(slug))?.fields.open ?? true
  return new Set([...context.keys(regionKind)].filter(isOpen))
}

/** A closed region accepts no new announcements; an existing one may stay in the list. */
function checkRegions(
  context: CheckContext,
  path: Path,
  { regions, enabled, prefix }: Omit<AnnouncementElement, 'prefix'> & { readonly prefix: Prefix | undefined },
  openRegions: ReadonlySet<string>,
): void {
  const before = (prefix && context.rows(announcementKind).get(prefix)?.fields.regions) ?? []
  for (const [at, slug] of (regions ?? []).entries()) {
    if (context.exists(regionKind, slug) && !openRegions.has(slug) && !before.includes(slug))
      context.problem([...path, 'regions', at], `region ${slug} is not open`)
  }
  if (enabled && regions === undefined && openRegions.size === 0)
    context.problem([...path, 'enabled'], 'enabled needs a region, and none is open')
}

function checkPrefix(context: CheckContext, path: Path, element: AnnouncementElement, prefix: Prefix): void {
  const holder = context.rows(announcementKind).get(prefix)?.fields.team
  if (holder !== undefined && holder !== element.team && !isVerifiedFor(context, element)) {
    const fix = `add AS${element.origin_asn} of ${element.team} to asns with verified: true`
    context.problem([...path, 'team'], `${prefix} is an announcement of team ${holder}; to move it, ${fix}`)
  }
  const { family, length } = prefixParts(prefix)
  const lengthMax = family === 4 ? 24 : 48
  if (length > lengthMax) {
    const reason = 'other networks do not accept it'
    context.problem([...path, 'prefix'], `${prefix} is longer than /${lengthMax}: ${reason}`)
  }
  const bogon = bogonOf(prefix)
  if (bogon && !bogon.documentation)
    context.notice([...path, 'prefix'], `${prefix} overlaps ${bogon.block}, ${bogon.name}`)
}

/** Whether the ASN is verified for the team once the document is applied. */
function isVerifiedFor(
  context: CheckContext,
  { team: slug, origin_asn }: Pick<AnnouncementElement, 'team' | 'origin_asn'>,
): boolean {
  const key = `${slug} AS${origin_asn}`
  const named = context.entries(asnKind).get(key)?.fields.verified
  return Boolean(named === undefined ? context.rows(asnKind).get(key)?.fields.verified : named)
}

type Validations = { readonly [N in (typeof validationNames)[number]]?: PassedAt | undefined }

function checkEnabled(
  context: CheckContext,
  path: Path,
  { enabled, regions }: AnnouncementElement,
  prefix: Prefix,
  validations: Validations,
): void {
  if (!enabled) return
  const before = context.rows(announcementKind).get(prefix)?.fields
  const missing = validationNames.filter((name) => !(validations[name] ?? before?.[name]))
  if (missing.length > 0) {
    const fix = 'set enabled: false, or validated: true if you vouch for them'
    context.problem(
      [...path, 'enabled'],
      `enabled needs all validations, and ${missing.join(', ')} did not pass; ${fix}`,
    )
  }
  if (regions?.length === 0) {
    const fix = 'remove the field regions for all that are open'
    context.problem([...path, 'regions'], `enabled needs a region; ${fix}`)
  }
}

function readValidations(
  context: CheckContext,
  path: Path,
  given: AnnouncementElement['validated'],
): Validations {
  if (given === undefined) return {}
  if (typeof given === 'boolean') return { irr: given, rpki: given, loa: given }
  return Object.fromEntries(
    validationNames.map((name) => [name, readPassed(context, [...path, name], given[name])]),
  )
}
