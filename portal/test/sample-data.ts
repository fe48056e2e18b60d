// Sample data for screenshots, created through the API, as if a team had used the demo for a while.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@pharos/contract/client'
import { createAnnouncementsRoute, listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { addDomainRoute } from '@pharos/contract/team/domain'
import { listApprovalsRoute } from '@pharos/contract/operator/approval'
import {
  draftLetterRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  uploadLetterRoute,
} from '@pharos/contract/byoip/letter'
import { addMemberRoute } from '@pharos/contract/team/member'
import { createSessionTokenRoute } from '@pharos/contract/session/session'
import { createTokenRoute } from '@pharos/contract/team/token'
import { createWebhookRoute, testWebhookRoute } from '@pharos/contract/messages/webhook'
import { demoPassword } from './browser.ts'
import type { Demo } from './demo.ts'
import { fillDns } from './sample-dns.ts'

type Call = ReturnType<typeof createClient>
const team = { team_id: 'current' } as const
const approvalTimeoutMs = 30_000

/** Call it once for each demo: existing objects are rejected. */
export async function fill(demo: Demo): Promise<void> {
  const { url } = demo
  const call = await asUser(url, 'demo@demo.example')
  const staff = await asUser(url, 'staff@demo.example')
  await attacks(url)
  await people(call)
  await programs(call)
  await fillDns(call)
  await letters(call, staff)
  await waitForApproval(demo, call, staff)
}

/** An access token is valid for 300 s; a test may take longer. */
const ACCESS_MS = 200_000

export async function asUser(url: string, email: string): Promise<Call> {
  const guest = createClient({ baseUrl: url })
  const signIn = async () => {
    const { body } = await guest(createSessionTokenRoute, { body: { email, password: demoPassword } })
    return { bearer: body.access, until: performance.now() + ACCESS_MS }
  }
  let credential = await signIn()
  const call = createClient({ baseUrl: url, credential: () => credential })
  return async (route, input) => {
    if (performance.now() > credential.until) credential = await signIn()
    return await call(route, input)
  }
}

async function attacks(url: string): Promise<void> {
  const file = new URL('../../docs/examples/fastnetmon-ban.json', import.meta.url)
  const response = await fetch(`${url}/v3/ingest/events/fastnetmon`, {
    method: 'POST',
    headers: { authorization: 'Token demo-secret', 'content-type': 'application/json' },
    body: readFileSync(file),
  })
  if (!response.ok) throw new Error(`the detector was refused: ${response.status}`)
}

async function people(call: Call): Promise<void> {
  for (const [email, is_admin] of [
    ['noc@demo.example', true],
    ['a.very.long.name.of.an.engineer@peering.demo-networks.example', false],
    ['billing@demo.example', false],
  ] as const)
    await call(addMemberRoute, { params: team, body: { email, is_admin } })
  for (const domain of ['demo-networks.net', 'xn--mnchen-3ya.de'])
    await call(addDomainRoute, { params: team, body: { domain } })
}

const dayMs = 86_400_000

async function programs(call: Call): Promise<void> {
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString()
  await call(createTokenRoute, {
    body: { name: 'terraform', scopes: ['ipam:read', 'ipam:write'], expires: inDays(9) },
  })
  await call(createTokenRoute, {
    body: {
      name: 'dashboard of the NOC, read only',
      scopes: ['ipam:read', 'lighthouse:read', 'team:read'],
      allowed_subnets: ['203.0.113.0/24', '2001:db8:a::/48'],
      max_unused_days: 90,
    },
  })
  const hooks = [
    'https://hooks.demo-networks.example/pharos',
    'https://chat.demo-networks.example/services/T0/B0/long-path',
  ]
  for (const url of hooks) {
    const { body } = await call(createWebhookRoute, {
      body: {
        url,
        description: 'Notifies the people on call',
        events: ['event.started', 'event.ended', 'validation.failed'],
      },
    })
    await call(testWebhookRoute, { params: { webhook_id: body.id } })
  }
}

/** One letter is pending, one was rejected. Both are drafts that the server created. */
async function letters(call: Call, staff: Call): Promise<void> {
  for (const [cidr, filename] of [
    ['3fff:100::/32', 'letter-3fff-100.pdf'],
    ['198.18.67.0/24', 'scan of the letter, signed.pdf'],
  ] as const) {
    const { body } = await call(listAnnouncementsRoute, { query: { cidr: [cidr], limit: 1 } })
    const params = { announcement_id: body.results[0]!.id }
    const draft = await call(draftLetterRoute, { params })
    await call(uploadLetterRoute, { params, form: { file: draft.body as Blob, filename } })
  }
  const { body } = await staff(listLettersToReviewRoute, { query: { limit: 10 } })
  const last = body.results.at(-1)!
  await staff(rejectLetterRoute, {
    params: { letter_id: last.id },
    body: { reason: 'It is not signed on its second page.' },
  })
}

/** More withdrawals at once than the guard allows without a request. */
async function waitForApproval(demo: Demo, call: Call, staff: Call): Promise<void> {
  await call(createAnnouncementsRoute, {
    body: { announcements: [{ cidr: '3fff:300::/32', origin_asn: 64_498, description: 'Asked for today' }] },
  })
  await demo.disableUnasked()
  const end = performance.now() + approvalTimeoutMs
  while (performance.now() < end) {
    if ((await staff(listApprovalsRoute, { query: { state: ['open'] } })).body.count > 0) return
    await sleep(200)
  }
  throw new Error('the guard has stopped nothing')
}
