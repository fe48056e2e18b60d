// The flow store is missing: requests for flows return a 503 that names it, and everything else works.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createFlowStore } from '../src/drivers/clickhouse/flow-store.ts'
import { addTeam, createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'

/** Port without a listener. */
const options = {
  url: 'http://127.0.0.1:1/pharos',
  dataDir: '',
  retention: { flowDays: 15, rollupDays: 400 },
  log: () => {},
}

describe('without the flow store', () => {
  let api: TestApi
  let authorization: string
  before(async () => {
    api = await createTestApi({}, { flowStore: createFlowStore(options) })
    const { teamId } = await addTeam(api, 'flows')
    authorization = `Token ${await addApiToken(api, teamId, { scopes: ['ipam:read', 'lighthouse:read'] })}`
  })
  after(() => api[Symbol.asyncDispose]())

  for (const path of ['timeseries', 'graph', 'timeseries/csv']) {
    it(`POST flows/${path} returns 503 that names it`, async () => {
      const response = await api.server.inject({
        method: 'POST',
        url: `/v3/lighthouse/network/flows/${path}`,
        headers: { authorization },
        payload: path === 'graph' ? { group_by: ['remote_asn', 'prefix'] } : {},
      })
      assert.equal(response.statusCode, 503, response.body)
      const { code, degraded } = response.json<{ code: string; degraded: string[] }>()
      assert.deepEqual([code, degraded], ['unavailable', ['clickhouse']])
      assert.ok(Number(response.headers['retry-after']) > 0)
    })
  }

  for (const url of [
    '/healthz',
    '/readyz',
    '/v3/ipam/announcements',
    '/v3/lighthouse/security/events/related',
  ]) {
    it(`GET ${url} works`, async () => {
      const response = await api.server.inject({ url, headers: { authorization } })
      assert.equal(response.statusCode, 200, response.body)
    })
  }
})
