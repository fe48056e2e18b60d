// The published zone as rows, for signing a change of it: each call is one query at most.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { nameFromKey, nameKey, type DomainName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import type { ServedIndex } from './served-index.ts'

type Row = {
  readonly name_key: Buffer
  readonly type: number
  readonly ttl: number
  readonly rdata: Buffer[]
  readonly rrsig: Buffer[]
}

const columns = sql`s.name_key, s.type, s.ttl, s.rdata, s.rrsig`

const setOf = ({ name_key, type, ttl, rdata, rrsig }: Row): SignedRrset => ({
  name: nameFromKey(name_key),
  type,
  ttl,
  rdata,
  rrsig,
})

const keyOf = (name: DomainName): Buffer => Buffer.from(nameKey(name))

/** Returns the first key after all names below: the label's end, 0x00, raised by one. The root has no end. */
function endBelow(key: Buffer): Buffer {
  if (key.length === 0) return Buffer.alloc(1, 0xff)
  const end = Buffer.from(key)
  end[end.length - 1] = 1
  return end
}

/** Reads each name once. */
export function servedRows(db: Db | Trx, zoneId: number): ServedIndex {
  const known = new Map<DomainName, SignedRrset[]>()
  const read = async (names: readonly DomainName[]): Promise<void> => {
    const { rows } = await sql<Row>`/* kept */
      select ${columns} from dns_served s
      where s.zone_id = ${zoneId} and s.name_key = any(${names.map(keyOf)}::bytea[])`.execute(db)
    for (const name of names) known.set(name, [])
    for (const set of rows.map(setOf)) known.get(set.name)!.push(set)
  }
  return {
    async at(names) {
      const unknown = names.filter((name) => !known.has(name))
      if (unknown.length > 0) await read(unknown)
      const found = names.map((name) => [name, known.get(name)!] as const)
      return new Map(found.filter(([, sets]) => sets.length > 0))
    },
    async below(name) {
      const key = keyOf(name)
      const { rows } = await sql<Row>`
        select ${columns} from dns_served s
        where s.zone_id = ${zoneId} and s.name_key > ${key} and s.name_key < ${endBelow(key)}`.execute(db)
      return rows.map(setOf)
    },
    async withNamesBelow(names, except) {
      const keys = names.map(keyOf)
      const { rows } = await sql<{ place: number }>`
        select n.place::integer from unnest(${keys}::bytea[], ${keys.map(endBelow)}::bytea[])
          with ordinality n (key, end_key, place)
        where exists (select from dns_served s where s.zone_id = ${zoneId} and s.name_key > n.key
          and s.name_key < n.end_key and s.name_key <> all(${[...except].map(keyOf)}::bytea[]))`.execute(db)
      return new Set(rows.map(({ place }) => names[place - 1]!))
    },
    async previousInChain(type, names) {
      if (names.length === 0) return new Map()
      const last = sql`
        select ${columns} from dns_served s where s.zone_id = ${zoneId} and s.type = ${type} and s.type in (47, 50)`
      const { rows } = await sql<Row & { place: number }>`
        select n.place::integer, p.* from unnest(${names.map(keyOf)}::bytea[]) with ordinality n (key, place)
        cross join lateral (
          (select * from (${last} and s.name_key < n.key order by s.name_key desc limit 1) b)
          union all (select * from (${last} order by s.name_key desc limit 1) l) limit 1) p`.execute(db)
      return new Map(rows.map(({ place, ...row }) => [names[place - 1]!, setOf(row)]))
    },
  }
}
