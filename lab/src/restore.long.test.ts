// A backup is restored under a running reconciler, on a real gobgpd with a BIRD peer: the peer sees no change before
// staff decide, even if gobgpd restarts in the meantime, and then exactly the decisions.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { patchAnnouncement } from '../../server/src/byoip/announcement/patch-announcement.ts'
import {
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
} from '../../server/src/byoip/announcement/testing.ts'
import { writeAudit } from '../../server/src/db/audit.ts'
import { createSealer } from '../../server/src/audit/sealer.ts'
import { createLastKnownRoutesFiles } from '../../server/src/byoip/regions/last-known-routes.ts'
import { createReconcilers } from '../../server/src/byoip/regions/reconcilers.ts'
import { settleRoutes } from '../../server/src/byoip/regions/settle-routes.ts'
import { openPostgres, type Postgres } from '../../server/src/db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../../server/src/db/testing.ts'
import { createWaker } from '../../server/src/db/wake.ts'
import { createGobgpSpeaker } from '../../server/src/drivers/gobgp/speaker.ts'
import { closeRestoreAs, decideRestoreAs } from '../../server/src/restore/decide.ts'
import { RestoreGate } from '../../server/src/restore/gate.ts'
import {
  findOpenRestore,
  saveDifferences,
  saveRestoreProblem,
  type RestoreRow,
} from '../../server/src/restore/restore.store.ts'
import { createWitnessFile } from '../../server/src/restore/witness.ts'
import { createLog } from '../../server/src/runtime/log.ts'
import { createMetrics } from '../../server/src/runtime/metrics.ts'
import { createKeyRing } from '../../server/src/runtime/secrets.ts'
import { createLab, type Lab } from './network.ts'
import { skipWithout } from './program.ts'
import { waitFor } from './wait.ts'

const owner = '64500:1:1'
const [kept, disabled, enabled] = ['10.1.0.0/24', '10.1.1.0/24', '10.1.2.0/24'] as const
const operator = { actor: 'operator' }
const ring = createKeyRing(['k'.repeat(32)])
const log = createLog({ logLevel: 'silent', logFormat: 'json' })

