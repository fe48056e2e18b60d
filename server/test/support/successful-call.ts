// Calls an operation successfully, as the first allowed caller and on an object of its own team: for tests of the side
// effects of successful calls.
import { urlOf } from '@pharos/contract/client'
import type { Route } from '@pharos/contract/route'
import type { TestApi } from '../api.ts'
import { callers, type Caller, type Presented } from './callers.ts'
import { formOf, formType } from './letters.ts'
import type { Subject, SubjectRequest } from './subject.ts'
import { expectedAccessOf } from './expected-access.ts'
import type { Fixtures } from './fixtures.ts'

export type Success = {
  readonly status: number
  readonly requestId: string
  /** Credentials, body, and the response if it is JSON. */
  readonly exchanged: readonly unknown[]
}

/** Returns undefined if no caller succeeds with the subject. */
export async function callWithSuccess(
  api: TestApi,
  fixtures: Fixtures,
  subject: Subject,
  route: Route,
  headers: Readonly<Record<string, string>> = {},
): Promise<Success | undefined> {
  const prepared = await prepareSuccess(api, fixtures, subject, route)
  if (!prepared) return undefined
  const { presented, request, send } = prepared
  const answer = await send({}, headers)
  const isJson = answer.headers['content-type']?.toString().includes('json') ?? false
  return {
    status: answer.statusCode,
    requestId: String(answer.headers['x-request-id']),
    exchanged: [presented, request.body, ...(isJson ? [JSON.parse(answer.body)] : [])],
  }
}

export type PreparedCall = {
  readonly presented: Presented
  readonly request: SubjectRequest
  /** Sends the request, or a request that differs in the given parts, as the same caller. */
  readonly send: (
    other?: SubjectRequest,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Awaited<ReturnType<TestApi['server']['inject']>>>
}

/** Creates the caller, by default the first allowed one, and the object of a successful call. Returns undefined if no caller succeeds with the subject. */
export async function prepareSuccess(
  api: TestApi,
  fixtures: Fixtures,
  subject: Subject,
  route: Route,
  callerName?: string,
): Promise<PreparedCall | undefined> {
  const success = successOf(subject, route, callerName)
  if (!success) return undefined
  const { caller, which } = success
  const presented = await caller.present(api, fixtures)
  const request = await subject.requests[which]!({ api, fixtures, identity: caller.identity, presented })
  const send: PreparedCall['send'] = (other = {}, headers = {}) => {
    const { params = {}, query = {}, body, form } = { ...request, ...other }
    return api.server.inject({
      method: route.method,
      url: urlOf(route, params, query),
      ...(body === undefined ? {} : { payload: body as object }),
      ...(form === undefined ? {} : { payload: formOf(form) }),
      headers: {
        ...headers,
        ...(form === undefined ? {} : { 'content-type': formType }),
        ...(presented.authorization === undefined ? {} : { authorization: presented.authorization }),
      },
      ...(presented.from === undefined ? {} : { remoteAddress: presented.from }),
    })
  }
  return { presented, request, send }
}

/** Creates the object and the caller of the successful call. */
function successOf(
  subject: Subject,
  route: Route,
  callerName?: string,
): { caller: Caller; which: 'own' | 'only' } | undefined {
  const which = subject.requests.own ? 'own' : 'only'
  if (!subject.requests[which]) return undefined
  const caller = callers.find(
    ({ name, identity, elsewhere }) =>
      !elsewhere &&
      (callerName === undefined || name === callerName) &&
      expectedAccessOf(route, identity) === 'pass' &&
      typeof subject.answers(which, identity) === 'number',
  )
  return caller && { caller, which }
}
