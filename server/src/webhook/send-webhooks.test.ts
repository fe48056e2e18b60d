// Sends on a real database to real endpoints: the results for messages, webhooks and killed workers.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { Webhook as Verifier } from 'standardwebhooks'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import type { Db } from '../db/postgres.ts'
import { createHostResolver } from '../drivers/outgoing/resolve-host.ts'
import { createWebhookSender } from '../drivers/webhook/sender.ts'
import { loopback, startEndpoint, type Endpoint } from '../drivers/webhook/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import {
  createWebhookSending,
  type SendWebhooksDeps,
  type SendOutcome,
  type WebhookSending,
} from './send-webhooks.ts'
import { errorOf } from './schedule.ts'
import { claimDueWebhooks } from './send.store.ts'
import { addDelivery, addWebhook } from './testing.ts'
import { createSecret, formatSecret, sealWebhookSecret } from './webhook-secret.ts'

const ring = createKeyRing(['a secret of the tests that is long enough'])
const realSender = createWebhookSender({ resolver: createHostResolver(), allowed: loopback })

let database: TestDatabase
let owner: Db
let teamId: number

before(async () => {
  database = await createTestDatabase()
  owner = database.postgres.owner
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`delete from teams`.execute(owner)
  await sql`delete from users`.execute(owner)
  teamId = await addTeam('red')
})