describe(
  'a restored backup',
  { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc'), timeout: 900_000 },
  () => {
    const stack = new AsyncDisposableStack()
    let lab: Lab
    let database: TestDatabase
    let name: string
    let postgres: Postgres
    let team: number
    const ids: Record<string, number> = {}

    before(async () => {
      lab = stack.use(await createLab({ regions: ['ams'], deferralSeconds: 12 }))
      database = stack.use(await createTestDatabase())
      name = /pharos_test_\w+/.exec(database.databaseUrl)![0]
      const region = (await seedRegions(database.postgres, ['ams'])).ams!
      team = await seedTeam(database.postgres, 'ours')
      for (const prefix of [kept, disabled, enabled])
        ids[prefix] = await seedAnnouncement(database.postgres, {
          teamId: team,
          prefix,
          enabled: prefix !== enabled,
          regions: [region],
        })
      await database.postgres.stop()
      stack.defer(() => admin(`drop database if exists ${name}_backup`))
      {
        // An installation that has run: a database that no process has used is no backup.
        await using running = await start()
        assert.ok(running)
        await writeAudit(postgres.owner, { teamId: null, actor: 'operator', action: 'test', target: 'test' })
        await waitFor('the first routes', async () => (await lab.birdRoutes('ams')).length === 2)
        await sealed()
      }
      await admin(`create database ${name}_backup template ${name}`)
      stack.use(await start())
      await waitFor('the first routes', async () => (await lab.birdRoutes('ams')).length === 2)
    })
    after(() => stack.disposeAsync())

    async function admin(...statements: readonly string[]): Promise<void> {
      const client = new Client(database.databaseUrl.replaceAll(name, 'postgres'))
      await client.connect()
      try {
        for (const statement of statements) await client.query(statement)
      } finally {
        await client.end()
      }
    }

    /** The parts of one process; they stop with the stack. */
    async function start(): Promise<AsyncDisposable> {
      const stack = new AsyncDisposableStack()
      postgres = stack.use(await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' }))
      const metrics = createMetrics()
      const waker = createWaker(postgres)
      await waker.start()
      stack.defer(() => waker.stop())
      const gate = new RestoreGate({
        db: postgres.owner,
        file: createWitnessFile(join(lab.folder, 'witness.json')),
        inform: async () => {},
        log,
        metrics,
      })
      const reconcilers = createReconcilers({
        postgres,
        waker,
        speakersOf: ({ slug }) => [
          {
            name: slug,
            speaker: createGobgpSpeaker({ address: lab.region('ams').apiAddress, owner }),
            routes: {},
          },
        ],
        lastKnownRoutes: createLastKnownRoutesFiles(join(lab.folder, 'reconciler'), ring),
        gate,
        report: async ({ region: source, ...found }) =>
          found.problem === null
            ? saveDifferences(postgres.owner, { area: 'routes', source, differences: found.routes })
            : saveRestoreProblem(postgres.owner, { area: 'routes', source, problem: found.problem }),
        log,
        metrics,
        intervalMs: 1_000,
      })
      for (const part of [gate, createSealer({ postgres, waker, ring, log, metrics }), reconcilers]) {
        await part.start?.()
        stack.defer(() => part.stop?.())
      }
      return stack
    }

    async function patch(prefix: string, isEnabled: boolean): Promise<void> {
      await patchAnnouncement(
        { postgres, memberToggle: true, now: () => new Date() },
        operationOf(team),
        ids[prefix]!,
        { enabled: isEnabled },
      )
    }

    const sealed = () =>
      waitFor('the seals', async () => {
        const { rows } = await sql`select from audit_unsealed`.execute(postgres.owner)
        return rows.length === 0
      })

    const routes = async () => (await lab.birdRoutes('ams')).map(({ prefix }) => prefix).sort()

    /** Two changes after the backup, remembered by the process, and then the backup in place of the database. */
    async function restoreAfterChanges(): Promise<RestoreRow> {
      await patch(disabled, false)
      await patch(enabled, true)
      await waitFor('the changes', async () => (await routes()).join() === [kept, enabled].join())
      await sealed()
      // Longer than the process needs to remember the last seal.
      const [{ at }] = (await sql<{ at: Date }>`select clock_timestamp() as at`.execute(postgres.owner))
        .rows as [{ at: Date }]
      const file = createWitnessFile(join(lab.folder, 'witness.json'))
      await waitFor('the witness', () => Date.parse(file.read()?.at ?? '') > at.getTime())
      await admin(`drop database ${name} with (force)`, `create database ${name} template ${name}_backup`)
      return compared()
    }

    const compared = () =>
      waitFor('the comparison', async () => {
        const open = await findOpenRestore(postgres.owner).catch(() => undefined)
        return open?.sources.every((one) => one.compared !== null) && open
      })

    async function decide(id: number, action: 'apply' | 'adopt'): Promise<void> {
      await decideRestoreAs({ db: postgres.owner }, operator, id, { area: 'routes', action })
      const nothing = async () => async () => {}
      const deps = {
        db: postgres.owner,
        now: () => new Date(),
        settle: {
          routes:
            async (items: Parameters<typeof settleRoutes>[3]) =>
            (...[trx, by, now]: [Parameters<typeof settleRoutes>[0], typeof operator, Date]) =>
              settleRoutes(trx, by, now, items),
          blackholes: nothing,
          shield: nothing,
          zones: nothing,
        },
      }
      await closeRestoreAs(deps, operator, id, {})
    }

    it('changes nothing at the peer, and nothing either if the network is adopted', async () => {
      const { id, areas } = await restoreAfterChanges()
      assert.deepEqual(areas, [{ area: 'routes', items: 2, undecided: 2, adoptable: 2 }])
      using seen = lab.watchBirdRoutes('ams')
      await decide(id, 'adopt')
      await waitFor('the states', async () => {
        const { rows } = await sql`
        select from announcement_regions where state not in ('announced', 'withdrawn')`.execute(
          postgres.owner,
        )
        return rows.length === 0
      })
      assert.deepEqual(seen.changes, [])
      assert.deepEqual(await routes(), [kept, enabled])
    })

    it('gives a restarted gobgpd what the database confirms, and the peer the backup once it is applied', async () => {
      await patch(enabled, false)
      await waitFor('the withdrawal', async () => (await routes()).join() === kept)
      const { id } = await restoreAfterChanges()
      await lab.killGobgpd('ams')
      await waitFor('the confirmed route', async () => (await routes()).join() === kept, {
        timeoutMs: 180_000,
      })
      assert.equal((await compared()).areas[0]?.items, 2)
      await decide(id, 'apply')
      await waitFor(
        'the routes of the backup',
        async () => (await routes()).join() === [kept, disabled].join(),
      )
    })
  },
)
