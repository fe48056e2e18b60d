// Refuses a new key, or another one, beside values that only the lost key opens.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { acceptLostValues, findLostValues, LostKeyError, type LostValues } from '../db/lost-keys.ts'
import { openPostgres, type Db } from '../db/postgres.ts'
import type { Environment } from '../runtime/config.ts'
import { Failure } from '../runtime/error.ts'
import type { Log } from '../runtime/log.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { readKeylessConfiguration } from './configuration.ts'

/** The option of `serve` and `start`. */
export const acceptOption = { 'accept-lost-secrets': { type: 'boolean', default: false } } as const

/**
 * Call it before the configuration is read, which creates a missing key file. Returns the values of an existing database that only the
 * missing key opens; throws if there are some and their loss is not accepted.
 */
export async function checkKeyFile(env: Environment, { isAccepted = false } = {}): Promise<LostValues[]> {
  const { databaseUrl, dataDir, newSecretPath: path } = readKeylessConfiguration(env)
  const isNew = databaseUrl === null && !existsSync(join(dataDir, 'postgres'))
  if (path === undefined || isNew) return []
  const postgres = await openPostgres({ databaseUrl: databaseUrl ?? undefined, dataDir })
  try {
    const lost = await findLostValues(postgres.owner, null)
    if (lost.length === 0 || isAccepted) return lost
    throw new LostKeyError(
      `The key file ${path} is missing, and the database contains values under its key. Restore the file from a backup, or set ` +
        `PHAROS_SECRET as for the other processes. ${withoutThem(lost)}`,
    )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new LostKeyError(
      `There is no key file ${path}, and the database does not answer: a new key is created only when it contains no values under another ` +
        'one. Start Pharos again when the database answers, or set PHAROS_SECRET.',
    )
  } finally {
    await postgres.stop()
  }
}

/** Throws if the ring opens no value of some kind. If their loss is accepted, reports them, and does not refuse them again. */
export async function checkKeys(
  db: Db,
  ring: KeyRing,
  { isAccepted, log }: { readonly isAccepted: boolean; readonly log: Log },
): Promise<void> {
  const lost = await findLostValues(db, ring)
  if (lost.length === 0) return
  if (!isAccepted) {
    throw new LostKeyError(
      'No key of PHAROS_SECRET opens some values of the database. Add the key under which they were sealed, or use the key file of this ' +
        `installation. ${withoutThem(lost)}`,
    )
  }
  reportLost(log, lost)
  await acceptLostValues(db, ring)
}

/** Logs each kind with its effect. */
export function reportLost(log: Log, lost: readonly LostValues[]): void {
  for (const { noun, count, effect } of lost)
    log.warn({ values: noun, count, effect }, 'loss of values under a lost key accepted')
}

const withoutThem = (lost: readonly LostValues[]): string =>
  'If the key is lost, pharos serve --accept-lost-secrets starts without it:\n' +
  lost.map(({ noun, count, effect }) => `  ${noun} (${count}): ${effect}\n`).join('')
