// Letters of authorization over HTTP: upload, rejections, quotas, replacing, review, and downloads. Callers are tested in
// every-route.test.ts.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, ProblemError } from '@pharos/contract/client'
import {
  getLetterFileRoute,
  uploadLetterRoute,
  type Letter,
  type ReviewedLetter,
} from '@pharos/contract/byoip/letter'
import { sql } from 'kysely'
import { readLetterVerdicts } from '../src/byoip/letter/letter.store.ts'
import { refusalOfPng } from '../src/byoip/letter/inspect-image.ts'
import { sampleJpeg, samplePdf, samplePng } from '../src/byoip/letter/testing-letters.ts'
import { seedAnnouncement } from '../src/byoip/announcement/testing.ts'
import { emptyAudit } from '../src/db/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { formOf, formType, letterForm, type FormPart } from './support/letters.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam
let bearers: Record<'admin' | 'member' | 'staff' | 'blue', string>
let one: number
let two: number
let foreign: number

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  const bearer = async (name: string, team: TestTeam, flags: object) => {
    const { userId } = await addUser(api, name, [team], flags)
    return `Bearer ${(await openSession(api, userId, team.teamId)).access}`
  }
  bearers = {
    admin: await bearer('admin', red, { admin: true }),
    member: await bearer('member', red, {}),
    staff: await bearer('staff', blue, { staff: true }),
    blue: await bearer('other', blue, { admin: true }),
  }
  const { postgres } = api.database
  one = await seedAnnouncement(postgres, { teamId: red.teamId, prefix: '203.0.113.0/24', validated: false })
  two = await seedAnnouncement(postgres, { teamId: red.teamId, prefix: '198.51.100.0/24', validated: false })
  foreign = await seedAnnouncement(postgres, { teamId: blue.teamId, prefix: '192.0.2.0/24' })
})
after(() => api[Symbol.asyncDispose]())

beforeEach(async () => {
  await sql`update letters set replaced_by = null`.execute(owner())
  await sql`delete from letters`.execute(owner())
  await sql`delete from announcement_history`.execute(owner())
  await emptyAudit(owner())
})

const owner = () => api.database.postgres.owner

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows the operation
type Answer = { status: number; headers: Record<string, unknown>; body: any; bytes: Buffer }