async function addTeam(slug: string): Promise<number> {
  const row = await owner
    .insertInto('teams')
    .values({ slug, name: `Team ${slug}`, enabled_modules: ['ipam', 'lighthouse'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** A worker whose errors fail the test, with its outcomes. */
function createWorker(options: Partial<SendWebhooksDeps> = {}) {
  const outcomes: (readonly [SendOutcome, string | undefined])[] = []
  const errors: unknown[] = []
  let ended = () => {}
  const sending = createWebhookSending({
    db: owner,
    ring,
    sender: realSender,
    operatorSender: realSender,
    parallel: 10,
    now: () => new Date(),
    random: () => 0,
    onOutcome: (outcome, _due, result) => outcomes.push([outcome, errorOf(result)]),
    onError: (error) => errors.push(error),
    onEnd: () => ended(),
    ...options,
  })
  return {
    sending,
    outcomes,
    errors,
    /** Runs, and waits until all deliveries that it started have ended. */
    async once(): Promise<void> {
      const idle = Promise.withResolvers<void>()
      ended = () => sending.sending === 0 && idle.resolve()
      await sending.run()
      if (sending.sending > 0) await idle.promise
    },
  }
}

const makeAllDue = async (): Promise<void> => {
  await sql`update webhook_deliveries set due = now() where state = 'pending'`.execute(owner)
  await sql`update webhooks set resting_until = null`.execute(owner)
}

const deliveryOf = (id: number) =>
  owner.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const webhookOf = (id: number) =>
  owner.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const answering = (...statuses: number[]): Promise<Endpoint> => {
  let at = 0
  return startEndpoint((_heard, response) => {
    response.writeHead(statuses[Math.min(at++, statuses.length - 1)]!).end('body')
  })
}

describe('a message', () => {
  it('is signed according to the specification, and retried with the same id until it is accepted', async () => {
    await using endpoint = await answering(500, 200)
    const secret = createSecret()
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url, secret })
    const body = '{"type":"event.started","timestamp":"2026-03-01T10:00:00.000Z","data":{"id":"ä"}}'
    const id = await addDelivery(owner, webhook, { body })
    const worker = createWorker()
    await worker.once()
    assert.deepEqual(worker.outcomes, [['retried', 'the response was 500']])
    const waiting = await deliveryOf(id)
    assert.equal(waiting.state, 'pending')
    assert.ok(waiting.due.getTime() - waiting.last_attempt!.getTime() >= 5_000)
    await makeAllDue()
    await worker.once()
    assert.deepEqual(worker.outcomes.at(-1), ['delivered', undefined])
    assert.deepEqual(worker.errors, [])
    const verifier = new Verifier(formatSecret(secret))
    for (const { headers, body: sent } of endpoint.received)
      assert.deepEqual(verifier.verify(sent, headers as Record<string, string>), JSON.parse(body))
    assert.equal(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    const { state, attempt_count, last_status, last_error, attempts } = await deliveryOf(id)
    assert.deepEqual([state, attempt_count, last_status, last_error], ['delivered', 2, 200, null])
    assert.deepEqual(
      (attempts as { status: number; answer: string }[]).map((one) => [one.status, one.answer]),
      [
        [500, 'body'],
        [200, 'body'],
      ],
    )
  })

  it('does not verify with another secret', async () => {
    await using endpoint = await startEndpoint()
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    await addDelivery(owner, webhook)
    await createWorker().once()
    const [{ body, headers }] = endpoint.received as [(typeof endpoint.received)[0]]
    const verifier = new Verifier(formatSecret(createSecret()))
    assert.throws(() => verifier.verify(body, headers as Record<string, string>))
  })

  it('is also signed with the previous secret, until that expires', async () => {
    await using endpoint = await startEndpoint()
    const [former, secret] = [createSecret(), createSecret()]
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url, secret })
    const isSignedByFormer = async (until: string): Promise<boolean> => {
      await sql`update webhooks set former_secret_sealed = ${sealWebhookSecret(ring, webhook, former)},
        former_secret_until = now() + ${until}::interval`.execute(owner)
      await addDelivery(owner, webhook)
      await createWorker().once()
      const { body, headers } = endpoint.received.at(-1)!
      new Verifier(formatSecret(secret)).verify(body, headers as Record<string, string>)
      try {
        new Verifier(formatSecret(former)).verify(body, headers as Record<string, string>)
        return true
      } catch {
        return false
      }
    }
    assert.equal(await isSignedByFormer('1 hour'), true)
    assert.equal(await isSignedByFormer('-1 second'), false)
  })

  it('fails after ten attempts, and the last twenty attempts are kept', async () => {
    await using endpoint = await answering(500)
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    const id = await addDelivery(owner, webhook)
    const worker = createWorker()
    for (let i = 0; i < 10; i++) {
      await makeAllDue()
      await worker.once()
    }
    assert.deepEqual(
      worker.outcomes.map(([outcome]) => outcome),
      [...Array.from({ length: 9 }, () => 'retried'), 'failed'],
    )
    assert.equal((await deliveryOf(id)).state, 'failed')
    for (let i = 0; i < 15; i++) {
      await sql`update webhook_deliveries set state = 'pending', step = 0, due = now()`.execute(owner)
      await worker.once()
    }
    const { attempts, attempt_count } = await deliveryOf(id)
    assert.deepEqual([attempt_count, (attempts as unknown[]).length], [25, 20])
  })

  it('that cannot be signed reports what to do', async () => {
    const webhook = await addWebhook(owner, ring, teamId)
    const id = await addDelivery(owner, webhook)
    const other = createKeyRing(['another secret of the tests, long enough'])
    await createWorker({ ring: other }).once()
    assert.equal((await deliveryOf(id)).last_error, 'the secret can no longer be decrypted: rotate it')
  })

  it('to a URL in the network of the provider is not sent, and the error contains no address', async () => {
    await using endpoint = await startEndpoint()
    const sender = createWebhookSender({ resolver: createHostResolver(), allowed: [] })
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    const id = await addDelivery(owner, webhook)
    await createWorker({ sender }).once()
    const { last_error } = await deliveryOf(id)
    assert.equal(
      last_error,
      'the URL resolves to an address that is not public; ask your provider to allow it',
    )
    assert.equal(endpoint.received.length, 0)
  })
})

describe('a webhook', () => {
  it('that is slow delays no other webhook, and gets one message at a time', async () => {
    const hanging = Promise.withResolvers<void>()
    await using slow = await startEndpoint((_heard, response) => {
      void hanging.promise.then(() => response.writeHead(200).end())
    })
    await using quick = await startEndpoint()
    const slowOne = await addWebhook(owner, ring, teamId, { url: slow.url })
    const quickOne = await addWebhook(owner, ring, await addTeam('blue'), { url: quick.url })
    for (let i = 0; i < 3; i++) await addDelivery(owner, slowOne)
    const worker = createWorker()
    await worker.sending.run()
    await slow.arrived(1)
    for (let i = 1; i <= 3; i++) {
      await addDelivery(owner, quickOne)
      // Deliveries to the fast endpoint end by themselves; the slow one keeps its slot.
      while (worker.outcomes.length < i) {
        await worker.sending.run()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    assert.equal(quick.received.length, 3)
    assert.equal(slow.received.length, 1)
    hanging.resolve()
    await worker.sending.stop(60_000)
    assert.deepEqual(worker.errors, [])
  })

  it('that does not respond is paused, until it succeeds', async () => {
    let isUp = false
    await using endpoint = await startEndpoint((_heard, response, request) => {
      if (isUp) response.writeHead(200).end()
      else request.socket.destroy()
    })
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    await addDelivery(owner, webhook)
    const second = await addDelivery(owner, webhook)
    const worker = createWorker()
    await worker.once()
    await worker.once()
    assert.equal(endpoint.received.length, 1, 'the second message waits')
    assert.equal((await deliveryOf(second)).attempt_count, 0)
    const failing = await webhookOf(webhook)
    assert.equal(failing.failures, 1)
    assert.ok(failing.failing_since && failing.resting_until)
    isUp = true
    await makeAllDue()
    await worker.once()
    await worker.once()
    const { failing_since, failures, resting_until, last_delivery } = await webhookOf(webhook)
    assert.deepEqual([failing_since, failures, resting_until], [null, 0, null])
    assert.ok(last_delivery)
    assert.equal(endpoint.received.length, 3)
  })

  it('that responds with 410 is disabled at once, and its pending deliveries are cancelled', async () => {
    await using endpoint = await answering(410)
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    const first = await addDelivery(owner, webhook)
    const second = await addDelivery(owner, webhook)
    const worker = createWorker()
    await worker.once()
    await worker.once()
    assert.deepEqual(worker.outcomes, [['disabled', 'the response was 410']])
    const { enabled, disabled_reason, version } = await webhookOf(webhook)
    assert.deepEqual([enabled, disabled_reason, version], [false, 'gone', 2])
    assert.equal((await deliveryOf(first)).state, 'failed')
    assert.equal((await deliveryOf(second)).state, 'cancelled')
  })

  it('that has failed for five days is disabled, and the admins of the team get a mail', async () => {
    await using endpoint = await answering(503)
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    await addPerson('admin@red.example', true)
    await addPerson('member@red.example', false)
    await addDelivery(owner, webhook, { step: 1 })
    await sql`update webhooks set failing_since = now() - interval '5 days' - interval '1 minute'`.execute(
      owner,
    )
    const worker = createWorker()
    await worker.once()
    assert.deepEqual(worker.outcomes, [['retried', 'the response was 503']], 'one failure is not enough')
    await makeAllDue()
    await worker.once()
    assert.deepEqual(worker.outcomes.at(-1), ['disabled', 'the response was 503'])
    assert.equal((await webhookOf(webhook)).disabled_reason, 'failing')
    const mails = await owner.selectFrom('mails').select(['recipient', 'template', 'team_id']).execute()
    const mail = { recipient: 'admin@red.example', template: 'webhook-disabled', team_id: teamId }
    assert.deepEqual(mails, [mail])
    const [entry] = await owner
      .selectFrom('audit_entries')
      .selectAll()
      .where('team_id', '=', teamId)
      .execute()
    assert.deepEqual(
      [entry!.action, entry!.actor, entry!.target, entry!.team_id],
      ['webhook.disable', 'pharos', `webhook:${webhook}`, teamId],
    )
  })

  it('that is disabled gets no messages', async () => {
    await using endpoint = await startEndpoint()
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url, enabled: false })
    await addDelivery(owner, webhook)
    await createWorker().once()
    assert.equal(endpoint.received.length, 0)
  })
})

async function addPerson(email: string, isAdmin: boolean): Promise<void> {
  const { id } = await owner
    .insertInto('users')
    .values({ email, username: email, password_hash: '', email_confirmed: new Date() })
    .returning('id')
    .executeTakeFirstOrThrow()
  await owner
    .insertInto('memberships')
    .values({ team_id: teamId, user_id: id, is_admin: isAdmin, roles: [isAdmin ? 'admin' : 'editor'] })
    .execute()
}

describe('workers', () => {
  it('never send a message concurrently, and leave none', async () => {
    let [now, most] = [0, 0]
    await using endpoint = await startEndpoint((_heard, response) => {
      most = Math.max(most, ++now)
      setImmediate(() => {
        now--
        response.writeHead(200).end()
      })
    })
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    for (let i = 0; i < 12; i++) await addDelivery(owner, webhook)
    const workers = Array.from({ length: 4 }, () => createWorker())
    const left = async () =>
      (await owner.selectFrom('webhook_deliveries').select('id').where('state', '=', 'pending').execute())
        .length
    while ((await left()) > 0) await Promise.all(workers.map((worker) => worker.once()))
    assert.equal(most, 1, 'one at a time')
    assert.equal(endpoint.received.length, 12)
    assert.equal(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size, 12)
    assert.deepEqual(
      workers.flatMap(({ errors }) => errors),
      [],
    )
  })

  it('that was killed is replaced when its claim expires, and its late result is discarded', async () => {
    await using endpoint = await startEndpoint()
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    const id = await addDelivery(owner, webhook)
    const paused = Promise.withResolvers<void>()
    const slow = createWorker({
      sender: {
        async send() {
          await paused.promise
          return { kind: 'unanswered', error: 'too late', durationMs: 1 }
        },
      },
    })
    await slow.sending.run()
    const other = createWorker()
    await other.once()
    assert.equal(endpoint.received.length, 0, 'it is claimed')
    await sql`update webhooks set claimed_until = now() - interval '1 second'`.execute(owner)
    await other.once()
    assert.equal(endpoint.received.length, 1)
    paused.resolve()
    await slow.sending.stop(60_000)
    const { state, attempt_count, last_error } = await deliveryOf(id)
    assert.deepEqual([state, attempt_count, last_error], ['delivered', 1, null])
    assert.deepEqual(slow.outcomes, [])
  })

  it('claim nothing while a restore is open', async () => {
    const webhook = await addWebhook(owner, ring, teamId, { url: 'https://hooks.example.net/' })
    await addDelivery(owner, webhook)
    await sql`insert into restores (reason, evidence) values ('by_hand', '{}')`.execute(owner)
    assert.deepEqual(await claimDueWebhooks(owner, 10, 60), [])
    await sql`delete from restores`.execute(owner)
    assert.equal((await claimDueWebhooks(owner, 10, 60)).length, 1)
  })

  it('that stop release the deliveries in progress', async () => {
    await using endpoint = await startEndpoint(() => {})
    const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
    await addDelivery(owner, webhook)
    const worker = createWorker()
    await worker.sending.run()
    await endpoint.arrived(1)
    await worker.sending.stop(0)
    assert.deepEqual(worker.errors, [])
    const again = await claimDueWebhooks(owner, 10, 60)
    assert.equal(again.length, 1)
  })

  it('send no more deliveries at once than configured', async () => {
    const hanging: WebhookSending[] = []
    await using endpoint = await startEndpoint(() => {})
    for (let i = 0; i < 5; i++) {
      const webhook = await addWebhook(owner, ring, teamId, { url: endpoint.url })
      await addDelivery(owner, webhook)
    }
    const { sending } = createWorker({ parallel: 3 })
    hanging.push(sending)
    await sending.run()
    await sending.run()
    assert.equal(sending.sending, 3)
    for (const one of hanging) await one.stop(0)
  })
})
