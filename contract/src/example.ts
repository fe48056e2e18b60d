// The examples of operations in the OpenAPI document and its documentation. They are in `examples.json` of each folder and in src/examples, apart
// from the routes, so that no client loads them.
import type { Static, TSchema } from 'typebox'
import type { BodyOf, FieldsOf, ParamsOf, QueryOf, ResponseOf, Route } from './route.ts'
import type { FieldChange } from './scalar.ts'

export type Example<R extends Route = Route> = {
  readonly params?: ParamsOf<R>
  readonly query?: Partial<QueryOf<R>>
  readonly body?: BodyOf<R>
  /** The text fields of a form. */
  readonly fields?: Partial<FieldsOf<R>>
  readonly response?: ResponseOf<R>
  /** The answer to the same request with the parameter that only validates; its schema is the route's `trial`. */
  readonly trial?: object
  /** The first events of a stream, as sent. */
  readonly events?: string
  /** The changes of the same request with `dry_run=true`, from `changesBetween`. */
  readonly changes?: readonly Static<typeof FieldChange>[]
}

/** Examples by the name of their route. */
export type Examples = ReadonlyMap<string, Example>

/** A message to webhooks: the schema of its body and an example. */
export type DocumentedMessage = {
  readonly type: string
  readonly summary: string
  readonly schema: TSchema
  readonly example: unknown
}

/** Declares the example of a route, with the types of the route. */
export const example = <R extends Route>(route: R, parts: Example<R>): readonly [string, Example] => [
  route.name,
  parts as unknown as Example,
]