async function call(
  who: keyof typeof bearers,
  method: 'GET' | 'POST',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await api.server.inject({
    method,
    url,
    headers: { authorization: bearers[who], ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = String(response.headers['content-type']).includes('json')
  const { statusCode: status, rawPayload: bytes } = response
  return { status, headers: response.headers, body: isJson ? response.json() : undefined, bytes }
}

const upload = (parts: readonly FormPart[] = letterForm(), id = one, headers = {}, query = '') =>
  call('admin', 'POST', `/v3/ipam/announcements/${id}/loa${query}`, formOf(parts), {
    'content-type': formType,
    ...headers,
  })

async function uploaded(...fields: FormPart[]): Promise<Letter> {
  const { status, body } = await upload(letterForm(...fields))
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

const appliesTo = (...ids: number[]): FormPart[] =>
  ids.map((id) => ({ name: 'applies_to', content: String(id) }))
const fileOf = (content: Buffer | string, filename = 'letter.pdf', type = 'application/pdf'): FormPart[] => [
  { name: 'file', content, filename, type },
]

const letterOf = async (id: number): Promise<Letter> =>
  (await call('member', 'GET', `/v3/ipam/letters/${id}`)).body
const decide = (id: number, decision: 'accept' | 'reject', body: object = {}) =>
  call('staff', 'POST', `/v3/admin/letters/${id}/${decision}`, body)

const historyOf = async (announcementId: number) => {
  const rows = await owner()
    .selectFrom('announcement_history')
    .select(['kind', 'actor', 'detail'])
    .where('announcement_id', '=', announcementId)
    .orderBy('id')
    .execute()
  return rows.map(({ kind }) => kind)
}
const letterCheckOf = async (id: number) => (await readLetterVerdicts(owner(), [id])).get(id)!

describe('an upload', () => {
  it('is stored for review, and returned as in the response to the upload', async () => {
    const content = samplePdf()
    const until = '2030-06-30T12:00:00.000Z'
    const parts = [
      ...fileOf(content, 'C:\\loa 2026.pdf'),
      { name: 'valid_until', content: until },
      ...appliesTo(two),
    ]
    const { status, body } = await upload(parts)
    assert.equal(status, 201)
    assert.deepEqual(body, {
      id: body.id,
      filename: 'loa 2026.pdf',
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      status: 'pending_review',
      reason: null,
      valid_until: until,
      uploaded: body.uploaded,
      reviewed: null,
      announcement_ids: [one, two],
    })
    assert.deepEqual(await letterOf(body.id), body)
    assert.deepEqual((await call('member', 'GET', '/v3/ipam/letters')).body, { results: [body], count: 1 })
    assert.deepEqual(await historyOf(one), ['letter_uploaded'])
    assert.deepEqual(await historyOf(two), ['letter_uploaded'])
    assert.equal((await letterCheckOf(one)).state, 'pending')
    assert.equal((await letterCheckOf(foreign)).state, 'missing')
  })

  it('notifies the validator', async () => {
    const notified = new Promise<void>((resolve) => api.waker.on('validations', resolve))
    await uploaded()
    await notified
  })

  it('is accepted in all three formats, detected by content and not by name', async () => {
    for (const [content, ending] of [
      [samplePdf(), 'pdf'],
      [samplePng(), 'png'],
      [sampleJpeg(), 'jpg'],
    ] as const) {
      const { body } = await upload(fileOf(content, 'scan.dat', 'application/octet-stream'))
      assert.equal(body.filename, `scan.dat.${ending}`)
    }
  })

  it('of exactly 10 MiB is accepted and returned byte for byte, one byte more is rejected', async () => {
    const sample = sampleJpeg()
    const filling = Buffer.alloc(10 * 1024 * 1024 - sample.length, 0x55)
    const content = Buffer.concat([sample.subarray(0, -2), filling, sample.subarray(-2)])
    const { status, body } = await upload(fileOf(content, 'a.jpg', 'image/jpeg'))
    assert.equal(status, 201, JSON.stringify(body))
    const { bytes } = await call('member', 'GET', `/v3/ipam/letters/${body.id}/file`)
    assert.ok(bytes.equals(content))
    const more = Buffer.concat([content.subarray(0, -2), Buffer.from([0x55]), content.subarray(-2)])
    const refused = await upload(fileOf(more, 'a.jpg', 'image/jpeg'))
    assert.equal(refused.status, 413)
    assert.equal((await upload(fileOf(Buffer.alloc(12 * 1024 * 1024)))).status, 413)
  })

  it('is rejected with the reason if the file is not allowed', async () => {
    const script = samplePdf('/OpenAction << /S /JavaScript /JS (app.alert(1)) >>')
    const { status, body } = await upload(fileOf(script))
    assert.equal(status, 422)
    assert.deepEqual(body.errors[0].loc, ['body', 'file'])
    assert.equal(body.errors[0].type, 'script')
    assert.deepEqual(body.errors[0].ctx.found, ['JS', 'JavaScript'])
    assert.equal(
      body.detail,
      'body.file: The PDF contains JavaScript. Print the letter to a new PDF and upload that.',
    )
    const hidden = samplePdf('/Names << /EmbeddedFiles#00 << /Names [] >> >>')
    assert.equal((await upload(fileOf(hidden))).body.errors[0].type, 'name')
    const behind = Buffer.concat([samplePng(), Buffer.from('<html>')])
    assert.equal((await upload(fileOf(behind, 'a.png', 'image/png'))).body.errors[0].type, 'trailing_data')
    for (const content of ['', 'GIF89a', '<svg/>']) assert.equal((await upload(fileOf(content))).status, 415)
    assert.equal((await upload(fileOf(samplePng(), 'a.svg', 'image/svg+xml'))).status, 415)
    assert.equal((await call('member', 'GET', '/v3/ipam/letters')).body.count, 0)
  })

  it('is rejected if the form is missing or invalid', async () => {
    const json = await call('admin', 'POST', `/v3/ipam/announcements/${one}/loa`, { file: 'x' })
    assert.equal(json.status, 415)
    const cut = formOf(letterForm()).subarray(0, -10)
    const url = `/v3/ipam/announcements/${one}/loa`
    assert.equal((await call('admin', 'POST', url, cut, { 'content-type': formType })).body.code, 'malformed')
    assert.equal((await upload([])).status, 422)
    assert.equal(
      (await upload(letterForm({ name: 'announcement_ids', content: '1' }))).body.errors[0].type,
      'unknown',
    )
    const packed = await upload(letterForm(), one, { 'content-encoding': 'gzip' })
    assert.equal(packed.status, 415)
  })

  it('lists the place of each announcement that the team does not have, and reveals nothing about other teams', async () => {
    const { status, body } = await upload(letterForm(...appliesTo(two, foreign, 999_999)))
    assert.equal(status, 422)
    assert.deepEqual(
      body.errors.map(({ loc, type }: { loc: unknown; type: string }) => [loc, type]),
      [
        [['body', 'applies_to', 1], 'not_found'],
        [['body', 'applies_to', 2], 'not_found'],
      ],
    )
    assert.equal((await upload(letterForm(), foreign)).status, 404)
  })

  it('returns 404 for a deleted announcement', async () => {
    const { teamId } = red
    const id = await seedAnnouncement(api.database.postgres, {
      teamId,
      prefix: '203.0.112.0/24',
      validated: false,
    })
    await sql`update announcements set deleted = now() where id = ${id}`.execute(owner())
    assert.equal((await upload(letterForm(), id)).status, 404)
    assert.equal((await upload(letterForm(...appliesTo(id)))).status, 422)
  })

  it('may expire in the future only, and within a century', async () => {
    for (const content of ['2020-01-01', '2126-01-01', '9999-12-31T23:59:59-05:00']) {
      const { status, body } = await upload(letterForm({ name: 'valid_until', content }))
      assert.equal(status, 422, content)
      assert.deepEqual(body.errors[0].loc, ['body', 'valid_until'])
    }
  })

  it('is one letter for a repeated Idempotency-Key, whatever the boundary; another file is rejected', async () => {
    const key = { 'idempotency-key': 'letter-1' }
    const first = await upload(letterForm(), one, key)
    const form = formOf(letterForm(), 'another-boundary')
    const again = await upload([], one).then(() =>
      call('admin', 'POST', `/v3/ipam/announcements/${one}/loa`, form, {
        ...key,
        'content-type': 'multipart/form-data; boundary=another-boundary',
      }),
    )
    assert.equal(again.status, 201)
    assert.deepEqual(again.body, first.body)
    assert.equal((await upload(letterForm(...appliesTo(two)), one, key)).body.code, 'idempotency_mismatch')
    assert.equal((await call('member', 'GET', '/v3/ipam/letters')).body.count, 1)
  })

  it('returns the result in a dry run, and stores nothing', async () => {
    const pending = await uploaded()
    const { status, body } = await upload(letterForm(), one, {}, '?dry_run=true')
    assert.equal(status, 200)
    assert.equal(body.dry_run, true)
    assert.equal(body.result.status, 'pending_review')
    assert.deepEqual((await call('member', 'GET', '/v3/ipam/letters')).body.results, [pending])
  })
})

describe('the quotas of a team', () => {
  const fill = (count: number, size: number, age: string) =>
    sql`
    insert into letters (team_id, filename, media_type, size, sha256, uploaded, uploaded_by)
    select ${red.teamId}, 'a.png', 'image/png', ${size}, sha256('a'), now() - ${age}::interval, 'user:1'
    from generate_series(1, ${count})`.execute(owner())

  it('limit the number of letters in 24 hours', async () => {
    await fill(49, 1, '23 hours')
    await fill(100, 1, '25 hours')
    await uploaded()
    const { status, body } = await upload()
    assert.equal(status, 403)
    assert.equal(body.code, 'quota_exceeded')
    const other = await call('blue', 'POST', `/v3/ipam/announcements/${foreign}/loa`, formOf(letterForm()), {
      'content-type': formType,
    })
    assert.equal(other.status, 201)
  })

  it('limit the total size', async () => {
    await fill(51, 10 * 1024 * 1024, '2 days')
    await fill(1, 2 * 1024 * 1024 - samplePng().length, '2 days')
    await uploaded()
    assert.equal((await upload()).body.code, 'quota_exceeded')
  })

  it('are not exceeded by concurrent uploads', async () => {
    await fill(48, 1, '1 hour')
    const answers = await Promise.all(Array.from({ length: 3 }, () => upload()))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403])
  })
})

describe('a newer letter', () => {
  it('replaces an older one that is pending review', async () => {
    const old = await uploaded(...appliesTo(two))
    const next = await uploaded(...appliesTo(two))
    const replaced = await letterOf(old.id)
    assert.equal(replaced.status, 'rejected')
    assert.equal(replaced.reason, `Replaced by letter ${next.id}.`)
    assert.deepEqual(replaced.announcement_ids, [one, two])
    assert.deepEqual(await historyOf(one), ['letter_uploaded', 'letter_superseded', 'letter_uploaded'])
    assert.equal((await letterCheckOf(one)).letterId, next.id)
    assert.equal((await decide(old.id, 'accept')).status, 409)
    const listed = await call('member', 'GET', '/v3/ipam/letters?status=rejected')
    assert.deepEqual(listed.body.results, [replaced])
  })

  it('does not replace an older one for announcements that it does not name', async () => {
    const old = await uploaded(...appliesTo(two))
    const next = await uploaded()
    const left = await letterOf(old.id)
    assert.deepEqual([left.status, left.announcement_ids], ['pending_review', [two]])
    assert.equal((await decide(old.id, 'accept')).status, 200)
    assert.deepEqual(
      [(await letterCheckOf(one)).state, (await letterCheckOf(one)).letterId],
      ['pending', next.id],
    )
    assert.equal((await letterCheckOf(two)).state, 'valid')
    const ofOne = await call('member', 'GET', `/v3/ipam/letters?announcement_id=${one}`)
    assert.deepEqual(
      ofOne.body.results.map(({ id }: Letter) => id),
      [next.id],
    )
  })

  it('does not replace an accepted one', async () => {
    const old = await uploaded()
    await decide(old.id, 'accept')
    await uploaded()
    assert.equal((await letterOf(old.id)).status, 'accepted')
    assert.equal((await letterCheckOf(one)).state, 'valid')
  })
})

describe('the review of a letter', () => {
  it('lists the pending letters of all teams, oldest first', async () => {
    const first = await uploaded()
    await call('blue', 'POST', `/v3/ipam/announcements/${foreign}/loa`, formOf(letterForm()), {
      'content-type': formType,
    })
    const { body } = await call('staff', 'GET', '/v3/admin/letters?status=pending_review')
    assert.equal(body.count, 2)
    const shown: ReviewedLetter = body.results[0]
    assert.equal(shown.id, first.id)
    assert.deepEqual(shown.team, { id: red.teamId, name: 'Team red' })
    assert.deepEqual(shown.announcements, [{ id: one, cidr: '203.0.113.0/24', origin_asn: 64496 }])
    assert.equal(shown.content_type, 'image/png')
    const ofBlue = await call('staff', 'GET', `/v3/admin/letters?team_id=${blue.teamId}`)
    assert.equal(ofBlue.body.count, 1)
  })

  it('accepts once, until the given time', async () => {
    const { id } = await uploaded({ name: 'valid_until', content: '2030-01-01' })
    const notified = new Promise<void>((resolve) => api.waker.on('validations', resolve))
    const { status, body } = await decide(id, 'accept', { valid_until: '2028-01-01' })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.status, body.valid_until], ['accepted', '2028-01-01T00:00:00.000Z'])
    await notified
    const again = await decide(id, 'accept', { valid_until: '2029-01-01' })
    assert.deepEqual([again.status, again.body], [200, body])
    assert.equal((await decide(id, 'reject', { reason: 'no' })).status, 409)
    assert.deepEqual(await historyOf(one), ['letter_uploaded', 'letter_accepted'])
    const check = await letterCheckOf(one)
    assert.deepEqual([check.state, check.validUntil], ['valid', new Date('2028-01-01')])
  })

  it('counts for the origin that the announcement had at the upload, and for no other', async () => {
    const { id } = await uploaded()
    assert.equal((await decide(id, 'accept')).status, 200)
    const setOrigin = (asn: number) =>
      sql`update announcements set origin_asn = ${asn} where id = ${one}`.execute(owner())
    await setOrigin(64497)
    assert.equal((await letterCheckOf(one)).state, 'missing')
    await setOrigin(64496)
    assert.equal((await letterCheckOf(one)).state, 'valid')
  })

  it('rejects once, with a reason that the team sees', async () => {
    const { id } = await uploaded()
    assert.equal((await decide(id, 'reject', {})).status, 422)
    const { body } = await decide(id, 'reject', { reason: 'It is not signed.' })
    assert.deepEqual([body.status, body.reason], ['rejected', 'It is not signed.'])
    assert.equal((await decide(id, 'reject', { reason: 'Another.' })).body.reason, 'It is not signed.')
    assert.equal((await decide(id, 'accept')).status, 409)
    const shown = await letterOf(id)
    assert.deepEqual([shown.status, shown.reason], ['rejected', 'It is not signed.'])
    assert.notEqual(shown.reviewed, null)
    assert.equal((await letterCheckOf(one)).state, 'invalid')
    assert.deepEqual(await historyOf(one), ['letter_uploaded', 'letter_rejected'])
  })

  it('does not accept a letter that has expired meanwhile, unless a new expiry is given', async () => {
    const { id } = await uploaded({ name: 'valid_until', content: '2030-01-01' })
    await sql`update letters set valid_until = now() - interval '1 day' where id = ${id}`.execute(owner())
    assert.equal((await decide(id, 'accept')).status, 422)
    assert.equal((await decide(id, 'accept', { valid_until: '2020-01-01' })).status, 422)
    assert.equal((await decide(id, 'accept', { valid_until: 'tomorrow' })).status, 422)
    assert.equal((await decide(id, 'accept', { valid_until: '2029-01-01' })).status, 200)
    await sql`update letters set valid_until = now() - interval '1 day' where id = ${id}`.execute(owner())
    assert.equal((await letterCheckOf(one)).state, 'expired')
  })

  it('is audited with actor, before and after; the team sees the provider as the actor', async () => {
    const { id } = await uploaded()
    await decide(id, 'reject', { reason: 'No.' })
    const entries = await owner()
      .selectFrom('audit_entries')
      .selectAll()
      .where('action', 'like', 'letter.%')
      .orderBy('id')
      .execute()
    assert.deepEqual(
      entries.map(({ action, target, team_id }) => [action, target, team_id]),
      [
        ['letter.upload', `letter:${id}`, red.teamId],
        ['letter.reject', `letter:${id}`, red.teamId],
      ],
    )
    const { before: was, after: is, actor } = entries[1]!
    assert.deepEqual([(was as Letter).status, (is as Letter).status], ['pending_review', 'rejected'])
    assert.match(actor, /^user:\d+$/)
    const line = await owner()
      .selectFrom('announcement_history')
      .select(['actor', 'detail'])
      .where('kind', '=', 'letter_rejected')
      .executeTakeFirstOrThrow()
    assert.deepEqual(line, { actor: 'operator', detail: { letter_id: id, reason: 'No.' } })
  })

  it('by two users at once is decided once', async () => {
    const { id } = await uploaded()
    const answers = await Promise.all([decide(id, 'accept'), decide(id, 'reject', { reason: 'No.' })])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  })
})

