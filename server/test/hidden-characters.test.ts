// Text that others read, over HTTP: every free-text field in every body rejects invisible characters and names them. A new
// free-text field is found by its schema: it must have the rule or be listed as an exception.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { routes } from '@pharos/contract/document/routes'
import type { Route } from '@pharos/contract/route'
import { textFormats } from '@pharos/contract/text'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

type Schema = {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

type Field = { readonly path: readonly string[]; readonly schema: Schema }

/** Returns the strings of a body; `*` matches an element of a list. */
function stringsOf(schema: Schema, path: readonly string[] = []): Field[] {
  if (schema.anyOf) return schema.anyOf.flatMap((one) => stringsOf(one, path))
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([name, inner]) => stringsOf(inner, [...path, name]))
  if (schema.items) return stringsOf(schema.items, [...path, '*'])
  return schema.type === 'string' && !schema.enum ? [{ path, schema }] : []
}

const hasRule = ({ schema }: Field): boolean =>
  (textFormats as readonly string[]).includes(schema.format ?? '')

/** Fields that are compared, parsed or hashed, and never displayed as sent. */
const parsed = new Set(
  (
    'password current_password new_password otp refresh token etag email billing_email technical_email abuse_email ' +
    'timezone domain url cidr region regions allowed_subnets ' +
    'address nameservers tsig_key records add remove zonefile axfr dnskey private_key allow_transfer rname ip ptrdname pattern ' +
    'prefix source destination filters host event_id'
  ).split(' '),
)

const isParsed = (route: Route, { path, schema }: Field): boolean =>
  schema.format === 'date-time' ||
  (schema.pattern !== undefined && !/^\^?\\S$/.test(schema.pattern)) ||
  path.some((step) => parsed.has(step)) ||
  // Of zones and record sets: names and types of DNS.
  (route.path.startsWith('/v3/dns/') && ['name', 'type'].includes(path.at(-1)!))

const bodies = routes.flatMap((route: Route) => {
  const schema = (route.body ?? route.upload?.fields) as Schema | null | undefined
  return schema ? [{ route, fields: stringsOf(schema) }] : []
})

let api: TestApi
let fixtures: Fixtures
before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

describe('a free-text field', () => {
  it('has the rule in every body', () => {
    const without = bodies.flatMap(({ route, fields }) =>
      fields
        .filter((field) => !hasRule(field) && !isParsed(route, field))
        .map(({ path }) => `${route.name}: ${path.join('.')}`),
    )
    assert.deepEqual(without, [], 'use Line or Paragraphs of contract/src/text.ts')
  })

  // The fields of a form are checked by the same code.
  for (const { route, fields } of bodies.filter(({ route }) => !route.upload)) {
    for (const { path } of fields.filter(hasRule)) {
      it(`rejects a right-to-left override and names the character: ${route.name} ${path.join('.')}`, async () => {
        const response = await send(route, path, 'pay\u202epal invoice')
        assert.equal(response.statusCode, 422, response.body)
        const errors = response.json().errors as { loc: unknown[]; type: string; msg: string; ctx: object }[]
        const loc = ['body', ...path.map((step) => (step === '*' ? 0 : step))]
        const error = errors.find((one) => one.loc.join('.') === loc.join('.'))
        assert.deepEqual(error, {
          loc,
          type: 'hidden_character',
          msg: 'contains U+202E (right-to-left override) at character 4; remove it',
          ctx: { code_point: 'U+202E', position: 4 },
        })
      })
    }
  }

  it('accepts names in any script', async () => {
    const user = routes.find(({ name }: Route) => name === 'updateUser')!
    for (const name of ['Zoë', 'نتیجه‌ها', 'שלום', '日本'])
      assert.equal((await send(user, ['display_name'], name)).statusCode, 200, name)
  })
})

/** A body with this field only: missing fields are other errors of the same response. */
async function send(route: Route, path: readonly string[], text: string) {
  const body = path.reduceRight<unknown>((inner, step) => (step === '*' ? [inner] : { [step]: inner }), text)
  const { userId } = route.path.startsWith('/v3/admin/') ? fixtures.people.staff : fixtures.people.admin
  const { access } = await openSession(api, userId, fixtures.red.teamId)
  return api.server.inject({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'token_id' ? 'a'.repeat(12) : '1')),
    headers: { authorization: `Bearer ${access}` },
    payload: body as object,
  })
}
