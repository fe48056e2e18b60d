// The oldest release that may run on the schema of the installation, and the processes that run now. `pharos migrate
// --finish` raises the floor: only from then on, Pharos writes values that older releases cannot read and removes
// columns that only they need.
import type { ClientBase } from 'pg'
import { compareVersions } from '../runtime/version.ts'
import { MigrationError } from './migration-file.ts'

/** A process that was killed leaves its row: after this time it counts as gone. */
const seenWithinSeconds = 60

/** Returns the oldest release that may run; null if every release may, or before the table exists. */
export async function readSchemaFloor(client: ClientBase): Promise<string | null> {
  if (!(await hasTable(client, 'installation'))) return null
  const { rows } = await client.query<{ floor: string | null }>(
    'select schema_floor as floor from installation',
  )
  return rows[0]?.floor ?? null
}

/** Never lowers the floor. */
export async function raiseSchemaFloor(client: ClientBase, version: string): Promise<void> {
  const floor = await readSchemaFloor(client)
  if (floor !== null && compareVersions(floor, version) >= 0) return
  if (await hasTable(client, 'installation'))
    await client.query('update installation set schema_floor = $1', [version])
}

/** Throws if this release is older than the floor. */
export async function assertFloor(client: ClientBase, version: string): Promise<void> {
  const floor = await readSchemaFloor(client)
  if (floor !== null && compareVersions(version, floor) < 0)
    throw new MigrationError(belowFloor(version, floor))
}

/** The message for a release that may not run any more. */
export const belowFloor = (version: string, floor: string): string =>
  `This is Pharos ${version}, and the upgrade of the database to ${floor} was finished. Start Pharos ${floor} or later, or restore the ` +
  'backup that was made before pharos migrate --finish.'

type Running = {
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly roles: readonly string[]
  readonly seconds: number
}

/** Throws if a process that is older than `version` runs, or was killed less than a minute ago. */
export async function assertNoneOlder(client: ClientBase, version: string): Promise<void> {
  if (!(await hasTable(client, 'processes'))) return
  const { rows } = await client.query<Running>(
    `select host, pid, version, roles, extract(epoch from now() - seen)::integer as seconds from processes
     where seen > now() - make_interval(secs => $1) order by host, pid`,
    [seenWithinSeconds],
  )
  const older = rows.filter((one) => compareVersions(one.version, version) < 0)
  if (older.length === 0) return
  const names = older.map(
    (one) =>
      `${one.host}:${one.pid} (Pharos ${one.version}, ${one.roles.join(', ')}, seen ${one.seconds} s ago)`,
  )
  throw new MigrationError(
    `Processes older than ${version} still run: ${names.join('; ')}. Replace or stop them first. One that was killed counts until ` +
      `${seenWithinSeconds} s after it was seen.`,
  )
}

async function hasTable(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
    name,
  ])
  return rows[0]!.known
}
