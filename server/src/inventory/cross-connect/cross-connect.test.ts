// Cross connects and attachments on PostgreSQL: every move of every state, letters, links, and access.
import {
  crossConnectStates,
  crossConnectStatuses,
  type CrossConnectStatus,
} from '@pharos/contract/inventory/cross-connect'
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import type { Operation, StaffOperation } from '../../operation/operation.ts'
import { Failure } from '../../runtime/error.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import {
  addDeviceAttachment,
  deleteAttachment,
  getAttachmentFile,
  listDeviceAttachments,
} from '../attachment/attachment.ts'
import { seedPort } from '../testing.ts'
import { getCrossConnect, listCrossConnects, uploadCrossConnectLetter } from './cross-connect.ts'
import { moveCrossConnect } from './move-cross-connect.ts'

let database: TestDatabase
let teamId = 0
let nextTeamId = 0
let id = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
let clock = new Date()
const owner = () => database.postgres.owner
const deps = () => ({
  postgres: database.postgres,
  db: owner(),
  ring: createKeyRing(['a secret of more than thirty-two bytes']),
  publicUrl: 'https://pharos.example.net/',
  now: () => clock,
})
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  clock = new Date()
  await emptyTables(owner(), ['teams', 'devices', 'services', 'outbox', 'cross_connects', 'attachments'])
  ;[teamId, nextTeamId] = [await addTeam('one'), await addTeam('two')]
  const service = { team_id: teamId, name: 'Cross connect', type: 'cross_connect' as const }
  const { id: serviceId } = await owner()
    .insertInto('services')
    .values(service)
    .returning('id')
    .executeTakeFirstOrThrow()
  port = await seedPort(database.postgres, { teamId, serviceId, circuitId: 'C1' })
  const values = {
    team_id: teamId,
    service_id: serviceId,
    port_id: port.portId,
    circuit_id: 'XC1',
    name: 'Cross connect 1',
  }
  ;({ id } = await owner()
    .insertInto('cross_connects')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow())
})

async function addTeam(slug: string): Promise<number> {
  const values = { slug, name: slug, enabled_modules: ['inventory'] }
  return (await owner().insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow()).id
}

const as = (team: number) =>
  ({
    actor: { kind: 'user', userId: 1, teamId: team },
    dryRun: false,
    requestId: 'r',
    address: '192.0.2.1',
  }) as unknown as Operation
const staff = {
  actor: { kind: 'user', userId: 2, teamId: 0, isStaff: true },
  dryRun: false,
  requestId: 'r',
  address: '192.0.2.1',
} as unknown as StaffOperation
const move = (status: CrossConnectStatus, note?: string) =>
  moveCrossConnect(deps(), staff, id, { status, ...(note === undefined ? {} : { note }) })
const get = async (team = teamId) => (await getCrossConnect(deps(), as(team), id, { include: 'log' })).body
const pdf = { filename: 'letter <b>.pdf', bytes: Buffer.from('%PDF-1.7\n...') }
const upload = (file: { filename: string; bytes: Buffer } = pdf) =>
  uploadCrossConnectLetter(deps(), as(teamId), id, { file })
const isFailure = (code: string) => (error: unknown) => error instanceof Failure && error.code === code

