// An API of other software, at separate paths and for its clients. It differs from the API of the contract in the
// credential, or its header, and in the body of an error. Everything else, from limits to the audit log, is the same.
import type { Problem } from '@pharos/contract/problem'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Mounted } from './mount.ts'
import { requireIdentity } from './body-type.ts'

export type Facade = {
  /** Unknown paths that begin with it are answered in its form. */
  readonly prefix: string
  /** Returns the JSON body of an error. The status and the headers are the same as in the API. */
  readonly errorBody: (problem: Problem) => object
  /** Media type of an error. */
  readonly mediaType: string
  /** The `WWW-Authenticate` header. */
  readonly challenge: string
} & (
  | {
      readonly mounted: readonly Mounted[]
      /** Name of the header with the API token, in lower case. */
      readonly tokenHeader: string
    }
  /** Adds its own routes, with credentials that are none of the API. */
  | { readonly addRoutes: (server: FastifyInstance) => void }
)

/** Returns the credential in the form of the Authorization header; undefined without one. */
export function authorizationOf(
  { headers }: FastifyRequest,
  tokenHeader: string | undefined,
): string | undefined {
  if (tokenHeader === undefined) return headers.authorization
  const token = headers[tokenHeader]
  return token === undefined ? undefined : `Token ${[token].flat().join(', ')}`
}

/** Accepts JSON of any media type: some clients send no media type. */
export function takeJsonOfAnyType(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, ({ headers }, bytes, done) => {
    requireIdentity(headers['content-encoding'])
    done(null, bytes)
  })
}
