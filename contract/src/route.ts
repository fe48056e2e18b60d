// A route is a value from which validation, serialisation, the OpenAPI document and the typed client are derived. This file
// is independent of the server and runs in a browser.
import type { Static, TObject, TSchema } from 'typebox'
import { checkDeprecation, type Deprecation } from './deprecation.ts'
import type { ProblemCode } from './problem.ts'
import type { Group } from './group.ts'
import type { LimitKind } from './resource-limit.ts'
import type { Grant } from './role.ts'
import type { Scope, StaffScope } from './scope.ts'
import type { StaffGrant } from './staff-role.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Required credential. `web`: the bearer token of the web application. `any`: also an API token. `optional`: a bearer token
 * or no credential; the operation's description has the details. `source`: the secret of a detector (ingest only).
 */
export type Permission =
  | { readonly credential: 'none' | 'optional' | 'source' }
  | StaffPermission
  | {
      readonly credential: 'web' | 'any'
      readonly role?: never
      readonly staffGrant?: never
      readonly module?: string
      /** Required scope of an API token. */
      readonly scope?: Scope
      /**
       * One role of the caller must have it, in the team of the credential; the use case checks it if the path names the team
       * (`isOfTeamInPath`), which may differ. Personal operations need no grant; search and stream need the grants of each kind.
       */
      readonly grant?: Grant
      /** The kind of resource that limits a limited token here; left out: the operation is closed to it. */
      readonly limitedBy?: LimitKind
      /** Grants of fields of the body: a request with only these fields needs their grants instead of `grant`. */
      readonly fields?: Readonly<Record<string, Grant>>
      /**
       * The operation concerns the caller's own account or switching teams: available without a second factor in a team that
       * requires one.
       */
      readonly personal?: true
      /**
       * The operation reads or changes the account beyond one team: a session that only the identity provider of a team has opened
       * is refused, since the team does not own the account.
       */
      readonly local?: true
    }

/** Why an operation that is not GET takes no `Idempotency-Key`. A request with the header is rejected. */
export const keylessReasons = {
  no_caller: 'the request has no caller to whom a key could belong',
  password: 'the request contains a password or a secret, of which no digest is stored',
  read: 'the request changes nothing: repeat it as often as needed',
  ends_session: "the request ends the caller's session, so that a repeat would not be authenticated",
} as const
export type KeylessReason = keyof typeof keylessReasons

/** For staff with a role that has the grant, and for staff tokens with the scope. */
type StaffPermission = {
  readonly credential: 'any'
  readonly role: 'staff'
  readonly scope: StaffScope
  readonly staffGrant: StaffGrant
  readonly module?: never
  readonly grant?: never
  readonly limitedBy?: never
  readonly personal?: never
  readonly local?: never
}

/** The permission of everything about devices and ports. */
export const inventoryReading = {
  credential: 'any',
  module: 'inventory',
  scope: 'inventory:read',
  grant: 'inventory.see',
} as const

/** The permission of an operation of staff that only reads. */
export const staffReading = (staffGrant: StaffGrant): StaffPermission => ({
  credential: 'any',
  role: 'staff',
  scope: 'admin:read',
  staffGrant,
})
/** The permission of an operation of staff that changes something. */
export const staffChanging = (staffGrant: StaffGrant): StaffPermission => ({
  credential: 'any',
  role: 'staff',
  scope: 'admin:write',
  staffGrant,
})

/** A body of `multipart/form-data`: text fields and one required file. */
export type Upload<Fields extends TObject = TObject> = {
  /** Parsed like a query: each a scalar, or an array of scalars that may be repeated. */
  readonly fields: Fields
  readonly file: {
    readonly name: string
    readonly description: string
    readonly bytesMax: number
    /** Accepted media types of the part; `application/octet-stream` is always accepted. */
    readonly mediaTypes: readonly string[]
  }
}

export type Route<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema | null = TSchema | null,
  Response extends TSchema | null = TSchema | null,
  Up extends Upload | null = Upload | null,
  Down extends readonly string[] | null = readonly string[] | null,
  Path extends string = string,
> = {
  /** The operation id, unique: `updateAnnouncement`. */
  readonly name: string
  readonly group: Group
  readonly method: Method
  /** Parameters in braces: `/v3/ipam/announcements/{announcement_id}`. */
  readonly path: Path
  readonly summary: string
  readonly description: string
  readonly permission: Permission
  readonly params: Params
  readonly query: Query
  /** Null: the operation takes no body. */
  readonly body: Body
  /** A form with a file instead of a JSON body. */
  readonly upload: Up
  /** The body of a successful answer; null: no body. */
  readonly response: Response
  /** The body of the answer 200 to a request that only validates; null if the operation has no such parameter. */
  readonly trial: TSchema | null
  /** The answer is a file with any of these media types instead of a JSON body. */
  readonly download: Down
  /** The answer is a stream of server-sent events instead of a JSON body. Takes `Last-Event-ID`. */
  readonly stream: boolean
  readonly success: 200 | 201 | 202 | 204
  /** Other statuses of success, each with its meaning: 200 for a record that exists already. 204 has no body, others have the body of `success`. */
  readonly also: Readonly<Partial<Record<200 | 201 | 204, string>>>
  /**
   * The GET route of what a 201 created: its path becomes the `Location` of the answer. The last parameter is the created id, the others are taken from
   * the request.
   */
  readonly creates: { readonly name: string; readonly path: string } | null
  /** Error codes of this operation in addition to the common ones. */
  readonly errors: readonly ProblemCode[]
  /**
   * The answer contains a credential. It is never compressed: its length would reveal the credential to an attacker who can
   * choose other parts of it (BREACH).
   */
  readonly secret: boolean
  /** Takes `?dry_run=true` and then returns a DryRun. */
  readonly dryRun: boolean
  /** GET returns an `ETag` and takes `If-None-Match`; PATCH, PUT and DELETE take `If-Match`. */
  readonly conditional: boolean
  /** POST takes `If-Match` too: it changes the record that its path names. */
  readonly ifMatch: boolean
  /** Every operation but GET takes `Idempotency-Key`, unless a reason is given here. */
  readonly keyless: KeylessReason | null
  /** A request without a body counts as one with the body `{}`. */
  readonly bodyOptional: boolean
  /** Until when it works, and what replaces it; null if it is not deprecated. */
  readonly deprecated: Deprecation | null
  /** Largest JSON body in bytes, if it is not the limit of the installation; null for that limit. */
  readonly bodyBytesMax: number | null
}