describe('the file of a letter', () => {
  it('is an attachment that browsers neither execute nor cache', async () => {
    const { body } = await upload(fileOf(samplePng(), 'Genehmigung für 1 €.png', 'image/png'))
    for (const [who, url] of [
      ['member', `/v3/ipam/letters/${body.id}/file`],
      ['staff', `/v3/admin/letters/${body.id}/file`],
    ] as const) {
      const { status, headers, bytes } = await call(who, 'GET', url)
      assert.equal(status, 200)
      assert.ok(bytes.equals(samplePng()))
      assert.equal(headers['content-type'], 'image/png')
      assert.match(
        String(headers['content-disposition']),
        /^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''/,
      )
      assert.match(String(headers['content-disposition']), /f%C3%BCr%201%20%E2%82%AC\.png$/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(String(headers['content-security-policy']), /default-src 'none'.*sandbox/)
      assert.equal(headers['cache-control'], 'private, no-store')
      assert.equal(headers['content-length'], String(samplePng().length))
    }
  })

  it('is shown to staff as one picture per page, whatever the format', async () => {
    const letters = [
      [samplePng(), 'a.png', 1],
      [Buffer.concat([sampleJpeg(), Buffer.from('MotionPhoto_Data')]), 'a.jpg', 1],
      [samplePdf(), 'a.pdf', 1],
    ] as const
    for (const [content, name, pages] of letters) {
      const { body } = await upload(fileOf(content, name, 'application/octet-stream'))
      assert.equal((await call('staff', 'GET', `/v3/admin/letters/${body.id}`)).body.pages, pages, name)
      const page = await call('staff', 'GET', `/v3/admin/letters/${body.id}/pages/1`)
      assert.equal(page.status, 200, name)
      assert.equal(page.headers['content-type'], 'image/png')
      assert.equal(page.headers['x-content-type-options'], 'nosniff')
      assert.match(String(page.headers['content-security-policy']), /sandbox/)
      assert.equal(refusalOfPng(page.bytes), undefined)
      assert.equal((await call('staff', 'GET', `/v3/admin/letters/${body.id}/pages/2`)).status, 404)
    }
    assert.equal((await call('staff', 'GET', '/v3/admin/letters/999999/pages/1')).status, 404)
    assert.equal((await call('staff', 'GET', '/v3/admin/letters/1/pages/0')).status, 404)
    assert.equal((await call('admin', 'GET', '/v3/admin/letters/1/pages/1')).status, 403)
  })

  it('that cannot be rendered returns 409 with another way to view it', async () => {
    const { id } = await uploaded()
    await sql`update letter_files set content = ${Buffer.from('no picture')} where letter_id = ${id}`.execute(
      owner(),
    )
    const { status, body } = await call('staff', 'GET', `/v3/admin/letters/${id}/pages/1`)
    assert.equal(status, 409)
    assert.match(body.detail, /Download the file/)
  })
})

describe('a draft', () => {
  const draft = (query = '') => call('member', 'GET', `/v3/ipam/announcements/${one}/loa/draft${query}`)

  it('can be uploaded once it is signed', async () => {
    const { status, headers, bytes } = await draft(
      `?applies_to=${two}&contact=noc%40red.example&registry_handle=R1`,
    )
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/pdf')
    assert.match(
      String(headers['content-disposition']),
      /filename="letter-of-authorization-203\.0\.113\.0-24\.pdf"/,
    )
    assert.equal((await upload(fileOf(bytes))).status, 201)
  })

  it('names only announcements of the team', async () => {
    const { status, body } = await draft(`?applies_to=${foreign}`)
    assert.equal(status, 422)
    assert.deepEqual(body.errors[0].loc, ['query', 'applies_to', 0])
  })

  it('is rejected while the provider has set no name or no ASN', async () => {
    await using unnamed = await createTestApi(
      { PHAROS_PROVIDER_NAME: 'the network service provider' },
      { sameInstallationAs: api },
    )
    const { statusCode, json } = await unnamed.server.inject({
      url: `/v3/ipam/announcements/${one}/loa/draft`,
      headers: { authorization: bearers.member },
    })
    assert.equal(statusCode, 409)
    assert.match(json().detail, /Ask the provider to set provider_name and provider_asn/)
  })
})

describe('a virus scanner', () => {
  it('that does not respond causes every upload to be rejected', async () => {
    await using scanned = await createTestApi(
      { PHAROS_CLAMD_URL: 'tcp://127.0.0.1:1' },
      { sameInstallationAs: api },
    )
    for (const content of [samplePdf(), samplePng(), sampleJpeg()]) {
      const { statusCode, headers, json } = await scanned.server.inject({
        method: 'POST',
        url: `/v3/ipam/announcements/${one}/loa`,
        headers: { authorization: bearers.admin, 'content-type': formType },
        payload: formOf(fileOf(content)),
      })
      assert.equal(statusCode, 503)
      assert.ok(Number(headers['retry-after']) > 0)
      assert.deepEqual(json().degraded, ['virus scanner'])
      assert.match(json().detail, /Upload the letter again later/)
    }
    assert.equal((await call('member', 'GET', '/v3/ipam/letters')).body.count, 0)
  })
})

describe('the second wall', () => {
  const asTeam = (teamId: number, statement: string) =>
    api.database.postgres.inTeam(teamId, (trx) => sql.raw<{ n: number }>(statement).execute(trx))

  it('shows a team only its own letters, for any query', async () => {
    await uploaded()
    for (const table of ['letters', 'letter_announcements', 'letter_files']) {
      assert.equal((await asTeam(red.teamId, `select count(*) as n from ${table}`)).rows[0]!.n, 1)
      assert.equal((await asTeam(blue.teamId, `select count(*) as n from ${table}`)).rows[0]!.n, 0)
    }
  })

  it('prevents a team from accepting, changing or deleting a letter', async () => {
    await uploaded()
    for (const statement of [
      `update letters set status = 'accepted', reviewed = now()`,
      `update letters set valid_until = null`,
      `update letter_files set content = ''`,
      `delete from letters`,
      `insert into letters (team_id, filename, media_type, size, sha256, uploaded_by)
        values (${blue.teamId}, 'a', 'image/png', 1, sha256('a'), 'x')`,
    ])
      await assert.rejects(asTeam(red.teamId, statement), statement)
  })
})

describe('uploads over a connection', () => {
  let port: number
  before(async () => {
    await api.server.listen({ port: 0, host: '127.0.0.1' })
    port = (api.server.server.address() as { port: number }).port
  })

  /** Announces a body of ten megabytes without sending it. */
  function begin(authorization: string): Socket {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(
      `POST /v3/ipam/announcements/${one}/loa HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n` +
        `Content-Type: ${formType}\r\nContent-Length: 10000000\r\n\r\n`,
    )
    return socket
  }

  it('are refused before the body is read, if the credential or the media type is invalid', async () => {
    const socket = begin('Bearer abc.def.ghi')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 401 /)
    socket.destroy()
    const member = begin(bearers.member)
    assert.match(String((await once(member, 'data'))[0]), /^HTTP\/1\.1 403 /)
    member.destroy()
  })

  it('are limited per team, and other teams have their own limit', async () => {
    const slow: Socket[] = []
    let refused = await upload()
    // Uploads that arrive while another upload of the team is processed are refused.
    for (let tries = 0; refused.status !== 503 && tries < 20; tries++) {
      slow.push(begin(bearers.admin))
      await sleep(50)
      refused = await upload()
    }
    assert.equal(refused.status, 503)
    assert.ok(Number(refused.headers['retry-after']) > 0)
    const other = await call('blue', 'POST', `/v3/ipam/announcements/${foreign}/loa`, formOf(letterForm()), {
      'content-type': formType,
    })
    assert.equal(other.status, 201)
    for (const socket of slow) socket.destroy()
    let next = await upload()
    for (let tries = 0; next.status === 503 && tries < 50; tries++) {
      await sleep(20)
      next = await upload()
    }
    assert.equal(next.status, 201)
  })

  it('are sent by the typed client, which also returns files', async () => {
    const client = createClient({
      baseUrl: `http://127.0.0.1:${port}`,
      credential: () => ({ bearer: bearers.admin.slice('Bearer '.length) }),
    })
    const file = new File([new Uint8Array(samplePng())], 'signed.png', { type: 'image/png' })
    const params = { announcement_id: one }
    const { status, body } = await client(uploadLetterRoute, {
      params,
      form: { file, fields: { applies_to: [two], valid_until: '2030-01-01' } },
    })
    assert.equal(status, 201)
    assert.ok('filename' in body)
    assert.deepEqual([body.filename, body.announcement_ids], ['signed.png', [one, two]])
    const answer = await client(getLetterFileRoute, { params: { letter_id: body.id } })
    assert.equal(answer.body.type, 'image/png')
    assert.ok(Buffer.from(await answer.body.arrayBuffer()).equals(samplePng()))
    const renamed = await client(uploadLetterRoute, {
      params,
      form: { file: new Blob([new Uint8Array(samplePng())]), filename: 'b.png' },
    })
    assert.equal(renamed.status, 201)
    await assert.rejects(client(getLetterFileRoute, { params: { letter_id: 999_999 } }), ProblemError)
  })
})
