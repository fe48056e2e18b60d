// The time zone of places: of the provider's locations and regions, airports, and coordinates.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { Failure } from '../../runtime/error.ts'
import { isCountry } from '../../text/country.ts'
import { isTimezone } from '../../text/time.ts'
import { airports } from './airport.ts'
import { getTimezone } from './timezone.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  const { owner } = database.postgres
  await sql`insert into locations (key, name, country, timezone) values
    ('ktm', 'Site in Nepal', 'NP', 'Asia/Kathmandu'), ('hall-9', 'Hall 9', 'NL', 'Europe/Amsterdam')`.execute(
    owner,
  )
  await sql`insert into regions (slug, name, location_key, speakers) values ('west', 'West', 'hall-9', '[]')`.execute(
    owner,
  )
})
after(() => database[Symbol.asyncDispose]())

const now = new Date('2026-07-01T12:00:00Z')
const find = (query: Parameters<typeof getTimezone>[2]) =>
  getTimezone({ db: database.postgres.front, now: () => now }, undefined, query)

const isInvalid = (place: string, type: string) => (error: unknown) =>
  error instanceof Failure &&
  error.code === 'invalid' &&
  error.errors!.some((one) => one.loc.join('.') === place && one.type === type)

describe('the time zone of a location', () => {
  it('is that of the key, whatever its case, before that of an airport with the same code', async () => {
    assert.deepEqual(await find({ location: 'KTM' }), {
      location: 'ktm',
      name: 'Site in Nepal',
      country: 'NP',
      timezone: 'Asia/Kathmandu',
      utc_offset: '+05:45',
      dst: false,
      at: '2026-07-01T12:00:00.000Z',
    })
  })

  it('is found by a region', async () => {
    const { location, timezone, utc_offset, dst } = await find({ location: 'west' })
    assert.deepEqual([location, timezone, utc_offset, dst], ['hall-9', 'Europe/Amsterdam', '+02:00', true])
  })

  it('is found by an IATA code, and is as of the time', async () => {
    const at = async (time: string) => {
      const { location, name, utc_offset, dst } = await find({ location: 'syd', at: time })
      return [location, name, utc_offset, dst]
    }
    assert.deepEqual(await at('2026-07-01T00:00:00Z'), ['SYD', 'Sydney', '+10:00', false])
    assert.deepEqual(await at('2026-12-01T00:00:00Z'), ['SYD', 'Sydney', '+11:00', true])
    assert.equal((await find({ location: 'dub' })).dst, true)
  })

  it('is 404 for any other', async () => {
    for (const location of ['XXX', 'nowhere', '%', "ams' or true --"])
      await assert.rejects(find({ location }), { code: 'not_found' })
  })
})

describe('the time zone of coordinates', () => {
  const places: readonly [string, string, string][] = [
    ['52.3676', '4.9041', 'Europe/Amsterdam'],
    ['-33.8688', '151.2093', 'Australia/Sydney'],
    ['27.7172', '85.324', 'Asia/Kathmandu'],
    ['40.7128', '-74.006', 'America/New_York'],
    ['-90', '180', 'Antarctica/McMurdo'],
  ]
  for (const [latitude, longitude, timezone] of places)
    it(`is ${timezone} at ${latitude}, ${longitude}`, async () => {
      const found = await find({ latitude, longitude })
      assert.deepEqual([found.timezone, found.location], [timezone, null])
    })

  it('exists on every whole degree of latitude', async () => {
    for (let latitude = -90; latitude <= 90; latitude++) {
      const { timezone } = await find({ latitude: String(latitude), longitude: String((latitude * 2) % 180) })
      assert.ok(isTimezone(timezone), timezone)
    }
  })
})

describe('a request', () => {
  it('needs exactly one of location and coordinates, in range', async () => {
    await assert.rejects(find({}), isInvalid('query.location', 'required'))
    await assert.rejects(find({ location: 'ams', latitude: '1' }), isInvalid('query.location', 'exclusive'))
    await assert.rejects(find({ latitude: '1' }), isInvalid('query.longitude', 'required'))
    await assert.rejects(find({ longitude: '1' }), isInvalid('query.latitude', 'required'))
    await assert.rejects(find({ latitude: '90.1', longitude: '1' }), isInvalid('query.latitude', 'range'))
    await assert.rejects(find({ latitude: '1', longitude: '-181' }), isInvalid('query.longitude', 'range'))
  })
})

describe('the table of airports', () => {
  it('has codes of three letters, countries and time zones that exist', () => {
    assert.ok(airports.size > 300)
    for (const [code, { name, country, timezone }] of airports) {
      assert.match(code, /^[A-Z]{3}$/)
      assert.ok(name.length > 2, code)
      assert.ok(isCountry(country), `${code} ${country}`)
      assert.ok(isTimezone(timezone), `${code} ${timezone}`)
    }
  })
})