type Declared<P, Q, B, R, U, D, Path> = Omit<
  Route<never, never, never, never>,
  | 'path'
  | 'params'
  | 'query'
  | 'body'
  | 'upload'
  | 'response'
  | 'trial'
  | 'download'
  | 'stream'
  | 'also'
  | 'creates'
  | 'errors'
  | 'secret'
  | 'dryRun'
  | 'conditional'
  | 'ifMatch'
  | 'keyless'
  | 'bodyOptional'
  | 'deprecated'
  | 'bodyBytesMax'
> & {
  path: Path
  params?: P
  query?: Q
  body?: B
  upload?: U
  response?: R
  trial?: TSchema | null
  download?: D
  stream?: boolean
  also?: Route['also']
  creates?: Route['creates']
  errors?: readonly ProblemCode[]
  secret?: boolean
  dryRun?: boolean
  conditional?: boolean
  ifMatch?: boolean
  keyless?: KeylessReason | null
  bodyOptional?: boolean
  deprecated?: Deprecation | null
  bodyBytesMax?: number | null
}

/** Whether the path names the team of the operation, which may differ from the credential's team. */
export const isOfTeamInPath = ({ path }: Pick<Route, 'path'>): boolean =>
  path.startsWith('/v3/teams/{team_id}')

/** Returns the grants that a request with these fields of the body needs. */
export function grantsNeeded(permission: Permission, fields: readonly string[]): readonly Grant[] {
  if (permission.credential !== 'web' && permission.credential !== 'any') return []
  if (permission.role === 'staff' || permission.grant === undefined) return []
  const { grant, fields: own = {} } = permission
  const needed = fields.map((field) => own[field] ?? grant)
  return needed.length === 0 ? [grant] : [...new Set(needed)]
}

/** Maximum body of a request without a credential: parsing it costs processor time. */
export const anonymousBodyBytesMax = 16_384

/** Whether the operation needs no credential. */
const isOpen = ({ credential }: Permission) => credential === 'none' || credential === 'optional'

type Nothing = TObject<Record<never, never>>
const nothing = { type: 'object', properties: {}, additionalProperties: false } as unknown as Nothing

/** Declares a route; all parts but the first have defaults. */
export function route<
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema | null = null,
  R extends TSchema | null = null,
  U extends Upload | null = null,
  D extends readonly string[] | null = null,
  const Path extends string = string,
>(declared: Declared<P, Q, B, R, U, D, Path>): Route<P, Q, B, R, U, D, Path> {
  return {
    errors: [],
    trial: null,
    stream: false,
    also: {},
    creates: null,
    secret: false,
    dryRun: false,
    conditional: false,
    ifMatch: false,
    bodyOptional: false,
    bodyBytesMax: isOpen(declared.permission) ? anonymousBodyBytesMax : null,
    ...declared,
    keyless: declared.keyless ?? null,
    deprecated: declared.deprecated ? checkDeprecation(declared.deprecated) : null,
    params: declared.params ?? (nothing as unknown as P),
    query: declared.query ?? (nothing as unknown as Q),
    body: (declared.body ?? null) as B,
    upload: (declared.upload ?? null) as U,
    response: (declared.response ?? null) as R,
    download: (declared.download ?? null) as D,
  }
}

export type ParamsOf<R extends Route> = Static<R['params']>
export type QueryOf<R extends Route> = Static<R['query']>
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
export type FieldsOf<R extends Route> = R['upload'] extends Upload ? Static<R['upload']['fields']> : undefined
export type ResponseOf<R extends Route> = R['response'] extends TSchema ? Static<R['response']> : undefined

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathNames<Rest>]
  : []
type ParamValues<R extends Route, Names extends string[]> = {
  [At in keyof Names]: Names[At] extends keyof ParamsOf<R> ? ParamsOf<R>[Names[At]] : never
}

/**
 * The arguments of a call, in order: the parameters as the path names them, the body or the form with its file, and the
 * query; each only if the route has it.
 */
export type ArgsOf<R extends Route, File> = [
  ...ParamValues<R, PathNames<R['path']>>,
  ...(R['body'] extends TSchema ? [BodyOf<R>] : []),
  ...(R['upload'] extends Upload ? [FieldsOf<R> & { readonly file: File }] : []),
  ...(keyof QueryOf<R> extends never ? [] : [QueryOf<R>]),
]
