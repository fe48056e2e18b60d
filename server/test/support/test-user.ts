// Users for tests, each with a unique address, and their HTTP calls.
import assert from 'node:assert/strict'
import { addUser, testPassword, type TestApi, type TestTeam } from '../api.ts'

export type Answer = {
  readonly status: number
  readonly code: string | undefined
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export type Tokens = { readonly access: string; readonly refresh: string }

export type Client = {
  post(path: string, body: object, access?: string): Promise<Answer>
  send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    access?: string,
    body?: object,
  ): Promise<Answer>
  signIn(email: string, password?: string, from?: string): Promise<Answer>
  /** Signs in, which has to succeed. */
  open(email: string, password?: string, from?: string): Promise<Tokens>
}

/** Creates a client whose paths are relative to `/session`. */
export function createClient(api: TestApi): Client {
  const send: Client['send'] = async (method, path, access, body) => {
    const response = await api.server.inject({
      method,
      url: `/v3/session${path}`,
      headers: access === undefined ? {} : { authorization: `Bearer ${access}` },
      ...(body === undefined ? {} : { payload: body }),
    })
    return answerOf(response.statusCode, response.body)
  }
  const signIn: Client['signIn'] = async (email, password = testPassword, from = '127.0.0.1') => {
    const response = await api.server.inject({
      method: 'POST',
      url: '/v3/session/token',
      payload: { email, password },
      remoteAddress: from,
    })
    return answerOf(response.statusCode, response.body)
  }
  return {
    send,
    post: (path, body, access) => send('POST', path, access, body),
    signIn,
    async open(email, password, from) {
      const { status, body } = await signIn(email, password, from)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    },
  }
}

function answerOf(status: number, text: string): Answer {
  const body = text === '' ? undefined : JSON.parse(text)
  return { status, code: body?.code, body }
}

let people = 0

/** Creates a user of the team with a unique address. */
export function addPerson(
  api: TestApi,
  team: TestTeam,
  flags: Parameters<typeof addUser>[3] = {},
): Promise<{ userId: number; email: string }> {
  return addUser(api, `person${++people}`, [team], flags)
}

/** Returns the recorded changes of a user, in order, without refused sign-ins: they are recorded later, together. */
export async function auditOfPerson({ database }: TestApi, userId: number): Promise<string[]> {
  const rows = await database.postgres.owner
    .selectFrom('audit_entries')
    .select('action')
    .where('target', '=', `user:${userId}`)
    .where('action', '<>', 'session.refuse')
    .orderBy('id')
    .execute()
  return rows.map(({ action }) => action)
}
