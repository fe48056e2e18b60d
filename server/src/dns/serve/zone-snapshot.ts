// The served zones in a file of the data folder, from which a name server answers as soon as it starts, also while the database is away. The file is
// written aside and renamed, has the MAC of the key ring over all of it, and names its database. Any doubt means no file: the database has everything.
import { createHmac } from 'node:crypto'
import { readFile, type FileHandle } from 'node:fs/promises'
import type { Db } from '../../db/postgres.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { replaceFile } from '../../runtime/files.ts'
import { deriveKey, equalBytes, type KeyRing } from '../../runtime/secrets.ts'
import { EncodedZone } from '../answer/encoded-zone.ts'
import { decodeSignedRrsets, encodeSignedRrsets } from '../sign/rrset-list.ts'
import {
  lastPosition,
  listServedZones,
  readDatabaseId,
  readServedSets,
  withSnapshot,
  type ServedZoneRow,
} from './served.store.ts'

export type SnapshotZone = Pick<ServedZoneRow, 'id' | 'name' | 'kind' | 'serial' | 'claimed' | 'expires'> & {
  readonly soa: SignedRrset
  readonly content: EncodedZone
}

export type Snapshot = {
  /** Id of the database; undefined if unknown. */
  readonly database: string | undefined
  /** The last step of publication that the zones contain. */
  readonly position: number
  readonly zones: readonly SnapshotZone[]
}

const magic = Buffer.from('pharos-zones\0\0\0\x01', 'latin1')
const macLength = 32
/** The time for which name servers serve a zone without its primary (SOA expire). */
const maxAgeMs = 14 * 86_400_000
/** Octets per write. */
const chunkOctets = 1 << 20

/** Places in the file, from its beginning. */
type Part = { readonly at: number; readonly length: number }
type ZoneEntry = Omit<ServedZoneRow, 'published' | 'withdrawn' | 'claimed' | 'expires'> & {
  readonly claimed: string | null
  readonly expires: string | null
  readonly soa: Part
  readonly names: { readonly sets: Part; readonly starts: Part }
  readonly nsec3: { readonly sets: Part; readonly starts: Part }
}
type Index = {
  readonly database: string | null
  readonly written: string
  readonly position: number
  readonly zones: readonly ZoneEntry[]
}

/** Writes the published zones from one snapshot of the database. */
export async function writeSnapshot(db: Db, ring: KeyRing, file: string, now: Date): Promise<void> {
  // One name, whichever process wrote it: the file is large, and a killed process leaves it.
  await replaceFile(file, (handle) => writeZones(new Writer(handle, ring), db, now), {
    suffix: 'new',
    isDurable: true,
  })
}

async function writeZones(writer: Writer, db: Db, now: Date): Promise<void> {
  await withSnapshot(db, async (trx) => {
    const position = await lastPosition(trx)
    await writer.append(magic)
    const zones: ZoneEntry[] = []
    const rows = (await listServedZones(trx)).filter(({ withdrawn }) => withdrawn === null)
    for (const row of rows) {
      const entry = await writeZone(writer, row, readServedSets(trx, [row.id]))
      if (entry) zones.push(entry)
    }
    const database = (await readDatabaseId(trx)) ?? null
    const index: Index = { database, written: now.toISOString(), position, zones }
    const part = await writer.append(Buffer.from(JSON.stringify(index)))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(part.length)
    await writer.append(length)
  })
  await writer.finish()
}

/** The sets of a name follow each other. NSEC3 sets are between them and are written to a separate part. */
async function writeZone(
  writer: Writer,
  row: ServedZoneRow,
  sets: AsyncIterable<{ readonly set: SignedRrset }>,
): Promise<ZoneEntry | undefined> {
  const nsec3: SignedRrset[] = []
  let soa: SignedRrset | undefined
  const names = new PartWriter(writer)
  for await (const { set } of sets) {
    if (set.type === recordType.NSEC3) nsec3.push(set)
    else await names.add(set)
    if (set.type === recordType.SOA && set.name === row.name) soa = set
  }
  if (!soa) return undefined
  const namesPart = await names.finish()
  const chain = new PartWriter(writer)
  for (const set of nsec3) await chain.add(set)
  const { id, name, kind, serial, claimed, expires } = row
  return {
    id,
    name,
    kind,
    serial,
    claimed: claimed?.toISOString() ?? null,
    expires: expires?.toISOString() ?? null,
    names: namesPart,
    nsec3: await chain.finish(),
    soa: await writer.append(encodeSignedRrsets([soa])),
  }
}

