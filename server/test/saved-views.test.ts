// Saved views: what members see and change of each other's and of the team's, and what the overview adds.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Role } from '@pharos/contract/role'
import type { SavedView } from '@pharos/contract/team/view'
import { addUser, createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

let people = 0

/** A member of the team red. `call` returns the status, or the code of a refusal, and the body. */
async function member(...roles: Role[]) {
  const { userId } = await addUser(api, `viewer-${people++}`, [fixtures.red], { roles })
  const { access } = await openSession(api, userId, fixtures.red.teamId)
  const authorization = `Bearer ${access}`
  async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: object) {
    const url = `/v3/views${path}`
    const { statusCode, body } = await api.server.inject({
      method,
      url,
      headers: { authorization },
      ...(payload && { payload }),
    })
    const answer = (body === '' ? {} : JSON.parse(body)) as SavedView & {
      code?: string
      results?: SavedView[]
    }
    return { status: answer.code ?? statusCode, answer }
  }
  const create = async (fields: object) => (await call('POST', '', { page: 'events', ...fields })).answer
  const names = async (query = '') =>
    (await call('GET', query)).answer.results!.map(({ name, shared }) => `${name}${shared ? ' (team)' : ''}`)
  return { call, create, names }
}

describe('a saved view', () => {
  it('is visible to its member alone until it is shared, which needs a role that changes something', async () => {
    const [author, reader] = [await member('editor'), await member('reader')]
    const { id } = await author.create({ name: 'Large', search: '?min_bps=2000000000' })
    const own = await reader.create({ name: 'large' })
    assert.deepEqual(await reader.names(), ['large'])
    assert.equal((await reader.call('GET', `/${id}`)).status, 'not_found')
    assert.equal((await reader.call('POST', `/${own.id}/share`, { shared: true })).status, 'forbidden')
    assert.equal((await author.call('POST', `/${id}/share`, { shared: true })).answer.shared, true)
    assert.deepEqual(await reader.names('?ordering=-name,id'), ['Large (team)', 'large'])
    assert.deepEqual(await reader.names('?shared=true&page=events'), ['Large (team)'])
    assert.deepEqual(await reader.names('?page=traffic'), [])
  })

  it('has a name of its own for its page, and is changed by its author and by admins', async () => {
    const [author, other, admin] = [await member('dns'), await member('network'), await member('admin')]
    const { id } = await author.create({ name: 'Mine' })
    assert.equal((await author.call('POST', '', { page: 'events', name: 'MINE' })).status, 'exists')
    assert.equal((await author.call('POST', '', { page: 'traffic', name: 'Mine' })).status, 201)
    // Letters whose lower case differs between JavaScript and PostgreSQL.
    for (const [upper, lower] of [
      ['\u0130', 'i'],
      ['\u039f\u03a3', '\u03bf\u03c3'],
    ] as const) {
      await other.create({ name: upper })
      assert.equal((await other.call('POST', '', { page: 'events', name: lower })).status, 'exists', lower)
    }
    await author.call('POST', `/${id}/share`, { shared: true })
    const second = await other.create({ name: 'mine' })
    assert.equal((await other.call('POST', `/${second.id}/share`, { shared: true })).status, 'exists')
    for (const [method, body] of [
      ['PATCH', { name: 'Theirs' }],
      ['DELETE', undefined],
    ] as const)
      assert.equal((await other.call(method, `/${id}`, body)).status, 'forbidden')
    assert.equal((await admin.call('POST', `/${id}/share`, { shared: false })).status, 'forbidden')
    assert.equal((await author.call('PATCH', `/${id}`, { search: '?range=7d' })).answer.search, '?range=7d')
    assert.equal((await admin.call('PATCH', `/${id}`, { name: 'Week' })).answer.name, 'Week')
    assert.equal((await author.call('POST', `/${id}/share`, { shared: false })).answer.shared, false)
    assert.equal((await admin.call('DELETE', `/${id}`)).status, 'not_found')
    assert.equal((await author.call('DELETE', `/${id}`)).status, 204)
  })

  it('of the overview is one for a member and one for the team, which admins share; unknown kinds are kept', async () => {
    const [author, admin] = [await member('network'), await member('admin')]
    const panel = { kind: 'weather', width: 'third', height: 'tall', title: 'Oslo', search: '?city=oslo' }
    const overview = { page: 'overview', name: 'Mine', panels: [panel] }
    const { id, panels } = await author.create(overview)
    assert.deepEqual(panels, [panel])
    assert.equal((await author.call('POST', '', { ...overview, name: 'Another' })).status, 'exists')
    assert.equal((await author.call('POST', `/${id}/share`, { shared: true })).status, 'forbidden')
    const ofAdmin = await admin.create(overview)
    assert.equal((await admin.call('POST', `/${ofAdmin.id}/share`, { shared: true })).status, 200)
    assert.equal((await author.call('PATCH', `/${ofAdmin.id}`, { panels: [] })).status, 'forbidden')
    assert.deepEqual(await author.names('?page=overview&ordering=id'), ['Mine', 'Mine (team)'])
    const many = Array.from({ length: 25 }, () => panel)
    assert.equal((await author.call('PATCH', `/${id}`, { panels: many })).status, 'invalid')
  })
})
