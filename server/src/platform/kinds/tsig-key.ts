// TSIG keys: secrets that the provider shares with name servers, and with teams for transfers of their zones.
import { limitZonesMax, type ZoneResource } from '@pharos/contract/resource-limit'
import { sql } from 'kysely'
import { Type, type Static } from 'typebox'
import type { Db, Trx } from '../../db/postgres.ts'
import {
  findZones,
  limitsOfTsigKey,
  replaceTsigKeyLimits,
  type LimitRow,
} from '../../limit/resource-limit.store.ts'
import { findResources, presentResources } from '../../limit/resources.ts'
import { parseNamePattern, printNamePattern } from '../../limit/zone-limit.ts'
import { NameError, parseName, type DomainName } from '../../net/dns/name.ts'
import { findType, isMetaType, typeName } from '../../net/dns/type.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, referenceById } from '../engine/field.ts'
import type { CheckContext, Create, Field, Objection, Secret, Update } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { FilePath, Flag, Optional, SecretText, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { sealedSecret } from '../engine/sealed-secret.ts'
import { insertRows, updateRow } from '../engine/table.store.ts'
import { teamKind } from './team.ts'

const algorithms = ['hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const

export const HostName = Type.String({
  minLength: 1,
  maxLength: 1020,
  expects: 'a domain name such as ns1.example.net',
})

const Resources = Strict({
  zones: Type.Array(
    Strict({
      zone: HostName,
      names: Optional(
        Type.Array(Text, { minItems: 1, maxItems: 100, expects: 'a list of names in the zone' }),
      ),
      types: Optional(Type.Array(Text, { minItems: 1, maxItems: 100, expects: 'a list of types' })),
    }),
    { minItems: 1, maxItems: limitZonesMax, expects: 'a list of {zone, names, types}' },
  ),
})
/** In the form in which they are stored; null: all zones of the team. */
type KeyResources = { readonly zones?: readonly ZoneResource[] } | null

const secret: Secret = {
  ...sealedSecret('secret', 'tsig-key', (text) => Buffer.from(text, 'base64')),
  objectionTo: (text) =>
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? undefined : 'the secret is not base64',
}

/** Returns the canonical name; reports a problem if the text is invalid. */
export function readHostName(context: CheckContext, path: Path, text: string): string | undefined {
  try {
    return parseName(text)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    context.problem(path, error.message)
    return undefined
  }
}

/**
 * Returns the key of an element with a host name, which can be written in several ways; the text itself if it is
 * invalid.
 */
export function hostNameKey(name: string): string {
  try {
    return parseName(name)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    return name
  }
}

const resources: Field<KeyResources> = {
  columns: ['is_limited', 'limits'],
  read: ({ limits }) => presentResources(limits as readonly LimitRow[] | null) as KeyResources,
  write: (value) => ({ is_limited: value !== null }),
  initial: null,
  isShown: true,
}

/** Returns them as they are read from the database; reports a problem for each part that is invalid. */
function readResources(
  context: CheckContext,
  path: Path,
  { zones }: Static<typeof Resources>,
): NonNullable<KeyResources> {
  return {
    zones: zones.flatMap(({ zone: text, names, types }, at) => {
      const place = [...path, 'zones', at]
      const zone = readHostName(context, [...place, 'zone'], text) as DomainName | undefined
      if (zone === undefined) return []
      if (!context.claim(`${path.join('.')} ${zone}`, place, `zone ${text} is listed twice`)) return []
      const patterns = names?.flatMap((one, nth) => readPattern(context, [...place, 'names', nth], one, zone))
      const numbers = types?.flatMap((one, nth) => readType(context, [...place, 'types', nth], one))
      return [
        {
          zone: zone === '.' ? zone : zone.slice(0, -1),
          ...(patterns && { names: [...new Set(patterns)] }),
          ...(numbers && { types: [...new Set(numbers)] }),
        },
      ]
    }),
  }
}

function readPattern(context: CheckContext, path: Path, text: string, zone: DomainName): string[] {
  try {
    return [printNamePattern(parseNamePattern(text, zone), zone)]
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    context.problem(path, error.message)
    return []
  }
}

function readType(context: CheckContext, path: Path, text: string): string[] {
  const type = findType(text)
  if (type !== undefined && type !== 0 && !isMetaType(type)) return [typeName(type)]
  context.problem(path, `${text} is not a type of record sets`)
  return []
}

type KeyFields = {
  readonly name: string
  readonly team: string | null
  readonly resources: KeyResources
}

/** Zones are created by their teams, not by the file. */
async function objectionsToZones(
  trx: Db | Trx,
  updates: readonly Update<KeyFields>[],
  created: readonly Create<KeyFields>[],
): Promise<readonly Objection[]> {
  const changed = updates.filter(({ fields }) => fields.resources !== undefined || fields.team !== undefined)
  const wanted = [
    ...created,
    ...changed.map(({ key, fields, row }) => ({ key, fields: { ...row.fields, ...fields } })),
  ]
  const objections: Objection[] = []
  for (const { key, fields } of wanted) {
    const names = fields.resources?.zones?.map(({ zone }) => parseName(zone)) ?? []
    if (names.length === 0) continue
    const teamId = await findTeamId(trx, fields.team)
    const found = teamId === null ? [] : await findZones(trx, teamId, [], names)
    const missing = names.filter((name) => !found.some((zone) => zone.name === name))
    for (const name of missing)
      objections.push({ key, field: 'resources', message: `team ${fields.team} has no zone ${name}` })
  }
  return objections
}

async function findTeamId(trx: Db | Trx, slug: string | null): Promise<number | null> {
  const team = await trx.selectFrom('teams').select('id').where('slug', '=', slug).executeTakeFirst()
  return team?.id ?? null
}

async function saveResources(
  trx: Trx,
  id: number,
  teamId: number | null,
  given: KeyResources,
): Promise<void> {
  // With the trailing dot, so that no name is read as an id.
  const zones = given?.zones?.map((one) => ({ ...one, zone: parseName(one.zone) })) ?? []
  const limits = teamId === null ? [] : await findResources(trx, teamId, { zones }, ['resources'])
  await replaceTsigKeyLimits(trx, teamId, id, limits)
}

export const tsigKeyKind = defineKind({
  name: 'tsig_key',
  plural: 'tsig_keys',
  section: 'tsig_keys',
  element: Strict({
    name: HostName,
    algorithm: Optional(Type.Enum([...algorithms], { expects: `one of ${algorithms.join(', ')}` })),
    secret: Optional(SecretText),
    secret_file: Optional(FilePath),
    team: Optional(TeamSlug),
    update: Optional(Flag),
    resources: Optional(Resources),
  }),
  table: {
    name: 'dns_tsig_keys',
    id: 'id',
    where: sql`t.managed_by = 'operator'`,
    select: { limits: sql`(select ${limitsOfTsigKey} from dns_tsig_keys k where k.id = t.id)` },
  },
  identity: ['name'],
  keyOf: ({ name }) => hostNameKey(name),
  fields: {
    name: column('dns_tsig_keys', 'name'),
    algorithm: column('dns_tsig_keys', 'algorithm', { initial: 'hmac-sha256', isShown: true }),
    update: column('dns_tsig_keys', 'may_update', { initial: false, isShown: true }),
    secret_sealed: mapped('dns_tsig_keys', ['secret_sealed'], {
      read: ({ secret_sealed: sealed }) => sealed.toString('hex'),
      write: (hex) => ({ secret_sealed: `\\x${hex}` }),
      secret,
    }),
    team: { ...referenceById('dns_tsig_keys', 'team_id', teamKind), initial: null } as unknown as Field<
      string | null
    >,
    resources,
  },
  objectionsTo: (trx, updates, created) => objectionsToZones(trx, updates, created),
  async create(trx, created, now): Promise<void> {
    const rows = await insertRows(trx, tsigKeyKind, created, now, { returning: ['id', 'name', 'team_id'] })
    for (const { fields } of created) {
      const row = rows.find(({ name }) => name === fields.name)!
      await saveResources(trx, row['id'] as number, row['team_id'] as number | null, fields.resources)
    }
  },
  async update(trx, change, now): Promise<void> {
    const { fields, row } = change
    const after = { ...row.fields, ...fields }
    const id = row.id as number
    const isOther = fields.resources !== undefined || fields.team !== undefined
    // The rows refer to zones of the former team.
    if (isOther) await saveResources(trx, id, null, null)
    await updateRow(trx, tsigKeyKind, change, now)
    if (isOther) await saveResources(trx, id, await findTeamId(trx, after.team), after.resources)
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { secret: text, secret_file: _file, resources: given, ...fields } = element
      const name = readHostName(context, [...path, 'name'], element.name)
      if (name === undefined) continue
      const objection = text === undefined ? undefined : secret.objectionTo!(text, fields)
      if (element.update === true && element.team === undefined)
        context.problem([...path, 'update'], 'needs `team`: a key changes the zones of its team')
      if (objection !== undefined) context.problem([...path, 'secret'], objection)
      const place = [...path, 'resources']
      if (given && element.team === undefined)
        context.problem(place, 'needs `team`: the zones are those of a team')
      const limited = given && { resources: readResources(context, place, given) }
      context.add(tsigKeyKind, path, { ...fields, ...limited, name })
      context.addSecret(tsigKeyKind, 'secret_sealed', { path, element: { ...element, name } })
    }
  },
})