/** Appends to the file, and to its MAC. */
class Writer {
  readonly #handle: FileHandle
  readonly #mac
  #at = 0
  #waiting: Buffer[] = []
  #octets = 0

  constructor(handle: FileHandle, ring: KeyRing) {
    this.#handle = handle
    this.#mac = createHmac('sha256', deriveKey(ring, 'zone-snapshot'))
  }

  get at(): number {
    return this.#at
  }

  async append(octets: Buffer): Promise<Part> {
    const part = { at: this.#at, length: octets.length }
    this.#at += octets.length
    this.#waiting.push(octets)
    this.#octets += octets.length
    if (this.#octets >= chunkOctets) await this.#flush()
    return part
  }

  async #flush(): Promise<void> {
    const chunk = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#octets = 0
    this.#mac.update(chunk)
    await this.#handle.appendFile(chunk)
  }

  async finish(): Promise<void> {
    await this.#flush()
    await this.#handle.appendFile(this.#mac.digest())
  }
}

class PartWriter {
  readonly #writer: Writer
  readonly #from: number
  readonly #starts: number[] = []
  #name: string | undefined

  constructor(writer: Writer) {
    this.#writer = writer
    this.#from = writer.at
  }

  async add(set: SignedRrset): Promise<void> {
    if (set.name !== this.#name) this.#starts.push(this.#writer.at - this.#from)
    this.#name = set.name
    await this.#writer.append(encodeSignedRrsets([set]))
  }

  async finish(): Promise<{ sets: Part; starts: Part }> {
    const sets = { at: this.#from, length: this.#writer.at - this.#from }
    const starts = Buffer.alloc(4 * this.#starts.length)
    for (const [at, start] of this.#starts.entries()) starts.writeUInt32LE(start, 4 * at)
    return { sets, starts: await this.#writer.append(starts) }
  }
}

/**
 * Returns the zones of the file; undefined if the file is missing, damaged, too old, of another version or under
 * another key.
 */
export async function readSnapshot(ring: KeyRing, file: string, now: Date): Promise<Snapshot | undefined> {
  const octets = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!octets || octets.length < magic.length + 4 + macLength) return undefined
  if (!octets.subarray(0, magic.length).equals(magic)) return undefined
  const content = octets.subarray(0, -macLength)
  const mac = createHmac('sha256', deriveKey(ring, 'zone-snapshot')).update(content).digest()
  if (!equalBytes(mac, octets.subarray(-macLength))) return undefined
  const length = content.readUInt32LE(content.length - 4)
  const index = JSON.parse(content.toString('utf8', content.length - 4 - length, content.length - 4)) as Index
  if (now.getTime() - Date.parse(index.written) > maxAgeMs) return undefined
  const partOf = ({ at, length: octetsOf }: Part): Buffer => octets.subarray(at, at + octetsOf)
  const namesOf = ({ sets, starts }: ZoneEntry['names']) => ({ sets: partOf(sets), starts: partOf(starts) })
  return {
    database: index.database ?? undefined,
    position: index.position,
    zones: index.zones.map(({ names, nsec3, soa, claimed, expires, ...zone }) => ({
      ...zone,
      claimed: claimed === null ? null : new Date(claimed),
      expires: expires === null ? null : new Date(expires),
      soa: decodeSignedRrsets(partOf(soa))[0]!,
      content: new EncodedZone(zone.name as ZoneName, namesOf(names), namesOf(nsec3)),
    })),
  }
}
