// The demo platform: demo/platform.yaml is applied like any operator's file, and 30 days of deliveries are put where
// deliveries wait, so that the loop that reads them makes the events. It must not touch a database of somebody else.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Postgres } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { fail } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { applyPlatform, preparePlatform } from './apply.ts'
import { demoHistory } from './demo-history.ts'
import { createPartitionsSince, insertPastDeliveries } from './demo.store.ts'
import { listTeamSlugs } from './team.store.ts'

const file = fileURLToPath(new URL('../../../demo/platform.yaml', import.meta.url))

/** The accounts of demo/platform.yaml, for the welcome text. */
export const demoAccounts: readonly { readonly email: string; readonly what: string }[] = [
  { email: 'demo@demo.example', what: 'admin of "Demo Networks"' },
  { email: 'other@demo.example', what: 'admin of "Other Networks"' },
  { email: 'staff@demo.example', what: 'staff of the provider: sees all teams, decides holds' },
]

/**
 * Makes the demo platform, or leaves it as it is where it is there already: what was switched stays switched, and the
 * history is that of the first start. Throws `conflict` where the database holds teams that are not of the demo.
 */
export async function prepareDemo(
  postgres: Postgres,
  { secret }: { readonly secret: KeyRing },
  now: Date,
): Promise<void> {
  const platform = { name: file, text: readFileSync(file, 'utf8'), readText: noFiles }
  const options = { prune: false, enforce: false }
  const prepared = await preparePlatform(postgres.owner, platform, secret, options)
  await refuseOthers(postgres, new Set(teamsOf(prepared.desired.entries)))
  await applyPlatform(postgres.owner, prepared, now)
  await postgres.owner.transaction().execute(async (trx) => {
    const history = demoHistory(now)
    await createPartitionsSince(trx, history[0]!.received, now)
    if ((await insertPastDeliveries(trx, history)) > 0) await wake(trx, 'deliveries')
  })
}

function noFiles(path: string): never {
  throw new Error(`the demo has no file ${path}`)
}

function teamsOf(entries: readonly { readonly kind: string; readonly key: string }[]): string[] {
  return entries.filter(({ kind }) => kind === 'team').map(({ key }) => key)
}

async function refuseOthers(postgres: Postgres, ours: ReadonlySet<string>): Promise<void> {
  const slugs = await listTeamSlugs(postgres.owner)
  const foreign = slugs.find((slug) => !ours.has(slug))
  if (foreign === undefined) return
  throw fail('conflict', 'demoDatabase', { team: foreign })
}
