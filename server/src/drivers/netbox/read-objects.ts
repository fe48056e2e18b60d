// Reads the objects to import from NetBox: devices by the filter, their sites, circuits with their terminations, and
// only interfaces that can be ports, because NetBox needs seconds for a thousand interfaces. It only reads, and throws
// a DriverError unless everything was read.
import type { Static, TSchema } from 'typebox'
import { DriverError } from '../../runtime/driver-error.ts'
import { NetboxRejection, type NetboxClient } from './client.ts'
import type { NetboxMapping } from './mapping.ts'
import { Circuit, CircuitTermination, Device, Interface, Site } from './objects.ts'
import type { NetboxObjects } from './to-entries.ts'

/** Ids in one request: the URL stays below 4 kB. */
const idsAtOnce = 100

export async function readObjects(
  client: NetboxClient,
  mapping: NetboxMapping,
  signal: AbortSignal,
): Promise<NetboxObjects> {
  const read = async <S extends TSchema>(
    path: string,
    schema: S,
    query: readonly (readonly [string, string])[] = [],
  ): Promise<Static<S>[]> => {
    const rows: Static<S>[] = []
    for await (const row of client.list(path, query, schema, signal)) rows.push(row)
    return rows
  }
  // The configuration context takes NetBox longer than all other fields.
  const devices = await read('dcim/devices', Device, [...mapping.deviceFilter, ['exclude', 'config_context']])
  const deviceIds = new Set(devices.map(({ id }) => id))
  const sites = await read('dcim/sites', Site)
  const circuits = await read('circuits/circuits', Circuit)
  const terminations = await read('circuits/circuit-terminations', CircuitTermination)
  const byId = new Map<number, Interface>()
  const tagged = await unlessTagIsMissing(read('dcim/interfaces', Interface, [['tag', mapping.portTag]]))
  for (const one of tagged ?? []) byId.set(one.id, one)
  const cabled = terminations
    .filter(({ link_peers_type: type }) => type === 'dcim.interface')
    .flatMap(({ link_peers: peers }) => peers.filter(({ device }) => deviceIds.has(device?.id ?? 0)))
    .map(({ id }) => id)
  const missing = [...new Set(cabled)].filter((id) => !byId.has(id))
  for (let at = 0; at < missing.length; at += idsAtOnce) {
    const wanted = missing.slice(at, at + idsAtOnce)
    const found = await read(
      'dcim/interfaces',
      Interface,
      wanted.map((id) => ['id', String(id)] as const),
    )
    for (const one of found) byId.set(one.id, one)
    const lost = wanted.find((id) => !byId.has(id))
    if (lost !== undefined)
      throw new DriverError(
        'protocol',
        `dcim/interfaces ${lost}: a circuit ends there, but it is not in the list`,
      )
  }
  const interfaces = [...byId.values()].toSorted((a, b) => a.id - b.id)
  const missingTag = tagged === undefined ? mapping.portTag : undefined
  return { sites, devices, circuits, terminations, interfaces, missingTag }
}

/** NetBox rejects the filter by a tag that does not exist: then no interface has it. */
async function unlessTagIsMissing<T>(list: Promise<T>): Promise<T | undefined> {
  try {
    return await list
  } catch (error) {
    if (error instanceof NetboxRejection && error.parameters.includes('tag')) return undefined
    throw error
  }
}
