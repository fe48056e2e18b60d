// Reads NetBox as a platform document and plans it with the planner of the platform file. An empty answer is an error, not an empty
// inventory.
import type { Db } from '../db/postgres.ts'
import type { NetboxClient } from '../drivers/netbox/client.ts'
import type { NetboxMapping } from '../drivers/netbox/mapping.ts'
import { readObjects } from '../drivers/netbox/read-objects.ts'
import { toEntries, type NetboxElement, type NetboxDocument } from '../drivers/netbox/to-entries.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { preparePlatform, readCurrent, type Prepared } from './engine/apply.ts'
import { rowsByKey } from './engine/define-kind.ts'
import { documentOf, type PlatformDocument } from './engine/document.ts'
import type { Current, Kind, PlanOptions, Row } from './engine/kind.ts'
import { deviceKind } from './kinds/device.ts'
import { locationKind } from './kinds/location.ts'
import { platformKinds } from './kinds/index.ts'
import { portKind } from './kinds/port.ts'
import { serviceKind } from './kinds/service.ts'
import { teamKind } from './kinds/team.ts'
import { managerOf } from './engine/plan.ts'
import type { Path } from './engine/problem.ts'
import type { SecretDeps } from './engine/secrets.ts'

export type NetboxSource = { readonly client: NetboxClient; readonly mapping: NetboxMapping }

/** Only reads. Throws a DriverError if NetBox was not read completely, a PlatformError if an object is not accepted. */
export async function prepareImport(
  db: Db,
  { client, mapping }: NetboxSource,
  options: Omit<PlanOptions, 'source'>,
  signal: AbortSignal,
): Promise<Prepared> {
  const objects = await readObjects(client, mapping, signal)
  const current = await readCurrent(platformKinds, db)
  const managed = (kind: string) => managedKeys(current, platformKinds.get(kind), true).length
  if (objects.devices.length === 0 && managed('device') > 0) throw emptyList('devices', managed('device'))
  if (objects.circuits.length === 0 && managed('service') > 0) throw emptyList('circuits', managed('service'))
  const ports = [...rowsByKey(current, portKind).values()]
  const existing = {
    teams: new Set(rowsByKey(current, teamKind).keys()),
    ports: new Map(ports.map(({ key, fields }) => [`${fields.device} ${fields.interface}`, key])),
    portsByRef: new Map(
      ports
        .filter((row) => managerOf(row as unknown as Row) === 'netbox')
        .map(({ key, fields }) => [fields.external_ref, key]),
    ),
    locations: new Set(managedKeys(current, locationKind as unknown as Kind, false)),
  }
  const { document, notices } = toEntries(objects, existing, mapping)
  const prepared = await preparePlatform(platformKinds, db, documentOfNetbox(document), noSecrets, {
    ...options,
    source: 'netbox',
    renamed: new Map([
      ...renamedKeys(current, platformKinds.get(deviceKind.name), document.devices, ({ name }) =>
        String(name),
      ),
      ...renamedKeys(
        current,
        platformKinds.get(serviceKind.name),
        document.services,
        ({ team: slug, name }) => `${String(slug)} ${String(name)}`,
      ),
    ]),
  })
  return { ...prepared, plan: { ...prepared.plan, notices: [...notices, ...prepared.plan.notices] } }
}

/** The new keys of imported rows whose object in NetBox, which keeps its id, has got another name that is free. */
function renamedKeys(
  current: Current,
  kind: Kind,
  elements: readonly NetboxElement[],
  keyOf: (element: NetboxElement) => string,
): [string, string][] {
  const rows = rowsByKey(current, kind)
  const wanted = new Map(elements.map((element) => [element['external_ref'], keyOf(element)]))
  const moves = [...rows.values()].flatMap((row): [string, string][] => {
    const key = wanted.get(row.fields['external_ref'])
    const isRenamed = key !== undefined && key !== row.key && managerOf(row) === 'netbox'
    return isRenamed ? [[row.key, key]] : []
  })
  const leaving = new Set(moves.map(([from]) => from))
  const isSameTeam = ([from, to]: [string, string]) =>
    kind.name !== serviceKind.name || from.split(' ')[0] === to.split(' ')[0]
  return moves
    .filter((move) => isSameTeam(move) && (!rows.has(move[1]) || leaving.has(move[1])))
    .map(([from, to]) => [`${kind.name} ${from}`, to])
}

/** The keys of the rows that the import manages, or of the others. */
const managedKeys = (current: Current, kind: Kind, isManaged: boolean): string[] =>
  [...rowsByKey(current, kind).values()]
    .filter((row) => (managerOf(row) === 'netbox') === isManaged)
    .map(({ key }) => key)

function emptyList(noun: string, imported: number): DriverError {
  return new DriverError(
    'protocol',
    `NetBox returned no ${noun}, and ${imported} are imported: check netbox_device_filter and the permissions of the token`,
  )
}

/** Problems name the object, such as `netbox:device:17`. */
function documentOfNetbox(value: NetboxDocument): PlatformDocument {
  const referenceAt = ([section, at]: Path): string | undefined => {
    const element = value[section as keyof NetboxDocument]?.[at as number]
    return element && String(element['external_ref'] ?? element['key'])
  }
  return {
    ...documentOf('netbox', value),
    locate: (problem) => {
      const reference = referenceAt(problem.path)
      return reference === undefined ? problem : { ...problem, message: `${reference}: ${problem.message}` }
    },
  }
}

const noSecrets = {
  readText: () => {
    throw new Error('an import has no files')
  },
} as unknown as SecretDeps
