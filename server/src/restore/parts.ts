// Wires restores: the gate of the process, and the settlement of staff decisions.
import { join } from 'node:path'
import { settleBlackholes, settleRoutes } from '../byoip/regions/settle-routes.ts'
import type { Db, Postgres } from '../db/postgres.ts'
import { connectObserver } from '../dns/observe.parts.ts'
import { listServers } from '../dns/publish/observe.store.ts'
import { settleZones, type ReadZone } from '../dns/publish/settle-zones.ts'
import type { Mounted } from '../http/mount.ts'
import type { Shared } from '../process/shared.ts'
import { publicUrl, type Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { DecideDeps } from './decide.ts'
import { RestoreGate } from './gate.ts'
import { informStaff } from './inform.ts'
import { restoreRoutes } from './restore.routes.ts'
import { createWitnessFile } from './witness.ts'

export const routes = ({ config, postgres, front }: Shared): Mounted[] =>
  restoreRoutes(decideDeps(config, postgres, front))

export const createRestoreGate = (
  config: Config,
  postgres: Postgres,
  log: Log,
  metrics: Metrics,
): RestoreGate =>
  new RestoreGate({
    db: postgres.owner,
    file: createWitnessFile(join(config.dataDir, 'witness.json')),
    inform: informOf(config),
    log,
    metrics,
  })

export const informOf = (config: Config) =>
  informStaff({
    ring: config.secret,
    publicUrl: publicUrl(config),
    recipients: config.operatorAlertEmails,
  })

/** `db`: with the rights of the owner of the tables. */
export const decideDeps = (config: Config, postgres: Postgres, db: Db): DecideDeps => ({
  db,
  now: () => new Date(),
  settle: {
    routes: async (items) => (trx, by, now) => settleRoutes(trx, by, now, items),
    blackholes: async (items) => (trx, by) => settleBlackholes(trx, by, items),
    // The guard of each scrubber has the last word.
    shield: async () => async () => {},
    zones: (items) => settleZones(readZoneOf(config, postgres), items),
  },
})

const readZoneOf =
  (config: Config, postgres: Postgres): ReadZone =>
  async (name, zone) => {
    const server = (await listServers(postgres.owner)).find((one) => one.name.replace(/\.$/, '') === name)
    if (!server) throw new Error(`the name server ${name} does not exist`)
    const client = connectObserver({ config, postgres }, server)
    try {
      return await Array.fromAsync(client.read(zone))
    } finally {
      await client.close()
    }
  }
