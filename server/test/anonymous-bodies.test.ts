// Requests that anyone can send without a credential: small bodies, whose refusal costs little processor time, for
// every such operation.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import type { Problem } from '@pharos/contract/problem'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'

const bytesMax = 16_384
/** Microseconds of processor time for each byte; the smallest of five attempts counts. */
const costMax = 1.5
const errorsMax = 100

let api: TestApi
before(async () => {
  api = await createTestApi({ PHAROS_DELIVERY_LIMIT_BYTES: '100000' })
})
after(() => api[Symbol.asyncDispose]())

const anonymous = routes.filter(
  ({ permission: { credential }, body }) =>
    (credential === 'none' || credential === 'optional') && body !== null,
)

const objectOf = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`

/** Bodies of almost the largest size that are costly to read in different ways. */
const bodies: Readonly<Record<string, string>> = {
  'unknown fields': objectOf(1_500),
  'nested arrays': `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
  'one long text': JSON.stringify({ email: 'a'.repeat(16_000) }),
  escapes: `{"email":"${'\\u0041'.repeat(2_600)}"}`,
  'a broken end': `${objectOf(1_500).slice(0, -1)},`,
}

async function send(route: (typeof routes)[number], payload: string, to = api) {
  return await to.server.inject({
    method: route.method,
    url: urlOf(
      route,
      Object.fromEntries(Object.keys(route.params.properties).map((name) => [name, '1'])),
      {},
    ),
    headers: { 'content-type': 'application/json' },
    payload,
  })
}

describe('an operation without a credential', () => {
  it('takes no more than other operations of an installation with a lower limit', async () => {
    await using small = await createTestApi({ PHAROS_BODY_LIMIT_BYTES: '2048' }, { sameInstallationAs: api })
    for (const route of anonymous) {
      assert.equal((await send(route, '{}'.padEnd(2_049), small)).statusCode, 413, route.name)
      assert.notEqual((await send(route, '{}'.padEnd(2_048), small)).statusCode, 413, route.name)
    }
  })

  it('is found', () => assert.ok(anonymous.length >= 5, String(anonymous.length)))

  for (const route of anonymous) {
    it(`refuses more than 16 KiB: ${route.name}`, async () => {
      const { statusCode } = await send(route, objectOf(1_500).padEnd(bytesMax + 1))
      assert.equal(statusCode, 413)
    })

    it(`refuses what is costly to read with little work: ${route.name}`, async () => {
      for (const [what, body] of Object.entries(bodies)) {
        assert.ok(body.length <= bytesMax && body.length > 10_000, `${what}: ${body.length}`)
        const costs: number[] = []
        for (let at = 0; at < 5; at++) {
          const start = process.cpuUsage()
          const answer = await send(route, body)
          const { user, system } = process.cpuUsage(start)
          costs.push((user + system) / body.length)
          const { errors = [] } = answer.json<Problem>()
          assert.ok(answer.statusCode === 400 || answer.statusCode === 422, `${what}: ${answer.body}`)
          assert.ok(errors.length <= errorsMax, `${what}: ${errors.length} errors`)
        }
        const cost = Math.min(...costs)
        assert.ok(cost < costMax, `${what}: ${cost.toFixed(2)} us of processor time for each byte`)
      }
    })
  }
})