describe('a cross connect', () => {
  test('can be moved exactly to the states that follow, from every state', async () => {
    for (const from of crossConnectStatuses)
      for (const to of crossConnectStatuses) {
        await owner().updateTable('cross_connects').set({ status: from }).where('id', '=', id).execute()
        const isAllowed = from === to || crossConnectStates[from].next.includes(to)
        if (isAllowed) assert.equal(((await move(to)).body as { status: string }).status, to)
        else await assert.rejects(move(to), isFailure('conflict'), `${from} to ${to}`)
      }
  })

  test('keeps a log, and tells the team once', async () => {
    await move('awaiting_connect', 'Ordered.')
    await move('awaiting_connect')
    await move('connected')
    const { log, connected, waits_for, progress } = await get()
    assert.deepEqual(
      log!.map(({ before, after, note }) => [before, after, note]),
      [
        ['awaiting_connect', 'connected', ''],
        ['reserved', 'awaiting_connect', 'Ordered.'],
      ],
    )
    assert.deepEqual([connected !== null, waits_for, progress], [true, 'nobody', 100])
    const { rows } = await sql<{ team_id: number; after: string }>`
      select team_id, data ->> 'after' as after from outbox order by id`.execute(owner())
    assert.deepEqual(rows, [
      { team_id: teamId, after: 'awaiting_connect' },
      { team_id: teamId, after: 'connected' },
    ])
  })

  test('waits for the customer until the letter arrives, and again if it is sent back', async () => {
    await assert.rejects(upload(), isFailure('conflict'))
    await move('awaiting_loa')
    const waiting = async () =>
      (
        await listCrossConnects(deps(), as(teamId), {
          ordering: 'id',
          limit: 10,
          offset: 0,
          waits_for: ['customer'],
        })
      ).count
    assert.deepEqual([(await get()).waits_for, await waiting()], ['customer', 1])
    await upload()
    const received = await get()
    assert.deepEqual(
      [received.waits_for, received.loa_document!.kind, await waiting()],
      ['provider', 'pdf', 0],
    )
    assert.equal(received.loa_document!.filename, 'letter _b_.pdf')
    await move('reserved')
    await move('awaiting_loa', 'The letter is not signed.')
    assert.equal((await get()).waits_for, 'customer')
  })

  test('takes no letter that is another kind of file', async () => {
    await move('awaiting_loa')
    for (const bytes of ['<html><script>alert(1)</script>', 'PK\x03\x04', '', '%pdf'])
      await assert.rejects(
        upload({ filename: 'letter.pdf', bytes: Buffer.from(bytes) }),
        isFailure('invalid'),
      )
  })

  test('is moved by one of two at once', async () => {
    await move('awaiting_connect')
    const results = await Promise.allSettled([move('connected'), move('ceased')])
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('of another team is not found, nor is its letter', async () => {
    await move('awaiting_loa')
    await upload()
    await assert.rejects(get(nextTeamId), isFailure('not_found'))
    await assert.rejects(
      uploadCrossConnectLetter(deps(), as(nextTeamId), id, { file: pdf }),
      isFailure('not_found'),
    )
    const seen = await database.postgres.readInTeam(nextTeamId, sql`select 1 from attachments`)
    assert.deepEqual(seen, [])
  })
})

describe('an attachment', () => {
  const add = (file: { filename: string; bytes: Buffer }, team?: number) =>
    addDeviceAttachment(deps(), staff, port.deviceId, {
      file,
      ...(team === undefined ? {} : { team_id: team }),
    })
  const list = async (team = teamId) =>
    (await listDeviceAttachments(deps(), as(team), port.deviceId, { ordering: 'id', limit: 10, offset: 0 }))
      .results

  test('has its kind and a harmless type from its content, never from its name', async () => {
    const files = [
      ['photo.png', '<html>'],
      ['page.html', '<html>'],
      ['data.csv', '<svg onload=alert(1)>'],
      ['data.csv', 'a,b\n1,2\n'],
      ['notes', '{"a": 1}'],
      ['x.bin', Buffer.from('d4c3b2a1020004000000000000000000', 'hex')],
      ['x.jpg', Buffer.from('ffd8ffe000104a46', 'hex')],
    ] as const
    for (const [filename, bytes] of files) await add({ filename, bytes: Buffer.from(bytes) })
    assert.deepEqual(
      (await list()).map(({ kind, content_type }) => [kind, content_type]),
      [
        ['other', 'application/octet-stream'],
        ['other', 'application/octet-stream'],
        ['other', 'application/octet-stream'],
        ['csv', 'text/csv'],
        ['json', 'application/octet-stream'],
        ['pcap', 'application/vnd.tcpdump.pcap'],
        ['image', 'image/jpeg'],
      ],
    )
  })

  test('of one team is seen by that team; one for all by the teams that see the device', async () => {
    await add({ filename: 'a', bytes: Buffer.from('a') })
    await add({ filename: 'b', bytes: Buffer.from('b') }, teamId)
    await add({ filename: 'c', bytes: Buffer.from('c') }, nextTeamId)
    assert.deepEqual(
      (await list()).map(({ filename }) => filename),
      ['a', 'b'],
    )
    await assert.rejects(list(nextTeamId), isFailure('not_found'))
  })

  test('is downloaded by its link for ten minutes; any other link is not found', async () => {
    await add({ filename: 'a.pdf', bytes: pdf.bytes })
    await add({ filename: 'b.pdf', bytes: pdf.bytes })
    const [first, second] = await list()
    const { searchParams, pathname } = new URL(first!.url!)
    assert.equal(pathname, `/v3/attachments/${first!.id}/file`)
    const token = searchParams.get('token')!
    const [expires, signature] = token.split('.')
    const read = (attachment: number, changed = token) =>
      getAttachmentFile({ ...deps(), findEventFile: async () => undefined }, null, attachment, {
        token: changed,
      })
    assert.deepEqual((await read(first!.id)).bytes, pdf.bytes)
    await assert.rejects(read(second!.id), isFailure('not_found'))
    await assert.rejects(read(first!.id, `${Number(expires) + 1}.${signature}`), isFailure('not_found'))
    await assert.rejects(read(first!.id, `${expires}.${'0'.repeat(64)}`), isFailure('not_found'))
    // Links end at the end of a minute.
    clock = new Date(clock.getTime() + 661_000)
    await assert.rejects(read(first!.id), isFailure('not_found'))
    clock = new Date(clock.getTime() - 661_000)
    await deleteAttachment(deps(), { ...staff, ifMatch: null }, first!.id)
    await assert.rejects(read(first!.id), isFailure('not_found'))
  })
})
