// The demo platform: demo/platform.yaml is applied like any platform file, and the recorded deliveries of 30 days are
// queued, so that the collector creates the events. It must not change a database with other teams.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Postgres } from '../../server/src/db/postgres.ts'
import { wake } from '../../server/src/db/wake.ts'
import { applyPlatform, preparePlatform } from '../../server/src/platform/engine/apply.ts'
import { parseYaml } from '../../server/src/platform/engine/document.ts'
import { platformKinds } from '../../server/src/platform/kinds/index.ts'
import { fail } from '../../server/src/runtime/error.ts'
import type { ClaimedReport } from '../../server/src/report/mailed-report.store.ts'
import type { KeyRing } from '../../server/src/runtime/secrets.ts'
import { addDemoAlerts } from './demo-alerts.ts'
import { addDemoInventory } from './demo-inventory.ts'
import { subscribeToReport } from './demo-report.ts'
import { addDemoZones } from './demo-zones.ts'
import { createPartitionsSince, findOtherTeam, insertPastDeliveries } from './demo.store.ts'
import { playRecording } from './history.ts'

const folder = new URL('../', import.meta.url)

/** The path of a file of the demo. */
export const demoFile = (name: string): string => fileURLToPath(new URL(name, folder))

const readDemo = (name: string): string => readFileSync(demoFile(name), 'utf8')

/** The accounts of demo/platform.yaml, for the welcome text. */
export const demoAccounts: readonly { readonly email: string; readonly description: string }[] = [
  { email: 'demo@demo.example', description: 'admin of "Demo Networks"' },
  { email: 'other@demo.example', description: 'admin of "Other Networks"' },
  { email: 'staff@demo.example', description: 'staff of the provider: sees all teams, decides approvals' },
  { email: 'network@demo.example', description: 'role Network in "Demo Networks"' },
  { email: 'dns@demo.example', description: 'role DNS in "Demo Networks"' },
  { email: 'reader@demo.example', description: 'role Reader in "Demo Networks"' },
]

/** The deliveries of the 30 days before `now`. */
export const demoHistory = (now: Date) => playRecording(readDemo('attacks.jsonl'), now)

/** The demo is its own name server, on whatever port it listens; port 0 is not known yet. */
function withPort(platform: string, listen = ''): string {
  const port = listen.slice(listen.lastIndexOf(':') + 1)
  return port === '' || port === '0' ? platform : platform.replace('port: 8053', `port: ${port}`)
}

/**
 * Creates the demo platform, or keeps an existing one with its changes and the history of its first start. At the first
 * start, returns last month's report, which waits for its traffic. Throws `conflict` if the database has teams that are
 * not in the demo.
 */
export async function prepareDemo(
  postgres: Postgres,
  { secret: ring, dnsListen }: { readonly secret: KeyRing; readonly dnsListen?: string },
  now: Date,
): Promise<ClaimedReport | undefined> {
  const { owner } = postgres
  const document = parseYaml(demoFile('platform.yaml'), withPort(readDemo('platform.yaml'), dnsListen))
  const options = { prune: false, enforce: false }
  const prepared = await preparePlatform(
    platformKinds,
    owner,
    document,
    { ring, readText: readDemo },
    options,
  )
  const teams = prepared.desired.entries.filter(({ kind }) => kind === 'team').map(({ key }) => key)
  const other = await findOtherTeam(owner, teams)
  if (other !== undefined) throw fail('conflict', 'demoDatabase', { team: other })
  await applyPlatform(platformKinds, owner, prepared, now)
  await owner.transaction().execute(async (trx) => {
    const history = demoHistory(now)
    await createPartitionsSince(trx, history[0]!.received, now)
    if ((await insertPastDeliveries(trx, history)) > 0) await wake(trx, 'deliveries')
  })
  await addDemoInventory(owner, readDemo)
  await addDemoAlerts(owner)
  await addDemoZones(postgres, ring, now, readDemo)
  return subscribeToReport(postgres, now)
}
