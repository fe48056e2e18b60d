// ID7: forms of 256 KiB at once at the assertion consumer service of a provider that no sign-in waits for, and how long others wait meanwhile.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { sql } from 'kysely'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams } from './people.ts'
import { startProduct } from './product.ts'
import { milliseconds, whole } from './table.ts'

export const formFlood: Benchmark = {
  id: 'ID7',
  name: 'form-flood',
  title: 'forms of SAML at once that no sign-in waits for',
  missing: () => undefined,
  run,
}

export type FloodPlan = {
  readonly url: string
  readonly path: string
  readonly forms: number
  readonly bytes: number
}

const goalMs = 100
const bytes = 256 * 1024
const providerKey = 'benchbenchaa'
const settings = {
  entity_id: 'https://idp.example/saml',
  sign_on_url: 'https://idp.example/sso',
  certificates: [],
  certificates_expire: null,
  metadata_url: null,
  groups_claim: 'groups',
  second_factor_values: [],
}

async function run({ quick, rounds, folder, cluster }: Bench): Promise<Line[]> {
  const forms = quick ? 50 : 500
  const { owner, databaseUrl } = await (
    await cluster()
  ).database('form_flood', async (client) => seedTeams(client, 1))
  await sql`delete from identity_providers`.execute(owner)
  await sql`
    insert into identity_providers (key, team_id, kind, name, status, settings)
    select ${providerKey}, min(id), 'saml', 'Login', 'active', ${JSON.stringify(settings)}::jsonb from teams`.execute(
    owner,
  )
  await using product = await startProduct({ roles: ['api'], databaseUrl, folder })
  const plan = { url: product.url, path: `/sso/saml/${providerKey}/acs`, forms, bytes }
  const turns = []
  for (let round = 0; round < rounds; round++) {
    const alone = await worstHealth(product.url, new Promise((resolve) => setTimeout(resolve, 1_000)))
    const flood = sendForms(plan)
    const beside = await worstHealth(product.url, flood)
    turns.push({ alone, beside, statuses: await flood })
  }
  const [alone, beside] = [
    Math.max(...turns.map((turn) => turn.alone)),
    Math.max(...turns.map((turn) => turn.beside)),
  ]
  const statuses = Object.entries(
    Object.groupBy(
      turns.flatMap((turn) => turn.statuses),
      String,
    ),
  )
  return [
    {
      what: `${whole(forms)} forms of 256 KiB at once, the slowest answer of /healthz meanwhile`,
      result: `${milliseconds(beside)} (answers: ${statuses.map(([status, all]) => `${all!.length} x ${status}`).join(', ')})`,
      peer: `without the forms: ${milliseconds(alone)}`,
      ratio: '',
      goal: `<= ${goalMs} ms`,
      reached: beside <= goalMs,
    },
  ]
}

/** Resolves with the slowest answer, in milliseconds, until the work ends. */
async function worstHealth(url: string, work: Promise<unknown>): Promise<number> {
  const over = new AbortController()
  void work.finally(() => over.abort())
  let worst = 0
  while (!over.signal.aborted) {
    const begun = performance.now()
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    worst = Math.max(worst, performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return worst
}

async function sendForms(plan: FloodPlan): Promise<readonly number[]> {
  const child = fork(new URL('form-flood-process.ts', import.meta.url))
  child.send(plan)
  const [statuses] = (await once(child, 'message')) as [readonly number[]]
  return statuses
}
