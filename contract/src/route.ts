// A route is a value: from it come the validation, the serialization, the OpenAPI document and the typed client.
// This file knows no server and runs in a browser.
import type { Static, TObject, TSchema } from 'typebox'
import type { ProblemCode } from './problem.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * What a caller must bring. `web` is the bearer token of the web application, `any` also takes an API token;
 * `optional` takes a bearer token or none, and the operation says when it needs one. `source` is the secret of a
 * detector (ingest only).
 */
export type Permission =
  | { readonly credential: 'none' | 'optional' | 'source' }
  | {
      readonly credential: 'web' | 'any'
      readonly module?: string
      /** The scope that an API token needs, such as `ipam:write`. */
      readonly scope?: string
      readonly role?: 'admin' | 'staff'
    }

export type Route<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema | null = TSchema | null,
  Response extends TSchema | null = TSchema | null,
> = {
  /** The operation id, unique: `updateAnnouncement`. */
  readonly name: string
  readonly group: string
  readonly method: Method
  /** Parameters in braces: `/v3/ipam/announcements/{announcement_id}`. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly permission: Permission
  readonly params: Params
  readonly query: Query
  /** Null: the operation takes no body. */
  readonly body: Body
  /** The body of a success; null for none. */
  readonly response: Response
  readonly success: 200 | 201 | 202 | 204
  /** The error codes of this operation beside those that every operation may answer with. */
  readonly errors: readonly ProblemCode[]
  /** Takes `?dry_run=true`, and then answers with a DryRun. */
  readonly dryRun: boolean
  /**
   * A GET answers with an `ETag` and takes `If-None-Match`. POST and PATCH take `Idempotency-Key`; PATCH, PUT and DELETE
   * take `If-Match`.
   */
  readonly conditional: boolean
}

type Declared<P, Q, B, R> = Omit<
  Route<never, never, never, never>,
  'params' | 'query' | 'body' | 'response' | 'errors' | 'dryRun' | 'conditional'
> & {
  params?: P
  query?: Q
  body?: B
  response?: R
  errors?: readonly ProblemCode[]
  dryRun?: boolean
  conditional?: boolean
}

type Nothing = TObject<Record<never, never>>
const nothing = { type: 'object', properties: {}, additionalProperties: false } as unknown as Nothing

/** Declares a route; what is left out means "none". */
export function route<
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema | null = null,
  R extends TSchema | null = null,
>(declared: Declared<P, Q, B, R>): Route<P, Q, B, R> {
  return {
    errors: [],
    dryRun: false,
    conditional: false,
    ...declared,
    params: declared.params ?? (nothing as unknown as P),
    query: declared.query ?? (nothing as unknown as Q),
    body: (declared.body ?? null) as B,
    response: (declared.response ?? null) as R,
  }
}

export type ParamsOf<R extends Route> = Static<R['params']>
export type QueryOf<R extends Route> = Static<R['query']>
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
export type ResponseOf<R extends Route> = R['response'] extends TSchema ? Static<R['response']> : undefined
